"""Claims on ratios, values, trends and p-values, on both sides of each threshold."""

import numpy as np
import pytest
from scipy import stats

from claim_cases import THREE, outcome, scores_of, scores_on, source
from mnlearn_studies.datasets.registry import load_registry
from mnlearn_studies.report.claims import values
from mnlearn_studies.report.claims.verdicts import (
    CONTRADICTED,
    FASTER,
    MORE,
    REPRODUCED,
    SMALLER,
    UNKNOWN,
    ratio_verdict,
)
from mnlearn_studies.report.statistics import rank_sums

A, B, C, D = map(source, "abcd")
ALL = list(load_registry())
GRID = {"methods": {"a": {"grid": {"size": [10, 200]}}}}
RATIO = {"kind": "ratio", "a": A, "b": B}
SHARE = {**RATIO, "rule": "share", "published": 0.9}
RANGE = {"kind": "range", "a": A, "b": B}
VALUE = {"kind": "value", "a": A, "dataset": ALL[0], "published": 100}
ABOVE = {**VALUE, "rule": "above", "limit": "methods.a.grid.size", "content": GRID}
ORDER = {"kind": "trend", "rule": "order", "published": "more"}
POWER = {"kind": "trend", "rule": "power", "published": 1, "a": A, "b": B}
CORRELATED = {"kind": "correlation", "published": "more", "a": A, "b": B}
COUNTED = {"kind": "distribution", "a": A, "values": [1, 2, 5]}
SIZES = np.array([1.0, 10.0, 100.0])


def judged(published, entry, **values):
    """Evaluate a claim on as many datasets as there are values of each method."""
    names = ALL[: len(next(iter(values.values())))]
    return outcome(published, scores_on(names, **values), datasets=names, **entry)


@pytest.mark.parametrize(
    ("ours", "published", "expected"),
    [
        (10.9, 10, REPRODUCED),
        (11.1, 10, MORE),
        (9.1, 10, REPRODUCED),
        (8.9, 10, SMALLER),
        (1.01, 10, SMALLER),
        (1.0, 10, CONTRADICTED),
        (0.4, 0.5, MORE),
        (0.6, 0.5, SMALLER),
        (1.1, 0.5, CONTRADICTED),
        (1.9, 1.5, MORE),
        (1.2, 1.0, CONTRADICTED),
    ],
)
def test_ratios(ours, published, expected):
    assert ratio_verdict(ours, published) == expected


def each(entry, cases):
    """One case per entry, values by method, and expected verdict and number."""
    return [(entry, values, *expected) for values, *expected in cases]


