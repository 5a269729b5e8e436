"""Pages of studies: their sections, their texts, where numbers come from; the recorded pages."""

import re
from pathlib import Path

import pandas as pd
import pytest

from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import write_bytes, write_json
from mnlearn_studies.plan.planning import Plan
from mnlearn_studies.records.gather import COLUMNS, read_scores
from mnlearn_studies.records.record import Record
from mnlearn_studies.report.all_products import (
    common_commit,
    digest_records,
    overview_pages,
    read_commit,
    result_pages,
)
from mnlearn_studies.report.material import Material
from mnlearn_studies.report.pages.numbers import list_below
from mnlearn_studies.report.pages.overview import count_groups, read_claims
from mnlearn_studies.report.pages.study import (
    build_study_page,
    describe_metrics,
    sections_of,
    summarise,
)
from mnlearn_studies.study.definition import Study, load_study
from mnlearn_studies.study.folders import results_folder
from mnlearn_studies.study.published import load_published

ROOT = Path(__file__).parents[3]
STUDIES = sorted(path.stem for path in (ROOT / "workflow/studies").glob("*.yaml"))


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


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_has_metrics_and_sections(name):
    study = load_study(ROOT / "workflow/studies" / f"{name}.yaml")
    assert describe_metrics(study, ())
    n_products = len(study.content["figures"]) + len(study.content["tables"])
    assert sum(len(section.products) for section in sections_of(study)) == n_products


def test_the_summary_of_a_learner(tmp_path):
    (tmp_path / "methods").mkdir()
    page = "# a: b\n\nIt is `c`,\nas [`d`](d.md).\n\n## More\n"
    (tmp_path / "methods" / "a.md").write_text(page)
    assert summarise("a", tmp_path) == "It is `c`,\nas [`d`](../../docs/methods/d.md)."
    assert summarise("a", tmp_path, linked=False) == "It is `c`,\nas `d`."
    assert summarise("atomic", tmp_path)


def test_a_page_names_its_commit_and_its_commands():
    study = load_study(ROOT / "workflow/studies/frontier.yaml")
    learners = {study.learner(method): "" for method in study.methods}
    folder = ROOT / "results/frontier"
    scores = read_scores(folder / "scores.csv")
    material = Material.of(study, scores, load_published(), {"dna": "DNA"}, folder)
    for commit in ("", "0123abcd"):
        text = build_study_page(material, [], learners, {}, commit)
        assert len(re.findall("^## Where the numbers come from$", text, re.MULTILINE)) == 1
        assert ("made by the code of `0123abcd`" in text) == bool(commit)
        n_products = len(study.content["tables"]) + len(study.content["figures"])
        assert text.count("[commit and command](#where-the-numbers-come-from)") == n_products
        assert "`mnlearn study frontier --recorded`" in text
        assert "`mnlearn step write frontier tables --only ll`" in text
        assert "This page shows a part" not in text
    some = scores[~scores["dataset"].isin(["dna", "ad"])]
    material = Material.of(study, some, load_published(), {"dna": "DNA"}, folder)
    text = build_study_page(material, [], learners, {})
    assert text.splitlines()[2].startswith(
        "**This page shows a part of the study: 18 of 20 datasets.** Not computed: DNA; ad."
    )
    assert text.count("**Shown: 18 of 20 datasets.**") == n_products
    assert "**18 of 20 datasets:** " in text
    assert text.index("## What was asked") < text.index(".png)") < text.index("## How it is meas")


def test_a_page_shows_no_picture_of_a_dataset_without_scores(tmp_path):
    study = load_study(ROOT / "workflow/studies/demo.yaml")
    for name in ("structure_grid", "structure_triples"):
        write_bytes(tmp_path / f"figures/{name}.png", b"drawn")
    rows = [("demo", "grid", "dtsl", "", "pll", -8.0, 0.1)]
    frame = pd.DataFrame(rows, columns=COLUMNS)
    material = Material.of(study, frame, load_published(), {"grid": "Grid"}, tmp_path)
    text = build_study_page(material, [], {study.learner(m): "" for m in study.methods}, {})
    assert "part of the study: 1 of 3 datasets.** Not computed: triples; digits." in text
    assert "**1 of 3 datasets:** Grid." in text
    assert "figures/structure_grid.png" in text
    assert "figures/structure_triples.png" not in text
    of_triples = text.partition("### The network learned on Triples\n\n")[2]
    assert of_triples.startswith("No results yet: `mnlearn study demo` computes them.")


