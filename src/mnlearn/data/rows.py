"""Rows of 0 and 1: a matrix, or lists of their ones, which take less memory if they are few."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.runtime.arrays import read_only, spans
from mnlearn.runtime.errors import DATA, InputError
from mnlearn.variables.schema import Schema

# A matrix of fewer cells is kept as it is.
LARGE = 2**26


@dataclass(frozen=True, eq=False)
class Ones:
    """Rows as ascending lists of the columns in which they are 1: column[start[i]:start[i + 1]]."""

    start: NDArray[np.int64]
    column: NDArray[np.int32]
    n_columns: int

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return len(self), self.n_columns

    def __len__(self) -> int:
        return len(self.start) - 1

    def __getitem__(self, kept: Any) -> "Ones":
        """Return some rows, by their places, a slice or a mask."""
        rows = np.arange(len(self))[kept]
        length = self.start[rows + 1] - self.start[rows]
        start = np.concatenate([[0], np.cumsum(length)])
        return Ones(start, self.column[spans(self.start[rows], length)], self.n_columns)

    def dense(self) -> NDArray[np.uint8]:
        """Return the matrix of the rows."""
        rows = np.zeros(self.shape, np.uint8)
        rows[np.repeat(np.arange(len(self)), np.diff(self.start)), self.column] = 1
        return rows

    def merged(self) -> tuple["Ones", NDArray[np.intp]]:
        """Return the distinct rows in lexicographic order of 0 and 1, and the place of each row."""
        place, left = np.zeros(len(self), np.int64), np.arange(len(self))
        column = np.append(self.column, 0)
        k = 0
        while len(left):
            at = np.minimum(self.start[left] + k, self.start[left + 1])
            ended = at == self.start[left + 1]
            key = np.where(ended, 0, self.n_columns - column[at])
            order = np.lexsort((key, place[left]))
            left, key = left[order], key[order]
            group = place[left]
            of_group = np.diff(group, prepend=-1) > 0
            of_place = of_group | (np.diff(key, prepend=-1) != 0)
            n = np.arange(len(left))
            first = np.maximum.accumulate(np.where(of_place, n, 0))
            place[left] = group + first - np.maximum.accumulate(np.where(of_group, n, 0))
            alone = of_place & np.append(of_place[1:], True)
            left = left[~alone & (key > 0)]
            k += 1
        _, one_of, row_of = np.unique(place, return_index=True, return_inverse=True)
        return self[one_of], row_of


Rows = NDArray[np.uint8] | Ones


def list_ones(blocks: Iterable[NDArray[np.uint8]]) -> Ones:
    """Return the lists of the rows of consecutive matrices of 0 and 1."""
    lengths, columns, n_columns = [], [], 0
    for rows in blocks:
        lengths.append(np.count_nonzero(rows, axis=1))
        columns.append(np.nonzero(rows.view(np.bool_))[1].astype(np.int32))
        n_columns = rows.shape[1]
    start = np.concatenate([[0], np.cumsum(np.concatenate(lengths))])
    return Ones(read_only(start), read_only(np.concatenate(columns)), n_columns)


def ones_of(matrix: Any) -> Ones | None:
    """Return the lists of a large sparse matrix of 0 and 1, None for any other matrix."""
    if not hasattr(matrix, "tocsr") or np.prod(matrix.shape, dtype=float) < LARGE:
        return None
    rows = matrix.tocsr()
    if not rows.has_canonical_format or not rows.data.all():
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    if (rows.data != 1).any() or not is_smaller(rows.shape, rows.nnz):
        return None
    return Ones(rows.indptr.astype(np.int64), rows.indices.astype(np.int32), rows.shape[1])


def is_smaller(shape: tuple[int, ...], n_ones: int) -> bool:
    """Tell whether lists of the ones take less memory than a large matrix."""
    return shape[0] * shape[1] >= LARGE and 8 * shape[0] + 4 * n_ones < shape[0] * shape[1]


def smaller(rows: NDArray[np.uint8]) -> Rows:
    """Return rows, or their lists where these take less memory."""
    if rows.size < LARGE or not is_smaller(rows.shape, int(np.count_nonzero(rows))):
        return read_only(rows)
    return list_ones([rows])


def take_rows(rows: Rows, kept: NDArray[np.integer]) -> Rows:
    """Return some rows, by their places."""
    return rows[kept] if isinstance(rows, Ones) else read_only(rows[kept])


def merge_equal(rows: Rows) -> tuple[Rows, NDArray[np.intp]]:
    """Return the distinct rows in lexicographic order, and the place of each row among them."""
    if isinstance(rows, Ones):
        return rows.merged()
    keys: Any = row_keys(rows)
    _, first, row_of = np.unique(keys, return_index=True, return_inverse=True)
    return smaller(rows[first]), row_of


def row_keys(rows: NDArray[np.uint8]) -> NDArray[np.void]:
    """Return one value for each row, shape (n_rows,), in the same order as the rows."""
    packed = np.packbits(rows, axis=1)
    return packed.view(np.dtype((np.void, packed.shape[1])))[:, 0]


def check_rows(rows: Any) -> Rows:
    """Return a matrix, which may be sparse; refuse what is not of 0 and 1."""
    ones = rows if isinstance(rows, Ones) else ones_of(rows)
    if ones is not None:
        return ones
    rows = rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)
    if rows.ndim != 2 or 0 in rows.shape:
        raise InputError(
            f"expected a matrix with rows and columns, got shape {rows.shape}.", where=DATA
        )
    if rows.dtype.kind not in "buif":
        raise InputError(f"expected a matrix of 0 and 1, got entries of {rows.dtype}.", where=DATA)
    wrong = np.argwhere((rows != 0) & (rows != 1))
    if len(wrong):
        i, v = wrong[0]
        raise InputError(f"expected 0 or 1, got {rows[i, v]}.", where=DATA, row=i + 1, column=v + 1)
    return np.ascontiguousarray(rows, np.uint8)


def pack_columns(rows: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """Return packed columns; see `Dataset.columns`."""
    padded = np.zeros((rows.shape[1], -(-len(rows) // 64) * 64), np.uint8)
    padded[:, : len(rows)] = rows.T
    return np.packbits(padded, axis=1, bitorder="little").view(np.uint64)


def check_states(rows: Rows, schema: Schema, row_of: NDArray | None = None) -> None:
    """Refuse rows that give a variable of more than two states none of them, or several."""
    several = np.flatnonzero(schema.arity > 2).tolist()
    if isinstance(rows, Ones):
        rows = rows.dense() if several else np.empty((0, 0), np.uint8)
    for v in several:
        ones = rows[:, schema.start[v] : schema.start[v + 1]].sum(axis=1)
        wrong = np.flatnonzero(ones != 1)
        if len(wrong):
            row = int(wrong[0])
            example = row if row_of is None else int(np.flatnonzero(np.isin(row_of, wrong))[0])
            raise InputError(
                f"expected one state of {schema[v].name!r}, got {ones[row] or 'none'}.",
                where=DATA,
                row=example + 1,
            )


def check_weights(weight: NDArray, where: str = DATA) -> NDArray[np.float64]:
    """Return weights as float64; refuse any that are not positive or have no finite sum."""
    if weight.dtype.kind not in "buif":
        raise InputError(f"expected numbers as weights, got {weight.dtype}.", where=where)
    given = np.atleast_1d(weight).astype(np.float64)
    wrong = np.flatnonzero(~(np.isfinite(given) & (given > 0)))
    if len(wrong):
        raise InputError(
            f"expected a positive weight, got {given[wrong[0]]}.", where=where, row=wrong[0] + 1
        )
    with np.errstate(over="ignore"):
        if not np.isfinite(given.sum()):
            raise InputError("expected weights with a finite sum.", where=where)
    return given
