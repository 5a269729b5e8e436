"""Set-up claims, worked examples, and sources of several variants."""

import pytest

from claim_cases import COLUMNS, THREE, outcome, scores_of, scores_on, source
from mnlearn_studies.report.claims.verdicts import SETUP, UNKNOWN

A = source("a")


def verdict(printed, scores, /, **entry):
    return outcome(printed, scores, **entry).verdict


SETTINGS = {
    "methods": {
        "a": {
            "grid": {"sd": [0.1, 1.0], "merge": ["or", "and"], "k": [1, 10, 100]},
            "exceptions": {"kdd": {"merge": ["or"], "k": [1, 10, 100]}},
        }
    },
    "cmll": {"groups": 4, "samples": 10},
}


@pytest.mark.parametrize(
    ("path", "published_text", "reason"),
    [
        ("methods.a.grid.sd", "1; 0.1", ""),
        ("methods.a.grid.sd", "0.1; 1; 10", "deviates: ours 0.1; 1"),
        ("methods.a.grid.sd", "0.1 to 1", ""),
        ("methods.a.grid.sd", "1 to 0.1", ""),
        ("methods.a.grid.sd", "0.1 to 10", "deviates: ours 0.1; 1"),
        ("methods.a.grid.k", "1, times 10", ""),
        ("methods.a.grid.k", "1, times 2", "deviates: ours 1; 10; 100"),
        ("methods.a.grid.merge", "or; and", "deviates: other values on kdd"),
        ("cmll.groups", 4, ""),
        ("cmll.groups", 5, "deviates: ours 4"),
        ("cmll.burn_in", 4, "deviates: the study does not set cmll.burn_in"),
        ("cmll.groups.x", 4, "deviates: the study does not set cmll.groups.x"),
    ],
)
def test_settings_of_the_study_and_published_ones(published, path, published_text, reason):
    entry = {"kind": "setting", "published": published_text, "paths": [path]}
    found = outcome(published, content=SETTINGS, **entry)
    assert (found.verdict, found.reason) == (SETUP, reason)


def test_settings_of_several_paths_and_of_no_method(published):
    paths = ["cmll.groups", "cmll.samples"]
    entry = {"kind": "setting", "content": SETTINGS}
    assert not outcome(published, published="4; 10", paths=paths, **entry).reason
    assert outcome(published, published="4; 11", paths=paths, **entry).reason
    found = outcome(published, published="1", paths=["methods.b.grid.sd"], **entry)
    assert (found.verdict, found.reason) == (UNKNOWN, "the study does not have the method b")


@pytest.mark.parametrize(("number", "reason"), [(6, ""), (9, "deviates: ours 6")])
def test_numbers_of_setups(published, number, reason):
    paths = ["methods.a.grid.sd", "methods.a.grid.k"]
    entry = {
        "kind": "setting",
        "rule": "combinations",
        "published": number,
        "paths": paths,
        "content": SETTINGS,
    }
    assert outcome(published, **entry).reason == reason
    missing = outcome(published, **{**entry, "paths": ["cmll.groups", "cmll.x"]})
    assert (missing.verdict, missing.ours) == (SETUP, "")
    assert missing.reason == "deviates: the study does not set cmll.x"


@pytest.mark.parametrize(
    ("values", "reason"), [([1.0] * 3, ""), ([1.0, 1.0, 2.0], "deviates: ours 1; 2")]
)
def test_settings_that_models_recorded(published, values, reason):
    entry = {"kind": "setting", "rule": "recorded", "published": 1, "a": A}
    found = outcome(published, scores_on(a=values), **entry)
    assert (found.verdict, found.reason, found.n_datasets) == (SETUP, reason, 3)
    waiting = outcome(published, scores_on(a=values), datasets=[*THREE, "x"], **entry)
    assert (waiting.verdict, waiting.ours) == (UNKNOWN, found.ours)


def test_variants_that_are_compared(published):
    scores = scores_of({(m, v): dict.fromkeys(THREE, 1.0) for m in "ab" for v in "xy"})

    def of(variants):
        return [{"method": m, "quantity": "cmll", "each": variants} for m in "ab"]

    entry = {"kind": "setting", "rule": "scored"}
    found = outcome(published, scores, published=2, a=of(["x", "y"]), **entry)
    assert (found.verdict, found.reason, found.n_datasets) == (SETUP, "", 3)
    found = outcome(published, scores, published=3, a=of(["x", "y"]), **entry)
    assert found.reason == "deviates: ours 2 of 2"
    found = outcome(published, scores, published=3, a=of(["x", "y", "z"]), **entry)
    assert (found.verdict, found.ours) == (UNKNOWN, "2 of 3")
    assert found.reason == "1 are not scored everywhere"


def test_words_instead_of_numbers(published):
    found = outcome(published, kind="stated", published=1, ours="the same")
    assert (found.verdict, found.ours, found.reason) == (SETUP, "the same", "")
    found = outcome(published, kind="stated", published=1, ours="2", deviates="two")
    assert found.reason == "deviates: two"
    found = outcome(published, kind="unavailable", published=1, needs="L1")
    assert (found.verdict, found.reason) == (UNKNOWN, "needs L1")


def test_sources_of_several_variants(published):
    rows = [("s", "kdd", "a", name, "cmll", n, None) for name, n in (("x", 1), ("y", 2), ("z", 6))]
    scores = scores_of({}).__class__(rows, columns=COLUMNS)
    base = {"method": "a", "quantity": "cmll"}
    entry = {"kind": "value", "dataset": "kdd", "published": 0}
    assert outcome(published, scores, a={**base, "variants": ["x", "y", "z"]}, **entry).ours == "3"
    less = outcome(published, scores, a={**base, "variants": ["x", "y"]}, **entry)
    assert (less.ours, less.difference) == ("1.5", "+1.50")
    none = outcome(published, scores, **{**entry, "published": 2}, a={**base, "variant": "y"})
    assert none.difference == "+0"
    waiting = outcome(published, scores, a={**base, "variants": ["x", "w"]}, **entry)
    assert waiting.verdict == UNKNOWN
