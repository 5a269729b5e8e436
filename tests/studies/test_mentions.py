"""Quantities that tables and figures name: those that are misspelt are refused."""

import pytest

from made_tables import scores_of
from mnlearn.runtime.errors import InputError
from mnlearn_studies.records.gather import read_scores
from mnlearn_studies.records.kinds import KINDS
from mnlearn_studies.report.tables import kinds_read
from mnlearn_studies.study.definition import load_study
from mnlearn_studies.study.mentions import check_sources, check_spelling
from mnlearn_studies.study.published import load_published
from workflow_tree import ROOT, TINY

STUDIES = sorted((ROOT / "workflow/studies").glob("*.yaml"))
CONTENT = {
    **TINY,
    "queries": {"examples": 1, "percentages": [10], "methods": ["dtsl"]},
}
SCORES = scores_of([("triples", "dtsl", "", "pll", -1.0), ("triples", "dtsl", "", "n_splits", 3.0)])


def is_recorded(quantity):
    return any(kind.shows(quantity) for kind in KINDS.values())


def check(kind, **options):
    entry = {"name": "t", "kind": "compare", **options}
    given = {"scores": SCORES, "published": load_published(), "is_recorded": is_recorded}
    check_sources("s", CONTENT, kind, entry, **given)


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
def test_the_studies_of_papers_name_what_there_is(path):
    study, published = load_study(path), load_published()
    recorded = ROOT / f"results/{path.stem}/scores.csv"
    scores = read_scores(recorded) if recorded.exists() else scores_of([])
    for kind in ("tables", "figures"):
        for entry in study.content[kind]:
            given = {"scores": scores, "published": published, "is_recorded": is_recorded}
            check_sources(path.stem, study.content, kind, entry, **given)
            check_spelling(path.stem, study.content, kind, entry)


@pytest.mark.parametrize("given", ["plll", "seconds_lern", "cmlk", "chosen_kapa"])
def test_a_slip_is_found_before_there_are_scores(given):
    entry = {"name": "t", "kind": "compare", "columns": [{"method": "dtsl", "quantity": given}]}
    with pytest.raises(InputError, match=f"table t, column 1: no quantity '{given}'; did you mean"):
        check_spelling("s", CONTENT, "tables", entry)
    entry["columns"][0]["quantity"] = "n_edges"
    check_spelling("s", CONTENT, "tables", entry)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("pl", "pll"),
        ("PLL", "pll"),
        ("cml", "cmll"),
        ("n_split", "n_splits"),
        ("seconds_lern", "seconds_learn"),
        ("chosen_kapa", "chosen_kappa"),
        ("kl_to_atom", "kl_to_atomic"),
        ("cmll_sampled_q1", "cmll_sampled_q10"),
    ],
)
def test_a_misspelt_quantity_is_refused_with_its_place(given, meant):
    columns = [{"name": "first", "method": "dtsl", "quantity": given}]
    with pytest.raises(InputError) as caught:
        check("tables", columns=columns)
    assert str(caught.value) == (
        f"study s, table t, column first: no quantity {given!r}; did you mean {meant!r}?"
    )
    with pytest.raises(InputError, match=rf"^study s, figure t, y: no quantity '{given}'; did"):
        check("figures", y={"method": "dtsl", "quantity": given})


def test_a_quantity_that_is_like_no_other_is_refused_too():
    message = "column 1: no quantity 'accuracy'; expected one of n_splits, pll"
    with pytest.raises(InputError, match=message):
        check("tables", columns=[{"method": "dtsl", "quantity": "accuracy"}])


@pytest.mark.parametrize(
    "options",
    [
        # A step that has not run yet would make it.
        {"method": "dtsl", "quantity": "cmll_beliefs_q10"},
        {"method": "dtsl", "quantity": "pll_less_atomic"},
        # The method has no scores yet, so that the details of its learner are not known.
        {"method": "atomic", "quantity": "n_split"},
        # The label of an axis.
        {"quantity": "CML"},
    ],
)
def test_what_may_come_is_not_refused(options):
    check("tables", **options)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"study": "gsl"}, "no published study 'gsl'; did you mean 'gssl'?"),
        ({"table": 22}, "no published table '22'; did you mean '2'?"),
        ({"method": "dtls"}, "no published method 'dtls'; did you mean 'dtsl'?"),
        ({"quantity": "cml"}, "no published quantity 'cml'; did you mean 'cmll'?"),
        ({"quantity": "zzz"}, "no published quantity 'zzz'; expected one of "),
    ],
)
def test_a_published_source_has_numbers(changes, problem):
    source = {"study": "gssl", "table": 2, "method": "dtsl", "quantity": "cmll"}
    check("tables", columns=[source])
    with pytest.raises(InputError, match="study s, table t, column 1: ") as caught:
        check("tables", columns=[{**source, **changes}])
    assert problem in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "quantity", "kinds"),
    [
        ("compare", "cmll", ("cells",)),
        ("compare", "seconds_learn", ("cells", "times")),
        ("compare", "cmll_sampled_q50", ("cells", "curves")),
        ("compare", "seconds_q50", ("cells", "times", "curves")),
        ("compare", "ll_annealed", ("cells", "likelihoods")),
        ("compare", "kl_to_acmn", ("cells", "divergences")),
        ("paired", "pll", ("cells", "paired")),
        ("lem.times", None, ("cells", "times")),
        ("lem.units", None, ("cells", "likelihoods")),
    ],
)
def test_kinds_of_records_that_a_table_shows(kind, quantity, kinds):
    other = {"study": "gssl", "quantity": "cmll"}
    table = {"kind": kind, "columns": [{"method": "a", "quantity": quantity}, other]}
    assert kinds_read(table) == kinds
