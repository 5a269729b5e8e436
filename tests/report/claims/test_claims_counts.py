"""Claims that count datasets, with invented scores on both sides of each threshold."""

import pytest

from claim_cases import THREE, outcome, scores_of, scores_on, source
from mnlearn_studies.datasets.registry import load_registry
from mnlearn_studies.report.claims.counts import DIRECTIONS, collect_rows
from mnlearn_studies.report.claims.verdicts import (
    CONTRADICTED,
    LEGEND,
    MORE,
    REPRODUCED,
    SMALLER,
    UNKNOWN,
    WORDS,
    count_verdict,
)
from mnlearn_studies.study.published import Number

A, B, C = source("a"), source("b"), source("c")
ALL = list(load_registry())


def verdict(printed, scores, /, **entry):
    return outcome(printed, scores, **entry).verdict


@pytest.mark.parametrize(
    ("count", "published", "direction", "expected"),
    [
        (10, 8, "more", MORE),
        (9, 8, "more", REPRODUCED),
        (7, 8, "more", REPRODUCED),
        (6, 8, "more", CONTRADICTED),
        (12, 15, "more", SMALLER),
        (11, 15, "more", SMALLER),
        (10, 15, "more", CONTRADICTED),
        (5, 8, "fewer", MORE),
        (7, 5, "fewer", SMALLER),
        (10, 5, "fewer", CONTRADICTED),
        (9, 10, "neither", REPRODUCED),
        (12, 10, "neither", CONTRADICTED),
        (19, 20, "more", SMALLER),
        (20, 20, "more", REPRODUCED),
        (1, 0, "fewer", SMALLER),
        (0, 0, "fewer", REPRODUCED),
        (2, 1, "more", REPRODUCED),
    ],
)
def test_counts_of_20_datasets(count, published, direction, expected):
    assert count_verdict(count, 20, published, 0.5, direction=direction) == expected


def test_a_count_below_the_published_one_has_an_effect_above_chance():
    assert count_verdict(6, 20, 8, 0.25) == SMALLER
    assert count_verdict(5, 20, 8, 0.25) == CONTRADICTED


@pytest.mark.parametrize(
    ("word", "least"), [("some", 1), ("often", 4), ("most", 7), ("all", 12), ("not all", 0)]
)
def test_words_for_counts_of_12_datasets(word, least):
    counts = [k for k in range(13) if count_verdict(k, 12, word, 0.5) == REPRODUCED]
    assert counts == list(range(12) if word == "not all" else range(least, 13))
    found = {count_verdict(k, 12, word, 0.5) for k in range(13) if k not in counts}
    assert found == {"all": {SMALLER, CONTRADICTED}}.get(word, {CONTRADICTED})


def test_all_but_one_has_a_smaller_effect_only_as_a_majority():
    assert [count_verdict(k, 12, "all", 0.5) for k in (6, 7)] == [CONTRADICTED, SMALLER]


def test_wins(published):
    scores = scores_on(a=[3.0, 2.0, 1.0], b=[1.0, 2.0, 3.0], c=[2.0, 1.0, 0.0])
    entry = {"kind": "wins", "published": "some", "a": A, "b": B}
    assert outcome(published, scores, **entry).ours == "1 of 3"
    assert outcome(published, scores, **entry, lower=True).ours == "1 of 3"
    assert outcome(published, scores, **{**entry, "a": B, "b": A}).ours == "1 of 3"
    assert outcome(published, scores, **{**entry, "b": C}).ours == "3 of 3"
    both = outcome(published, scores, **{**entry, "b": [B, C]})
    assert both.ours == "1 of 3"
    assert outcome(published, scores, **{**entry, "a": [A, B], "b": C}).ours == "2 of 3"
    lower = outcome(published, scores, **{**entry, "a": C, "b": [A, B]}, lower=True)
    assert lower.ours == "2 of 3"


def test_between_powers(published):
    """From b^2 to b^3 for b = 10, both ends included."""
    datasets = [f"d{k}" for k in range(6)]
    values = [99.0, 100.0, 500.0, 1000.0, 1001.0, 9.0]
    scores = scores_on(datasets, a=values, b=[10.0] * 6)
    entry = {"kind": "between_powers", "published": "most", "a": A, "b": B, "low": 2, "high": 3}
    found = outcome(published, scores, datasets=datasets, **entry)
    assert (found.ours, found.verdict) == ("3 of 6", CONTRADICTED)
    below = outcome(published, scores, datasets=datasets, **{**entry, "low": 0})
    assert (below.ours, below.verdict) == ("5 of 6", REPRODUCED)
    some = outcome(published, scores, datasets=[*datasets, "d6"], **entry)
    assert some.verdict == UNKNOWN


