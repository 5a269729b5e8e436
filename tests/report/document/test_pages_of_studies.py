"""Pages of studies: both renderers, what a study cannot do to them, and the recorded pages."""

import re
import runpy
import struct
import zlib
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path

import pytest

from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import write_json
from mnlearn_studies.plan.planning import Plan, Record
from mnlearn_studies.report.document.blocks import (
    Bullets,
    Contents,
    Document,
    Grid,
    Heading,
    Link,
    Paragraph,
    Picture,
    make_anchors,
)
from mnlearn_studies.report.document.files import read_grid
from mnlearn_studies.report.document.html import render_html
from mnlearn_studies.report.document.markdown import render_markdown
from mnlearn_studies.report.document.metrics import metrics_of
from mnlearn_studies.report.document.order import sections_of, title_of
from mnlearn_studies.report.document.spans import (
    Span,
    marked,
    plain,
    to_html,
    to_markdown,
    to_plain,
)
from mnlearn_studies.report.document.study_page import Material, document_of
from mnlearn_studies.report.document.summaries import read_summary
from mnlearn_studies.report.pages import write_markdown_page
from mnlearn_studies.report.study_pages import common_commit
from mnlearn_studies.report.tables.formats import to_markdown as table_markdown
from mnlearn_studies.report.tables.table import Cell, Row, Table
from mnlearn_studies.study.commit import read_commit
from mnlearn_studies.study.definition import Study, load_study

