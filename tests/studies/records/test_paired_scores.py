"""The record of two methods that are compared test example by test example."""

from pathlib import Path

import pytest

from made_study import make
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_json, write_text


def pair():
    """Compare the scores of two methods."""
    inputs = {"first": "a.csv", "second": "b.csv"}
    return make("paired", "a-b.json", {"code": "x"}, method="a-b", inputs=inputs)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_text("b.csv", "ll,pll\n-1,-3\n-1,-5\n")


def test_two_examples_have_a_mean_difference_and_its_error():
    """The differences of pll are 2 and 1, first less second; cmll is of the first only."""
    write_text("a.csv", "pll,cmll\n-1,-7\n-4,-8\n")
    record = read_json(pair())
    assert record.pop("made_by")["code_digest"]
    assert record == {
        "study": "s",
        "dataset": "d",
        "recipe": {"code": "x"},
        "method": "a",
        "less": "b",
        "n_test": 2,
        "differences": {"pll": {"mean": 1.5, "stderr": pytest.approx(0.5)}},
    }


@pytest.mark.parametrize("name", ["a.csv", "b.csv"])
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("pll\n-1\n-inf\n", "expected a finite score in each cell."),
        ("pll,ll\n-1,\n-2,-1\n", "expected a finite score in each cell."),
        ("pll\n-1\nlow\n", "expected a score in each cell."),
        ("pll\n-1\n-2,-3,-4\n", "is not a CSV table."),
    ],
)
def test_scores_that_are_no_numbers_are_refused(name, text, sentence):
    write_text("a.csv", "pll\n-1\n-4\n")
    write_text(name, text)
    with pytest.raises(InputError, match=f"{name}: {sentence}"):
        pair()
    assert not Path("a-b.json").exists()
