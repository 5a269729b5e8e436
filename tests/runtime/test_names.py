"""Names of variables, and texts of one line."""

import pandas as pd
import pytest

from mnlearn.runtime.errors import InputError
from mnlearn.runtime.names import check_names, counted, frame_names, one_line


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (["a", ""], "data, column 2: has no name."),
        (["a\x7f"], "data, column 1: 'a\\x7f' has a control character."),
        (
            ["a", "b", "a"],
            "data: two columns are called 'a' (1 and 3); give one of them another name.",
        ),
    ],
)
def test_names_that_are_none(names, sentence):
    with pytest.raises(InputError) as caught:
        check_names(names)
    assert str(caught.value) == sentence


def test_names_may_have_any_other_character():
    assert check_names(["a b", "\t", "é", "\U0001f600"]) == ("a b", "\t", "é", "\U0001f600")


def test_a_text_in_one_line():
    assert one_line(" a\n b\x01c\t\u2028d ") == "a b c d"


def test_names_of_columns():
    assert frame_names(pd.DataFrame([[1, 2]], columns=["a", "b"])) == ("a", "b")
    assert frame_names(pd.DataFrame([[1, 2]], columns=["a", 1])) is None
    assert frame_names(pd.DataFrame([[1, 2]])) is None
    assert frame_names(pd.DataFrame()) is None
    assert frame_names([[1, 2]]) is None


def test_numbers_with_their_nouns():
    assert [counted(n, "row") for n in (0, 1, 1200)] == ["0 rows", "1 row", "1,200 rows"]
    assert [counted(n, "query", "queries") for n in (1, 2)] == ["1 query", "2 queries"]