def test_chance_falls_with_the_number_of_methods(published):
    """Best on 6 of 13 datasets is little against one other method, and more against two."""
    names = ALL[:13]
    values = [1.0] * 6 + [-1.0] * 7
    scores = scores_on(names, a=values, b=[0.0] * 13, c=[0.0] * 13)
    entry = {"kind": "wins", "published": 8, "a": A, "datasets": names}
    assert verdict(published, scores, b=B, **entry) == CONTRADICTED
    assert verdict(published, scores, b=[B, C], **entry) == SMALLER


def test_best_of_few_methods_is_likelier_than_best_of_many(published):
    """Best on 4 of 13 datasets is more than a fifth and less than a third of them."""
    values = {"x": [1.0] * 4 + [-1.0] * 9, **{m: [0.0] * 13 for m in "yzvw"}}
    columns = [{"name": m, **source(m)} for m in values]
    entry = {"kind": "best_of", "published": 8, "best": ["x"], "datasets": ALL[:13]}
    scores = scores_on(ALL[:13], **values)
    assert verdict(published, scores, columns=columns, **entry) == SMALLER
    assert verdict(published, scores, columns=columns[:3], **entry) == CONTRADICTED


def test_best_of(published):
    scores = scores_on(x=[-1.0, -2.0, -3.0], y=[-1.0, -1.0, -4.0], z=[-9.0, -9.0, -9.0])
    columns = [{"name": m, **source(m)} for m in "xyz"]
    entry = {"kind": "best_of", "published": 1, "columns": columns}
    assert outcome(published, scores, best=["x"], **entry).ours == "1 of 3"
    assert outcome(published, scores, best=["x"], ties=True, **entry).ours == "2 of 3"
    assert outcome(published, scores, best=["x", "y"], **entry).ours == "3 of 3"
    assert outcome(published, scores, best=["z"], lower=True, **entry).ours == "3 of 3"
    assert outcome(published, scores, best=["x", "y", "z"], **entry).ours == "3 of 3"


@pytest.mark.parametrize(("bound", "count"), [(0.029, 1), (0.03, 2), (0.03125, 2), (0.032, 3)])
def test_near(published, bound, count):
    # 0.5 over the 16 variables of NLTCS, 0.5 over the 17 of MSNBC, and 0.
    scores = scores_on(a=[-1.0, -2.0, -3.0], b=[-1.5, -1.5, -3.0])
    entry = {"kind": "near", "published": 2, "bound": bound, "a": A, "b": B}
    assert outcome(published, scores, **entry).ours == f"{count} of 3"
    waiting = outcome(published, scores, datasets=["nltcs", "plants"], **entry)
    assert waiting.verdict == UNKNOWN
    other = outcome(published, scores_on(["x"], a=[1.0], b=[1.0]), datasets=["x"], **entry)
    assert (other.verdict, other.reason) == (UNKNOWN, "none of 1 datasets is scored")


@pytest.mark.parametrize(
    ("bound", "relation", "count"),
    [
        (-0.05, "above", 2),
        (0.05, "above", 1),
        (0.05, "apart", 2),
        (0.05, "similar", 1),
        (0.5, "similar", 3),
        # 10 per cent is not less than 10 per cent.
        (0.1, "above", 1),
        (0.1, "apart", 2),
        (0.1, "similar", 3),
    ],
)
def test_margin(published, bound, relation, count):
    # 10 per cent better, 1 per cent worse, 10 per cent worse.
    scores = scores_on(a=[-9.0, -10.1, -11.0], b=[-10.0, -10.0, -10.0])
    entry = {"kind": "margin", "published": 2, "bound": bound, "relation": relation}
    assert outcome(published, scores, a=A, b=B, **entry).ours == f"{count} of 3"


@pytest.mark.parametrize(("bound", "count"), [(1.9, 2), (2, 2), (2.1, 1)])
def test_beyond(published, bound, count):
    scores = scores_on(a=[2.0, 5.0, 1.0], b=[-5.0, -1.0, -1.0], c=[-4.0, -2.0, -3.0])
    entry = {"kind": "beyond", "published": "often", "bound": bound, "a": A, "b": B, "c": C}
    assert outcome(published, scores, **entry).ours == f"{count} of 3"


@pytest.mark.parametrize(("low", "high", "count"), [(-2, -1, 2), (-3, 0, 3), (-1.5, -1.2, 0)])
def test_inside(published, low, high, count):
    scores = scores_on(a=[-1.0, -2.0, -3.0])
    entry = {"kind": "inside", "published": 2, "low": low, "high": high, "a": A}
    assert outcome(published, scores, **entry).ours == f"{count} of 3"


