"""Data for a model: in the order of its variables, with its states as 0 and 1."""

from typing import Any

from mnlearn.api.column_names import column_names
from mnlearn.api.inputs import Dataset, IncompleteData, to_dataset
from mnlearn.api.states import expand_states, replace_states
from mnlearn.api.user_warnings import warn_user
from mnlearn.data.arrangement import describe_order
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
