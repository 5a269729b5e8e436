"""Which state a value is."""

import math

import numpy as np
import pandas as pd
import pytest

from mnlearn.runtime.errors import InputError
from mnlearn.variables.matching import find_state, intervals_between, is_missing, match_states
from mnlearn.variables.schema import NO_STATE, Variable

SEX = Variable("sex", ("f", "m"))
BINARY = Variable("b")
RATING = Variable("rating", (1, 2, 3), ordered=True)
SMOKES = Variable("smokes", ("yes", "no"))
FLAG = Variable("flag", (False, True))
AGE = Variable("age", tuple(i.text for i in intervals_between([30, 50.5])), ordered=True)


@pytest.mark.parametrize(
    ("variable", "value", "state"),
    [
        (SEX, "f", 0),
        (SEX, " M ", 1),
        (SEX, "x", None),
        (SEX, False, None),
        (SEX, 0, None),
        (BINARY, "1", 1),
        (BINARY, 1.0, 1),
        (BINARY, np.float64(0), 0),
        (BINARY, True, 1),
        (BINARY, np.False_, 0),
        (BINARY, "yes", 1),
        (BINARY, 2, None),
        (RATING, "3.0", 2),
        (RATING, 2, 1),
        (RATING, True, None),
        (RATING, 1.5, None),
        (SMOKES, "No", 1),
        (SMOKES, True, 0),
        (SMOKES, 1, 0),
        (SMOKES, "0", 1),
        (FLAG, "true", 1),
        (FLAG, 0, 0),
        (FLAG, "no", 0),
        (AGE, 29.9, 0),
        (AGE, "30", 1),
        (AGE, 50.5, 2),
        (AGE, "30-<50.5", 1),
        (AGE, "old", None),
        (Variable("two", ("a", "A")), "a", 0),
        (Variable("blanks", ("a", " a", "b")), " a", 1),
        (Variable("blanks", (" a", " b")), "B ", 1),
        (SEX, ["f"], None),
        (Variable("two", ("aB", "AB")), "ab", None),
        (Variable("ones", (1, 2)), 0, None),
        (Variable("ones", ("1", "1.0")), "1.00", None),
        (Variable("signs", ("<4", "4-7")), 3, None),
        (Variable("big", ("1_000", "2")), 1000, None),
    ],
)
def test_a_value_is_the_state_that_people_mean(variable, value, state):
    assert find_state(variable, value) == state


def test_cells_become_numbers_of_states():
    found = match_states(SEX, ["m", None, "f", float("nan"), pd.NA, "", "NA"], "data")
    none = NO_STATE
    assert found.tolist() == [1, none, 0, none, none, none, none]
    # What a variable has as a state is not missing.
    assert match_states(Variable("v", ("NA", "x")), ["NA", None], "data").tolist() == [0, none]
    assert match_states(Variable("v", (True, 2)), [True, 2], "data").tolist() == [0, 1]


def test_a_value_that_is_no_state_is_refused():
    with pytest.raises(InputError, match=r"^row 2: expected .1., .2. or .3., got .7.\.$"):
        match_states(RATING, [1, 2, 7], lambda row: f"row {row}")


@pytest.mark.parametrize("value", [None, math.nan, pd.NA, pd.NaT, "", " ", "NaN", "n/a", "?", -9])
def test_a_missing_cell(value):
    assert is_missing(value, ("?", "-9"))
    assert not is_missing("None")
