"""Numbers cut in two by `ones`, and words that are the names of the states of a model."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import mnlearn as mn
from command import mean, refuse, succeed
from made_data import examples
from mnlearn.data.examples import load_examples
from mnlearn.data.reading import Reading
from mnlearn.runtime.errors import InputError

# In the first variable `yes` is the value 0.
BIF = """network small {}
variable a { type discrete [ 2 ] { yes, no }; }
variable b { type discrete [ 2 ] { no, yes }; }
probability ( a ) { table 0.1, 0.9; }
probability ( b | a ) { (yes) 0.8, 0.2; (no) 0.05, 0.95; }
"""
WORDS = "a,b\nyes,yes\nno,no\nno,yes\n"
NUMBERS = "a,b\n0,1\n1,0\n1,1\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with a questionnaire and a network, as current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "likert.csv").write_text("mood,sleep,sport,low\n1,5,yes,0\n3,2,no,1\n4,4,yes,1\n")
    (tmp_path / "more.csv").write_text("mood,sleep,sport,low\n5,1,no,1\n2,1,no,0\n")
    (tmp_path / "small.bif").write_text(BIF)
    (tmp_path / "words.csv").write_text(WORDS)
    (tmp_path / "numbers.csv").write_text(NUMBERS)
    (tmp_path / "other.csv").write_text("a,b\nyes,maybe\n")


def read(name, *ones, reading=None):
    return load_examples(name, reading=reading or Reading(ones=ones))


@pytest.mark.filterwarnings("ignore:.*yes counts as 1", "ignore:.*so not cut")
@pytest.mark.parametrize(
    ("ones", "expected"),
    [
        ((">=4",), [[0, 1, 1, 0], [0, 0, 0, 1], [1, 1, 1, 1]]),
        (("mood>=2.5", "sleep>=5"), [[0, 1, 1, 0], [1, 0, 0, 1], [1, 0, 1, 1]]),
        # The first that says something of a column counts.
        (("mood>=3", ">=5", "no"), [[0, 1, 0, 0], [1, 0, 1, 1], [1, 0, 0, 1]]),
    ],
)
def test_numbers_are_cut(ones, expected):
    found = read("likert.csv", *ones)
    assert examples(found.data).tolist() == expected
    frame = pd.read_csv("likert.csv")
    assert examples(mn.read_data(frame, ones=ones)).tolist() == expected


def test_other_data_are_cut_alike():
    found = read("likert.csv", "mood>=3", "sleep>=5")
    assert examples(read("more.csv", reading=found.reading).data).tolist() == [
        [1, 0, 0, 1],
        [0, 0, 0, 0],
    ]


@pytest.mark.parametrize(
    ("ones", "sentence"),
    [
        (
            ("mood>=3", "sleep>=3", "sport>=3"),
            "ones, column 'sport': expected numbers, the column has 'yes'.",
        ),
        (("age>=3",), "ones: there is no column 'age'"),
        (
            ("mood>=3",),
            "column 'sleep': expected 0 or 1, got '5'; the column has 3 different values",
        ),
    ],
)
def test_what_cannot_be_cut_is_refused(ones, sentence):
    with pytest.raises(InputError) as caught:
        read("likert.csv", *ones)
    assert sentence in str(caught.value)


@pytest.mark.parametrize(
    "ones", [("mood=1", "mood=2"), ("1", "2"), (">=2", ">=1.5"), ("mood>=2", "mood=2")]
)
def test_what_is_said_twice_of_a_column_is_refused_unless_it_is_the_same(ones):
    table = pd.DataFrame({"mood": [1, 2, 2]})
    with pytest.raises(InputError, match=r"column 'mood': .* and .* say different things"):
        mn.read_data(table, ones=ones)
    for same in (ones[0], ones[0]), (ones[1], ones[1]):
        assert examples(mn.read_data(table, ones=same)).sum() in (1, 2, 3)


@pytest.mark.parametrize(
    ("ones", "constant", "value"),
    [
        (["a=no", "b=2"], 0, 0),
        (["no", "2"], "yes", 0),
        (["no", "2"], 2, 1),
        (["no", ">=2"], 4, 1),
        ([">=2", "no"], "no", 1),
    ],
)
def test_a_column_of_one_value_takes_what_speaks_of_it(ones, constant, value):
    table = pd.DataFrame({"a": ["no", "yes"], "b": [2, 1], "z": [constant] * 2})
    assert examples(mn.read_data(table, ones=ones)).tolist() == [[1, 1, value], [0, 0, value]]


def test_what_names_a_column_counts_before_what_is_said_of_all():
    table = pd.DataFrame({"mood": [1, 2, 2], "sleep": [1, 1, 2]})
    for ones in (["1", "mood=2"], ["mood=2", "1"]):
        assert examples(mn.read_data(table, ones=ones)).tolist() == [[0, 1], [1, 1], [1, 0]]


def test_words_are_read_by_the_states_of_the_model():
    expected = np.log([0.1 * 0.2, 0.9 * 0.05, 0.9 * 0.95]).mean()
    assert mean("small.bif words.csv --metric ll") == pytest.approx(expected)
    model = mn.load("small.bif")
    assert model.score(pd.read_csv("words.csv"), "ll") == pytest.approx(expected)
    for source in ("words.csv", pd.read_csv("words.csv")):
        data = mn.read_data(source, model=model)
        assert mn.score(model, data, "ll").mean == pytest.approx(expected)
    succeed("convert small.bif small.ac")
    assert mean("small.ac words.csv --metric ll") == pytest.approx(expected)
    succeed("weights small.bif words.csv --out words.mn")
    succeed("weights small.bif numbers.csv --ones a=1 --out numbers.mn")
    assert Path("words.mn").read_bytes() == Path("numbers.mn").read_bytes()
    refuse("score small.bif other.csv", "line 2, column 'b': expected no or yes, got 'maybe'")


def test_values_whose_state_is_not_clear_are_refused(tmp_path):
    """In the first variable 1 would be no; without names of columns the place says which it is."""
    sentence = "line 2, column 'a': expected yes or no, got '0'"
    refuse("score small.bif numbers.csv --metric ll", f"numbers.csv, {sentence}")
    model, table = mn.load("small.bif"), pd.read_csv("numbers.csv")
    for source in (tmp_path / "numbers.csv", table):
        with pytest.raises(InputError, match=r"column .*: expected yes or no, got '0'"):
            mn.read_data(source, model=model)
    expected = model.score(table.to_numpy(), "ll")
    assert mean("small.bif numbers.csv --ones a=1 --metric ll") == pytest.approx(expected)
    assert model.score(mn.read_data(table, model=model, ones="a=1")) == pytest.approx(expected)
    Path("rows.csv").write_text(NUMBERS.removeprefix("a,b\n"), encoding="utf-8")
    refuse("score small.bif rows.csv --metric ll", "line 1, column 1: expected yes or no, got '0'")
    text = BIF.replace("yes, no", "1, 0").replace("(yes)", "(1)").replace("(no)", "(0)")
    Path("digits.bif").write_text(text, encoding="utf-8")
    Path("rows.csv").write_text("1,1\n0,0\n0,1\n", encoding="utf-8")
    assert mean("digits.bif rows.csv --metric ll") == pytest.approx(expected)
    refuse("sample small.bif --rows 5 --out s.data", "0 and 1 do not say which state of 'a'")


def test_a_threshold_keeps_all_its_digits(tmp_path):
    """Dates, and numbers of more than six digits."""
    table = pd.DataFrame({"day": [20240110, 20240114, 20240115, 20240120], "b": [0, 1, 1, 0]})
    table.to_csv("days.csv", index=False)
    for source in ("days.csv", table, table.astype(float)):
        found = mn.read_data(source, ones="day>=20240115")
        assert examples(found)[:, 0].tolist() == [0, 0, 1, 1]
    fine = pd.DataFrame({"x": [0.12345671, 0.1234567, 0.5], "b": [0, 1, 0]})
    assert examples(mn.read_data(fine, ones="x>=0.12345671"))[:, 0].tolist() == [1, 0, 1]


def test_states_may_look_like_thresholds():
    text = BIF.replace("yes, no", "<5, >=5").replace("(yes)", "(<5)").replace("(no)", "(>=5)")
    Path("ages.bif").write_text(text, encoding="utf-8")
    Path("ages.csv").write_text("a,b\n<5,no\n>=5,no\n>=5,yes\n<5,yes\n", encoding="utf-8")
    model = mn.load("ages.bif")
    expected = [[0, 0], [1, 0], [1, 1], [0, 1]]
    assert examples(mn.read_data("ages.csv", model=model)).tolist() == expected
    for ones in (["a=>=5", "b=yes"], [">=5", "yes"]):
        assert examples(mn.read_data("ages.csv", ones=ones)).tolist() == expected
    assert examples(mn.read_data("ages.csv", ones=["a=<5", "b=yes"]))[:, 0].tolist() == [1, 0, 0, 1]


def test_columns_that_are_not_cut_are_named():
    """Of a rating from 0 to 3 only 0 and 1 may occur."""
    table = pd.DataFrame({"tired": [0, 1, 2, 3], "sad": [0, 1, 0, 1]})
    with pytest.warns(UserWarning, match="source: sad: only 0 and 1, so not cut; ones= with 'sad'"):
        found = mn.read_data(table, ones=">=2")
    assert examples(found).tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert examples(mn.read_data(table, ones=[">=2", "sad>=2"]))[:, 1].tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize("ones", ["foo", ">40", "a<1", ">=2"])
def test_what_says_nothing_of_any_column_is_refused(ones):
    table = pd.DataFrame({"a": [0, 1, 1], "b": [1, 0, 1]})
    with pytest.raises(InputError, match=f"source, ones=: '{ones}' says nothing of any column"):
        mn.read_data(table, ones=ones)
    table.to_csv("plain.csv", index=False)
    refuse(f"fit atomic --train plain.csv --ones {ones} --out m.npz", "says nothing of any column")


@pytest.fixture
def ratings():
    """A model of ratings from 1 to 5, and people whose first rating is always 1."""
    table = pd.DataFrame({"i": [1, 5, 4, 2] * 5, "j": [2, 5, 5, 1] * 5, "sex": [0, 1, 1, 0] * 5})
    table.to_csv("train.csv", index=False)
    table.iloc[:2].assign(i=1).to_csv("people.csv", index=False)
    succeed("fit chow_liu --train train.csv --ones >=4 --out m.npz")
    return mn.load("m.npz")


@pytest.mark.filterwarnings("ignore:.*so not cut")
def test_what_may_be_a_rating_of_a_model_is_refused_or_said(ratings):
    """A constant rating looks like a column of 0 and 1."""
    sentence = (
        "column 'i': has only 0 and 1, which may be ratings to cut or answers; say {0} 'i>=4' or "
        "{0} 'i=1'; so of sex."
    )
    refuse("score m.npz people.csv --ones >=4 --metric ll", sentence.format("--ones"))
    for source in ("people.csv", pd.read_csv("people.csv")):
        with pytest.raises(InputError, match=re.escape(sentence.format("ones="))):
            mn.read_data(source, ones=">=4", model=ratings)
        for first, value in (("i>=4", 0), ("i=1", 1)):
            found = mn.read_data(source, ones=[first, "sex=1", ">=4"], model=ratings)
            assert examples(found).tolist() == [[value, 0, 0], [value, 1, 1]]
    # Models without names are no exception.
    succeed("convert m.npz m.bn")
    refuse("score m.bn people.csv --ones >=4 --metric ll", "column 'i': has only 0 and 1")


def test_a_person_whose_ratings_are_all_the_lowest(ratings):
    Path("one.csv").write_text("i,j,sex\n1,1,0\n", encoding="utf-8")
    sentence = "say --ones 'i>=4' or --ones 'i=1'; so of j."
    refuse("score m.npz one.csv --ones >=4 --metric ll", sentence)
    # A 0 is 0 whether it is cut or not.
    found = mn.read_data("one.csv", ones=["i>=4", "j>=4"], model=ratings)
    assert examples(found).tolist() == [[0, 0, 0]]
