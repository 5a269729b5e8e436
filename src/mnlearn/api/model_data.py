"""Data for a model: in the order of its variables, with its states as 0 and 1."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.api.frames import column_names, is_frame
from mnlearn.api.inputs import Dataset, IncompleteData, to_dataset
from mnlearn.api.user_warnings import warn_user
from mnlearn.data.arrangement import describe_order
from mnlearn.data.cell_texts import cell_text
from mnlearn.data.domains import BINARY, Domain, domains_of
from mnlearn.inference.score import check_variables
from mnlearn.runtime.errors import InputError


def arrange_table(model: Any, X: Any, argument: str) -> Any:
    """Return the columns of a table that a model has, in its order; other data as they are.

    A warning says if the data have names and the model has none.

    Raises
    ------
    InputError
        The table lacks a variable of the model.
    """
    X = expand_states(X, model, argument)
    warn_of_order(model, X, argument)
    names = None if isinstance(X, Dataset) else column_names(X, model.names)
    if names is None or model.names is None or names == model.names:
        return X
    for name in model.names:
        if name not in names:
            raise InputError(f"{argument}: lacks the column {name!r} of the model.")
    return X.iloc[:, [names.index(name) for name in model.names]]


def warn_of_order(model: Any, X: Any, argument: str) -> None:
    """Warn if data have names of columns and the model has none, so that their order counts."""
    names = X.names if isinstance(X, Dataset) else column_names(X, model.names)
    note = describe_order(model, names)
    if note is not None:
        warn_user(f"{argument}: {note}")


def data_for(
    model: Any, X: Any, sample_weight: Any = None, *, missing: bool = False
) -> Dataset | IncompleteData:
    """Return data in the order of the variables of a model.

    The columns of a table are found by name if the model has names; if it has none, a warning says
    that they are taken in their order. A Dataset has to have them in
    the order of the model.

    Parameters
    ----------
    model : Model
        Has the variables.
    X, sample_weight
        See `to_dataset`.
    missing : bool
        Whether cells may be missing (NaN).

    Raises
    ------
    InputError
        `X` lacks a variable of the model, has another number of columns, or is a Dataset of other
        names or in another order; see also `to_dataset`.
    """
    X = arrange_table(model, X, "X")
    X = replace_states(X, getattr(model, "states", None), "X")
    data = to_dataset(X, sample_weight=sample_weight, missing=missing)
    if data.n_vars != model.n_vars:
        raise InputError(
            f"X: expected {model.n_vars} columns, one for each variable, got {data.n_vars}."
        )
    if isinstance(data, Dataset):
        check_variables(model, data)
    return data


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
        found = _find_states(X.iloc[:, k], domain, (argument, str(name)))
        values = (found[:, None] == np.arange(len(domain.states))).astype(float)
        values[np.isnan(found)] = np.nan
        parts.append(pd.DataFrame(values, X.index, [model.names[c] for c in domain.columns]))
    return pd.concat(parts, axis=1)


def _find_states(column: Any, domain: Domain, names: tuple[str, str]) -> NDArray[np.float64]:
    """Return the numbers of the states in a column, NaN where a cell is missing.

    names : those of the table and of the column, for messages.
    """
    cells = np.asarray(column, object).tolist()
    # Beside names, a number could be meant as one of them.
    words = {cell for cell in cells if isinstance(cell, str)} if domain.states != BINARY else ()
    is_named = any(domain.find_name(word) is not None for word in words)
    find = domain.find_name if is_named else domain.find_state
    number_of_text: dict[str, int | None] = {}
    found = np.full(len(cells), np.nan)
    for row, cell in enumerate(cells):
        text = cell if isinstance(cell, str) else cell_text(cell)
        if text == "" and not isinstance(cell, str):
            continue
        if text not in number_of_text:
            number_of_text[text] = find(text)
        state = number_of_text[text]
        if state is None:
            expected = " or ".join(map(repr, domain.states))
            where = f"{names[0]}, row {row}, column {names[1]!r}"
            raise InputError(f"{where}: expected {expected}, got {cell!r}.")
        found[row] = state
    return found


def replace_states(X: Any, states: Sequence[tuple[str, ...]] | None, argument: str) -> Any:
    """Return a table with 0 and 1 in the place of the names of states.

    Parameters
    ----------
    X : DataFrame or array-like
        Its columns are the variables in the order of the model. Columns of numbers are left as they
        are if the states have no names, and so is what is no DataFrame.
    states : tuple of (str, str) or None
        The names of the values 0 and 1 of each variable; None leaves the table as it is. Columns
        of BINARY states may have words for 0 and 1, such as no and yes.
    argument : str
        Name of the table, for messages.

    Raises
    ------
    InputError
        A value is no state of its variable; see `Domain.find_state`.
    """
    if states is None or not is_frame(X) or len(states) != X.shape[1]:
        return X
    out = X.copy()
    for v, (name, own) in enumerate(zip(X.columns, states, strict=True)):
        if own == BINARY and not _has_words(X.iloc[:, v]):
            continue
        out.isetitem(v, _find_states(X.iloc[:, v], Domain((v,), own), (argument, str(name))))
    return out


def _has_words(column: Any) -> bool:
    """Tell whether a column has texts other than 0 and 1."""
    cells = np.asarray(column, object).tolist()
    return any(isinstance(cell, str) and cell not in BINARY for cell in cells)
