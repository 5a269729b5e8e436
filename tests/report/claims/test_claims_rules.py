"""Claims on ratios, values and p-values, on both sides of each threshold."""

import numpy as np
import pytest
from scipy import stats

from claim_cases import THREE, claim, outcome, scores_of, scores_on, source
from mnlearn_studies.datasets.registry import load_registry
from mnlearn_studies.report.claims import significance, values
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

A, B, C = source("a"), source("b"), source("c")
ALL = list(load_registry())


def verdict(printed, scores, /, **entry):
    found = outcome(printed, scores, **entry)
    assert isinstance(found.n_datasets, int), found
    return found.verdict


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


@pytest.mark.parametrize(
    ("mean", "ours", "expected"),
    [("arithmetic", "4.05", REPRODUCED), ("geometric", "0.894", CONTRADICTED)],
)
def test_mean_ratios(published, mean, ours, expected):
    names = ["nltcs", "msnbc"]
    scores = scores_on(names, a=[1.0, 16.0], b=[10.0, 2.0])
    entry = {"published": 4, "mean": mean, "datasets": names}
    found = outcome(published, scores, kind="ratio", a=A, b=B, **entry)
    assert (found.verdict, found.ours) == (expected, ours)
    turned = outcome(published, scores, kind="speedup", a=B, b=A, **entry)
    assert (turned.verdict, turned.ours) == (expected, ours)


@pytest.mark.parametrize("kind", ["ratio", "speedup", "orders", "speedup_range"])
def test_a_ratio_to_nothing_is_not_judged(published, kind):
    scores = scores_on(["nltcs"], a=[0.0], b=[0.0])
    entry = {"kind": kind, "published": "1 to 2" if kind.endswith(("s", "e")) else 1}
    found = outcome(published, scores, datasets=["nltcs"], a=A, b=B, **entry)
    assert (found.verdict, found.reason) == (UNKNOWN, "a ratio is not positive")


@pytest.mark.parametrize(
    ("speedup", "expected"),
    [
        (1101, MORE),
        (1100, REPRODUCED),
        (9.1, REPRODUCED),
        (9.0, REPRODUCED),
        (8.9, SMALLER),
        (1.1, SMALLER),
        (1.0, CONTRADICTED),
        (0.9, CONTRADICTED),
    ],
)
def test_orders_of_magnitude(published, speedup, expected):
    scores = scores_on(a=[1.0] * 3, b=[speedup] * 3)
    entry = {"kind": "orders", "published": "10 to 1000", "a": A, "b": B}
    assert verdict(published, scores, **entry) == expected


@pytest.mark.parametrize(
    ("speedups", "expected"),
    [
        ([8.1, 50, 110], REPRODUCED),
        ([10, 50, 121], MORE),
        ([13, 50, 90], MORE),
        ([7.9, 50, 100], SMALLER),
        ([10, 50, 79], SMALLER),
        ([1.1, 50, 200], SMALLER),
        ([1.0, 50, 200], CONTRADICTED),
        ([0.9, 50, 100], CONTRADICTED),
    ],
)
def test_ranges_of_speedups(published, speedups, expected):
    scores = scores_on(a=[1.0] * 3, b=[float(s) for s in speedups])
    entry = {"kind": "speedup_range", "published": "10 to 100", "a": A, "b": B}
    found = outcome(published, scores, **entry)
    assert (found.verdict, found.n_datasets) == (expected, 3)


@pytest.mark.parametrize(
    ("share", "expected"),
    [(0.93, MORE), (0.89, REPRODUCED), (0.87, SMALLER), (0.51, SMALLER), (0.5, CONTRADICTED)],
)
def test_shares(published, share, expected):
    scores = scores_on(a=[share] * 3, b=[1.0] * 3, c=[1 - share] * 3)
    entry = {"kind": "share", "published": 0.9, "b": B}
    assert verdict(published, scores, a=A, **entry) == expected
    assert verdict(published, scores, a=C, rest=True, **entry) == expected


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
    entry = {"kind": "trend", "method": "a", "quantity": "cmll", "published": "10; 20; 40"}
    groups = [[f"v{k}0", f"v{k}1"] for k in range(3)]
    found = outcome(published, scores_of(values), groups=groups, **entry)
    assert found.verdict == expected
    assert [float(x) for x in found.ours.split(";")] == means
    assert verdict(published, scores_of(values), groups=[["v0"], *groups], **entry) == UNKNOWN


