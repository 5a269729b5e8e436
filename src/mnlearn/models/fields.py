"""Checks of the arrays of a model when it is constructed."""

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from mnlearn.runtime.arrays import read_only
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Schema, binary_schema


def set_array(owner: object, name: str, dtype: DTypeLike, shape: tuple[int | None, ...]) -> NDArray:
    """Replace a field of a frozen dataclass by a read-only array of its dtype, and return it.

    No value may change. The length of an axis is free where `shape` has None.
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
    """Raise InputError unless `start`, a field of `owner`, rises from 0 to `total`."""
    if not len(start) or start[0] != 0 or start[-1] != total or (start[1:] < start[:-1]).any():
        raise InputError(f"{type(owner).__name__}, start: expected positions from 0 to {total}.")


# In place of a schema: as many nameless variables as the arrays speak of, of the states 0 and 1.
NAMELESS: Any = None


def set_schema(owner: object, schema: Schema | int | None, n_vars: int | None = None) -> None:
    """Replace the field `schema` of a model by its schema; see `NAMELESS`."""
    n_given = n_vars if schema is None else schema
    found = n_given if isinstance(n_given, Schema) else binary_schema(n_given or 0)
    if n_vars is not None and len(found) != n_vars:
        where = f"{type(owner).__name__}, schema"
        raise InputError(f"{where}: expected {n_vars} variables, got {len(found)}.")
    object.__setattr__(owner, "schema", found)
