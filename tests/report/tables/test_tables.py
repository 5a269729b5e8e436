"""Tables in general: their options, kinds, names and captions."""

import pytest

from made_tables import COMPARE, COMPARE_SCORES, LABELS, make, scores_of
from mnlearn.runtime.errors import InputError
from mnlearn_studies.datasets.registry import registry_path
from mnlearn_studies.report import figures, tables
from mnlearn_studies.report.claims import KINDS as CLAIM_KINDS
from mnlearn_studies.report.material import Material
from mnlearn_studies.report.tables.formats import to_latex, to_markdown
from mnlearn_studies.study.definition import Study, load_study


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"columns": [{"name": "a", "method": "a"}]}, "column a: expected the key 'quantity'"),
        ({"columns": [{"method": "a"}]}, "table t, column 1: expected the key 'name'"),
        (
            {"columns": [{"name": "a", "method": "a", "quantity": "pll"}], "mean": ["z"]},
            "no column is named 'z'",
        ),
    ],
)
def test_options_that_do_not_fit_are_named(published, options, message):
    with pytest.raises(InputError, match=message):
        make("compare", scores_of(COMPARE_SCORES), published, **options)


def test_unknown_kinds_and_names_are_refused(published, tmp_path):
    with pytest.raises(InputError, match="kind 'pie' is none of compare, datasets"):
        make("pie", scores_of([]), published)
    study = Study("s", {"datasets": [], "tables": [], "title": ""})
    with pytest.raises(InputError, match="no 'x'"):
        tables.make_tables(Material.of(study, scores_of([]), published, {}), only=["x"])


SUFFIXES = ("csv", "md", "tex")
STUDIES = sorted(p.stem for p in (registry_path().parent / "studies").glob("*.yaml"))


@pytest.mark.parametrize("name", STUDIES)
def test_every_kind_that_a_study_uses_exists(name, published, tmp_path):
    study = load_study(registry_path().parent / "studies" / f"{name}.yaml")
    assert {t["kind"] for t in study.content["tables"]} <= set(tables.KINDS)
    assert {f["kind"] for f in study.content["figures"]} <= set(figures.KINDS)
    assert {c["kind"] for c in study.content["claims"]} <= set(CLAIM_KINDS)
    made = tables.make_tables(Material.of(study, scores_of([]), published, {}))
    tables.write_tables(made, tmp_path)
    names = {f"{t['name']}.{suffix}" for t in study.content["tables"] for suffix in SUFFIXES}
    assert {path.name for path in tmp_path.iterdir()} == names


def test_captions_are_one_line(published):
    """A line of its own could be a heading, a table or a directive; LaTeX takes no control."""
    caption = "One\n\n# two\r\x0b| a |\u2028.. raw:: html\x1b[0m \x00 end\n"
    product = {"name": "t", "kind": "compare", "caption": caption, **COMPARE}
    study = Study("s", {"datasets": list(LABELS), "tables": [product], "title": "T"})
    table = tables.make_table(
        Material.of(study, scores_of(COMPARE_SCORES), published, LABELS), product
    )
    assert table.caption == "One # two | a | .. raw:: html [0m end"
    assert to_markdown(table).splitlines()[1] == ""
    text = to_latex(table)
    assert text.isascii() or text.replace("\n", "").isprintable()
