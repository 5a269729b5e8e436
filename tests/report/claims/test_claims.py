"""Claims: which entries are accepted, what waits, and what is written."""

import csv
import io
import re

import pytest

from claim_cases import THREE, claim, outcome, scores_of, scores_on, source, study_of
from mnlearn.runtime.errors import InputError
from mnlearn_studies.datasets.registry import load_registry
from mnlearn_studies.report import claims
from mnlearn_studies.report.claims import KINDS, counts
from mnlearn_studies.report.claims.verdicts import CONTRADICTED, LEGEND, REPRODUCED, SETUP, UNKNOWN

A, B = source("a"), source("b")
WINS = {"kind": "wins", "published": 1, "a": A, "b": B}
TREND = {"kind": "trend", "method": "a", "quantity": "cmll"}
PAIRS = scores_on(a=[-1.0, -2.0, -3.0], b=[-1.5, -1.5, -3.0])
ALL20 = list(load_registry())
LEARNERS = ("gssl", "l1", "dtsl", "blm")
# What GSSL says about its own Tables 2 and 3.
TABLE2 = {
    m: {"name": m, "study": "gssl", "table": 2, "method": m, "quantity": "cmll"} for m in LEARNERS
}
TABLE3 = {
    m: {"name": m, "study": "gssl", "table": 3, "method": m, "quantity": "seconds_learn"}
    for m in LEARNERS
}


def versus(kind, published, table, other, **options):
    return {"kind": kind, "published": published, "a": table["gssl"], "b": table[other], **options}


def test_claims_that_count_may_say_the_direction():
    """That of a count which is larger or smaller than the published one."""
    takes = {name for name, kind in counts.KINDS.items() if "direction" in kind.options}
    assert takes == set(counts.KINDS)


@pytest.mark.parametrize(
    ("kind", "brief"),
    [
        ("setting", "setting, values of the study"),
        ("setups", "setting, number of combinations"),
        ("recorded", "setting, value of every model"),
        ("compared", "setting, number of scored variants"),
        ("stated", "in words, "),
        ("unavailable", "no rule yet, "),
    ],
)
def test_rules_in_a_few_words(kind, brief):
    assert f"{KINDS[kind].title}, {KINDS[kind].brief({})}" == brief
    assert KINDS[kind].is_setup == (kind != "unavailable")


def test_what_is_counted():
    titles = {name: kind.title for name, kind in counts.KINDS.items()}
    assert titles.pop("cells") == "number of cells"
    assert set(titles.values()) == {"number of datasets"}


@pytest.mark.parametrize(
    ("entry", "ours"),
    [
        (
            {"kind": "best_of", "published": 8, "columns": [*TABLE2.values()], "best": ["gssl"]},
            "8 of 20",
        ),
        (versus("wins", 11, TABLE2, "l1"), "11 of 20"),
        (
            versus("wilcoxon", "not significant", TABLE2, "l1"),
            "p 0.522, rank sums 87 for and 123 against",
        ),
        (versus("wins", 15, TABLE2, "dtsl"), "15 of 20"),
        (
            versus("wilcoxon", 0.0193, TABLE2, "dtsl"),
            "p 0.0172, rank sums 168 for and 42 against",
        ),
        (versus("wins", 19, TABLE2, "blm"), "19 of 20"),
        (
            versus("wilcoxon", 0.0002, TABLE2, "blm"),
            "p 0.0000248, rank sums 204 for and 6 against",
        ),
        (
            {"kind": "best_of", "published": 13, "columns": [*TABLE3.values()], "best": ["gssl"]}
            | {"lower": True},
            "13 of 20",
        ),
        (versus("wins", 16, TABLE3, "l1", lower=True), "16 of 20"),
        (versus("speedup", 15, TABLE3, "l1"), "14.3"),
        (versus("wins", 13, TABLE3, "dtsl", lower=True), "13 of 20"),
        (versus("speedup", 2, TABLE3, "dtsl"), "2.05"),
        (versus("speedup", 4634, TABLE3, "blm"), "4510"),
    ],
)
def test_the_claims_of_gssl_follow_from_its_tables(published, entry, ours):
    """The one tolerance of each kind covers what the papers round."""
    found = outcome(published, datasets=ALL20, **entry)
    assert (found.verdict, found.ours, found.n_datasets) == (REPRODUCED, ours, 20)


def test_a_claim_waits_until_all_its_datasets_are_scored(published):
    found = outcome(published, PAIRS, **WINS, datasets=[*THREE, "plants"])
    assert (found.verdict, found.ours) == (UNKNOWN, "1 of 3")
    assert found.reason == "3 of 4 datasets scored; missing: plants"