@pytest.mark.parametrize(
    ("entry", "found", "verdict", "ours"),
    [
        # The usual mean is arithmetic.
        *each({**RATIO, "published": 4}, [({"a": [1, 16], "b": [10, 2]}, REPRODUCED, "4.05")]),
        *each(
            {**RATIO, "published": 4, "mean": "geometric"},
            [({"a": [1, 16], "b": [10, 2]}, CONTRADICTED, "0.894")],
        ),
        *(
            (one, {"a": [1.0, 0.0], "b": [1.0, 0.0]}, UNKNOWN, "")
            for one in (
                {**RATIO, "published": 1},
                {**RANGE, "published": "1 to 2"},
                {**RANGE, "published": "1 to 2", "rule": "ends"},
                SHARE,
                {**SHARE, "rule": "rest"},
            )
        ),
        *each(
            SHARE,
            [
                ({"a": [0.93] * 3, "b": [1] * 3}, MORE, "0.930"),
                ({"a": [0.89] * 3, "b": [1] * 3}, REPRODUCED, "0.890"),
                ({"a": [0.87] * 3, "b": [1] * 3}, SMALLER, "0.870"),
                ({"a": [0.51] * 3, "b": [1] * 3}, SMALLER, "0.510"),
                ({"a": [0.5] * 3, "b": [1] * 3}, CONTRADICTED, "0.500"),
            ],
        ),
        *each(
            {**SHARE, "rule": "rest"},
            [
                ({"a": [0.07] * 3, "b": [1] * 3}, MORE, "0.930"),
                ({"a": [0.11] * 3, "b": [1] * 3}, REPRODUCED, "0.890"),
                ({"a": [0.13] * 3, "b": [1] * 3}, SMALLER, "0.870"),
                ({"a": [0.5] * 3, "b": [1] * 3}, CONTRADICTED, "0.500"),
            ],
        ),
        # The tolerance of a share is inside.
        *each({**SHARE, "published": 0}, [({"a": [0.02], "b": [1]}, REPRODUCED, "0.020")]),
        *each(
            {**RANGE, "published": "10 to 1000"},
            [
                ({"a": [1101], "b": [1]}, MORE, "1100"),
                ({"a": [1100], "b": [1]}, REPRODUCED, "1100"),
                ({"a": [9.1], "b": [1]}, REPRODUCED, "9.10"),
                ({"a": [9.0], "b": [1]}, REPRODUCED, "9.00"),
                ({"a": [8.9], "b": [1]}, SMALLER, "8.90"),
                ({"a": [1.1], "b": [1]}, SMALLER, "1.10"),
                ({"a": [1.0], "b": [1]}, CONTRADICTED, "1.00"),
                ({"a": [0.9], "b": [1]}, CONTRADICTED, "0.900"),
            ],
        ),
        *each(
            {**RANGE, "rule": "ends", "published": "10 to 100"},
            [
                ({"a": [8.1, 50, 110], "b": [1] * 3}, REPRODUCED, "8.10 to 110"),
                ({"a": [10, 50, 121], "b": [1] * 3}, MORE, "10.0 to 121"),
                ({"a": [13, 50, 90], "b": [1] * 3}, MORE, "13.0 to 90.0"),
                ({"a": [7.9, 50, 100], "b": [1] * 3}, SMALLER, "7.90 to 100"),
                ({"a": [10, 50, 79], "b": [1] * 3}, SMALLER, "10.0 to 79.0"),
                ({"a": [1.1, 50, 200], "b": [1] * 3}, SMALLER, "1.10 to 200"),
                ({"a": [1.0, 50, 200], "b": [1] * 3}, CONTRADICTED, "1.00 to 200"),
                ({"a": [0.9, 50, 100], "b": [1] * 3}, CONTRADICTED, "0.900 to 100"),
            ],
        ),
        *each(
            VALUE,
            [
                ({"a": [101.0]}, REPRODUCED, "101"),
                ({"a": [101.1]}, CONTRADICTED, "101.1"),
                ({"a": [98.9]}, CONTRADICTED, "98.9"),
            ],
        ),
        *each(
            ABOVE,
            [
                ({"a": [101]}, REPRODUCED, "101"),
                ({"a": [100]}, CONTRADICTED, "100"),
                ({"a": [197]}, REPRODUCED, "197"),
                ({"a": [99]}, CONTRADICTED, "99"),
            ],
        ),
        # A bound that our limit excludes is not judged.
        *each(
            {**ABOVE, "published": 300},
            [({"a": [198]}, UNKNOWN, "198"), ({"a": [197.8]}, CONTRADICTED, "198")],
        ),
        *each(
            {**VALUE, "rule": "time"},
            [
                ({"a": [89]}, FASTER, "89.0"),
                ({"a": [91]}, REPRODUCED, "91.0"),
                ({"a": [109]}, REPRODUCED, "109"),
                ({"a": [111]}, MORE, "111"),
            ],
        ),
        *(
            ({**COUNTED, "published": theirs}, {"a": [1, 2, 1]}, verdict, "2; 1; 0")
            for theirs, verdict in (
                ("2; 1; 0", REPRODUCED),
                ("1; 1; 1", REPRODUCED),
                ("0; 1; 2", CONTRADICTED),
            )
        ),
        *each(
            CORRELATED,
            [
                ({"a": [1, 2, 3, 4], "b": [1, 2, 3, 4]}, REPRODUCED, "1.00"),
                ({"a": [2, 1, 4, 3], "b": [1, 2, 3, 4]}, REPRODUCED, "0.60"),
                ({"a": [2, 4, 1, 3], "b": [1, 2, 3, 4]}, CONTRADICTED, "0.00"),
                ({"a": [3, 1, 2, 4], "b": [1, 2, 3, 4]}, REPRODUCED, "0.40"),
                ({"a": [3, 2, 1, 4], "b": [1, 2, 3, 4]}, SMALLER, "0.20"),
                ({"a": [4, 3, 2, 1], "b": [1, 2, 3, 4]}, CONTRADICTED, "-1.00"),
                ({"a": [1, 1, 1, 1], "b": [1, 2, 3, 4]}, CONTRADICTED, "constant"),
                ({"a": [1, 2, 3, 4], "b": [1, 1, 1, 1]}, CONTRADICTED, "constant"),
            ],
        ),
        *each(
            POWER,
            [
                ({"a": 7 * SIZES**1.19, "b": SIZES}, REPRODUCED, "1.19"),
                ({"a": 7 * SIZES**1.21, "b": SIZES}, CONTRADICTED, "1.21"),
                ({"a": 7 * SIZES**0.81, "b": SIZES}, REPRODUCED, "0.81"),
                ({"a": 7 * SIZES**0.79, "b": SIZES}, MORE, "0.79"),
                ({"a": [0, 1, 2], "b": SIZES}, UNKNOWN, ""),
            ],
        ),
        *(
            ({**ORDER, "a": a, "b": b}, {"a": [1, 2, 9], "b": [2, 3, 4], "c": [1] * 3}, *expected)
            for a, b, *expected in (
                ([A, B], [C], REPRODUCED, "4.00, 3.00 above 1.00"),
                ([C], [B, A], CONTRADICTED, "1.00 against 3.00, 4.00"),
                ([B, C], [A], CONTRADICTED, "3.00, 1.00 against 4.00"),
                # One of two pairs is not more than half of them.
                ([A, C], [B], CONTRADICTED, "4.00, 1.00 against 3.00"),
                # Equal means are not in order.
                ([A], [A], CONTRADICTED, "4.00 against 4.00"),
            )
        ),
        *each(
            {**ORDER, "a": [A, B], "b": [C, D]},
            [
                (
                    {"a": [4], "b": [2], "c": [1], "d": [3]},
                    SMALLER,
                    "4.00, 2.00 against 1.00, 3.00",
                )
            ],
        ),
    ],
)
def test_verdicts(published, entry, found, verdict, ours):
    found = {method: [float(value) for value in of] for method, of in found.items()}
    judgement = judged(published, entry, **found)
    assert (judgement.verdict, judgement.ours) == (verdict, ours)
    n = 1 if "dataset" in entry else len(next(iter(found.values())))
    assert judgement.n_datasets == n
    if isinstance(entry["published"], int | float) and judgement.difference:
        assert float(judgement.difference) == pytest.approx(float(ours) - entry["published"], 0.02)


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({**RATIO, "published": 1}, "a ratio is not positive"),
        ({**RANGE, "published": "1 to 2", "rule": "ends"}, "a ratio is not positive"),
        ({**SHARE, "published": 0.95}, "the divisor of a share is 0"),
        ({**POWER}, "a value is not positive"),
        ({**ABOVE, "published": 300}, "our limit of 200 ended the growth"),
    ],
)
def test_why_a_claim_is_not_judged(published, entry, reason):
    of = judged(published, entry, a=[199.0, 0.0], b=[1.0, 0.0])
    assert (of.verdict, of.reason) == (UNKNOWN, reason)


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ([1, 2, 4], REPRODUCED),
        ([1, 2, 4.5], MORE),
        ([1, 2, 3], SMALLER),
        ([1, 5, 4], CONTRADICTED),
        ([4, 2, 1], CONTRADICTED),
        ([0, 2, 4], CONTRADICTED),
    ],
)
def test_trends(published, means, expected):
    values = {("a", f"v{k}{side}"): dict.fromkeys(THREE, mean + (side - 0.5))
              for k, mean in enumerate(means) for side in (0, 1)}  # fmt: skip
    spec = {"method": "a", "quantity": "cmll"}
    groups = [{**spec, "variants": [f"v{k}0", f"v{k}1"]} for k in range(3)]
    entry = {"kind": "trend", "published": "10; 20; 40"}
    found = outcome(published, scores_of(values), a=groups, **entry)
    assert found.verdict == expected
    assert [float(x) for x in found.ours.split(";")] == means
    none = outcome(published, scores_of(values), a=[{**spec, "variants": ["v0"]}, *groups], **entry)
    assert none.verdict == UNKNOWN


