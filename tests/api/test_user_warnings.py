"""Warnings name the line of the person who called the library."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

import mnlearn as mn

ROWS = np.random.default_rng(0).integers(0, 2, (60, 4))
WORDS = pd.DataFrame(np.where(ROWS, "yes", "no"), columns=list("abcd"))
IDS = WORDS.assign(person_id=[f"p{k}" for k in range(60)])
HOLES = IDS.where(
    np.hstack([np.random.default_rng(1).random(ROWS.shape) < 0.9, np.ones((60, 1), bool)])
)
CONSTANT = pd.DataFrame(ROWS, columns=list("abcd")).assign(d=1)
MODEL = mn.Atomic().fit(ROWS).model_
NETWORK = mn.DNTree().fit(ROWS).model_
GROUPS = {"first": CONSTANT[:30], "second": CONSTANT[30:]}

CALLS = {
    "read_data": lambda: mn.read_data(IDS),
    "fit": lambda: mn.Atomic().fit(IDS),
    "fit and score": lambda: mn.Atomic().fit(IDS).score(IDS),
    "score": lambda: mn.score(MODEL, WORDS, "pll"),
    "score of a model": lambda: MODEL.score(WORDS),
    "search": lambda: mn.GridSearch(mn.Atomic(), {"pseudocount": [1, 2]}).fit(IDS),
    "impute": lambda: mn.impute(HOLES),
    "conversion": lambda: mn.from_dependency_network(NETWORK, WORDS),
    "Ising": lambda: mn.Ising().fit(CONSTANT),
    "comparison": lambda: mn.compare_ising(GROUPS, 2),
    "pipeline": lambda: make_pipeline(mn.Atomic()).fit(IDS),
    "cross-validation": lambda: cross_val_score(mn.Atomic(), IDS, cv=2),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_warning_names_the_line_of_the_caller(name):
    call = CALLS[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    assert {warning.category for warning in caught} == {UserWarning}
    expected = (__file__, call.__code__.co_firstlineno)
    assert {(warning.filename, warning.lineno) for warning in caught} == {expected}


@pytest.mark.parametrize("suffix", ["uai", "nnf", "mn", "npz"])
def test_a_file_of_numbers_loses_words(tmp_path, suffix):
    model = mn.Atomic().fit(WORDS)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        mn.save(model, tmp_path / f"m.{suffix}")
    said = [str(warning.message) for warning in caught]
    assert len(said) == (suffix != "npz")
    assert all("has 0 for no of 'a', and numbers for other states too" in one for one in said)


def test_true_and_false_are_read_without_a_word():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for dtype in ("bool", "boolean", "Int64", "Float64"):
            frame = pd.DataFrame(ROWS, columns=list("abcd")).astype(dtype)
            learned = mn.Atomic().fit(frame)
            assert learned.score(frame) == mn.Atomic().fit(ROWS).score(ROWS)


def test_an_ising_network_warns_of_what_makes_it_unreliable():
    """With the sentences of the command line."""
    alike = pd.DataFrame(ROWS, columns=list("abcd")).assign(e=lambda frame: 1 - frame["a"])
    rare = alike.assign(e=(np.arange(60) < 4).astype(int))
    both = alike["a"] & alike["b"]
    skipped = alike.assign(e=both)
    for frame, sentence in (
        (skipped, "e: the other items say the answer in every row, so weights grow without end."),
        (alike, "the same or opposite answers in all rows: a – e; leave one out."),
        (rare, "a value occurs fewer than 10 times in e: their estimates are unreliable."),
        (alike[:4], "5 items and 4 rows: expected a row for each person."),
    ):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            mn.Ising().fit(frame)
        assert sentence in [str(warning.message) for warning in caught]
