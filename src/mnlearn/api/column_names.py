"""Names of variables that a DataFrame gives."""

import numpy as np


def column_names(table: object) -> tuple[str, ...] | None:
    """Return the names of the columns of a DataFrame; None if it has none.

    Whole numbers are names too, unless they only count the columns from 0.
    """
    names = tuple(getattr(table, "columns", ()))
    if not names or names == tuple(range(len(names))):
        return None
    known = all(isinstance(name, str | int | np.integer) for name in names)
    return tuple(map(str, names)) if known else None
