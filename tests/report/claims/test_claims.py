"""Claims: which entries are accepted, what waits, and what is written."""

import csv
import io
import re

import pytest

from claim_cases import THREE, claim, evaluate, outcome, scores_of, scores_on, source, study_of
from mnlearn.runtime.errors import InputError
from mnlearn_studies.datasets.registry import load_registry
from mnlearn_studies.report import claims
from mnlearn_studies.report.claims.verdicts import (
    BEYOND,
    CONTRADICTED,
    LEGEND,
    REPRODUCED,
    SETUP,
    SLIP,
    UNKNOWN,
)

A, B = source("a"), source("b")
COUNT = {"kind": "count"}
WINS = {"kind": "count", "published": 1, "a": A, "b": B}
TREND = {"kind": "trend", "a": [A, B]}
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


def slower(published, other):
    return {"kind": "ratio", "published": published, "a": TABLE3[other], "b": TABLE3["gssl"]}


@pytest.mark.parametrize(
    ("entry", "ours"),
    [
        (
            {
                "kind": "count",
                "rule": "best",
                "published": 8,
                "a": [*TABLE2.values()],
                "best": ["gssl"],
            },
            "8 of 20",
        ),
        (versus("count", 11, TABLE2, "l1"), "11 of 20"),
        (
            versus("test", "not significant", TABLE2, "l1"),
            "p 0.522, rank sums 87 for and 123 against, effect -0.17",
        ),
        (versus("count", 15, TABLE2, "dtsl"), "15 of 20"),
        (
            versus("test", 0.0193, TABLE2, "dtsl"),
            "p 0.0172, rank sums 168 for and 42 against, effect +0.60",
        ),
        (versus("count", 19, TABLE2, "blm"), "19 of 20"),
        (
            versus("test", 0.0002, TABLE2, "blm"),
            "p 0.0000248, rank sums 204 for and 6 against, effect +0.94",
        ),
        (
            {
                "kind": "count",
                "rule": "best",
                "published": 13,
                "a": [*TABLE3.values()],
                "best": ["gssl"],
            }
            | {"lower": True},
            "13 of 20",
        ),
        (versus("count", 16, TABLE3, "l1", lower=True), "16 of 20"),
        (slower(15, "l1"), "14.3"),
        (versus("count", 13, TABLE3, "dtsl", lower=True), "13 of 20"),
        (slower(2, "dtsl"), "2.05"),
        (slower(4634, "blm"), "4510"),
    ],
)
def test_the_claims_of_gssl_follow_from_its_tables(published, entry, ours):
    """The one tolerance of each kind covers what the papers round."""
    found = outcome(published, datasets=ALL20, **entry)
    assert (found.verdict, found.ours, found.n_datasets) == (REPRODUCED, ours, 20)


def test_tests_of_a_study_are_corrected_by_holms_rule(published):
    tests = [versus("test", 0.01, TABLE2, other) for other in ("l1", "dtsl", "blm")]
    ours = {**versus("test", 0.01, TABLE2, "blm"), "beyond": True}
    found = evaluate(study_of(*tests, ours, datasets=ALL20), scores_of({}), published)
    after = [claim.outcome.ours.partition("effect ")[2] for claim in found]
    assert after == [
        "-0.17; 0.522 by Holm's rule for 3 tests",
        "+0.60; 0.0344 by Holm's rule for 3 tests",
        "+0.94; 0.0000744 by Holm's rule for 3 tests",
        "+0.94",
    ]


LOSES = {**WINS, "published": "all"}
CAUSE = {"text": "b is tuned", "shown_by": ["table x", "claim 2"]}
SLIP_OF = {"here": "Section 1 says 3", "elsewhere": "Table 2 says 1"}


@pytest.mark.parametrize(
    ("changes", "verdict", "cause"),
    [
        ({}, CONTRADICTED, ""),
        ({"cause": CAUSE}, CONTRADICTED, "b is tuned (table x; claim 2)"),
        ({"cause": CAUSE, "published": 1}, REPRODUCED, ""),
        ({"slip": SLIP_OF}, SLIP, "Section 1 says 3, but Table 2 says 1"),
        ({"slip": SLIP_OF, "published": 1}, REPRODUCED, ""),
        ({"unjudged": "a is not b"}, UNKNOWN, "a is not b"),
        ({"beyond": True}, f"{BEYOND} (by the rule: {CONTRADICTED})", ""),
        ({"beyond": True, "a": source("c")}, UNKNOWN, "not in the scores: cmll of c"),
    ],
)
def test_what_the_rule_alone_does_not_decide(published, changes, verdict, cause):
    found = claim(published, PAIRS, **{**LOSES, **changes})
    assert (found.verdict, found.cause) == (verdict, cause)


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