def test_orders_of_means(published):
    scores = scores_on(a=[1.0, 2.0, 9.0], b=[2.0, 3.0, 4.0], c=[1.0, 1.0, 1.0])
    entry = {"kind": "ordered", "published": "more"}
    assert verdict(published, scores, high=[A, B], low=[C], **entry) == REPRODUCED
    assert verdict(published, scores, high=[C], low=[B, A], **entry) == CONTRADICTED
    assert verdict(published, scores, high=[B, C], low=[A], **entry) == CONTRADICTED
    # One of two pairs is not more than half of them.
    assert verdict(published, scores, high=[A, C], low=[B], **entry) == CONTRADICTED
    more = scores_on(a=[4.0] * 3, b=[2.0] * 3, c=[1.0] * 3, d=[3.0] * 3)
    mixed = {"high": [A, B], "low": [C, source("d")]}
    found = outcome(published, more, **mixed, **entry)
    assert (found.verdict, found.ours, found.n_datasets) == (
        SMALLER,
        "4.00, 2.00 against 1.00, 3.00",
        3,
    )
    assert outcome(published, more, high=[A], low=[C], **entry).ours == "4.00 above 1.00"
    # Equal means are not in order.
    assert verdict(published, more, high=[A], low=[A], **entry) == CONTRADICTED
    waiting = outcome(published, more, high=[A], low=[C], datasets=[*THREE, "plants"], **entry)
    assert (waiting.verdict, waiting.ours) == (UNKNOWN, "4.00 above 1.00")


@pytest.mark.parametrize(
    ("ours", "expected", "difference"),
    [(101.0, REPRODUCED, "+1"), (101.1, CONTRADICTED, "+1.1"), (98.9, CONTRADICTED, "-1.1")],
)
def test_values(published, ours, expected, difference):
    entry = {"kind": "value", "a": A, "published": 100, "dataset": "nltcs"}
    found = outcome(published, scores_on(a=[ours, 0.0, 0.0]), **entry)
    assert (found.verdict, found.n_datasets) == (expected, 1)
    assert float(found.difference) == float(difference)


@pytest.mark.parametrize("kind", ["value", "exceeds", "seconds"])
def test_a_value_that_is_not_scored(published, kind):
    entry = {"kind": kind, "a": A, "published": 100, "dataset": "plants"}
    if kind == "exceeds":
        entry["limit"] = "title"
    found = outcome(published, scores_on(a=[1.0] * 3), **entry)
    assert (found.verdict, found.ours, found.n_datasets) == (UNKNOWN, "", 0)
    assert found.reason == "none of 1 datasets is scored"


@pytest.mark.parametrize(
    ("kind", "theirs"),
    [("ratio", 2), ("orders", "1 to 2"), ("speedup_range", "1 to 2"), ("share", 1)],
)
def test_ratios_that_are_not_scored(published, kind, theirs):
    entry = {"kind": kind, "a": A, "b": B, "published": theirs}
    found = outcome(published, scores_on(a=[1.0] * 3, b=[1.0] * 3), datasets=["x", "y"], **entry)
    assert (found.verdict, found.ours, found.n_datasets) == (UNKNOWN, "", 0)
    assert found.reason == "none of 2 datasets is scored"


@pytest.mark.parametrize("rest", [False, True])
def test_a_share_of_nothing_is_not_zero(published, rest):
    scores = scores_on(a=[0.95, 0.95, 0.0], b=[1.0, 1.0, 0.0])
    entry = {"kind": "share", "a": A, "b": B, "rest": rest}
    found = outcome(published, scores, published=0.95, **entry)
    assert (found.verdict, found.ours, found.n_datasets) == (UNKNOWN, "", 3)
    assert found.reason == "the divisor of a share is 0"


