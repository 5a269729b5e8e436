"""Arrays: read-only views, and native files of named arrays (`.npz` archives without pickle)."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mnlearn.runtime.atomic import atomic_path
from mnlearn.runtime.decompression import DEFAULT_LIMIT, ExpansionLimit, check_archive
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.file_kinds import kind_of_file


def write_arrays(path: Path | str, arrays: Mapping[str, NDArray]) -> None:
    """Write `arrays` to `path` atomically; equal arrays give equal bytes."""
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, allow_pickle=False, **arrays)


def read_arrays(path: Path | str, limit: ExpansionLimit = DEFAULT_LIMIT) -> dict[str, NDArray]:
    """Return the arrays in `path` by name; pickled objects are never loaded."""
    try:
        check_archive(path, limit)
        with np.load(path, allow_pickle=False) as archive:
            return dict(archive)
    except InputError:
        raise
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file.") from error
    except Exception as error:  # numpy and zipfile raise a dozen types for a damaged archive
        program = kind_of_file(path)
        # A damaged archive is one still.
        fault = f"is {program[0]}" if program and "archive" not in program[0] else error
        raise InputError(f"{path}: is not a readable .npz file ({fault}).") from error


def read_only(array: NDArray) -> NDArray:
    """Return a contiguous view of `array` that refuses writing."""
    view = np.ascontiguousarray(array).view()
    view.flags.writeable = False
    return view


def spans(first: NDArray, length: NDArray) -> NDArray[np.int64]:
    """Return the positions first[k], first[k] + 1, ..., `length[k]` of them, for each k in turn."""
    end = np.cumsum(length)
    return np.repeat(first - end + length, length) + np.arange(end[-1] if len(end) else 0)
