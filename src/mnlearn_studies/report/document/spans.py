"""Pieces of text with a style: read from plain text or Markdown, rendered as Markdown or HTML.

Text of a study is never taken for markup, except for code between backticks. So a study cannot add
links, pictures or scripts to a page.
"""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

_CODE = re.compile(r"`([^`\n]+)`")
_MARKUP = re.compile(
    r"\\(?P<escaped>[!-/:-@\[-`{-~])"
    r"|`(?P<code>[^`]+)`"
    r"|\*\*(?P<bold>(?:\\.|[^*\\])+)\*\*"
    r"|\*(?P<italic>(?:\\.|[^*\\])+)\*"
    r"|\[(?P<label>[^\[\]]+)\]\((?P<href>[^()\s]+)\)"
)
_SPECIAL = re.compile(r"([\\`*_\[\]<>|~$])")
_ENTITY = re.compile(r"&(?=#?\w+;)")
# At the beginning of a block they would start a heading or a list.
_LEADING = re.compile(r"^(\d*)([#+\-.)])")
_TAGS = {"bold": "strong", "italic": "em", "code": "code"}


@dataclass(frozen=True)
class Span:
    """A piece of text.

    Attributes
    ----------
    text : str
        The text itself, without markup.
    style : str
        Empty, `bold`, `italic` or `code`.
    href : str
        Where a link leads; empty for other text.
    """

    text: str
    style: str = ""
    href: str = ""


Text = tuple[Span, ...]


def plain(text: str) -> Text:
    """Return the spans of text from a study: one line; code stands between backticks."""
    out: list[Span] = []
    for number, part in enumerate(_CODE.split(" ".join(text.split()))):
        if part:
            out.append(Span(part, "code" if number % 2 else ""))
    return tuple(out)


def marked(markdown: str) -> Text:
    """Return the spans of one paragraph of Markdown from this project, links included.

    Styles do not nest, except for code in a link.
    """
    return tuple(_merge(_tokens(" ".join(markdown.split()))))


def unescaped(cell: str) -> Text:
    """Return the spans of a part of a table that `report.tables.formats` rendered as Markdown.

    Text of a study in it may hold brackets, which are no link.
    """
    links_removed = (
        Span(f"[{span.text}]({span.href})") if span.href else span for span in _tokens(cell.strip())
    )
    return tuple(_merge(links_removed))


def _tokens(markdown: str) -> Iterator[Span]:
    position = 0
    for match in _MARKUP.finditer(markdown):
        yield Span(markdown[position : match.start()])
        position = match.end()
        kind = match.lastgroup or ""
        if kind == "escaped":
            yield Span(match["escaped"])
        elif kind == "href":
            label = _CODE.fullmatch(match["label"])
            text = label[1] if label else _unescape(match["label"])
            yield Span(text, "code" if label else "", match["href"])
        else:
            yield Span(_unescape(match[kind]), kind)
    yield Span(markdown[position:])


def _unescape(text: str) -> str:
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text)


def _merge(spans: Iterator[Span]) -> Iterator[Span]:
    """Join neighbours without style, and drop what is empty."""
    held = ""
    for span in spans:
        if not span.style and not span.href:
            held += span.text
            continue
        if held:
            yield Span(held)
            held = ""
        yield span
    if held:
        yield Span(held)


def to_plain(text: Text) -> str:
    """Return the text without styles."""
    return "".join(span.text for span in text)


def to_markdown(text: Text, leading: bool = True) -> str:
    """Return the text as Markdown in which only its styles and links have an effect.

    leading : whether the text begins a block, so that its first character could be markup.
    """
    out = "".join(_span_markdown(span) for span in text)
    return _LEADING.sub(r"\1\\\2", out) if leading else out


def _span_markdown(span: Span) -> str:
    if span.style == "code":
        out = "`" + span.text.replace("|", "\\|") + "`"
    else:
        out = _ENTITY.sub(r"\\&", _SPECIAL.sub(r"\\\1", span.text))
        mark = {"bold": "**", "italic": "*"}.get(span.style, "")
        out = f"{mark}{out}{mark}"
    return f"[{out}]({span.href})" if span.href else out


def to_html(text: Text) -> str:
    """Return the text as HTML, escaped; links to Markdown files are shown as text."""
    return "".join(_span_html(span) for span in text)


def _span_html(span: Span) -> str:
    out = html.escape(span.text)
    if span.style:
        out = f"<{_TAGS[span.style]}>{out}</{_TAGS[span.style]}>"
    if span.href and not span.href.partition("#")[0].endswith(".md"):
        return f'<a href="{html.escape(span.href)}">{out}</a>'
    return out
