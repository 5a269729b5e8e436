import csv
import io

import pandas as pd
import pytest

from mnlearn import claims
from mnlearn.data.registry import load_registry
from mnlearn.errors import InputError
from mnlearn.published import load_published
from mnlearn.study import Study

A = {"method": "a", "quantity": "cmll"}
B = {"method": "b", "quantity": "cmll"}
# GSSL's own claims about its Table 2, as entries of a study.
TABLE2 = {
    m: {"name": m, "study": "gssl", "table": 2, "method": m, "quantity": "cmll"}
    for m in ("gssl", "l1", "dtsl", "blm")
}
TOTAL = {
    m: {"study": "gssl", "table": 3, "method": m, "quantity": "seconds_learn"}
    for m in ("gssl", "l1", "dtsl", "blm")
}
ALL20 = list(load_registry())


@pytest.fixture(scope="module")
def published():
    return load_published()


def scores_of(values):
    """Scores from {(method, variant): {dataset: value}}."""
    rows = [
        ("s", dataset, method, variant, "cmll", value, None)
        for (method, variant), by_dataset in values.items()
        for dataset, value in by_dataset.items()
    ]
    columns = ["study", "dataset", "method", "variant", "quantity", "value", "stderr"]
    return pd.DataFrame(rows, columns=columns)


def study_of(*entries, datasets=("nltcs", "msnbc", "kdd"), **content):
    entries = [
        {"id": n, "statement": "It is so.", **entry} for n, entry in enumerate(entries, start=1)
    ]
    datasets = list(datasets)
    return Study("s", {"title": "T", "datasets": datasets, "claims": entries, **content})


def outcome(printed, scores=None, datasets=("nltcs", "msnbc", "kdd"), content=None, **entry):
    study = study_of(entry, datasets=datasets, **(content or {}))
    scores = scores_of({}) if scores is None else scores
    return claims.evaluate(study, scores, printed)[0].outcome


@pytest.mark.parametrize(
    ("entry", "ours"),
    [
        (
            {"kind": "best_of", "published": 8, "columns": [*TABLE2.values()], "best": ["gssl"]},
            "8 of 20",
        ),
        ({"kind": "wins", "published": 11, "a": TABLE2["gssl"], "b": TABLE2["l1"]}, "11 of 20"),
        ({"kind": "wins", "published": 15, "a": TABLE2["gssl"], "b": TABLE2["dtsl"]}, "15 of 20"),
        (
            {"kind": "wilcoxon", "published": 0.0193, "a": TABLE2["gssl"], "b": TABLE2["dtsl"]},
            "p 0.0172, 15 to 5 in favour",
        ),
        ({"kind": "wins", "published": 19, "a": TABLE2["gssl"], "b": TABLE2["blm"]}, "19 of 20"),
        (
            {"kind": "wilcoxon", "published": 0.0002, "a": TABLE2["gssl"], "b": TABLE2["blm"]},
            "p 0.000025, 19 to 1 in favour",
        ),
        (
            {"kind": "wins", "published": 16, "a": TOTAL["gssl"], "b": TOTAL["l1"], "lower": True},
            "16 of 20",
        ),
        (
            {"kind": "speedup", "published": 15, "tolerance": 1, "a": TOTAL["gssl"]}
            | {"b": TOTAL["l1"]},
            "14.3",
        ),
        (
            {"kind": "wins", "published": 13, "a": TOTAL["gssl"], "b": TOTAL["dtsl"]}
            | {"lower": True},
            "13 of 20",
        ),
        ({"kind": "speedup", "published": 2, "a": TOTAL["gssl"], "b": TOTAL["dtsl"]}, "2.05"),
        (
            {"kind": "speedup", "published": 4634, "tolerance": 200, "a": TOTAL["gssl"]}
            | {"b": TOTAL["blm"]},
            "4510",
        ),
    ],
)
def test_the_claims_of_gssl_follow_from_its_tables(published, entry, ours):
    found = outcome(published, datasets=ALL20, **entry)
    assert found.verdict == claims.REPRODUCED
    assert found.ours == ours
    assert found.n_datasets == 20


WINS = {"kind": "wins", "published": 2, "a": A, "b": B}
PAIRS = scores_of(
    {
        ("a", ""): {"nltcs": -1.0, "msnbc": -2.0, "kdd": -3.0},
        ("b", ""): {"nltcs": -1.5, "msnbc": -1.5, "kdd": -3.0},
    }
)


@pytest.mark.parametrize(
    ("options", "verdict"),
    [
        ({}, claims.NOT_REPRODUCED),
        ({"tolerance": 1}, claims.REPRODUCED),
        ({"published": 1}, claims.REPRODUCED),
        ({"published": 0}, claims.NOT_REPRODUCED),
        ({"published": 0, "accept": "at_least"}, claims.REPRODUCED),
        ({"accept": "at_most"}, claims.REPRODUCED),
    ],
)
def test_wins_are_judged_by_tolerance_and_direction(published, options, verdict):
    found = outcome(published, PAIRS, **{**WINS, **options})
    assert found.verdict == verdict
    assert found.ours == "1 of 3"
    assert found.difference == f"{1 - {**WINS, **options}['published']:+d}"


