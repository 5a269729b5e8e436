"""Markdown that shows text as it is: the parts that pages, tables and lists of claims are made of.

Text of a study is never taken for markup, except for code between backticks. So a study cannot add
links, pictures or scripts to a page.
"""

import re
from collections.abc import Iterable, Sequence

from mnlearn.runtime.names import one_line

_CODE = re.compile(r"(`[^`|]+`)")
_SPECIAL = re.compile(r"([\\`*_\[\]|~$]|<(?=\S))")
# What a browser would show as one character.
_ENTITY = re.compile(r"&(?=#?\w+;)")
# At the beginning of a block they would start a heading, a list or a quotation.
_LEADING = re.compile(r"^(\d*)([#+\-.)>])")


def escape(text: str) -> str:
    """Return text of a study as Markdown: one line; code stands between backticks."""
    parts = _CODE.split(one_line(text))
    parts[::2] = [_ENTITY.sub("&amp;", _SPECIAL.sub(r"\\\1", part)) for part in parts[::2]]
    return "".join(parts)


def paragraph(text: str) -> str:
    """Return text of a study as a paragraph, whose first character is no markup either."""
    return _LEADING.sub(r"\1\\\2", escape(text))


def heading(level: int, text: str) -> str:
    """Return a heading with text of a study."""
    return f"{'#' * level} {escape(text)}"


def page(*blocks: str) -> str:
    """Return a page of blocks, such as paragraphs and tables."""
    return "\n\n".join(blocks) + "\n"


def bullets(items: Iterable[str]) -> str:
    """Return a list; its items are Markdown."""
    return "\n".join(f"- {item}" for item in items)


def pipe_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], alignment: str, *, is_aligned: bool = False
) -> str:
    """Return a table; its cells are Markdown, `alignment` has `l` or `r` for each column.

    is_aligned : whether the cells of a column are of one width also where the table is text.
    """
    lines = [head, *rows]
    widths = [max(3, *map(len, cells)) if is_aligned else 0 for cells in zip(*lines, strict=True)]
    # A rule that is not aligned has three hyphens.
    least = {"l": 3, "r": 4}
    rule = [
        (":" if side == "r" else "-").rjust(width or least[side], "-")
        for side, width in zip(alignment, widths, strict=True)
    ]
    return "\n".join(
        f"| {' | '.join(map(_pad, line, alignment, widths))} |" for line in (head, rule, *lines[1:])
    )


def _pad(text: str, side: str, width: int) -> str:
    return text.rjust(width) if side == "r" else text.ljust(width)


def list_contents(blocks: Iterable[str]) -> str:
    """Return links to the headings of a page, those of the second and the third level."""
    titles = [block.partition(" ") for block in blocks if block.startswith("#")]
    anchors = make_anchors([title for _, _, title in titles])
    return "\n".join(
        f"{'  ' * (len(marks) - 2)}- [{title}](#{anchor})"
        for (marks, _, title), anchor in zip(titles, anchors, strict=True)
        if len(marks) > 1
    )


def make_anchors(headings: Iterable[str]) -> list[str]:
    """Return the anchors that forges give to headings: words joined by hyphens, and a number."""
    seen: dict[str, int] = {}
    anchors = []
    for text in headings:
        anchor = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        count = seen.get(anchor, 0)
        seen[anchor] = count + 1
        anchors.append(f"{anchor}-{count}" if count else anchor)
    return anchors