def test_cells(published):
    values = {"x": [1, 2, 3], "y": [2, 1, 2], "z": [0, 0, 9]}
    scores = scores_of({("a", v): dict(zip(THREE, n, strict=True)) for v, n in values.items()})
    entry = {"kind": "cells", "published": "most", "method": "a", "quantity": "cmll"}
    found = outcome(published, scores, pairs=[["x", "y"], ["x", "z"]], **entry)
    assert (found.verdict, found.ours, found.n_datasets) == (REPRODUCED, "4 of 6", 3)
    found = outcome(published, scores, pairs=[["y", "x"], ["z", "y"]], **entry)
    assert (found.verdict, found.ours) == (CONTRADICTED, "2 of 6")
    assert verdict(published, scores, pairs=[["x", "w"]], **entry) == UNKNOWN


def test_cells_that_wait(published):
    scores = scores_of({
        ("a", "x"): dict(zip(THREE, (1, 2, 3), strict=True)),
        ("a", "y"): dict(zip(THREE, (0, 3, 4), strict=True)),
        ("a", "w"): {"msnbc": 1},
    })  # fmt: skip
    entry = {"kind": "cells", "published": 3, "method": "a", "quantity": "cmll"}
    found = outcome(published, scores, pairs=[["x", "y"], ["x", "w"]], **entry)
    assert (found.verdict, found.ours, found.n_datasets) == (UNKNOWN, "2 of 4", 1)
    assert found.reason == "1 of 3 datasets scored; missing: nltcs, kdd"
    found = outcome(published, scores, pairs=[["x", "y"], ["y", "x"]], **entry)
    assert (found.ours, found.difference, found.n_datasets) == ("3 of 6", "+0", 3)


def test_the_words_of_verdicts_and_counts():
    assert list(LEGEND) == [
        "reproduced",
        "holds more strongly",
        "holds here, smaller effect",
        "contradicted",
        "faster here",
        "set-up",
        "cannot be checked",
    ]
    assert WORDS == {
        "some": "at least one",
        "often": "at least a third",
        "most": "more than half",
        "all": "every one",
        "not all": "not every one",
    }


def test_every_direction_is_accepted(published):
    scores = scores_on(a=[3.0, 2.0, 1.0], b=[1.0, 1.0, 3.0])
    entry = {"kind": "wins", "published": 2, "a": A, "b": B}
    assert DIRECTIONS == ("more", "fewer", "neither")
    for direction in DIRECTIONS:
        assert verdict(published, scores, direction=direction, **entry) == REPRODUCED


def test_values_are_rounded_to_the_fewest_decimals_that_are_printed():
    first = {"x": Number(0.12345, decimals=4), "z": Number(1 / 3), "y": Number(0.12345, decimals=2)}
    other = {"z": Number(2 / 3), "y": Number(0.98765)}
    rows, missing = collect_rows([first, other], ["x", "z", "y"])
    assert rows == [[0.333333333333, 0.666666666667], [0.12, 0.99]]
    assert missing == ["x"]


# Entries, values of a on 8 and on 5 of 13 datasets, and of b. 8 is more than chance gives.
EIGHT = {
    "near": ({"b": B, "bound": 1}, 0.0, 1e6, 0.0),
    "margin": ({"b": B, "bound": 1}, 2.0, 1.0, 1.0),
    "beyond": ({"b": B, "c": B, "bound": 1}, 0.0, -1.0, 1.0),
    "inside": ({"low": 1, "high": 2}, 1.0, 9.0, 1.0),
    "between_powers": ({"b": B, "low": 1, "high": 2}, 1.0, 9.0, 1.0),
}


@pytest.mark.parametrize("kind", EIGHT)
def test_half_of_the_datasets_are_what_chance_gives(published, kind):
    options, true, untrue, b = EIGHT[kind]
    entry = {"kind": kind, "published": 12, "datasets": ALL[:13], "a": A, **options}
    scores = scores_on(ALL[:13], a=[true] * 8 + [untrue] * 5, b=[b] * 13)
    found = outcome(published, scores, **entry)
    assert (found.verdict, found.ours, found.difference) == (SMALLER, "8 of 13", "-4")


def test_half_of_the_cells_are_what_chance_gives(published):
    values = {"x": [1.0] * 8 + [0.0] * 5, "y": [0.5] * 13}
    scores = scores_of({("a", v): dict(zip(ALL[:13], n, strict=True)) for v, n in values.items()})
    entry = {"kind": "cells", "published": 12, "method": "a", "quantity": "cmll"}
    found = outcome(published, scores, pairs=[["x", "y"]], datasets=ALL[:13], **entry)
    assert (found.verdict, found.ours) == (SMALLER, "8 of 13")