def test_a_claim_names_the_numbers_that_are_not_in_the_scores(published):
    found = outcome(published, PAIRS, **{**WINS, "b": [source("c"), B, source("d")]})
    assert (found.verdict, found.ours) == (UNKNOWN, "")
    assert found.reason == "not in the scores: cmll of c, cmll of d"
    # Published numbers are not in our scores; what is absent twice is named once.
    entry = {**WINS, "a": [source("c"), source("c")], "b": TABLE2["l1"]}
    assert outcome(published, PAIRS, **entry).reason == "not in the scores: cmll of c"


def test_a_claim_that_lacks_its_first_dataset(published):
    found = outcome(published, PAIRS, **WINS, datasets=["plants", *THREE])
    assert (found.verdict, found.ours, found.n_datasets) == (UNKNOWN, "1 of 3", 3)
    assert found.reason == "3 of 4 datasets scored; missing: plants"


@pytest.mark.parametrize(("number", "shown"), [(1, "1 of 3"), ("most", "most"), (0, "0 of 3")])
def test_published_counts_are_of_all_datasets(published, number, shown):
    assert claim(published, PAIRS, **{**WINS, "published": number}).published == shown


def test_published_numbers_that_are_no_counts(published):
    entry = {"kind": "value", "a": A, "dataset": "kdd", "published": 2.5, "note": "So."}
    found = claim(published, PAIRS, **entry)
    assert (found.id, found.published, found.note, found.is_setup) == (1, "2.5", "So.", False)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"kind": "guess"}, "claims, 1: kind 'guess' is none of wins"),
        ({"kind": "wins", "a": A}, "study s, claim 1: expected the key 'b'"),
        ({"kind": "wins", "a": A, "b": {"method": "b"}}, "claim 1, b: expected the key 'quantity'"),
        ({**WINS, "direction": "up"}, "direction: expected one of more, fewer, neither"),
        ({**WINS, "published": "many"}, "expected a number or one of some, often, .*'many'"),
        ({**WINS, "tolerance": 1}, "claim 1: no option 'tolerance'; expected one of id, kind"),
        ({**WINS, "accept": "at_least"}, "claim 1: no option 'accept'; expected one of id, kind"),
        (
            {"kind": "best_of", "columns": [{**A, "name": "a"}], "best": ["x"]},
            "no column is named 'x'",
        ),
        ({"kind": "near", "a": A, "b": B}, "expected the key 'bound'"),
        ({"kind": "inside", "a": A, "low": 0}, "expected the key 'high'"),
        (
            {"kind": "margin", "a": A, "b": B, "bound": 0, "relation": "far"},
            "relation: expected one of above, apart, similar",
        ),
        ({"kind": "ratio", "a": A, "b": B, "mean": "middle"}, "mean: expected one of arithmetic"),
        ({"kind": "ratio", "a": A, "b": B, "published": "two"}, "expected a number, got 'two'"),
        ({"kind": "orders", "a": A, "b": B, "published": "a to b"}, "expected numbers"),
        (
            {"kind": "orders", "a": A, "b": B, "published": "7"},
            "study s, claim 1, published: expected 2 numbers, got 1",
        ),
        (
            {"kind": "speedup_range", "a": A, "b": B, "published": "7"},
            "study s, claim 1, published: expected 2 numbers, got 1",
        ),
        (
            {**TREND, "groups": [[""], [""]], "published": "1; 2; 3"},
            "study s, claim 1, published: expected 2 numbers, got 3",
        ),
        (
            {"kind": "distribution", "a": A, "values": [1, 2, 3], "published": "1; 1"},
            "study s, claim 1, published: expected 3 numbers, got 2",
        ),
        ({"kind": "wilcoxon", "a": A, "b": B, "published": 0.2}, "expected a p-value up to 0.05"),
        (
            {"kind": "exceeds", "a": A, "dataset": "kdd", "limit": "methods.a.grid.x"},
            "limit: the study does not set methods.a.grid.x",
        ),
        ({"kind": "setting", "paths": ["title"], "published": "a to b"}, "expected numbers"),
        ({"kind": "example", "example": "other"}, "example: expected one of consistent"),
        ({"kind": "example", "example": "uniform"}, "published: expected 3 numbers, got 1"),
    ],
)
def test_entries_that_do_not_fit_are_named(published, entry, message):
    positive = scores_on(a=[1.0, 2.0, 3.0], b=[1.5, 1.5, 3.0])
    with pytest.raises(InputError, match=message):
        outcome(published, positive, **{"published": 1, **entry})


