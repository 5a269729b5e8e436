"""Pages of Markdown as HTML files that need no network: pictures are inside, tables sort."""

import base64
import html
import struct
from collections.abc import Mapping
from pathlib import Path
from xml.etree.ElementTree import Element

from markdown import Markdown
from markdown.treeprocessors import Treeprocessor

from mnlearn.runtime.decompression import read_limited
from mnlearn.runtime.files import write_text
from mnlearn_studies.report.markdown import make_anchors

# Cells with more characters may break into lines.
_LONG = 28
# Pixels on the page for each pixel of a picture: letters in figures are then as large as the text.
_SCALE = 0.75
# Wider pictures are scrolled on a narrow screen, where their letters would be too small to read.
_WIDE = 640

_STYLE = """
* { box-sizing: border-box; }
body { max-width: 82rem; margin: 0 auto; padding: 1rem 1.25rem 4rem; background: #fff;
       color: #1a1a1a; color-scheme: light;
       font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1, h2, h3 { line-height: 1.25; overflow-wrap: anywhere; }
h1 { font-size: 1.7rem; margin: 0.5rem 0 1rem; }
h2 { font-size: 1.3rem; margin: 3rem 0 0.8rem; padding-top: 0.7rem; border-top: 1px solid #ccc; }
h3 { font-size: 1.05rem; margin: 2.2rem 0 0.6rem; }
p, ul { max-width: 46rem; margin: 0 0 0.9rem; overflow-wrap: break-word; }
a { color: #0b4f9c; }
code { font: 0.9em ui-monospace, Menlo, Consolas, monospace; background: #f2f3f5;
       padding: 0 0.2em; border-radius: 3px; overflow-wrap: anywhere; }
img { display: block; max-width: 100%; height: auto; }
img.wide { min-width: 44rem; }
.scroll { overflow-x: auto; max-width: 100%; margin-bottom: 0.9rem; }
.scroll:focus-visible { outline: 2px solid #0b4f9c; }
table { border-collapse: collapse; font-size: 0.88rem;
        line-height: 1.35; font-variant-numeric: tabular-nums; }
th, td { padding: 0.28rem 0.6rem; text-align: left; vertical-align: top; white-space: nowrap; }
thead th { border: solid #999; border-width: 1px 0; vertical-align: bottom; white-space: normal;
           min-width: 3.6rem; cursor: pointer; }
tbody th { font-weight: normal; }
tbody tr:last-child > * { border-bottom: 1px solid #999; }
tr, th, td { background: #fff; }
tbody tr:nth-child(even) > * { background: #f6f7f8; }
th:first-child:not(.long) { position: sticky; left: 0; }
.long { white-space: normal; min-width: 15rem; }
nav { font-size: 0.9rem; }
nav ul { list-style: none; padding-left: 0; }
nav a { text-decoration: none; }
@media (max-width: 69.99rem) { nav ul ul { display: none; } }
@media (min-width: 70rem) {
  body:has(nav) { padding-left: 20rem; }
  nav { position: fixed; top: 1rem; width: 17rem; margin-left: -18.5rem;
        max-height: calc(100vh - 2rem); overflow-y: auto; }
  nav ul ul { padding-left: 0.9rem; margin-bottom: 0.4rem; }
}
@media print {
  body, body:has(nav) { font-size: 10pt; max-width: none; padding: 0; }
  nav { display: none; }
  .scroll { overflow: visible; }
  img.wide { min-width: 0; }
  th:first-child { position: static; }
  table { font-size: 6.5pt; }
  th, td { padding: 1pt 2.5pt; }
  .long { min-width: 7rem; }
  thead th { min-width: 0; }
  h2, h3 { break-after: avoid; }
  tr, img { break-inside: avoid; }
}
"""