def test_a_rank_correlation_at_the_threshold(published, monkeypatch):
    a, b = [3.0, 2.0, 1.0, 4.0], [1.0, 2.0, 3.0, 4.0]
    monkeypatch.setattr(values, "WEAK_CORRELATION", float(stats.spearmanr(a, b).statistic))
    assert judged(published, CORRELATED, a=a, b=b).verdict == REPRODUCED


def losing(n_losses, n=12):
    """Values of a whose n_losses smallest differences speak for b."""
    difference = np.arange(1.0, n + 1)
    difference[:n_losses] *= -1
    return {"a": list(difference), "b": [0.0] * n}


@pytest.mark.parametrize(
    ("n_losses", "printed", "expected"),
    [
        # p is 0.00049, 0.0068, 0.021, 0.064 and 0.15 with 0, 3, 4, 5 and 6 losses.
        (0, 0.004, REPRODUCED),
        (0, 0.006, MORE),
        (3, 0.0007, REPRODUCED),
        (3, 0.0006, SMALLER),
        (5, 0.01, SMALLER),
        (6, 0.05, CONTRADICTED),
        (4, "p < 0.05", REPRODUCED),
        (4, "p < 0.001", SMALLER),
        (5, "p < 0.05", SMALLER),
        (6, "p < 0.05", CONTRADICTED),
        (4, "not significant", CONTRADICTED),
        (5, "not significant", REPRODUCED),
    ],
)
def test_signed_ranks(published, n_losses, printed, expected):
    entry, found = {"kind": "test", "published": printed}, losing(n_losses)
    usual = judged(published, {**entry, "a": A, "b": B}, **found)
    assert (usual.verdict, usual.n_datasets) == (expected, 12)
    assert judged(published, {**entry, "a": B, "b": A, "lower": True}, **found) == usual
    against = judged(published, {**entry, "a": B, "b": A}, **found)
    assert against.verdict == (expected if "not" in str(printed) else CONTRADICTED)