def test_the_rule_of_a_claim_shows_its_tolerance_and_options(published):
    def brief(**entry):
        return claim(published, PAIRS, **entry).brief

    assert brief(**WINS) == "number of datasets, ±1"
    assert brief(**WINS, lower=True) == "number of datasets, ±1; lower is better"
    assert brief(**{**WINS, "published": 3}) == "number of datasets, exact"
    assert brief(**{**WINS, "published": "most"}) == "number of datasets, `most` is more than half"
    assert brief(**WINS, direction="fewer") == "number of datasets, ±1; fewer is stronger"
    assert brief(**WINS, direction="neither") == "number of datasets, ±1; no direction"
    assert brief(**{**WINS, "published": 0}) == "number of datasets, exact"
    entry = {"kind": "near", "published": 1, "a": A, "b": B, "bound": 0.01}
    assert brief(**entry) == "number of datasets, ±1; bound 0.01 nats per variable"
    entry = {"kind": "beyond", "published": 1, "a": A, "b": B, "c": B, "bound": 2}
    assert brief(**entry) == "number of datasets, ±1; factor 2"
    entry = {"kind": "between_powers", "published": 1, "a": A, "b": A, "low": 0, "high": 2}
    assert brief(**entry) == "number of datasets, ±1; powers 0 to 2"
    columns = [{"name": "a", **A}, {"name": "b", **B}]
    entry = {"kind": "best_of", "published": 1, "columns": columns, "best": ["a"], "ties": True}
    assert brief(**entry) == "number of datasets, ±1; ties count"
    entry = {"kind": "margin", "published": "all", "a": A, "b": B, "bound": -0.05}
    assert brief(**entry) == "number of datasets, `all` is every one; bound -5 %"
    assert brief(**entry, relation="similar").endswith("similar; bound -5 %")
    entry = {"kind": "inside", "published": 1, "a": A, "low": 0.5, "high": 2}
    assert brief(**entry) == "number of datasets, ±1; 0.5 to 2"
    entry = {"kind": "ratio", "published": 2, "a": A, "b": B, "mean": "geometric"}
    assert brief(**entry) == "mean ratio, geometric, ±10 %"


def test_files_for_readers_and_programs(published, tmp_path):
    content = {"cmll": {"groups": 4, "samples": 10}}
    study = study_of(
        {**WINS, "note": "A remark."},
        {"kind": "unavailable", "published": "a | b", "needs": "L1", "note": "Another."},
        {"kind": "setting", "published": 4, "paths": ["cmll.groups"]},
        {"kind": "setting", "published": 20, "paths": ["cmll.samples"]},
        {"kind": "setting", "published": 20, "paths": ["methods.l1.grid.sd"]},
        **content,
    )
    claims.write_claims(study, claims.evaluate(study, PAIRS, published), tmp_path)
    rows = list(csv.DictReader(io.StringIO((tmp_path / "claims.csv").read_text())))
    assert [row["verdict"] for row in rows] == [REPRODUCED, UNKNOWN, SETUP, SETUP, UNKNOWN]
    assert rows[0]["published"] == "1 of 3"
    assert rows[0]["rule"] == "number of datasets, ±1"
    text = (tmp_path / "claims.md").read_text()
    assert "2 results: 1 *reproduced*; 1 *cannot be checked*.\n" in text
    assert (
        "3 set-up claims, which are not results: 1 followed; 1 from which this study deviates; "
        "1 that cannot be checked.\n"
    ) in text
    assert "set-up (deviates: ours 10)" in text
    assert r"a \| b" in text
    assert re.search(r"1\. A remark\.\n\n\d\. Another\.\n", text)
    assert re.findall("^## (.*)$", text, re.MULTILINE) == [
        "Results", "Set-up", "Verdicts", "Rules", "Remarks",
    ]  # fmt: skip
    assert f"- **reproduced**: {LEGEND[REPRODUCED]}." in text
    assert f"- **{CONTRADICTED}**" not in text
    assert text.count("- **number of datasets**: `reproduced` if our count differs") == 1
    assert text.index("## Results") < text.index("a \\| b") < text.index("## Set-up")


def test_a_study_without_claims_says_so(published, tmp_path):
    study = study_of()
    claims.write_claims(study, claims.evaluate(study, scores_of({}), published), tmp_path)
    assert "states no claims" in (tmp_path / "claims.md").read_text()


# What the pages call each kind of claim.
TITLES = {
    "wins": "number of datasets",
    "best_of": "number of datasets",
    "near": "number of datasets",
    "margin": "number of datasets",
    "beyond": "number of datasets",
    "inside": "number of datasets",
    "between_powers": "number of datasets",
    "cells": "number of cells",
    "ratio": "mean ratio",
    "speedup": "mean ratio",
    "orders": "order of magnitude",
    "speedup_range": "range of ratios",
    "share": "mean share",
    "trend": "trend of means",
    "ordered": "order of means",
    "value": "value",
    "exceeds": "bound",
    "seconds": "absolute time",
    "slow": "slow datasets",
    "distribution": "distribution",
    "correlation": "rank correlation",
    "growth": "power of growth",
    "wilcoxon": "Wilcoxon test",
    "example": "worked example",
    "setting": "setting",
    "setups": "setting",
    "recorded": "setting",
    "compared": "setting",
    "stated": "in words",
    "unavailable": "no rule yet",
}


def test_every_kind_has_its_title():
    assert {name: kind.title for name, kind in claims.KINDS.items()} == TITLES
