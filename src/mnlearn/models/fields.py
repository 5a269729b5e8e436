"""Checks of the arrays of a model when it is constructed."""

import numpy as np
from numpy.typing import DTypeLike, NDArray

from mnlearn.runtime import names as variable_names
from mnlearn.runtime.arrays import read_only
from mnlearn.runtime.errors import InputError

# The names of the values 0 and 1 of each variable.
States = tuple[tuple[str, str], ...]


def set_array(owner: object, name: str, dtype: DTypeLike, shape: tuple[int | None, ...]) -> NDArray:
    """Replace a field of a frozen dataclass by a read-only array of its dtype, and return it.

    Parameters
    ----------
    owner : object
        The new instance.
    name : str
        Name of the field, which holds an array-like.
    dtype : dtype-like
        The dtype of the field; a conversion must not change a value.
    shape : tuple of int or None
        The shape of the field; None where any length is allowed.

    Raises
    ------
    InputError
        The conversion would change a value, or the shape is another one; the sentence names the
        class and the field.
    """
    given = np.asarray(getattr(owner, name))
    array = given if given.dtype == dtype else _convert(given, dtype)
    where = f"{type(owner).__name__}, {name}"
    if array is None:
        raise InputError(f"{where}: expected {np.dtype(dtype)}, got {given.dtype}.")
    if array.ndim != len(shape) or any(
        expected not in (None, length) for expected, length in zip(shape, array.shape, strict=True)
    ):
        expected = ", ".join("any" if length is None else str(length) for length in shape)
        raise InputError(f"{where}: expected shape ({expected}), got {array.shape}.")
    array = read_only(array)
    object.__setattr__(owner, name, array)
    return array


def _convert(array: NDArray, dtype: DTypeLike) -> NDArray | None:
    """Return the array with another dtype, or None if a value would change."""
    if array.dtype.kind not in "biuf":
        return None
    with np.errstate(invalid="ignore"):
        converted = array.astype(dtype)
    return converted if np.array_equal(converted, array, equal_nan=True) else None


def check_spans(owner: object, start: NDArray, total: int) -> None:
    """Raise InputError unless `start`, a field of `owner`, begins with 0 and ends with `total`."""
    if not len(start) or start[0] != 0 or start[-1] != total:
        raise InputError(f"{type(owner).__name__}, start: expected positions from 0 to {total}.")


def check_names(owner: object, names: tuple[str, ...] | None, n_vars: int) -> None:
    """Raise InputError unless there are no names, or different printable ones of all variables."""
    if names is None:
        return
    where = f"{type(owner).__name__}, names"
    if len(names) != n_vars:
        raise InputError(f"{where}: expected {n_vars}, got {len(names)}.")
    variable_names.check_names(names, where)


def check_states(owner: object, states: "States | None", n_vars: int) -> None:
    """Raise InputError unless there are no states, or two different ones of each variable.

    The states of a variable are the names of its values 0 and 1.
    """
    if states is None:
        return
    where = f"{type(owner).__name__}, states"
    if len(states) != n_vars:
        raise InputError(f"{where}: expected those of {n_vars} variables, got {len(states)}.")
    for own in states:
        if len(own) != 2:
            raise InputError(f"{where}: expected two for each variable, got {len(own)}.")
        variable_names.check_names(own, where)
