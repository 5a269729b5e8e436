"""Tables whose cells are names of states, for models that know these names."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from mnlearn.api.frames import is_frame
from mnlearn.data.domains import BINARY, Domain, domains_of
from mnlearn.models.fields import States
from mnlearn.runtime.errors import InputError


def expand_states(X: Any, model: Any, argument: str) -> Any:
    """Return a table with a column for each state in the place of a column of names of states.

    Parameters
    ----------
    X : DataFrame or array-like
        Columns that the model has, and columns of numbers, are left as they are, and so is what is
        no DataFrame.
    model : Model
        Has the columns `mood=low`, `mood=high`, ... for a variable `mood`.
    argument : str
        Name of the table, for messages.

    Raises
    ------
    InputError
        A cell is not the name of a state of its variable.
    """
    if not is_frame(X) or model.names is None:
        return X
    several = {name: d for name, d in domains_of(model).items() if len(d.columns) > 1}
    if not any(name in several for name in X.columns):
        return X
    import pandas as pd

    parts = []
    for k, name in enumerate(X.columns):
        domain = several.get(name)
        if domain is None:
            parts.append(X.iloc[:, [k]])
            continue
        values = np.full((len(X), len(domain.states)), np.nan)
        for row, cell in enumerate(np.asarray(X.iloc[:, k], object).tolist()):
            if pd.isna(cell):
                continue
            state = domain.find_state(str(cell))
            if state is None:
                raise _no_state(cell, domain.states, f"{argument}, row {row}, column {name!r}")
            values[row] = np.arange(len(domain.states)) == state
        parts.append(pd.DataFrame(values, X.index, [model.names[c] for c in domain.columns]))
    return pd.concat(parts, axis=1)


def _no_state(cell: Any, states: Sequence[str], where: str) -> InputError:
    """Return the refusal of a cell that is not the name of a state."""
    return InputError(f"{where}: expected {' or '.join(map(repr, states))}, got {cell!r}.")


def replace_states(X: Any, states: States | None, argument: str) -> Any:
    """Return a table with 0 and 1 in the place of the names of states.

    Parameters
    ----------
    X : DataFrame or array-like
        Its columns are the variables in the order of the model. Columns of numbers are left as they
        are, and so is what is no DataFrame.
    states : tuple of (str, str) or None
        The names of the values 0 and 1 of each variable; None leaves the table as it is. Columns
        of BINARY states may have words for 0 and 1, such as no and yes.
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
        if texts <= {"0", "1"} - (set() if own == BINARY else set(own)):
            # Numbers, also as texts, are values and no names.
            continue
        domain = Domain((v,), own)
        values = np.full(len(cells), np.nan)
        for row, cell in enumerate(cells):
            if pd.isna(cell):
                continue
            is_name = isinstance(cell, str) or own == BINARY
            state = domain.find_state(str(cell)) if is_name else None
            if state is None:
                raise _no_state(cell, own, f"{argument}, row {row}, column {str(name)!r}")
            values[row] = state
        out.isetitem(v, values)
    return out