@pytest.mark.parametrize(("number", "shown"), [(1, "1 of 3"), ("most", "most"), (0, "0 of 3")])
def test_published_counts_are_of_all_datasets(published, number, shown):
    assert claim(published, PAIRS, **{**WINS, "published": number}).published == shown


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"kind": "guess"}, "study s, claim 1: kind 'guess' is none of count"),
        ({"kind": "count", "a": A}, "study s, claim 1: expected the key 'b'"),
        ({**COUNT, "a": A, "b": {"method": "b"}}, "claim 1, b: expected the key 'quantity'"),
        ({**WINS, "rule": "up"}, "rule: expected one of better, best, cells, most_cells"),
        ({**WINS, "published": "many"}, "expected a number or one of some, often, .*'many'"),
        ({**WINS, "tolerance": 1}, "claim 1: no option 'tolerance'; expected one of id, kind"),
        ({**WINS, "bound": 1}, "claim 1: no option 'bound'; the rule is 'number of datasets'"),
        ({**COUNT, "rule": "best", "a": [{**A, "name": "a"}], "best": ["x"]},
         "claim 1, best: no column is named 'x'"),
        ({**WINS, "rule": "near"}, "claim 1: expected the key 'bound'"),
        ({**WINS, "rule": "near", "bound": 1, "b": [A, B]}, "claim 1, b: expected a mapping with"),
        ({"kind": "ratio", "a": A, "b": B, "published": "two"}, "expected a number, got 'two'"),
        ({"kind": "ratio", "a": A, "b": B, "published": 0}, "published: expected a number above 0"),
        ({"kind": "value", "a": A, "dataset": "kdd", "rule": "time", "published": 0},
         "published: expected a number above 0"),
        ({"kind": "range", "a": A, "b": B, "published": "a to b"}, "expected numbers"),
        ({"kind": "range", "a": A, "b": B, "published": "7"},
         "study s, claim 1, published: expected 2 numbers, got 1"),
        ({**TREND, "published": "1; 2; 3"},
         "study s, claim 1, published: expected 2 numbers, got 3"),
        ({"kind": "distribution", "a": A, "values": [1, 2, 3], "published": "1; 1"},
         "study s, claim 1, published: expected 3 numbers, got 2"),
        ({"kind": "test", "a": A, "b": B, "published": 0.2}, "expected a p-value up to 0.05"),
        ({"kind": "value", "a": A, "dataset": "kdd", "rule": "above", "limit": "methods.a.x"},
         "claim 1, limit: the study does not set methods.a.x"),
        ({"kind": "setting", "paths": ["title"], "published": "a to b"}, "expected numbers"),
        ({"kind": "example", "example": "other"}, "example: expected one of consistent"),
        ({**WINS, "b": {**B, "varaint": "x"}}, ", b: no option 'varaint'; did you mean 'variant'"),
        ({"kind": "correlation", "a": A, "b": [B]}, r", b: expected a mapping, got \["),
    ],
)  # fmt: skip
def test_entries_that_do_not_fit_are_named(published, entry, message):
    positive = scores_on(a=[1.0, 2.0, 3.0], b=[1.5, 1.5, 3.0])
    with pytest.raises(InputError, match=message):
        outcome(published, positive, **{"published": 1, **entry})


@pytest.mark.parametrize(
    ("changes", "brief"),
    [
        ({}, "±1"),
        ({"published": 0}, "exact"),
        ({"published": "most"}, "`most` is more than half"),
        ({"direction": "fewer"}, "±1; fewer is stronger"),
        ({"ties": True, "lower": True}, "±1; lower is better; ties count"),
        ({"rule": "near", "bound": 0.01}, "±1; bound 0.01 nats per variable"),
        (
            {"rule": "above", "published": "all", "bound": -0.05},
            "`all` is every one; bound -5 %",
        ),
        ({"rule": "apart", "bound": 0.05}, "±1; apart; bound 5 %"),
    ],
)
def test_the_rule_of_a_count_shows_its_tolerance_and_options(published, changes, brief):
    assert claim(published, PAIRS, **{**WINS, **changes}).brief == f"number of datasets, {brief}"


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
    claims.write_claims(study, evaluate(study, PAIRS, published), tmp_path)
    rows = list(csv.DictReader(io.StringIO((tmp_path / "claims.csv").read_text())))
    assert [row["verdict"] for row in rows] == [REPRODUCED, UNKNOWN, SETUP, SETUP, UNKNOWN]
    assert rows[0]["published"] == "1 of 3"
    assert rows[0]["rule"] == "number of datasets, ±1"
    text = (tmp_path / "claims.md").read_text()
    assert (
        "2 results: 1 supported (1 *reproduced*); 1 not checked (1 *cannot be checked*).\n" in text
    )
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
    claims.write_claims(study, evaluate(study, scores_of({}), published), tmp_path)
    text = (tmp_path / "claims.md").read_text()
    assert text == "# Claims: T\n\nThis study states no claims.\n"