ROOT = Path(__file__).parents[3]
README = runpy.run_path(str(ROOT / "workflow" / "readme.py"))
STUDIES = sorted(path.stem for path in (ROOT / "workflow/studies").glob("*.yaml"))
HOSTILE = (
    "<script>alert(1)</script> [x](javascript:alert(2)) ![y](http://a/b.png) **b** _i_ & &lt; "
    "`<b>` | \\ $x$ ~~s~~ https:<b>"
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


class Tags(HTMLParser):
    """Collects the tags of a page and checks that they are closed in order."""

    VOID = ("meta", "img")

    def __init__(self, text):
        super().__init__()
        self.found, self.open = [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def example(tmp_path, text=HOSTILE):
    picture = tmp_path / "a.png"
    picture.write_bytes(png(400, 200))
    cells = plain(text)
    grid = Grid(
        (plain("dataset"), cells), "lr", ((plain("a"), cells), (cells, ())), cells, (cells,),
        (Link("CSV", "a.csv"), Link("sortable", "a.html", html_only=True)),
    )  # fmt: skip
    blocks = (
        Heading(1, text), Paragraph(cells, lead=True), Contents(), Heading(2, "Same"),
        Paragraph(marked("**b** and *i*, [`c`](d.md), [e](f.csv)")), Heading(3, "Same"), grid,
        Heading(2, "Same"), Bullets((cells,)), Picture(picture, "figures/a.png", text, cells),
    )  # fmt: skip
    return Document(text, blocks, "A note.")


def test_text_of_a_study_has_no_effect_in_html(tmp_path):
    page = render_html(example(tmp_path))
    tags = Tags(page).found
    assert {tag for tag, _ in tags if tag in ("script", "b", "iframe", "link")} == set()
    links = [attrs["href"] for tag, attrs in tags if tag == "a"]
    assert links == ["#same", "#same-1", "#same-2", "f.csv", "a.csv", "a.html"]
    sources = [attrs["src"] for tag, attrs in tags if tag == "img"]
    assert len(sources) == 1
    assert sources[0].startswith("data:image/png;base64,")
    assert page.count("alert(1)") == page.count("&lt;script&gt;alert(1)&lt;/script&gt;")
    assert "<strong>b</strong> and <em>i</em>, <code>c</code>, " in page


def test_html_is_accessible_and_fits_a_narrow_screen(tmp_path):
    page = render_html(example(tmp_path))
    tags = Tags(page).found
    levels = [int(tag[1]) for tag, _ in tags if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert all(b <= a + 1 for a, b in pairwise(levels))
    (image,) = [attrs for tag, attrs in tags if tag == "img"]
    assert image["alt"] == HOSTILE
    assert (image["width"], image["height"]) == ("300", "150")
    assert all(attrs["scope"] in ("col", "row") for tag, attrs in tags if tag == "th")
    boxes = [attrs for tag, attrs in tags if attrs.get("class") == "scroll"]
    assert [box["tabindex"] for box in boxes] == ["0"]
    ids = [attrs["id"] for _, attrs in tags if "id" in attrs]
    assert len(ids) == len(set(ids))
    assert {attrs["href"][1:] for tag, attrs in tags if attrs.get("href", "")[:1] == "#"} <= {*ids}
    assert any(attrs.get("name") == "viewport" for _, attrs in tags)


def test_wide_pictures_are_scrolled_on_a_narrow_screen(tmp_path):
    picture = tmp_path / "a.png"
    document = Document("A", (Picture(picture, "a.png", HOSTILE),))
    picture.write_bytes(png(853, 400))
    tags = Tags(render_html(document)).found
    assert "class" not in next(attrs for tag, attrs in tags if tag == "img")
    assert [attrs for _, attrs in tags if attrs.get("class") == "scroll"] == []
    picture.write_bytes(png(1400, 400))
    tags = Tags(render_html(document)).found
    at = next(number for number, (tag, _) in enumerate(tags) if tag == "img")
    assert tags[at][1]["class"] == "wide"
    assert tags[at - 1][1] == {
        "class": "scroll", "tabindex": "0", "role": "region", "aria-label": HOSTILE,
    }  # fmt: skip


def test_text_of_a_study_has_no_effect_in_markdown(tmp_path):
    text = render_markdown(example(tmp_path))
    (tmp_path / "a.md").write_text(text.replace("<!-- A note. -->\n\n", ""))
    write_markdown_page(tmp_path / "a.md", tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text()
    assert "javascript:alert" not in "".join(re.findall('href="[^"]*"', page))
    assert re.findall(r'src="([^"]*)"', page) == ["figures/a.png"]
    assert r"\<script\>" in text
    assert re.findall(r"(?<!\\)<(?!b>`|!--)", text) == []
    assert "a.csv" in text
    assert "a.html" not in text


@pytest.mark.parametrize(
    "text", [HOSTILE, "1. a", "# a", "- a", "+ a", "a_b*c", "`x_y` z", "(1) a"]
)
def test_markdown_comes_back_as_the_text_it_was(text):
    spans = plain(text)
    # The styles come back too: code is code, and nothing else became markup.
    assert marked(to_markdown(spans)) == spans
    assert to_html(spans).count("<code>") == text.count("`") // 2


def test_a_table_keeps_its_cells(tmp_path):
    texts = ("-1.0 ± 0.2", "", "a|b*c_d\\", "[x](y)", "`k`")
    cells = tuple(Cell(text, bold=n == 0, stale=n == 0) for n, text in enumerate(texts))
    columns = tuple(texts)
    table = Table(columns, (columns,), "rllll", (Row(cells),), "A | caption", ("A *note*.",))
    (tmp_path / "t.md").write_text(table_markdown(table))
    grid = read_grid(tmp_path / "t.md")
    assert grid.alignment == "rllll"
    assert [to_plain(cell) for cell in grid.header] == ["-1.0 ± 0.2", *texts[1:4], "k"]
    assert grid.rows[0][0] == (Span("-1.0 ± 0.2", "bold"), Span("†"))
    assert [to_plain(cell) for cell in grid.rows[0][1:]] == ["–", *texts[2:4], "k"]
    assert not any(span.href for row in grid.rows for cell in row for span in cell)
    assert [to_plain(note) for note in grid.notes] == ["A *note*."]
    (tmp_path / "t.md").write_text("| a | b |\n| --- | --- |\n| 1 |\n")
    with pytest.raises(InputError, match="rows of 2 cells"):
        read_grid(tmp_path / "t.md")


def test_sections_show_each_product_once():
    products = [{"name": name, "caption": "C of d: e."} for name in "abc"]
    content = {"figures": products[:2], "tables": products, "sections": []}
    study = Study("s", content)
    found = [(s.title, [(k, p["name"]) for k, p in s.products]) for s in sections_of(study)]
    assert [title for title, _ in found] == ["Figures", "Tables"]
    content["sections"] = [{"title": "T", "show": ["c", "a"]}]
    first, figures, tables = sections_of(study)
    assert [(k, p["name"]) for k, p in first.products] == [
        ("tables", "c"), ("figures", "a"), ("tables", "a"),
    ]  # fmt: skip
    assert (figures.title, tables.title) == ("Further figures", "Further tables")
    assert [p["name"] for _, p in figures.products + tables.products] == ["b", "b"]
    content["sections"].append({"title": "U", "show": ["a"]})
    with pytest.raises(InputError, match="study s, sections, U: no 'a' is left"):
        sections_of(study)


def test_titles_and_anchors():
    assert title_of({"name": "n", "title": "T", "caption": "C"}) == "T"
    assert title_of({"name": "n", "caption": "table 1, `x`: a b. c"}) == "Table 1, x"
    assert title_of({"name": "n", "caption": ""}) == "n"
    assert title_of({"name": "n", "caption": "word " * 40}).endswith("word …")
    assert make_anchors(["A b", "a-b: C!", "A b"]) == ["a-b", "a-b-c", "a-b-1"]


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_has_metrics_and_sections(name):
    study = load_study(ROOT / "workflow/studies" / f"{name}.yaml")
    assert metrics_of(study, ())
    n_products = len(study.content["figures"]) + len(study.content["tables"])
    assert sum(len(section.products) for section in sections_of(study)) == n_products


def test_the_summary_of_a_learner(tmp_path):
    (tmp_path / "a.md").write_text("# a: b\n\nIt is `c`,\nas [`d`](d.md).\n\n## More\n")
    assert read_summary(tmp_path / "a.md", "../x") == "It is `c`,\nas [`d`](../x/d.md)."


def test_a_page_names_its_commit_and_its_commands():
    study = load_study(ROOT / "workflow/studies/frontier.yaml")
    learners = {study.learner(method): "" for method in study.methods}
    for commit in ("", "0123abcd"):
        material = Material(study, ROOT / "results/frontier", {}, learners, {}, commit)
        text = render_markdown(document_of(material))
        assert len(re.findall("^## Where the numbers come from$", text, re.MULTILINE)) == 1
        assert ("made by the code of `0123abcd`" in text) == bool(commit)
        n_products = len(study.content["tables"]) + len(study.content["figures"])
        assert text.count("[commit and command](#where-the-numbers-come-from)") == n_products
        assert "`mnlearn study frontier --recorded`" in text
        assert "`mnlearn step write frontier tables --only ll`" in text


def test_the_commit_of_a_record(tmp_path):
    assert read_commit(tmp_path) == ""
    (tmp_path / "record.json").write_text('{"commit": "0123abcd"}')
    assert read_commit(tmp_path) == "0123abcd"
    for content in ("[]", '{"commit": 1}', "{}"):
        (tmp_path / "record.json").write_text(content)
        with pytest.raises(InputError, match=r"record.json: expected a commit\."):
            read_commit(tmp_path)


def test_the_recorded_pages_follow_from_the_record():
    pages = README["result_pages"]()
    differing = [str(path) for path, text in pages.items() if path.read_text("utf-8") != text]
    assert differing == [], "run `make readme`"


def test_the_commit_is_named_while_no_record_is_of_earlier_code(tmp_path, monkeypatch):
    cmll = {"groups": 2, "partitions": {"default": 1, "exceptions": {}}, "inference": {}}
    content = {"datasets": ["grid"], "methods": {"atomic": {}}, "cmll": cmll, "figures": []}
    monkeypatch.setattr("mnlearn_studies.report.study_pages.read_commit", lambda _: "0123abcd")

    def commit(recipe=None):
        studies = {"s": Study("s", content)}
        plan = Plan(studies=studies, running=["s"], results=tmp_path, seed=1, local={})
        cell = Record("cells", "s", "grid", ("atomic",))
        write_json(
            tmp_path / cell.path, {"recipe": plan.recipe(cell) if recipe is None else recipe}
        )
        return common_commit([plan])

    assert commit() == "0123abcd"
    assert commit({}) == ""
