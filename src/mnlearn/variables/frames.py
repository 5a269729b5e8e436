"""Tables of pandas, Polars and Arrow: their columns, and columns of states."""

import re
from collections.abc import Collection, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.variables.matching import is_missing
from mnlearn.variables.variable import BINARY, NO_STATE, Variable

if TYPE_CHECKING:
    import pandas as pd

# A category, and the dtype of its values if pandas finds another one for them.
_CATEGORY = re.compile(r"category(?:\[(.+)\])?")
# Texts of Arrow, which pandas writes as it writes its own.
_ARROW_WORDS = "utf8[pyarrow]"
# How tables of other libraries hand over their columns.
_INTERCHANGE = ("__arrow_c_stream__", "__dataframe__")


def is_frame(X: Any) -> bool:
    """Tell whether data are a table with named columns, such as a pandas DataFrame."""
    return (hasattr(X, "columns") and hasattr(X, "iloc")) or _is_foreign(X)


def _is_foreign(X: Any) -> bool:
    """Tell whether data are a table of another library, such as Polars or Arrow."""
    is_table = not hasattr(X, "iloc") and len(getattr(X, "shape", (0, 0))) == 2
    return is_table and any(hasattr(X, name) for name in _INTERCHANGE)


def as_frame(X: Any) -> Any:
    """Return a table of Polars or Arrow as a DataFrame of pandas; other data as they are."""
    if not _is_foreign(X):
        return X
    import pandas as pd

    if hasattr(X, _INTERCHANGE[0]) and hasattr(pd.DataFrame, "from_arrow"):
        return pd.DataFrame.from_arrow(X)
    if hasattr(X, _INTERCHANGE[1]):
        return pd.api.interchange.from_dataframe(X)
    return X.to_pandas()


def column_names(table: object, known: Collection[str] | None = None) -> tuple[str, ...] | None:
    """Return the names of the columns of a DataFrame, the texts of their labels; None without any.

    If names are known, labels that only count the columns from 0 are no other names.
    """
    names = tuple(map(name_of, getattr(table, "columns", ())))
    is_other = known is not None and counts(names) and not set(names) <= set(known)
    return None if not names or is_other else names


def name_of(label: Any) -> str:
    """Return the name that the label of a column is; no text for NaN or None."""
    if isinstance(label, tuple):
        return "_".join(filter(None, map(name_of, label)))
    return "" if is_missing(label) and not isinstance(label, str) else str(label)


def counts(names: Sequence[str]) -> bool:
    """Tell whether names only count the columns from 0, as in a DataFrame of an array."""
    return tuple(names) == tuple(map(str, range(len(names))))


def dtype_of(column: Any) -> str:
    """Return the text of the dtype of a column, which `states_column` understands."""
    dtype = column.dtype
    if str(dtype) != "category":
        return _text_of(dtype)
    import pandas as pd

    values = dtype.categories
    found = pd.Index(values.tolist()).dtype
    return "category" if found == values.dtype else f"category[{values.dtype}]"


def _text_of(dtype: Any) -> str:
    """Return the text of a dtype; those of words are written alike, and some cannot be read."""
    import pandas as pd

    words = f"string[{getattr(dtype, 'storage', '')}]"
    for text in (str(dtype), words, _ARROW_WORDS):
        # pandas raises one of these for a text that it cannot read, or only with another package.
        with suppress(TypeError, ValueError, NotImplementedError, ImportError):
            if pd.api.types.pandas_dtype(text) == dtype:
                return text
    return "category"


def states_column(variable: Variable, values: NDArray[np.uint8]) -> "pd.Series[Any]":
    """Return a column of states, in the dtype that the variable remembers.

    If it remembers none, numbers 0 and 1 are whole numbers, and other states a category.
    """
    import pandas as pd

    dtype = variable.dtype or ("int64" if variable.states == BINARY else "category")
    kept = _CATEGORY.fullmatch(dtype)
    if kept is None:
        states = np.empty(NO_STATE + 1, object)
        states[: variable.arity] = variable.states
        states[variable.arity :] = pd.NA if _has_na(dtype) else np.nan
        try:
            return pd.Series(states[values], dtype=dtype, name=variable.name)
        except (TypeError, ValueError):  # such as a missing cell in a column of whole numbers
            kept = _CATEGORY.fullmatch("category")
    assert kept is not None
    categories = pd.Index(list(variable.states), dtype=kept[1])
    codes = np.where(values == NO_STATE, -1, values.astype(np.int16))
    column = pd.Categorical.from_codes(codes, categories, ordered=variable.ordered)
    return pd.Series(column, name=variable.name)


def states_table(
    variables: Sequence[Variable], values: NDArray[np.uint8], index: Any = None
) -> "pd.DataFrame":
    """Return the table of numbers of states, shape (n_rows, n_vars); see `states_column`."""
    import pandas as pd

    columns = [states_column(own, values[:, v]) for v, own in enumerate(variables)]
    table = pd.concat(columns, axis=1) if columns else pd.DataFrame(index=range(len(values)))
    return table if index is None else table.set_axis(index)


def _has_na(dtype: str) -> bool:
    return dtype[0].isupper() or "[pyarrow]" in dtype or dtype in ("boolean", "string")
