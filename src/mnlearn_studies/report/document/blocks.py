"""Blocks of a page, independent of how they are rendered."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mnlearn_studies.report.document.spans import Text


@dataclass(frozen=True)
class Heading:
    """A heading: its level, from 1, and its text, which is plain."""

    level: int
    text: str


@dataclass(frozen=True)
class Paragraph:
    """A paragraph. lead : whether it stands out."""

    text: Text
    lead: bool = False


@dataclass(frozen=True)
class Bullets:
    """A list of short paragraphs."""

    items: tuple[Text, ...]


@dataclass(frozen=True)
class Link:
    """A file beside the page. html_only : whether git does not keep the file."""

    label: str
    href: str
    html_only: bool = False


@dataclass(frozen=True)
class Grid:
    """A table.

    Attributes
    ----------
    header : tuple of Text
        Headings of the columns.
    alignment : str
        `l` or `r` for each column.
    rows : tuple of tuple of Text
        The cells.
    caption : Text
        Shown above.
    notes : tuple of Text
        Paragraphs below.
    links : tuple of Link
        The same table in other files.
    """

    header: tuple[Text, ...]
    alignment: str
    rows: tuple[tuple[Text, ...], ...]
    caption: Text = ()
    notes: tuple[Text, ...] = ()
    links: tuple[Link, ...] = ()


@dataclass(frozen=True)
class Picture:
    """A figure.

    Attributes
    ----------
    path : Path
        The PNG file.
    href : str
        The same file as seen from the page.
    alt : str
        What the picture is, for those who do not see it.
    caption : Text
        Shown below.
    links : tuple of Link
        The same figure in other files.
    """

    path: Path
    href: str
    alt: str
    caption: Text = ()
    links: tuple[Link, ...] = ()


@dataclass(frozen=True)
class Contents:
    """The place of the table of contents."""


Block = Heading | Paragraph | Bullets | Grid | Picture | Contents


@dataclass(frozen=True)
class Document:
    """A page: its title and its blocks. note : where it comes from, for those who edit it."""

    title: str
    blocks: tuple[Block, ...]
    note: str = ""
    anchors: tuple[str, ...] = field(init=False)

    def __post_init__(self) -> None:
        headings = [block.text for block in self.blocks if isinstance(block, Heading)]
        object.__setattr__(self, "anchors", tuple(make_anchors(headings)))

    def headings(self) -> list[tuple[Heading, str]]:
        """Return the headings with their anchors."""
        found = [block for block in self.blocks if isinstance(block, Heading)]
        return list(zip(found, self.anchors, strict=True))


def make_anchors(headings: Sequence[str]) -> list[str]:
    """Return the anchors that forges give to headings: words joined by hyphens, and a number."""
    seen: dict[str, int] = {}
    out = []
    for heading in headings:
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        count = seen.get(anchor, 0)
        seen[anchor] = count + 1
        out.append(f"{anchor}-{count}" if count else anchor)
    return out