def test_a_claim_waits_until_all_its_datasets_are_scored(published):
    found = outcome(published, PAIRS, **WINS, datasets=["nltcs", "msnbc", "kdd", "plants"])
    assert found.verdict == claims.UNKNOWN
    assert found.ours == "1 of 3"
    assert found.reason == "3 of 4 datasets scored; missing: plants"


def test_best_of_counts_ties_for_the_best_place(published):
    scores = scores_of(
        {
            ("m", "x"): {"nltcs": -1.0, "msnbc": -2.0, "kdd": -3.0},
            ("m", "y"): {"nltcs": -1.0, "msnbc": -1.0, "kdd": -4.0},
        }
    )
    columns = [{"name": v, "method": "m", "variant": v, "quantity": "cmll"} for v in "xy"]
    entry = {"kind": "best_of", "published": 2, "columns": columns}
    assert outcome(published, scores, best=["x"], **entry).ours == "2 of 3"
    assert outcome(published, scores, best=["x", "y"], **entry).ours == "3 of 3"


@pytest.mark.parametrize(("bound", "ours"), [(0.029, 1), (0.03, 2), (0.032, 3)])
def test_near_counts_differences_per_variable(published, bound, ours):
    # 0.5 over the 16 variables of NLTCS, 0.5 over the 17 of MSNBC, and 0.
    entry = {"kind": "near", "published": ours, "bound": bound, "a": A, "b": B}
    found = outcome(published, PAIRS, **entry)
    assert (found.verdict, found.ours) == (claims.REPRODUCED, f"{ours} of 3")
    waiting = outcome(published, PAIRS, datasets=["nltcs", "plants"], **entry)
    assert waiting.verdict == claims.UNKNOWN


@pytest.mark.parametrize(("low", "high", "ours"), [(-2, -1, 2), (-3, 0, 3), (-1.5, -1.2, 0)])
def test_inside_counts_values_between_bounds(published, low, high, ours):
    entry = {"kind": "inside", "published": 2, "low": low, "high": high, "a": A}
    found = outcome(published, PAIRS, **entry)
    assert found.ours == f"{ours} of 3"
    assert found.verdict == (claims.REPRODUCED if ours == 2 else claims.NOT_REPRODUCED)


@pytest.mark.parametrize(("mean", "ours"), [("arithmetic", "1.08"), ("geometric", "1.04")])
def test_ratio(published, mean, ours):
    entry = {"kind": "ratio", "published": 1, "tolerance": 0.2, "mean": mean, "a": B, "b": A}
    values = outcome(published, PAIRS, **entry)
    # 1.5, 0.75 and 1
    assert values.ours == ours
    assert values.verdict == claims.REPRODUCED


def test_a_ratio_to_nothing_is_not_judged(published):
    scores = scores_of({("a", ""): {"nltcs": 1.0}, ("b", ""): {"nltcs": 0.0}})
    entry = {"kind": "ratio", "published": 1, "datasets": ["nltcs"], "a": A, "b": B}
    assert outcome(published, scores, **entry).verdict == claims.UNKNOWN


def test_value(published):
    entry = {"kind": "value", "a": A, "published": -1.04, "tolerance": 0.05}
    found = outcome(published, PAIRS, dataset="nltcs", **entry)
    assert (found.verdict, found.ours, found.difference) == (claims.REPRODUCED, "-1", "+0.0400")
    assert outcome(published, PAIRS, dataset="plants", **entry).verdict == claims.UNKNOWN


def test_wilcoxon_needs_significance_in_the_stated_direction(published):
    low = {d: -float(n) for n, d in enumerate(ALL20, start=2)}
    high = {d: -float(n) / 2 for n, d in enumerate(ALL20, start=2)}
    scores = scores_of({("a", ""): high, ("b", ""): low})
    entry = {"kind": "wilcoxon", "published": 0.01, "datasets": ALL20}
    assert outcome(published, scores, a=A, b=B, **entry).verdict == claims.REPRODUCED
    assert outcome(published, scores, a=B, b=A, **entry).verdict == claims.NOT_REPRODUCED
    lower = outcome(published, scores, a=B, b=A, lower=True, **entry)
    assert lower.verdict == claims.REPRODUCED
    entry["published"] = 0.4
    assert outcome(published, scores, a=A, b=B, **entry).verdict == claims.NOT_REPRODUCED


@pytest.mark.parametrize(
    ("path", "expected", "verdict", "ours"),
    [
        ("methods.a.grid.sd", [0.1, 1.0], claims.REPRODUCED, "0.1; 1.0"),
        ("methods.a.grid.sd", [0.1], claims.NOT_REPRODUCED, "0.1; 1.0"),
        ("cmll.groups", 4, claims.REPRODUCED, "4"),
        ("cmll.samples", 4, claims.NOT_REPRODUCED, "not set"),
    ],
)
def test_settings_are_those_of_the_study(published, path, expected, verdict, ours):
    content = {"methods": {"a": {"grid": {"sd": [0.1, 1.0]}}}, "cmll": {"groups": 4}}
    entry = {"kind": "setting", "published": 1, "path": path, "expected": expected}
    found = outcome(published, content=content, **entry)
    assert (found.verdict, found.ours) == (verdict, ours)