def test_the_usual_mean_is_arithmetic(published):
    names = ["nltcs", "msnbc"]
    scores = scores_on(names, a=[1.0, 16.0], b=[10.0, 2.0])
    found = outcome(published, scores, kind="ratio", a=A, b=B, published=4, datasets=names)
    assert (found.ours, float(found.difference), found.n_datasets) == ("4.05", 0.05, 2)


def test_a_share_at_the_tolerance(published):
    scores = scores_on(a=[0.02] * 3, b=[1.0] * 3)
    assert verdict(published, scores, kind="share", a=A, b=B, published=0) == REPRODUCED


def test_a_rank_correlation_at_the_threshold(published, monkeypatch):
    a, b = [3.0, 2.0, 1.0, 4.0], [1.0, 2.0, 3.0, 4.0]
    monkeypatch.setattr(values, "WEAK_CORRELATION", float(stats.spearmanr(a, b).statistic))
    entry = {"kind": "correlation", "published": "more", "a": A, "b": B, "datasets": ALL[:4]}
    assert verdict(published, scores_on(ALL[:4], a=a, b=b), **entry) == REPRODUCED
    for one, other in ((a, [1.0] * 4), ([1.0] * 4, b)):
        found = outcome(published, scores_on(ALL[:4], a=one, b=other), **entry)
        assert (found.verdict, found.ours) == (CONTRADICTED, "constant")


@pytest.mark.parametrize(
    ("ours", "expected"),
    [(101, REPRODUCED), (100, CONTRADICTED), (197, REPRODUCED), (100 - 1, CONTRADICTED)],
)
def test_bounds(published, ours, expected):
    content = {"methods": {"a": {"grid": {"size": [10, 200]}}}}
    entry = {"kind": "exceeds", "a": A, "published": 100, "dataset": "kdd"}
    entry |= {"limit": "methods.a.grid.size", "content": content}
    scores = scores_on(["kdd"], a=[float(ours)])
    found = outcome(published, scores, **entry)
    assert (found.verdict, found.n_datasets) == (expected, 1)


@pytest.mark.parametrize(("ours", "expected"), [(99.0, UNKNOWN), (98.9, CONTRADICTED)])
def test_a_bound_that_our_limit_excludes_is_not_judged(published, ours, expected):
    content = {"methods": {"a": {"grid": {"size": [10, 100]}}}}
    entry = {"kind": "exceeds", "a": A, "published": 100, "dataset": "kdd"}
    entry |= {"limit": "methods.a.grid.size", "content": content}
    found = outcome(published, scores_on(["kdd"], a=[ours]), **entry)
    assert found.verdict == expected
    assert found.reason == ("our limit of 100 ended the growth" if expected == UNKNOWN else "")
    assert found.n_datasets == 1


@pytest.mark.parametrize(
    ("ours", "expected"), [(89, FASTER), (91, REPRODUCED), (109, REPRODUCED), (111, MORE)]
)
def test_absolute_times(published, ours, expected):
    entry = {"kind": "seconds", "a": A, "published": 100, "dataset": "kdd"}
    found = outcome(published, scores_on(["kdd"], a=[float(ours)]), **entry)
    assert (found.verdict, found.n_datasets) == (expected, 1)
    assert found.difference[0] == ("-" if ours < 100 else "+")
    assert float(found.difference) == ours - 100


@pytest.mark.parametrize(("limit", "expected"), [(2.9, REPRODUCED), (3, FASTER)])
def test_slow_datasets(published, limit, expected):
    entry = {"kind": "slow", "a": A, "published": "often", "limit": limit}
    assert verdict(published, scores_on(a=[1.0, 2.0, 3.0]), **entry) == expected


@pytest.mark.parametrize(
    ("counts", "expected"),
    [("2; 1; 0", REPRODUCED), ("1; 1; 1", REPRODUCED), ("0; 1; 2", CONTRADICTED)],
)
def test_distributions(published, counts, expected):
    entry = {"kind": "distribution", "a": A, "values": [1, 2, 5], "published": counts}
    found = outcome(published, scores_on(a=[1.0, 2.0, 1.0]), **entry)
    assert (found.verdict, found.ours) == (expected, "2; 1; 0")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2, 3, 4], REPRODUCED),
        ([2, 1, 4, 3], REPRODUCED),
        ([2, 4, 1, 3], CONTRADICTED),
        ([3, 1, 2, 4], REPRODUCED),
        ([3, 2, 1, 4], SMALLER),
        ([4, 3, 2, 1], CONTRADICTED),
        ([1, 1, 1, 1], CONTRADICTED),
    ],
)
def test_rank_correlations(published, values, expected):
    names = ALL[:4]
    scores = scores_on(names, a=[float(v) for v in values], b=[1.0, 2.0, 3.0, 4.0])
    entry = {"kind": "correlation", "published": "more", "a": A, "b": B, "datasets": names}
    assert verdict(published, scores, **entry) == expected


