"""A binary dataset whose equal rows are stored once, with a weight."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mnlearn.runtime.arrays import read_arrays, read_only, write_arrays
from mnlearn.runtime.errors import InputError

VERSION = 1


@dataclass(frozen=True, eq=False)
class Dataset:
    """Examples over binary variables.

    rows : uint8, shape (n_rows, n_vars). The distinct rows, in lexicographic order.
    weight : float64, shape (n_rows,). Total weight of the examples equal to each row.
    row_of : int32, shape (n_given,). The row of each example, in the order of the source.
    names : names of the variables, or None.
    """

    rows: NDArray[np.uint8]
    weight: NDArray[np.float64]
    row_of: NDArray[np.int32]
    names: tuple[str, ...] | None = None

    @property
    def n_rows(self) -> int:
        """Number of distinct rows."""
        return self.rows.shape[0]

    @property
    def n_vars(self) -> int:
        """Number of variables."""
        return self.rows.shape[1]

    @cached_property
    def n_examples(self) -> float:
        """Total weight; the number of examples unless they carried weights."""
        return float(self.weight.sum())

    @cached_property
    def columns(self) -> NDArray[np.uint64]:
        """Packed columns, shape (n_vars, n_words): bit i % 64 of word i // 64 is row i."""
        n_words = -(-self.n_rows // 64)
        padded = np.zeros((self.n_vars, n_words * 64), np.uint8)
        padded[:, : self.n_rows] = self.rows.T
        return read_only(np.packbits(padded, axis=1, bitorder="little").view(np.uint64))

    @property
    def last_word(self) -> np.uint64:
        """Bits in use of the last word of a packed column."""
        used = self.n_rows % 64
        return np.uint64((1 << used) - 1 if used else 0xFFFFFFFFFFFFFFFF)

    @cached_property
    def frequency(self) -> NDArray[np.float64]:
        """Share of ones of each variable, shape (n_vars,)."""
        return read_only(self.weight @ self.rows / self.n_examples)

    @cached_property
    def density(self) -> float:
        """Share of ones in the whole matrix."""
        return float(self.frequency.mean())

    def take(self, examples: NDArray[np.intp]) -> "Dataset":
        """Return the dataset of the given examples (positions in the source, unit weights)."""
        return merge_rows(self.rows[self.row_of[examples]], names=self.names)

    def save(self, path: Path | str) -> None:
        """Write the native form (`.npz`, no pickle)."""
        arrays = {
            "kind": np.array("dataset"),
            "version": np.array(VERSION),
            "n_vars": np.array(self.n_vars),
            "packed_rows": np.packbits(self.rows, axis=1),
            "weight": self.weight,
            "row_of": self.row_of,
        }
        if self.names is not None:
            arrays["names"] = np.array(self.names)
        write_arrays(path, arrays)


def merge_rows(
    rows: NDArray, weight: NDArray | None = None, names: tuple[str, ...] | None = None
) -> Dataset:
    """Return the dataset of a 0/1 matrix, equal rows merged.

    rows : shape (n_given, n_vars), values 0 and 1 of any integer or boolean dtype.
    weight : shape (n_given,), positive and finite; one each if not given.

    Raises
    ------
    InputError
        The matrix is empty or not binary, or a weight is not a positive number.

    """
    rows = np.asarray(rows)
    if rows.ndim != 2 or 0 in rows.shape:
        raise InputError(f"data: expected a matrix with rows and columns, got shape {rows.shape}.")
    wrong = np.argwhere((rows != 0) & (rows != 1))
    if len(wrong):
        i, v = wrong[0]
        raise InputError(f"data, row {i + 1}, column {v + 1}: expected 0 or 1, got {rows[i, v]}.")
    rows = np.ascontiguousarray(rows, np.uint8)
    given = np.ones(len(rows)) if weight is None else np.asarray(weight, np.float64)
    if given.shape != (len(rows),):
        raise InputError(f"data: expected {len(rows)} weights, got shape {given.shape}.")
    if names is not None and len(names) != rows.shape[1]:
        raise InputError(f"data: expected {rows.shape[1]} names, got {len(names)}.")
    if not (np.isfinite(given).all() and (given > 0).all()):
        bad = int(np.flatnonzero(~(np.isfinite(given) & (given > 0)))[0])
        raise InputError(f"data, row {bad + 1}: expected a positive weight, got {given[bad]}.")
    packed = np.packbits(rows, axis=1)
    keys = packed.view(np.dtype((np.void, packed.shape[1])))[:, 0]
    _, first, row_of = np.unique(keys, return_index=True, return_inverse=True)
    return Dataset(
        rows=read_only(rows[first]),
        weight=read_only(np.bincount(row_of, weights=given, minlength=len(first))),
        row_of=read_only(row_of.astype(np.int32)),
        names=names,
    )


def load_npz(path: Path | str) -> Dataset:
    """Read the native form, or any `.npz` with a 0/1 matrix named `data` or alone in the file."""
    arrays = read_arrays(path)
    if str(arrays.get("kind")) == "dataset":
        return _native(path, arrays)
    if "kind" in arrays:
        raise InputError(f"{path}: expected a dataset, this file holds a {arrays['kind']}.")
    if "data" not in arrays and len(arrays) != 1:
        raise InputError(f"{path}: expected one matrix or one named `data`, got {sorted(arrays)}.")
    matrix = arrays["data"] if "data" in arrays else next(iter(arrays.values()))
    if matrix.dtype.kind not in "buif":
        raise InputError(f"{path}: expected a matrix of 0 and 1, got entries of {matrix.dtype}.")
    try:
        return merge_rows(matrix)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _native(path: Path | str, arrays: dict[str, NDArray]) -> Dataset:
    """Return the dataset in the arrays of a native file, refusing what does not fit together."""
    missing = {"version", "n_vars", "packed_rows", "weight", "row_of"} - set(arrays)
    if missing:
        raise InputError(f"{path}: is not a complete dataset, lacks {', '.join(sorted(missing))}.")
    if int(arrays["version"]) > VERSION:
        raise InputError(
            f"{path}: was written by a newer mnlearn (format {arrays['version']}, this reads "
            f"up to {VERSION})."
        )
    n_vars, packed = int(arrays["n_vars"]), arrays["packed_rows"]
    weight, row_of = arrays["weight"], arrays["row_of"]
    names = tuple(str(name) for name in arrays["names"]) if "names" in arrays else None
    if (
        packed.ndim != 2
        or packed.dtype != np.uint8
        or packed.shape != (len(weight), -(-n_vars // 8))
        or not (len(row_of) and row_of.min() >= 0 and row_of.max() < len(weight))
        or (names is not None and len(names) != n_vars)
    ):
        raise InputError(f"{path}: is damaged: its arrays do not fit together.")
    rows = np.unpackbits(packed, axis=1, count=n_vars)
    return Dataset(read_only(rows), read_only(weight), read_only(row_of), names)
