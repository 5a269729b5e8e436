"""Examples of which some cells are missing."""

import numpy as np
import pytest

from made_data import examples
from mnlearn.data.dataset import merge_rows
from mnlearn.data.incomplete import MISSING, incomplete, merge_incomplete
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import binary_schema

ROWS = np.array([[1, MISSING], [0, 1], [1, MISSING], [1, 1]])
DATA = merge_incomplete(ROWS, [1.0, 2.0, 3.0, 4.0], schema=binary_schema(["a", "b"]))


def test_equal_rows_are_merged():
    assert DATA.rows.tolist() == [[0, 1], [1, 1], [1, MISSING]]
    assert (DATA.weight.tolist(), DATA.row_of.tolist()) == ([2, 4, 4], [2, 0, 2, 1])
    assert (DATA.n_rows, DATA.n_vars, DATA.n_examples) == (3, 2, 10)
    assert (DATA.schema.names, DATA.row_of.dtype) == (("a", "b"), np.int32)
    assert DATA.values.tolist() == ROWS.tolist()
    assert DATA.given_weight.tolist() == [2, 2, 2, 4]
    for array in (DATA.rows, DATA.weight, DATA.row_of, DATA.given_weight):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert merge_incomplete(ROWS).weight.tolist() == [1, 1, 2]
    assert not merge_incomplete(ROWS).schema.is_named


def test_complete_and_filled_examples():
    whole = DATA.complete_examples()
    assert (examples(whole).tolist(), whole.schema.names) == ([[0, 1], [1, 1]], ("a", "b"))
    assert whole.weight.tolist() == [2, 4]
    filled = DATA.filled(np.where(DATA.values == MISSING, 0, DATA.values))
    assert (filled.rows.tolist(), filled.schema.names) == ([[0, 1], [1, 0], [1, 1]], ("a", "b"))
    assert filled.weight.tolist() == [2, 4, 4]
    assert DATA.frequency().tolist() == [0.8, 1.0]
    with pytest.raises(InputError, match=r"^data: each row has a missing cell; expected complete"):
        merge_incomplete([[1, MISSING], [MISSING, 0]]).complete_examples()


def test_complete_data_as_incomplete():
    assert incomplete(DATA) is DATA
    data = merge_rows([[1, 0], [0, 0], [1, 0]], schema=binary_schema(("a", "b")))
    same = incomplete(data)
    assert (same.rows is data.rows, same.weight is data.weight, same.row_of is data.row_of) == (
        True, True, True,
    )  # fmt: skip
    assert same.schema.names == ("a", "b")


@pytest.mark.parametrize(("names", "label"), [(None, "2"), (("a", "b"), "'b'")])
def test_a_column_without_a_known_cell(names, label):
    data = merge_incomplete([[1, MISSING], [0, MISSING]], schema=binary_schema(names or 2))
    with pytest.raises(InputError) as caught:
        data.frequency()
    assert (
        str(caught.value) == f"data, column {label}: all cells are missing; leave the column out."
    )


def test_weights_are_checked():
    with pytest.raises(InputError, match=r"^data, row 2: expected a positive weight"):
        merge_incomplete(ROWS, [1.0, 0.0, 1.0, 1.0])