@pytest.mark.parametrize(
    ("power", "expected"),
    [(1.19, REPRODUCED), (1.21, CONTRADICTED), (0.81, REPRODUCED), (0.79, MORE)],
)
def test_growth(published, power, expected):
    size = np.array([1.0, 10.0, 100.0])
    scores = scores_on(a=list(7 * size**power), b=list(size))
    entry = {"kind": "growth", "published": 1, "a": A, "b": B}
    assert verdict(published, scores, **entry) == expected
    assert verdict(published, scores_on(a=[0.0] * 3, b=list(size)), **entry) == UNKNOWN


def losing(n_losses, n=12):
    """Scores whose n_losses smallest differences speak for b."""
    difference = np.arange(1.0, n + 1)
    difference[:n_losses] *= -1
    return scores_on(ALL[:n], a=list(difference), b=[0.0] * n)


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
def test_wilcoxon(published, n_losses, printed, expected):
    entry = {"kind": "wilcoxon", "published": printed, "datasets": ALL[:12]}
    found = outcome(published, losing(n_losses), a=A, b=B, **entry)
    assert found.verdict == expected, found.ours
    lower = outcome(published, losing(n_losses), a=B, b=A, lower=True, **entry)
    assert lower == found
    against = outcome(published, losing(n_losses), a=B, b=A, **entry)
    assert against.verdict == (expected if "not" in str(printed) else CONTRADICTED)


@pytest.mark.parametrize(
    ("p", "expected"),
    [(0.05, REPRODUCED), (0.0501, SMALLER), (0.1, SMALLER), (0.101, CONTRADICTED)],
)
def test_the_limits_of_p_values_are_inside(p, expected):
    assert significance._verdict(p, favours=True, published=0.05, is_bound=False) == expected
    assert significance._verdict(p, favours=False, published=0.05, is_bound=False) == CONTRADICTED


@pytest.mark.parametrize(
    ("p", "theirs", "is_bound", "expected"),
    [
        (0.05, None, False, CONTRADICTED),
        (0.01, 0.01, True, SMALLER),
        # A factor of 10 is inside, on both sides.
        (0.005, 0.05, False, REPRODUCED),
        (0.05, 0.005, False, REPRODUCED),
    ],
)
def test_the_limits_of_published_p_values(p, theirs, is_bound, expected):
    assert significance._verdict(p, True, theirs, is_bound) == expected


def test_differences_below_the_ninth_decimal_have_no_rank():
    assert rank_sums(np.array([4e-10, 1.0, -2.0])) == (1.0, 2.0)


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        (0.01, "p up to 0.05, within a factor of 10"),
        ("p < 0.05", "p up to 0.05"),
        ("not significant", "p above 0.05"),
    ],
)
def test_the_rule_for_a_p_value_in_brief(published, printed, expected):
    entry = {"kind": "wilcoxon", "published": printed, "datasets": ALL[:12]}
    found = claim(published, losing(3), a=A, b=B, **entry)
    assert found.brief == f"Wilcoxon test, {expected}"


def test_rank_sums_decide_the_direction_and_not_counts(published):
    """As many losses as wins, but the losses are the ten smallest differences."""
    difference = [*range(-10, 0), *range(11, 21)]
    scores = scores_on(ALL, a=list(map(float, difference)), b=[0.0] * 20)
    entry = {"kind": "wilcoxon", "published": 0.01, "datasets": ALL, "a": A, "b": B}
    found = outcome(published, scores, **entry)
    assert found.ours == "p 0.0637, rank sums 155 for and 55 against"
    assert found.verdict == SMALLER