def test_documented_and_unavailable_say_why(published):
    found = outcome(published, kind="setting", published=1, documented="as published")
    assert (found.verdict, found.ours) == (claims.DOCUMENTED, "as published")
    found = outcome(published, kind="unavailable", published=1, needs="L1")
    assert (found.verdict, found.reason) == (claims.UNKNOWN, "needs L1")


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"kind": "guess"}, "claims, 1: kind 'guess' is none of wins"),
        ({"kind": "wins", "a": A}, "study s, claim 1: expected the key 'b'"),
        ({"kind": "wins", "a": A, "b": {"method": "b"}}, "claim 1, b: expected the key 'quantity'"),
        ({"kind": "wins", "a": A, "b": B, "accept": "maybe"}, "accept: expected one of within"),
        ({"kind": "wins", "a": A, "b": B, "published": "two"}, "expected a number, got 'two'"),
        ({"kind": "best_of", "columns": [], "best": ["x"]}, "no column is named 'x'"),
        ({"kind": "near", "a": A, "b": B}, "expected the key 'bound'"),
        ({"kind": "inside", "a": A, "low": 0}, "expected the key 'high'"),
    ],
)
def test_entries_that_do_not_fit_are_named(published, entry, message):
    with pytest.raises(InputError, match=message):
        outcome(published, PAIRS, **{"published": 1, **entry})


def test_files_for_readers_and_programs(published, tmp_path):
    study = study_of(
        {**WINS, "published": 1, "note": "A remark."},
        {"kind": "unavailable", "published": "a | b", "needs": "L1"},
    )
    md, table = tmp_path / "claims.md", tmp_path / "claims.csv"
    claims.write_claims(study, PAIRS, published, md, table)
    rows = list(csv.DictReader(io.StringIO(table.read_text())))
    assert [row["verdict"] for row in rows] == [claims.REPRODUCED, claims.UNKNOWN]
    assert rows[0]["published"] == "1 of 3"
    text = md.read_text()
    assert "2 claims: 1 reproduced, 1 cannot be checked yet." in text
    assert r"a \| b" in text
    assert "1. A remark." in text
    assert "- **reproduced**:" in text
    assert "- **not reproduced**:" not in text


def test_a_study_without_claims_says_so(published, tmp_path):
    claims.write_claims(study_of(), PAIRS, published, tmp_path / "c.md", tmp_path / "c.csv")
    assert "states no claims" in (tmp_path / "c.md").read_text()


def test_the_least_may_be_the_best(published):
    columns = [{"name": m, **TOTAL[m]} for m in TOTAL]
    found = outcome(
        published, kind="best_of", published=13, lower=True, columns=columns, best=["gssl"],
        datasets=ALL20,
    )  # fmt: skip
    assert (found.verdict, found.ours) == (claims.REPRODUCED, "13 of 20")


@pytest.mark.parametrize(
    ("printed_means", "verdict"), [("1; 2", "reproduced"), ("3; 2", "not reproduced")]
)
def test_trend_of_means_over_variants(published, printed_means, verdict):
    values = {("a", "x"): [1.0, 3.0], ("a", "y"): [2.0, 2.0], ("a", "z"): [5.0, 7.0]}
    names = ("nltcs", "msnbc")
    scores = scores_of({k: dict(zip(names, v, strict=True)) for k, v in values.items()})
    entry = {"kind": "trend", "method": "a", "quantity": "cmll", "published": printed_means}
    found = outcome(published, scores, names, groups=[["x", "y"], ["z"]], **entry)
    assert (found.verdict, found.ours, found.n_datasets) == (verdict, "2.00; 6.00", 2)
    found = outcome(published, scores, groups=[["x", "y"], ["z"]], **entry)
    assert found.verdict == claims.UNKNOWN
    assert (
        outcome(published, scores, names, groups=[["w"], ["z"]], **entry).verdict == claims.UNKNOWN
    )


def test_distribution_of_values_over_datasets(published):
    scores = scores_of({("a", ""): {"nltcs": 1.0, "msnbc": 2.0, "kdd": 1.0}})
    entry = {"kind": "distribution", "a": A, "values": [1, 2, 5], "published": "1; 1; 1"}
    found = outcome(published, scores, **entry)
    assert (found.verdict, found.ours) == (claims.NOT_REPRODUCED, "2; 1; 0")
    assert outcome(published, scores, tolerance=1, **entry).verdict == claims.REPRODUCED
    assert outcome(published, scores_of({}), **entry).verdict == claims.UNKNOWN


def test_a_setting_may_have_several_values(published):
    settings = {"burn_in": 100, "samples": 1000}
    found = outcome(
        published, content={"cmll": {"inference": settings}}, kind="setting", published="100; 1000",
        path="cmll.inference", expected=settings,
    )  # fmt: skip
    assert (found.verdict, found.ours, found.difference) == (claims.REPRODUCED, "100; 1000", "same")
