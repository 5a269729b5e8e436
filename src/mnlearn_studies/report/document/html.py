"""Render a page as one HTML file that needs no network: pictures are inside it."""

import base64
import html
import struct
from collections.abc import Iterator

from mnlearn.runtime.files import read_bytes
from mnlearn_studies.report.document.blocks import (
    Block,
    Bullets,
    Contents,
    Document,
    Grid,
    Heading,
    Link,
    Paragraph,
    Picture,
)
from mnlearn_studies.report.document.spans import Text, to_html, to_plain

# Cells with more characters may break into lines.
_LONG = 28
# Pixels on the page for each pixel of a picture: letters in figures are then as large as the text.
_SCALE = 0.75
# Wider pictures are scrolled on a narrow screen, where their letters would be too small to read.
_WIDE = 640

_STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0; background: #fff; color: #1a1a1a;
       font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
.page { max-width: 82rem; margin: 0 auto; padding: 1rem 1.25rem 4rem; }
main { min-width: 0; }
h1, h2, h3 { line-height: 1.25; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; margin: 0.5rem 0 1rem; }
h2 { font-size: 1.3rem; margin: 3rem 0 0.8rem; padding-top: 0.7rem; border-top: 1px solid #ccc; }
h3 { font-size: 1.05rem; margin: 2.2rem 0 0.6rem; }
p, ul { max-width: 46rem; margin: 0 0 0.9rem; overflow-wrap: break-word; }
li { margin-bottom: 0.3rem; }
.lead { font-size: 1.1rem; }
a { color: #0b4f9c; }
code { font: 0.9em ui-monospace, Menlo, Consolas, monospace; background: #f2f3f5;
       padding: 0 0.2em; border-radius: 3px; overflow-wrap: anywhere; }
figure { margin: 0 0 1.5rem; }
figcaption { max-width: 46rem; margin: 0.4rem 0 0.7rem; color: #333; font-size: 0.95rem; }
img { display: block; max-width: 100%; height: auto; }
img.wide { min-width: 44rem; }
.scroll { overflow-x: auto; max-width: 100%; }
.scroll:focus-visible { outline: 2px solid #0b4f9c; }
table { border-collapse: collapse; border-bottom: 1px solid #999;
        font-size: 0.88rem; line-height: 1.35;
        font-variant-numeric: tabular-nums; }
th, td { padding: 0.28rem 0.6rem; text-align: left; vertical-align: top; white-space: nowrap; }
thead th { border-top: 1px solid #999; border-bottom: 1px solid #999; vertical-align: bottom;
           white-space: normal; min-width: 3.6rem; }
tbody th { font-weight: normal; }
tbody tr, tbody tr th { background: #fff; }
tbody tr:nth-child(even), tbody tr:nth-child(even) th { background: #f6f7f8; }
th:first-child:not(.long) { position: sticky; left: 0; }
thead th { background: #fff; }
th.r, td.r { text-align: right; }
th.long, td.long { white-space: normal; min-width: 15rem; }
.note, .files { max-width: 46rem; margin: 0.5rem 0 0; color: #333; font-size: 0.88rem; }
nav { font-size: 0.9rem; margin: 0 0 1rem; }
nav summary { font-weight: 600; cursor: pointer; }
nav ul { list-style: none; padding-left: 0; margin: 0.5rem 0 0; }
nav ul ul { padding-left: 0.9rem; margin: 0.1rem 0 0.4rem; }
nav li { margin-bottom: 0.15rem; }
nav a { text-decoration: none; }
nav a:hover { text-decoration: underline; }
@media (max-width: 69.99rem) {
  nav ul ul { display: none; }
}
@media (min-width: 70rem) {
  .page { display: grid; grid-template: auto 1fr / 16rem minmax(0, 1fr); column-gap: 2.5rem; }
  nav { grid-row: 1 / span 2; grid-column: 1; position: sticky; top: 1rem; align-self: start;
        max-height: calc(100vh - 2rem); overflow-y: auto; margin-top: 0.8rem; }
  header, main { grid-column: 2; }
}
@media print {
  body { font-size: 10pt; }
  .page { display: block; max-width: none; padding: 0; }
  nav { display: none; }
  .scroll { overflow: visible; }
  img.wide { min-width: 0; }
  th:first-child:not(.long) { position: static; }
  table { font-size: 6.5pt; }
  th, td { padding: 1pt 2.5pt; }
  th.long, td.long { min-width: 7rem; }
  thead th { min-width: 0; }
  h2, h3, figcaption { break-after: avoid; }
  tr, img { break-inside: avoid; }
  a { color: inherit; text-decoration: none; }
}
"""


def render_html(document: Document) -> str:
    """Return the page as HTML.

    Raises
    ------
    InputError
        A picture is missing.
    """
    anchors = iter(document.anchors)
    parts = [_block(block, anchors) for block in document.blocks]
    # What comes before the contents stands above them on a narrow screen.
    first = next((n for n, x in enumerate(document.blocks) if isinstance(x, Contents)), 0)
    head, body = "\n".join(parts[:first]), "\n".join(parts[first:])
    contents = _contents(document) if first else ""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(document.title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f'<div class="page">\n<header>\n{head}\n</header>\n{contents}'
        f"<main>\n{body}\n</main>\n</div>\n</body>\n</html>\n"
    )


def _block(block: Block, anchors: Iterator[str]) -> str:
    if isinstance(block, Heading):
        text = html.escape(block.text)
        return f'<h{block.level} id="{html.escape(next(anchors))}">{text}</h{block.level}>'
    if isinstance(block, Paragraph):
        style = ' class="lead"' if block.lead else ""
        return f"<p{style}>{to_html(block.text)}</p>"
    if isinstance(block, Bullets):
        items = "\n".join(f"<li>{to_html(item)}</li>" for item in block.items)
        return f"<ul>\n{items}\n</ul>"
    if isinstance(block, Picture):
        return _picture(block)
    return _grid(block) if isinstance(block, Grid) else ""


def _picture(picture: Picture) -> str:
    content = read_bytes(picture.path)
    width, height = (round(_SCALE * size) for size in struct.unpack(">II", content[16:24]))
    source = base64.b64encode(content).decode("ascii")
    is_wide = width > _WIDE
    style = ' class="wide"' if is_wide else ""
    image = (
        f'<img{style} src="data:image/png;base64,{source}" width="{width}" height="{height}" '
        f'alt="{html.escape(picture.alt)}">\n'
    )
    if is_wide:
        image = f"{_scrolled(picture.alt)}\n{image}</div>\n"
    caption = f"<figcaption>{to_html(picture.caption)}</figcaption>"
    return f"<figure>\n{image}{caption}\n{_files(picture.links)}</figure>"


def _scrolled(label: str) -> str:
    """Return the opening tag of what is scrolled on a narrow screen, by keys as well."""
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{html.escape(label)}">'


def _grid(grid: Grid) -> str:
    head = "".join(
        f'<th scope="col" class="{side}">{to_html(cell)}</th>'
        for cell, side in zip(grid.header, grid.alignment, strict=True)
    )
    rows = "\n".join(_row(row, grid.alignment) for row in grid.rows)
    caption = f"<figcaption>{to_html(grid.caption)}</figcaption>\n" if grid.caption else ""
    label = to_plain(grid.caption) or ", ".join(to_plain(cell) for cell in grid.header)
    notes = "".join(f'<p class="note">{to_html(note)}</p>\n' for note in grid.notes)
    return (
        f"<figure>\n{caption}"
        f"{_scrolled(label)}\n"
        f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>\n</div>\n"
        f"{notes}{_files(grid.links)}</figure>"
    )


def _row(row: tuple[Text, ...], alignment: str) -> str:
    """Return a row; its first cell is its heading."""
    out = []
    for number, (cell, side) in enumerate(zip(row, alignment, strict=True)):
        tag, scope = ("td", "") if number else ("th", ' scope="row"')
        style = f"{side} long" if len(to_plain(cell)) > _LONG else side
        out.append(f'<{tag}{scope} class="{style}">{to_html(cell)}</{tag}>')
    return f"<tr>{''.join(out)}</tr>"


def _files(links: tuple[Link, ...]) -> str:
    """Return a paragraph with links to files beside the page."""
    if not links:
        return ""
    shown = " · ".join(f'<a href="{html.escape(x.href)}">{html.escape(x.label)}</a>' for x in links)
    return f'<p class="files">{shown}</p>\n'


def _contents(document: Document) -> str:
    """Return the sections, each with its figures and tables."""
    out: list[str] = []
    inside = False
    for heading, anchor in document.headings():
        if heading.level not in (2, 3):
            continue
        if (heading.level == 3) != inside:
            out.append("<ul>" if not inside else "</ul></li>")
            inside = not inside
        elif out and not inside:
            out.append("</li>")
        link = f'<a href="#{html.escape(anchor)}">{html.escape(heading.text)}</a>'
        out.append(f"<li>{link}</li>" if inside else f"<li>{link}")
    if out:
        out.append("</ul></li>" if inside else "</li>")
    items = "\n".join(out)
    return (
        '<nav aria-label="Contents"><details open><summary>Contents</summary>\n'
        f"<ul>\n{items}\n</ul>\n</details></nav>\n"
    )
