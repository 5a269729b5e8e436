"""Checks of the arrays of native files, and the grouped variables in them."""

import itertools
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.grouped_variables import GroupedVariables, grouped_variables
from mnlearn.runtime.errors import InputError

# The dtypes of the arrays of `group_arrays`.
GROUP_DTYPE = {"group_start": "<i8", "group_column": "<i4"}


def damaged(path: Path | str, name: str) -> InputError:
    """Return the error for an array of a file that is missing or not a valid one."""
    return InputError(f"{path}: is damaged: its array {name!r} is missing or not a valid one.")


def check_dtypes(
    path: Path | str, arrays: Mapping[str, NDArray], dtypes: Mapping[str, str]
) -> None:
    """Raise InputError if an array is missing, has another dtype, or more than one axis."""
    for name, dtype in dtypes.items():
        array = arrays.get(name)
        if array is None or array.dtype != dtype or array.ndim != 1:
            raise damaged(path, name)


def check_starts(
    path: Path | str, name: str, start: NDArray, total: int, n_parts: int | None = None
) -> None:
    """Raise InputError if the starts do not cut 0:total into consecutive spans."""
    fits = len(start) and start[0] == 0 and start[-1] == total and (np.diff(start) >= 0).all()
    if not fits or (n_parts is not None and len(start) != n_parts + 1):
        raise damaged(path, name)


def group_arrays(variables: GroupedVariables) -> dict[str, NDArray]:
    """Return the arrays of a file that say which columns are one variable."""
    groups = variables.groups
    return {
        "group_start": np.cumsum([0, *map(len, groups)]),
        "group_column": np.array([c for group in groups for c in group], np.int32),
    }


def variables_of_arrays(
    path: Path | str, arrays: Mapping[str, NDArray], n_vars: int
) -> GroupedVariables:
    """Return the variables over the columns of a file.

    Raises
    ------
    InputError
        An array is missing or damaged, or the groups are none of these columns.
    """
    check_dtypes(path, arrays, GROUP_DTYPE)
    start, column = arrays["group_start"], arrays["group_column"]
    check_starts(path, "group_start", start, len(column))
    spans = itertools.pairwise(start)
    try:
        return grouped_variables(n_vars, [column[a:b].tolist() for a, b in spans])
    except InputError as error:
        raise InputError(f"{path}: {error}") from error
