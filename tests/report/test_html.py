"""Pages in Markdown and for the browser: what text of a study cannot do to them, and their form."""

import re
import struct
import zlib
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from mnlearn_studies.report.html import write_html
from mnlearn_studies.report.markdown import (
    bullets,
    escape,
    heading,
    list_contents,
    make_anchors,
    paragraph,
    pipe_table,
)
from mnlearn_studies.report.tables.formats import to_markdown
from mnlearn_studies.report.tables.table import Cell, Row, Table

HOSTILE = (
    "<script>alert(1)</script> [x](javascript:alert(2)) ![y](http://a/b.png) **b** _i_ & &lt; "
    "`<b>` | \\ $x$ ~~s~~ https:<b> `p|q` [TOC] &#96;"
)


def png(width, height):
    head = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    body = zlib.compress(b"\0" * (height * (width + 1)))
    parts = [(b"IHDR", head), (b"IDAT", body), (b"IEND", b"")]
    chunks = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


class Page(HTMLParser):
    """Collects the tags and the texts of a page and checks that its tags are closed in order."""

    VOID = ("meta", "img")

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self.open = [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append((self.open[-1] if self.open else "", data))

    def attributes(self, tag):
        return [attributes for name, attributes in self.tags if name == tag]

    def text(self, *without):
        return "".join(data for tag, data in self.texts if tag not in ("style", "script", *without))


def rendered(folder, text, title="A title"):
    write_html(folder / "page.html", title, text)
    return Page((folder / "page.html").read_text("utf-8"))


def example(folder):
    (folder / "figures").mkdir()
    (folder / "figures" / "a.png").write_bytes(png(400, 200))
    blocks = [
        heading(1, HOSTILE),
        paragraph(HOSTILE),
        heading(2, "Same"),
        "**b** and *i*, [`c`](d.md), [e](f.csv)",
        heading(3, "Same"),
        pipe_table(("dataset", escape(HOSTILE)), [("a", escape(HOSTILE)), ("", "")], "lr"),
        heading(2, "Same"),
        bullets([paragraph(HOSTILE)]),
        f"![{escape(HOSTILE)}](figures/a.png)",
    ]
    return "\n\n".join([*blocks[:2], list_contents(blocks), *blocks[2:]])


def test_text_of_a_study_has_no_effect(tmp_path):
    page = rendered(tmp_path, example(tmp_path), HOSTILE)
    tags = [tag for tag, _ in page.tags]
    assert not {"b", "iframe", "link", "input"} & set(tags)
    # That of the page itself, which sorts tables.
    assert tags.count("script") == 1
    links = [attributes["href"] for attributes in page.attributes("a")]
    assert links == ["#same", "#same-1", "#same-2", "d.md", "f.csv"]
    (image,) = page.attributes("img")
    assert image["src"].startswith("data:image/png;base64,")
    # Code is code, and all else is shown as it is.
    shown = re.sub("`([^`|]*)`", r"\1", HOSTILE)
    assert page.text().count(shown) == 5
    assert ("title", HOSTILE) in page.texts
    assert image["alt"].replace("`", "") == shown.replace("`", "")
    assert page.texts.count(("code", "<b>")) == 5
    assert ("strong", "b") in page.texts
    assert ("em", "i") in page.texts
    assert ("code", "c") in page.texts


def test_a_page_is_accessible_and_fits_a_narrow_screen(tmp_path):
    page = rendered(tmp_path, example(tmp_path))
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))
    (image,) = page.attributes("img")
    assert (image["width"], image["height"]) == ("300", "150")
    assert [head["scope"] for head in page.attributes("th")] == ["col", "col", "row", "row"]
    boxes = [of for _, of in page.tags if of.get("class") == "scroll"]
    assert boxes == [
        {"class": "scroll", "tabindex": "0", "role": "region", "aria-label": "Same"},
    ]
    ids = [of["id"] for _, of in page.tags if "id" in of]
    assert len(ids) == len(set(ids))
    assert {"same", "same-1", "same-2"} <= {*ids}
    assert page.attributes("nav") == [{"aria-label": "Contents"}]
    assert any(of.get("name") == "viewport" for of in page.attributes("meta"))
    assert [cell.get("class") for cell in page.attributes("td")] == ["long", None]


