"""Checks of the arrays of native files."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mnlearn.runtime.errors import InputError


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
