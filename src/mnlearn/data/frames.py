"""Tables and matrices in Python: pandas, Polars, Arrow, NumPy, SciPy."""

from functools import partial
from typing import Any

import numpy as np

from mnlearn.data.column_checks import notes_on_dummies
from mnlearn.data.columns import Column
from mnlearn.data.rows import ones_of
from mnlearn.data.rules import Rules
from mnlearn.data.tables import Table, plain_schema, read_columns
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.names import check_names
from mnlearn.variables.frames import as_frame, column_names, dtype_of, is_frame
from mnlearn.variables.schema import BINARY, Schema, Variable, binary_schema

# Of fewer rows, a column of 0 and 1 may number them.
_FEW_ROWS = 2
_SPLIT = "scikit-learn's MultiLabelBinarizer makes rows of lists of items"


def read_table(
    X: Any,
    rules: Rules,
    where: str = "X",
    schema: Schema | None = None,
    keeps_lists: bool = False,
) -> Table:
    """Return the variables and cells of a table or matrix in Python, by a schema if it is given.

    With `keeps_lists`, the cells of a large sparse matrix of 0 and 1 may be lists of ones.
    """
    X = as_frame(X)
    if is_frame(X):
        return _read_frame(X, rules, where, schema)
    ones = ones_of(X) if keeps_lists else None
    if ones is not None and (own := plain_schema(binary_schema(ones.n_columns), schema)):
        return Table(own, ones)
    matrix = _matrix(X, where)
    if _is_plain(matrix):
        given = _binary_schema(None, [str(matrix.dtype)] * matrix.shape[1])
        if own := plain_schema(given, schema):
            return Table(own, matrix.astype(np.uint8))
    columns = [_column(str(v), matrix[:, v], None) for v in range(matrix.shape[1])]
    return read_columns(columns, rules, where, partial(_place, where, None), False, schema)


def _read_frame(X: Any, rules: Rules, where: str, schema: Schema | None) -> Table:
    names = column_names(X, None if schema is None else schema.names)
    nothing_said = rules == Rules(form=rules.form)
    if schema is None and nothing_said and len(X) > _FEW_ROWS and _has_numbers(X):
        matrix = X.to_numpy()
        if _is_plain(matrix):
            own = _binary_schema(check_names(names or (), where), list(map(str, X.dtypes)))
            values = matrix.astype(np.uint8)
            return Table(own, values, notes=tuple(notes_on_dummies(own, values)))
    columns = columns_of_frame(X, where)
    place = partial(_place, where, names)
    return read_columns(columns, rules, where, place, names is not None, schema)


def columns_of_frame(X: Any, where: str) -> list[Column]:
    """Return the columns of a DataFrame."""
    check_shape(X.shape, where)
    names = column_names(X) or ()
    return [_column(name, X.iloc[:, v], X.iloc[:, v]) for v, name in enumerate(names)]


def _binary_schema(names: tuple[str, ...] | None, dtypes: list[str]) -> Schema:
    schema = binary_schema(len(dtypes), names)
    if set(dtypes) != {"int64"} and (names is not None or dtypes[0] == "bool"):
        pairs = zip(schema, dtypes, strict=True)
        kept = (Variable(v.name, BINARY, dtype=None if d == "int64" else d) for v, d in pairs)
        return Schema(tuple(kept), schema.is_named)
    return schema


def _has_numbers(X: Any) -> bool:
    return all(isinstance(dtype, np.dtype) and dtype.kind in "iuf" for dtype in X.dtypes)


def _is_plain(matrix: Any) -> bool:
    """Tell whether all cells are the numbers 0 and 1."""
    return bool(matrix.dtype.kind in "biuf" and ((matrix == 0) | (matrix == 1)).all())


def _matrix(X: Any, where: str) -> Any:
    """Return data as a NumPy matrix with rows and columns."""
    matrix = as_matrix(X.toarray() if hasattr(X, "toarray") else X, where)
    if matrix.ndim != 2:
        raise InputError(
            f"{where}: expected a matrix with a row for each example, got {matrix.ndim} "
            "axes; one example is X.reshape(1, -1)."
        )
    check_shape(matrix.shape, where)
    return matrix


def as_matrix(X: Any, where: str) -> Any:
    """Return an array of data; refuse rows of different lengths."""
    try:
        return np.asarray(X)
    except ValueError:
        raise InputError(f"{where}: expected rows of equal length; {_SPLIT}.") from None


def check_shape(shape: tuple[int, ...], where: str) -> None:
    """Refuse data without rows or without columns, in the words of scikit-learn."""
    for what, n in zip(("sample", "feature"), shape, strict=False):
        if n == 0:
            raise InputError(
                f"{where}: has 0 {what}(s) (shape={shape}) while a minimum of 1 is required."
            )


def _column(name: str, values: Any, series: Any) -> Column:
    """Return a column; `series` is the same of a table, which has a dtype to keep."""
    import pandas as pd

    try:
        codes, distinct = pd.factorize(values)
    except TypeError:  # such as lists, which are refused unless the column is left out
        codes, distinct = np.arange(len(values)), list(values)
    codes = codes.astype(np.int32)
    # SciPy's reader of ARFF files gives words as bytes.
    distinct = [v.decode(errors="replace") if isinstance(v, bytes) else v for v in distinct]
    if series is None:
        # Numbers of an array are whole, or refused.
        kind = {"U": "str", "i": "int64", "u": "int64", "f": "int64"}.get(values.dtype.kind)
        return Column(name, distinct, codes, kind or str(values.dtype))
    dtype = dtype_of(series)
    if not dtype.startswith("category"):
        return Column(name, distinct, codes, dtype)
    of_category = series.dtype
    states = tuple(of_category.categories.tolist())
    return Column(name, distinct, codes, dtype, states, bool(of_category.ordered))


def _place(where: str, names: tuple[str, ...] | None, row: int, column: int) -> str:
    label = column if names is None else repr(names[column])
    return f"{where}, row {row}, column {label}"
