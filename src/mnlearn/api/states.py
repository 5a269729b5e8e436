"""Tables whose cells are names of states, for models that know these names."""

from typing import Any

import numpy as np

from mnlearn.api.frames import is_frame
from mnlearn.models.fields import States
from mnlearn.runtime.errors import InputError


def replace_states(X: Any, states: States | None, argument: str) -> Any:
    """Return a table with 0 and 1 in the place of the names of states.

    Parameters
    ----------
    X : DataFrame or array-like
        Its columns are the variables in the order of the model. Columns of numbers are left as they
        are, and so is what is no DataFrame.
    states : tuple of (str, str) or None
        The names of the values 0 and 1 of each variable, if the model has any.
    argument : str
        Name of the table, for messages.

    Raises
    ------
    InputError
        A text is not the name of a state of its variable.
    """
    if states is None or not is_frame(X) or len(states) != X.shape[1]:
        return X
    import pandas as pd

    out = X.copy()
    for v, (name, own) in enumerate(zip(X.columns, states, strict=True)):
        cells = np.asarray(X.iloc[:, v], object).tolist()
        texts = {cell for cell in cells if isinstance(cell, str)}
        if texts <= {"0", "1"} - set(own):
            # Numbers, also as texts, are values and no names.
            continue
        values = np.full(len(cells), np.nan)
        for row, cell in enumerate(cells):
            if isinstance(cell, str) and cell in own:
                values[row] = own.index(cell)
            elif not pd.isna(cell):
                expected = " or ".join(map(repr, own))
                where = f"{argument}, row {row}, column {str(name)!r}"
                raise InputError(f"{where}: expected {expected}, got {cell!r}.")
        out.isetitem(v, values)
    return out
