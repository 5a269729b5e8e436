"""Tables in Python, such as pandas DataFrames, read like the files of people."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from mnlearn.api.user_warnings import warn_user
from mnlearn.data.cell_texts import RawColumn, cell_text, some_of
from mnlearn.data.dataset import Dataset
from mnlearn.data.incomplete import MISSING
from mnlearn.data.reading import Reading, read_columns, reading_of, unmatched_na
from mnlearn.runtime.errors import InputError

# Learners and scores have no such arguments.
PYTHON = Reading(form="mn.read_data(X, {}=...)")


def is_frame(X: Any) -> bool:
    """Tell whether data are a table with named columns, such as a pandas DataFrame."""
    return hasattr(X, "columns") and hasattr(X, "iloc")


def column_names(table: object, of_model: Sequence[str] | None = None) -> tuple[str, ...] | None:
    """Return the names of the columns of a DataFrame; None if it has none.

    Whole numbers are names too, unless they only count the columns from 0.

    Parameters
    ----------
    table : DataFrame or anything else
        What may have columns with names.
    of_model : sequence of str, optional
        Names of the variables of a model. Labels 0, 1, ... are names if the model has variables of
        these names.
    """
    names = tuple(getattr(table, "columns", ()))
    counted = names == tuple(range(len(names)))
    if not names or (counted and not set(map(str, names)) <= set(of_model or ())):
        return None
    known = all(isinstance(name, str | int | np.integer) for name in names)
    return tuple(map(str, names)) if known else None


def check_order(names: Sequence[str] | None, expected: Sequence[str] | None, argument: str) -> None:
    """Refuse columns with other names than expected, or in another order.

    names, expected : None if there are none, so that nothing is compared.
    """
    if names is None or expected is None or tuple(names) == tuple(expected):
        return
    raise InputError(
        f"{argument}: expected the columns {some_of(list(expected))} in this order, as in fit, got "
        f"{some_of(list(names))}."
    )


def keep_reading(data: Dataset, reading: Reading) -> None:
    """Keep how named columns were read with data that are given to a learner."""
    if data.names is not None:
        vars(data)["_reading"] = replace(reading, form=PYTHON.form)


def reading_of_data(data: Dataset) -> Reading:
    """Return how the columns of data were read; as 0 and 1 if nothing is known."""
    found: Reading = getattr(data, "_reading", PYTHON)
    return found


def read_frame(X: Any, reading: Reading = PYTHON, argument: str = "X") -> tuple[Any, Reading]:
    """Return a table as numbers 0, 1 and NaN, and how other tables are read in the same way.

    Tables of 0 and 1, and of other numbers, are returned as they are. A warning says what was not
    read as written.

    Parameters
    ----------
    X : DataFrame
        Columns of numbers, True and False, or texts.
    reading : Reading
        What is known about the values.
    argument : str
        Name of the table, for messages.

    Raises
    ------
    InputError
        A column cannot be read, or could be read in two ways.
    """
    names = column_names(X)
    if names is None or not len(X):
        # The caller refuses tables without rows or columns.
        return X, reading
    kinds = {_kind(X.iloc[:, v]) for v in range(len(names))}
    said = not reading.is_plain() or reading.names is not None
    if not said and kinds <= {"plain", "boolean"}:
        return X if kinds == {"plain"} else X.astype(np.float64), reading
    columns = [_raw_column(name, X.iloc[:, v]) for v, name in enumerate(names)]

    def place(row: int, v: int) -> str:
        return f"{argument}, row {row}, column {names[v]!r}"

    try:
        found = read_columns(columns, reading, argument, place)
    except InputError:
        if "numbers" in kinds and not reading.ones:
            # The caller names the column, and what makes 0 and 1 of numbers.
            return X, reading
        raise
    if found.note is not None:
        warn_user(found.note)
    unmatched = unmatched_na(columns, reading)
    if unmatched is not None:
        warn_user(f"{argument}: {unmatched}.")
    values = np.where(found.values == MISSING, np.nan, found.values)
    table = type(X)(values, index=X.index, columns=list(found.names))
    return table, reading_of(found, reading)


def _kind(column: Any) -> str:
    """Return "plain" for a column of 0, 1 and NaN, "boolean", "coded" if texts, or "numbers"."""
    if str(column.dtype) == "boolean":
        return "boolean"
    if getattr(column.dtype, "kind", "O") not in "biuf" or not isinstance(column.dtype, np.dtype):
        return "coded"
    values = np.unique(np.asarray(column, np.float64))
    values = values[~np.isnan(values)]
    if np.isin(values, (0, 1)).all():
        return "plain"
    return "coded" if np.isin(values, (1, 2)).all() else "numbers"


def _raw_column(name: str, column: Any) -> RawColumn:
    values = np.asarray(column)
    if values.dtype.kind in "biuf":
        distinct, codes = np.unique(values, return_inverse=True)
        return RawColumn(name, [cell_text(x) for x in distinct.tolist()], codes.astype(np.int32))
    number: dict[str, int] = {}
    texts = [cell_text(value) for value in np.asarray(column, object).tolist()]
    of_row = np.array([number.setdefault(text, len(number)) for text in texts], np.int32)
    return RawColumn(name, list(number), of_row)
