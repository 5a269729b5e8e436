"""Render a page as Markdown for a forge, which shows tables, pictures and links to headings."""

from collections.abc import Iterable, Sequence

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
from mnlearn_studies.report.document.spans import Span, Text, to_markdown


def render_markdown(document: Document) -> str:
    """Return the page as Markdown."""
    parts = [f"<!-- {document.note} -->"] if document.note else []
    parts += [part for block in document.blocks for part in _block(block, document)]
    return "\n\n".join(parts) + "\n"


def _block(block: Block, document: Document) -> list[str]:
    if isinstance(block, Heading):
        return ["#" * block.level + " " + to_markdown((Span(block.text),), leading=False)]
    if isinstance(block, Paragraph):
        return [to_markdown(block.text)]
    if isinstance(block, Bullets):
        return ["\n".join("- " + to_markdown(item) for item in block.items)] if block.items else []
    if isinstance(block, Picture):
        alt = to_markdown((Span(block.alt),), leading=False)
        return [f"![{alt}]({block.href})", *_paragraphs([block.caption], block.links)]
    if isinstance(block, Grid):
        caption = [to_markdown(block.caption)] if block.caption else []
        return [*caption, _grid(block), *_paragraphs(block.notes, block.links)]
    assert isinstance(block, Contents)
    return [_contents(document)]


def _paragraphs(texts: Sequence[Text], links: Sequence[Link]) -> list[str]:
    """Return paragraphs, and one with the links to files that git keeps."""
    kept = [f"[{link.label}]({link.href})" for link in links if not link.html_only]
    out = [to_markdown(text) for text in texts if text]
    return [*out, " · ".join(kept)] if kept else out


def _grid(grid: Grid) -> str:
    lines = [
        [to_markdown(cell, leading=False) for cell in row] for row in (grid.header, *grid.rows)
    ]
    return pipe_table(lines[0], lines[1:], grid.alignment)


def pipe_table(head: Sequence[str], rows: Iterable[Sequence[str]], alignment: str) -> str:
    """Return a Markdown table of texts; `alignment` has `l` or `r` for each column."""
    rule = [{"l": "---", "r": "---:"}[side] for side in alignment]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *rows))


def _contents(document: Document) -> str:
    """Return the sections, each with its figures and tables in one line."""
    lines: list[str] = []
    for heading, anchor in document.headings():
        link = f"[{to_markdown((Span(heading.text),), leading=False)}](#{anchor})"
        if heading.level == 2:
            lines.append(f"- {link}")
        elif heading.level == 3:
            lines.append(f"  - {link}")
    return "\n".join(lines)