def test_claims_about_the_set_up_are_not_counted(tmp_path):
    rows = "1,wins,a,reproduced\n2,wins,b,cannot be checked\n3,setting,c,cannot be checked\n"
    rows += "4,wins,d,beyond the paper\n5,wins,e,the paper contradicts itself\n"
    (tmp_path / "claims.csv").write_text("id,kind,statement,verdict\n" + rows)
    assert count_groups(read_claims(tmp_path)) == [1, 0, 0, 0, 1, 1]


def test_methods_below_independent_variables_are_named():
    rows = [
        ("x", "atomic", "", "pll", -3), ("x", "blm", "", "pll", -4), ("x", "l1", "", "pll", -3),
        ("y", "atomic", "", "pll", -3), ("y", "blm", "", "pll", -2), ("x", "blm", "v", "pll", -9),
        ("x", "atomic", "", "ll", -3.0), ("x", "l1", "", "ll_annealed", -4.0),
        ("x", "l1", "", "n_features", -4.0), ("x", "atomic", "", "n_features", 4.0),
    ]  # fmt: skip
    scores = pd.DataFrame(rows, columns=["dataset", "method", "variant", "quantity", "value"])
    content = {"datasets": ["x", "y"], "methods": {"atomic": {}, "blm": {}, "l1": {}}}
    below = list_below(Study("s", content), scores)
    assert below == [("blm", "pll", ["x"]), ("l1", "ll_annealed", ["x"])]
    del content["methods"]["atomic"]
    assert list_below(Study("s", content), scores) == []


@pytest.mark.parametrize("text", ["id\n1\n", "id,kind\n1," + "a" * 140_000 + "\n"])
def test_damaged_claims_are_refused(tmp_path, text):
    (tmp_path / "claims.csv").write_text(text)
    with pytest.raises(InputError, match=r"claims\.csv: expected the column"):
        read_claims(tmp_path)


def test_the_commit_of_a_record(tmp_path):
    assert read_commit(tmp_path) == ""
    (tmp_path / "record.json").write_text('{"commit": "0123abcd"}')
    assert read_commit(tmp_path) == "0123abcd"
    for content in ("[]", '{"commit": 1}', "{}"):
        (tmp_path / "record.json").write_text(content)
        with pytest.raises(InputError, match=r"record.json: expected a commit\."):
            read_commit(tmp_path)
    (tmp_path / "record.json").write_text('{"commit": "0123abcd", "records": [1]}')
    with pytest.raises(InputError, match=r"record.json, records: expected a digest"):
        read_commit(tmp_path)


def compare(pages):
    differing = [str(path) for path, text in pages.items() if path.read_text("utf-8") != text]
    assert differing == [], "run `make pages`"


def test_the_recorded_overviews_follow_from_the_record():
    pages = overview_pages()
    assert [path.name for path in pages] == ["README.md", "FIDELITY.md", "CLAIMS.md"]
    compare(pages)


@pytest.mark.nightly
def test_the_recorded_pages_follow_from_the_record():
    pages = result_pages()
    recorded = [path.parent for path in results_folder().glob("*/scores.csv")]
    assert {folder / "README.md" for folder in recorded} <= pages.keys()
    assert len(pages) == len(overview_pages()) + 2 + len(recorded)
    compare(pages)


def test_the_commit_is_named_while_the_records_are_those_that_it_made(tmp_path):
    cmll = {"groups": 2, "partitions": {"default": 1, "exceptions": {}}, "inference": {}}
    content = {"datasets": ["grid"], "methods": {"atomic": {}}, "cmll": cmll, "figures": []}

    def plan():
        return Plan(
            studies={"s": Study("s", content)}, running=["s"], results=tmp_path, seed=1, local={}
        )

    path = plan().path(Record("cells", "s", "grid", ("atomic",)))
    write_json(path, {})
    assert common_commit([plan()]) == ""
    note = {"commit": "0123abcd", "records": {"s": digest_records(plan(), "s"), "t": "0"}}
    write_json(tmp_path / "record.json", note)
    assert common_commit([plan()]) == "0123abcd"
    path.rename(path.with_name("atomic@00000001.json"))
    assert common_commit([plan()]) == ""
    write_json(tmp_path / "record.json", {"commit": "0123abcd"})
    assert common_commit([plan()]) == ""
