"""Tables of states, in and out."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mnlearn.inference.evidence import read_rows
from mnlearn.runtime.errors import InputError
from mnlearn.variables.frames import dtype_of
from mnlearn.variables.schema import NO_STATE, Schema, Variable, binary_schema

SCHEMA = Schema(
    (
        Variable("sex", ("f", "m")),
        Variable("mood", ("low", "mid", "high"), ordered=True),
        Variable("site", ("here",)),
        Variable("items", (1, 2, 3)),
    )
)
TABLE = pd.DataFrame({"items": [3, 1], "site": "here", "mood": ["high", "low"], "sex": ["m", "f"]})
VALUES = [[1, 2, 0, 2], [0, 0, 0, 0]]


@pytest.mark.parametrize(
    "table",
    [
        TABLE,
        TABLE.astype({"items": float, "mood": "category"}),
        TABLE.astype({"items": "string"}),
        TABLE[list(SCHEMA.names)].to_numpy(object),
    ],
)
def test_columns_are_found_by_name_and_values_as_people_write_them(table):
    assert read_rows(SCHEMA, table, "X").values.tolist() == VALUES


def test_tables_of_other_libraries():
    pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars").from_pandas(TABLE[list(SCHEMA.names)])
    for table in (polars, polars.to_arrow()):
        assert read_rows(SCHEMA, table, "X").values.tolist() == VALUES


def test_matrices_of_binary_variables():
    schema, rows = binary_schema(3), np.array([[0, 1, 1], [1, 0, 0]])
    for matrix in (rows, rows.astype(bool), rows * 1.0, sparse.csr_array(rows), rows.tolist()):
        assert read_rows(schema, matrix, "X").values.tolist() == rows.tolist()


def test_missing_cells():
    table = TABLE.assign(mood=[None, "low"]).drop(columns="sex")
    none = NO_STATE
    assert read_rows(SCHEMA, table, "X").values.tolist() == [[none, none, 0, 2], [none, 0, 0, 0]]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (TABLE.assign(sex="x"), "X, row 0, column 'sex': expected 'f' or 'm', got 'x'."),
        (TABLE.assign(items=[1, 9]), "X, row 1, column 'items': expected '1', '2' or '3', got"),
        (np.zeros((2, 3)), "X: expected 4 columns, got 3."),
        (pd.concat([TABLE, TABLE["sex"]], axis=1), "X: names the variable 'sex' twice."),
    ],
)
def test_what_is_refused(table, message):
    with pytest.raises(InputError) as error:
        read_rows(SCHEMA, table, "X")
    assert str(error.value).startswith(message)


DTYPES = [
    ("str", ["a", "b", "a"]),
    ("object", ["a", "b", "a"]),
    ("string", ["a", "b", "a"]),
    ("category", ["a", "b", "a"]),
    (pd.CategoricalDtype(["b", "a"], ordered=True), ["a", "b", "a"]),
    (pd.CategoricalDtype(pd.Index(["b", "a"], dtype=object)), ["a", "b", "a"]),
    (pd.CategoricalDtype(pd.Index([2, 1], dtype="int8")), [1, 2, 1]),
    ("int8", [1, 2, 1]),
    ("Int64", [1, 2, 1]),
    ("float32", [1, 2, 1]),
    ("bool", [True, False, True]),
    ("boolean", [True, False, True]),
    ("string[pyarrow]", ["a", "b", "a"]),
    ("int64[pyarrow]", [1, 2, 1]),
    ("bool[pyarrow]", [True, False, True]),
]


@pytest.mark.parametrize(("dtype", "values"), DTYPES)
def test_a_decoded_table_has_the_dtypes_of_the_data(dtype, values):
    if "pyarrow" in str(dtype):
        pytest.importorskip("pyarrow")
    column = pd.Series(values, dtype=dtype)
    is_category = isinstance(column.dtype, pd.CategoricalDtype)
    states = column.dtype.categories.tolist() if is_category else sorted(set(values))
    ordered = is_category and column.dtype.ordered
    schema = Schema((Variable("v", tuple(states), ordered, dtype_of(column)),))
    decoded = schema.decode(schema.rows(read_rows(schema, column.to_frame("v"), "X").values))
    pd.testing.assert_frame_equal(decoded, column.to_frame("v"), check_exact=True)


def test_rows_without_a_state_are_not_decoded():
    with pytest.raises(InputError, match=r"^row 1: has not one state of 'mood'\.$"):
        SCHEMA.decode(np.array([[1, 0, 0, 1, 0, 0, 1], [0, 0, 0, 0, 1, 0, 0]], np.uint8))