def test_wide_pictures_are_scrolled_on_a_narrow_screen(tmp_path):
    text = f"![{escape(HOSTILE)}](a.png)"
    (tmp_path / "a.png").write_bytes(png(853, 400))
    page = rendered(tmp_path, text)
    assert "class" not in page.attributes("img")[0]
    assert page.attributes("p") == [{}]
    (tmp_path / "a.png").write_bytes(png(1400, 400))
    page = rendered(tmp_path, text)
    (image,) = page.attributes("img")
    assert image["class"] == "wide"
    (box,) = page.attributes("p")
    assert (box["class"], box["tabindex"], box["role"]) == ("scroll", "0", "region")
    assert box["aria-label"] == image["alt"]


def test_html_in_markdown_has_no_effect(tmp_path):
    text = (
        "# <script>alert(1)</script>\n\n<script>alert(2)</script>\n\n<!-- a -->\n\n"
        "| a | b |\n|---|---|\n| **1** | x <img src=y onerror=alert(3)> |\n\n"
        "<div>\n\n*word* `code <b>` 1 < 2 & 3\n"
    )
    page = rendered(tmp_path, text)
    assert not {"img", "div", "b"} & {tag for tag, of in page.tags if of.get("class") != "scroll"}
    assert [tag for tag, _ in page.tags].count("script") == 1
    assert ("h1", "<script>alert(1)</script>") in page.texts
    assert "<!-- a -->" in page.text()
    assert "word code <b> 1 < 2 & 3" in page.text()


@pytest.mark.parametrize(
    "text",
    ["1. a", "12) a", "# a", "- a", "+ a", "* a", "> a", "a_b*c", "(1) a", "---", "    a", "a\nb"],
)
def test_the_first_character_of_a_paragraph_is_no_markup(tmp_path, text):
    page = rendered(tmp_path, paragraph(text))
    assert [tag for tag, _ in page.tags if tag not in ("html", "head", "meta", "body")] == [
        "title", "style", "p", "script",
    ]  # fmt: skip
    assert "".join(data for tag, data in page.texts if tag == "p") == " ".join(text.split())


def test_a_table_keeps_its_cells(tmp_path):
    texts = ("-1.0 ± 0.2", "", "a|b*c_d\\", "[x](y)", "`k`", "p < 0.1 <i>")
    cells = tuple(Cell(text, bold=n == 0, stale=n == 0) for n, text in enumerate(texts))
    table = Table(
        columns=texts, header=(texts,), alignment="rlllll", body=(Row(cells),),
        caption="A | caption", notes=("A *note*.",),
    )  # fmt: skip
    page = rendered(tmp_path, to_markdown(table))
    assert page.attributes("a") == []
    shown = [data.strip() for tag, data in page.texts if data.strip() and tag != "style"][:-1]
    assert shown == [
        *("A title", "A | caption", "-1.0 ± 0.2", *texts[2:4], "k", texts[5]),
        *("-1.0 ± 0.2", "†", "–", *texts[2:4], "k", texts[5], "A *note*."),
    ]
    assert ("strong", "-1.0 ± 0.2") in page.texts
    assert page.texts.count(("code", "k")) == 2


def test_anchors_are_those_of_forges():
    assert make_anchors(["A b", "a-b: C!", "A b"]) == ["a-b", "a-b-c", "a-b-1"]
    assert list_contents(["# T", "## A `b`", "p", "### A b"]) == (
        "- [A `b`](#a-b)\n  - [A b](#a-b-1)"
    )
