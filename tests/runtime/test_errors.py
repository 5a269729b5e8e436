"""Errors are put into a sentence once, and no module takes the sentence apart."""

import pickle
from pathlib import Path

import pytest

from mnlearn.runtime.errors import DATA, FullDiskError, InputError, name_data


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, "expected 0 or 1."),
        ({"where": Path("a.csv")}, "a.csv: expected 0 or 1."),
        ({"where": "a.csv", "line": 3, "column": "'b'"}, "a.csv, line 3, column 'b': expected 0"),
        ({"where": "X", "row": 3, "column": 1}, "X, row 3, column 1: expected 0 or 1."),
        ({"where": "X", "advice": "drop it"}, "X: expected 0 or 1; drop it."),
    ],
)
def test_the_sentence_has_the_place_the_fault_and_the_remedy(fields, sentence):
    error = InputError("expected 0 or 1.", **fields)
    assert str(error).startswith(sentence)
    assert str(error).endswith(".")
    assert not str(error).endswith("..")
    assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_code_that_knows_the_file_names_it_in_the_same_error():
    error = FullDiskError("is too long.", where=DATA, row=2)
    with pytest.raises(FullDiskError) as caught, name_data("outer"), name_data("a.csv"):
        raise error
    assert caught.value is error
    assert str(error) == "a.csv, row 2: is too long."


def test_a_place_that_is_known_stays():
    with pytest.raises(InputError, match=r"^--seed: is too large\.$"), name_data("a.csv"):
        raise InputError("is too large.", where="--seed")
