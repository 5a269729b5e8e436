"""Tables of states, in and out."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mnlearn.runtime.errors import InputError
from mnlearn.variables.frames import dtype_of
from mnlearn.variables.schema import MISSING, Schema, Variable, binary_schema

SCHEMA = Schema(
    (
        Variable("sex", ("f", "m")),
        Variable("mood", ("low", "mid", "high"), ordered=True),
        Variable("site", ("here",)),
        Variable("items", (1, 2, 3)),
    )
)
TABLE = pd.DataFrame(
    {"items": [3, 1], "other": [0, 1], "site": "here", "mood": ["high", "low"], "sex": ["m", "f"]}
)
ROWS = [[1, 0, 0, 1, 0, 0, 1], [0, 1, 0, 0, 1, 0, 0]]


def test_columns_are_found_by_name_and_values_as_people_write_them():
    assert SCHEMA.encode(TABLE).tolist() == ROWS
    assert SCHEMA.encode(TABLE.astype({"items": float, "mood": "category"})).tolist() == ROWS
    assert SCHEMA.encode(TABLE.astype({"items": "string"})).tolist() == ROWS
    in_order = TABLE[list(SCHEMA.names)].to_numpy(object)
    assert SCHEMA.encode(in_order).tolist() == ROWS


def test_tables_of_other_libraries():
    pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars")
    assert SCHEMA.encode(polars.from_pandas(TABLE)).tolist() == ROWS
    assert SCHEMA.encode(polars.from_pandas(TABLE).to_arrow()).tolist() == ROWS


def test_matrices_of_binary_variables():
    schema, rows = binary_schema(3), np.array([[0, 1, 1], [1, 0, 0]])
    for matrix in (rows, rows.astype(bool), rows * 1.0, sparse.csr_array(rows), rows.tolist()):
        assert schema.encode(matrix).tolist() == rows.tolist()


def test_missing_cells():
    table = TABLE.assign(mood=[None, "low"])
    with pytest.raises(InputError, match=r"^X, row 0, column 'mood': is missing\.$"):
        SCHEMA.encode(table, where="X")
    rows = SCHEMA.encode(table, known=False)
    assert rows[0].tolist() == [1, MISSING, MISSING, MISSING, 0, 0, 1]
    assert rows[1].tolist() == ROWS[1]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (TABLE.drop(columns="sex"), "data: lacks the column 'sex'."),
        (TABLE.assign(sex="x"), "data, row 0, column 'sex': expected 'f' or 'm', got 'x'."),
        (TABLE.assign(items=[1, 9]), "data, row 1, column 'items': expected '1', '2' or '3', got"),
        (np.zeros((2, 3)), "data: expected 4 columns, got 3."),
        (pd.concat([TABLE, TABLE["sex"]], axis=1), "data: two columns are called 'sex'."),
    ],
)
def test_what_is_refused(table, message):
    with pytest.raises(InputError) as error:
        SCHEMA.encode(table)
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
    ("dictionary", ["a", "b", "a"]),
]


@pytest.mark.parametrize(("dtype", "values"), DTYPES)
def test_a_decoded_table_has_the_dtypes_of_the_data(dtype, values):
    if "pyarrow" in str(dtype) or dtype == "dictionary":
        pyarrow = pytest.importorskip("pyarrow")
    if dtype == "dictionary":
        dtype = pd.ArrowDtype(pyarrow.dictionary(pyarrow.int32(), pyarrow.string()))
    column = pd.Series(values, dtype=dtype)
    is_category = isinstance(column.dtype, pd.CategoricalDtype)
    states = column.dtype.categories.tolist() if is_category else sorted(set(values))
    ordered = is_category and column.dtype.ordered
    schema = Schema((Variable("v", tuple(states), ordered, dtype_of(column)),))
    decoded = schema.decode(schema.encode(column.to_frame("v")))
    pd.testing.assert_frame_equal(decoded, column.to_frame("v"), check_exact=True)


def test_rows_without_a_state_are_not_decoded():
    with pytest.raises(InputError, match=r"^row 1: has not one state of 'mood'\.$"):
        SCHEMA.decode(np.array([ROWS[0], [0, 0, 0, 0, 1, 0, 0]], np.uint8))