_SORT = """
const key = cell => {
  const text = cell.textContent.trim();
  const number = parseFloat(text.replace(/,/g, ''));
  return isNaN(number) ? text : number;
};
document.querySelectorAll('thead th').forEach(head => head.addEventListener('click', () => {
  const up = head.dataset.up !== 'true';
  head.dataset.up = up;
  const [column, body] = [head.cellIndex, head.closest('table').tBodies[0]];
  [...body.rows].sort((a, b) => {
    const [x, y] = [key(a.cells[column]), key(b.cells[column])];
    const order = typeof x === 'number' && typeof y === 'number'
      ? x - y : String(x).localeCompare(String(y));
    return up ? order : -order;
  }).forEach(row => body.append(row));
}));
"""


def write_html(path: Path, title: str, text: str) -> None:
    """Write a page of Markdown as one HTML file; pictures are looked up beside it.

    HTML in the text is shown and has no effect. The title is plain text.
    """
    converter = Markdown(extensions=["tables"], tab_length=2)
    converter.preprocessors.deregister("html_block")
    for name in ("html", "entity"):
        converter.inlinePatterns.deregister(name)
    # Those of CommonMark, which forges read; the library knows fewer.
    converter.ESCAPED_CHARS += [c for c in "<~$" if c not in converter.ESCAPED_CHARS]
    # After all of the library, when escaped characters are characters again.
    converter.treeprocessors.register(_ForBrowser(converter, path.parent), "for_browser", -1)
    write_text(
        path,
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{html.escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n"
        f"<body>\n{converter.convert(text)}\n<script>{_SORT}</script>\n</body>\n</html>\n",
    )


def _scrolling(label: str) -> dict[str, str]:
    """Return the attributes of what is scrolled on a narrow screen, by keys as well."""
    return {"class": "scroll", "tabindex": "0", "role": "region", "aria-label": label}


class _ForBrowser(Treeprocessor):
    """Puts pictures into the page, and wide tables and pictures into boxes that scroll."""

    def __init__(self, converter: Markdown, folder: Path) -> None:
        super().__init__(converter)
        self.folder = folder

    def run(self, root: Element) -> None:
        headings = [element for element in root if element.tag in ("h1", "h2", "h3")]
        anchors = make_anchors(map(_text, headings))
        for element, anchor in zip(headings, anchors, strict=True):
            element.set("id", anchor)
        label = ""
        for position, element in enumerate(list(root)):
            if element in headings:
                label = _text(element)
            elif element.tag == "table":
                _mark_cells(element)
                root[position] = _box("div", element, _scrolling(label))
            elif (image := element.find("img")) is not None:
                self._embed(image)
                if image.get("class"):
                    element.attrib.update(_scrolling(image.get("alt", "")))
            elif element.tag == "ul" and _leads_inside(element):
                root[position] = _box("nav", element, {"aria-label": "Contents"})

    def _embed(self, image: Element) -> None:
        content = read_limited(self.folder / image.get("src", ""))
        width, height = (round(_SCALE * size) for size in struct.unpack(">II", content[16:24]))
        image.set("src", f"data:image/png;base64,{base64.b64encode(content).decode('ascii')}")
        image.set("width", str(width))
        image.set("height", str(height))
        if width > _WIDE:
            image.set("class", "wide")


def _box(tag: str, element: Element, attributes: Mapping[str, str]) -> Element:
    box = Element(tag, dict(attributes))
    box.append(element)
    box.tail, element.tail = element.tail, None
    return box


def _mark_cells(table: Element) -> None:
    """Mark headings of columns and rows as such, and cells that may break into lines."""
    for head in table.iter("th"):
        head.set("scope", "col")
    for row in table.iterfind("tbody/tr"):
        row[0].tag = "th"
        row[0].set("scope", "row")
        for cell in row:
            if len(_text(cell)) > _LONG:
                cell.set("class", "long")


def _leads_inside(element: Element) -> bool:
    """Tell whether a list begins with a link to another place of its page."""
    link = element.find("li/a")
    return link is not None and link.get("href", "").startswith("#")


def _text(element: Element) -> str:
    return "".join(element.itertext())
