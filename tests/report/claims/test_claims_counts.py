"""Claims that count datasets, with invented scores on both sides of each threshold."""

import pytest

from claim_cases import THREE, outcome, scores_of, scores_on, source
from mnlearn_studies.datasets.registry import load_registry
from mnlearn_studies.report.claims.evidence import collect_rows
from mnlearn_studies.report.claims.verdicts import (
    CONTRADICTED,
    FASTER,
    MORE,
    REPRODUCED,
    SMALLER,
    UNKNOWN,
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


WON = {"a": [3.0, 2.0, 1.0], "b": [1.0, 2.0, 3.0], "c": [2.0, 1.0, 0.0]}
RIVALS = {"x": [-1.0, -2.0, -3.0], "y": [-1.0, -1.0, -4.0], "z": [-9.0, -9.0, -9.0]}
# 10 per cent better, 1 per cent worse, 10 per cent worse.
SHARES = {"a": [-9.0, -10.1, -11.0], "b": [-10.0, -10.0, -10.0]}
# 0.5 over the 16 variables of NLTCS, 0.5 over the 17 of MSNBC, and 0.
CLOSE = {"a": [-1.0, -2.0, -3.0], "b": [-1.5, -1.5, -3.0]}
BEYOND = {"a": [2.0, 5.0, 1.0], "b": [-5.0, -1.0, -1.0], "c": [-4.0, -2.0, -3.0]}
SQUARES = {"a": [99.0, 100.0, 500.0, 1000.0, 1001.0, 9.0], "b": [10.0] * 6}
NAMED = [{"name": m, **source(m)} for m in "xyz"]


@pytest.mark.parametrize(
    ("values", "entry", "ours"),
    [
        (WON, {"b": B}, "1 of 3"),
        (WON, {"b": B, "lower": True}, "1 of 3"),
        (WON, {"a": B, "b": A}, "1 of 3"),
        (WON, {"b": C}, "3 of 3"),
        (WON, {"b": [B, C]}, "1 of 3"),
        (WON, {"a": [A, B], "b": C}, "2 of 3"),
        (WON, {"a": C, "b": [A, B], "lower": True}, "2 of 3"),
        *(
            (RIVALS, {"rule": "best", "a": NAMED, "best": best, **more}, f"{count} of 3")
            for best, more, count in (
                (["x"], {}, 1),
                (["x"], {"ties": True}, 2),
                (["x", "y"], {}, 3),
                (["z"], {"lower": True}, 3),
                (["x", "y", "z"], {}, 3),
            )
        ),
        (WON, {"rule": "cells", "a": [A, A], "b": [B, C]}, "4 of 6"),
        (WON, {"rule": "cells", "a": [B, C], "b": [A, B]}, "2 of 6"),
        # One of two cells is not most of them.
        (WON, {"rule": "most_cells", "a": [A, A], "b": [B, C]}, "1 of 3"),
        *(
            (CLOSE, {"rule": "near", "b": B, "bound": bound}, f"{count} of 3")
            for bound, count in ((0.029, 1), (0.03, 2), (0.03125, 2), (0.032, 3))
        ),
        *(
            (SHARES, {"rule": rule, "b": B, "bound": bound}, f"{count} of 3")
            for bound, rule, count in (
                (-0.05, "above", 2),
                (0.05, "above", 1),
                (0.05, "apart", 2),
                (0.05, "similar", 1),
                (0.5, "similar", 3),
                # 10 per cent is not less than 10 per cent.
                (0.1, "above", 1),
                (0.1, "apart", 2),
                (0.1, "similar", 3),
            )
        ),
        *(
            (BEYOND, {"rule": "beyond", "b": B, "c": C, "bound": bound}, f"{count} of 3")
            for bound, count in ((1.9, 2), (2, 2), (2.1, 1))
        ),
        *(
            ({"a": [-1.0, -2.0, -3.0]}, {"rule": "inside", "low": low, "high": high}, f"{n} of 3")
            for low, high, n in ((-2, -1, 2), (-3, 0, 3), (-1.5, -1.2, 0))
        ),
        # From b^2 to b^3 for b = 10, both ends included.
        (SQUARES, {"rule": "powers", "b": B, "low": 2, "high": 3}, "3 of 6"),
        (SQUARES, {"rule": "powers", "b": B, "low": 0, "high": 3}, "5 of 6"),
        ({"a": [1.0, 2.0, 3.0]}, {"rule": "longer", "bound": 2.9}, "1 of 3"),
        ({"a": [1.0, 2.0, 3.0]}, {"rule": "longer", "bound": 3}, "0 of 3"),
    ],
)
def test_what_counts(published, values, entry, ours):
    names = ALL[: len(next(iter(values.values())))]
    entry = {"kind": "count", "published": "often", "a": A, "datasets": names, **entry}
    found = outcome(published, scores_on(names, **values), **entry)
    assert (found.ours, found.n_datasets) == (ours, len(names))
    count, total = map(int, ours.split(" of "))
    less = FASTER if entry.get("rule") == "longer" else CONTRADICTED
    assert found.verdict == (REPRODUCED if count >= total / 3 else less)
    for direction in ("more", "fewer", "neither"):
        again = outcome(
            published, scores_on(names, **values), **{**entry, "published": count},
            direction=direction,
        )  # fmt: skip
        assert (again.verdict, again.difference) == (REPRODUCED, "+0")
    waiting = outcome(published, scores_on(names, **values), **{**entry, "datasets": [*names, "?"]})
    assert (waiting.verdict, waiting.ours, waiting.n_datasets) == (UNKNOWN, ours, len(names))


# Entries, values of a on 8 and on 5 of 13 datasets, and of the others. 8 is more than chance gives.
EIGHT = [
    ({"rule": "near", "b": B, "bound": 1}, 0.0, 1e6, 0.0),
    ({"rule": "above", "b": B, "bound": 1}, 2.0, 1.0, 1.0),
    ({"rule": "beyond", "b": B, "c": B, "bound": 1}, 0.0, -1.0, 1.0),
    ({"rule": "inside", "low": 1, "high": 2}, 1.0, 9.0, 1.0),
    ({"rule": "powers", "b": B, "low": 1, "high": 2}, 1.0, 9.0, 1.0),
    ({"rule": "cells", "b": B}, 1.0, 0.0, 0.5),
    ({"b": B}, 1.0, 0.0, 0.5),
]


@pytest.mark.parametrize(("entry", "true", "untrue", "b"), EIGHT)
def test_half_of_the_datasets_are_what_chance_gives(published, entry, true, untrue, b):
    entry = {"kind": "count", "published": 12, "datasets": ALL[:13], "a": A, **entry}
    scores = scores_on(ALL[:13], a=[true] * 8 + [untrue] * 5, b=[b] * 13)
    found = outcome(published, scores, **entry)
    assert (found.verdict, found.ours, found.difference) == (SMALLER, "8 of 13", "-4")


def test_chance_falls_with_the_number_of_methods(published):
    """Best on 6 of 13 datasets is little against one other method, and more against two."""
    scores = scores_on(ALL[:13], a=[1.0] * 6 + [-1.0] * 7, b=[0.0] * 13, c=[0.0] * 13)
    entry = {"kind": "count", "published": 8, "a": A, "datasets": ALL[:13]}
    assert verdict(published, scores, b=B, **entry) == CONTRADICTED
    assert verdict(published, scores, b=[B, C], **entry) == SMALLER


def test_best_of_few_methods_is_likelier_than_best_of_many(published):
    """Best on 4 of 13 datasets is more than a fifth and less than a third of them."""
    values = {"x": [1.0] * 4 + [-1.0] * 9, **{m: [0.0] * 13 for m in "yzvw"}}
    columns = [{"name": m, **source(m)} for m in values]
    entry = {"kind": "count", "rule": "best", "published": 8, "best": ["x"], "datasets": ALL[:13]}
    scores = scores_on(ALL[:13], **values)
    assert verdict(published, scores, a=columns, **entry) == SMALLER
    assert verdict(published, scores, a=columns[:3], **entry) == CONTRADICTED


def test_cells_of_several_variants(published):
    values = {"x": [1, 2, 3], "y": [2, 1, 2], "w": [0, 0, 9]}
    scores = scores_of({("a", v): dict(zip(THREE, n, strict=True)) for v, n in values.items()})
    first = {"method": "a", "quantity": "cmll", "each": ["x", "x"]}
    entry = {"kind": "count", "rule": "cells", "published": "most", "a": first}
    found = outcome(published, scores, b={**first, "each": ["y", "w"]}, **entry)
    assert (found.verdict, found.ours, found.n_datasets) == (REPRODUCED, "4 of 6", 3)
    assert verdict(published, scores, b={**first, "each": ["y", "z"]}, **entry) == UNKNOWN


def test_a_dataset_without_known_variables_is_not_near(published):
    entry = {"kind": "count", "rule": "near", "published": 2, "bound": 1, "a": A, "b": B}
    found = outcome(published, scores_on(["x"], a=[1.0], b=[1.0]), datasets=["x"], **entry)
    assert (found.verdict, found.reason) == (UNKNOWN, "0 of 1 dataset scored")


def test_values_are_rounded_to_the_fewest_decimals_that_are_printed():
    first = {"x": Number(0.12345, decimals=4), "z": Number(1 / 3), "y": Number(0.12345, decimals=2)}
    other = {"z": Number(2 / 3), "y": Number(0.98765)}
    rows, missing = collect_rows([first, other], ["x", "z", "y"])
    assert rows == [[0.333333333333, 0.666666666667], [0.12, 0.99]]
    assert missing == ["x"]