@pytest.mark.parametrize(
    ("p", "favours", "theirs", "is_bound", "expected"),
    [
        # The limits of p-values are inside.
        (0.05, True, 0.05, False, REPRODUCED),
        (0.0501, True, 0.05, False, SMALLER),
        (0.1, True, 0.05, False, SMALLER),
        (0.101, True, 0.05, False, CONTRADICTED),
        (0.05, False, 0.05, False, CONTRADICTED),
        (0.05, True, None, False, CONTRADICTED),
        (0.01, True, 0.01, True, SMALLER),
        # A factor of 10 is inside, on both sides.
        (0.005, True, 0.05, False, REPRODUCED),
        (0.05, True, 0.005, False, REPRODUCED),
    ],
)
def test_the_limits_of_p_values(p, favours, theirs, is_bound, expected):
    assert values.p_verdict(p, favours, theirs, is_bound) == expected


def test_differences_below_the_ninth_decimal_have_no_rank():
    assert rank_sums(np.array([4e-10, 1.0, -2.0])) == (1.0, 2.0)


def test_rank_sums_decide_the_direction_and_not_counts(published):
    """As many losses as wins, but the losses are the ten smallest differences."""
    difference = [*map(float, range(-10, 0)), *map(float, range(11, 21))]
    entry = {"kind": "test", "published": 0.01, "a": A, "b": B}
    found = judged(published, entry, a=difference, b=[0.0] * 20)
    assert found.ours == "p 0.0637, rank sums 155 for and 55 against, effect +0.48"
    assert found.verdict == SMALLER
