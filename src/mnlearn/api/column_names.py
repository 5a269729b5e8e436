"""Names of variables that a DataFrame gives."""

from collections.abc import Sequence

import numpy as np

from mnlearn.data.cell_texts import some_of
from mnlearn.runtime.errors import InputError


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
