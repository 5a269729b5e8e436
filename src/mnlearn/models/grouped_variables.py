"""Variables with more than two values as groups of binary columns."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mnlearn.runtime.arrays import read_only
from mnlearn.runtime.errors import InputError

# The value of a variable in a row where not exactly one of its columns is 1.
NO_VALUE = 255


@dataclass(frozen=True, eq=False)
class GroupedVariables:
    """Variables over binary columns, in the order of their first columns.

    A variable of one column has the values 0 and 1. A variable of several columns has as many
    values as columns: it has value a where its column a is 1 and its other columns are 0.

    start : int64, shape (n_variables + 1,). Variable v has column[start[v]:start[v + 1]].
    column : int32, shape (n_columns,).
    """

    start: NDArray[np.int64]
    column: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.start) - 1

    @property
    def n_columns(self) -> int:
        """Number of binary columns."""
        return len(self.column)

    @cached_property
    def arity(self) -> NDArray[np.int64]:
        """Number of values of each variable, shape (n_variables,)."""
        return read_only(np.maximum(np.diff(self.start), 2))

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """The columns of each variable that has more than one."""
        return tuple(own for own in map(self.columns, range(len(self))) if len(own) > 1)

    def columns(self, v: int) -> tuple[int, ...]:
        """Return the columns of variable `v`."""
        return tuple(self.column[self.start[v] : self.start[v + 1]].tolist())

    def values(self, rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return the values of all variables, shape (n_rows, n_variables).

        rows : uint8, shape (n_rows, n_columns). The value is NO_VALUE where a row gives a variable
            none of its values, or several.
        """
        out = np.empty((len(rows), len(self)), np.uint8)
        single = np.diff(self.start) == 1
        out[:, single] = rows[:, self.column[self.start[:-1][single]]]
        for v in np.flatnonzero(~single).tolist():
            own = rows[:, self.columns(v)]
            out[:, v] = np.where(own.sum(axis=1) == 1, own.argmax(axis=1), NO_VALUE)
        return out

    def one_hot(self, values: NDArray) -> NDArray[np.uint8]:
        """Return the rows, uint8 of shape (n_rows, n_columns), that have the given values."""
        out = np.zeros((len(values), self.n_columns), np.uint8)
        for v in range(len(self)):
            own = self.columns(v)
            wanted = np.arange(len(own)) if len(own) > 1 else np.ones(1, np.int64)
            out[:, own] = values[:, v, None] == wanted
        return out

    def column_literal(self, v: int, value: int) -> tuple[int, int]:
        """Return a value of variable `v` as a (column, value of the column) pair."""
        columns = self.columns(v)
        return (columns[0], value) if len(columns) == 1 else (columns[value], 1)

    def implied(self, v: int, value: int) -> dict[int, int]:
        """Return the values of all columns of variable `v` where it has a value."""
        columns = self.columns(v)
        if len(columns) == 1:
            return {columns[0]: value}
        return {c: int(k == value) for k, c in enumerate(columns)}

    def impossible(self) -> Iterator[list[tuple[int, int]]]:
        """Yield the conjunctions over columns that say that a group has no value, or two."""
        for group in self.groups:
            yield [(c, 0) for c in sorted(group)]
            for k, c in enumerate(group):
                for other in group[:k]:
                    yield sorted([(c, 1), (other, 1)])


def grouped_variables(n_columns: int, groups: Sequence[Sequence[int]] = ()) -> GroupedVariables:
    """Return the variables over binary columns of which some are grouped.

    groups : the columns of each variable with several, in the order of its values. Each other
        column is a variable.

    Raises
    ------
    InputError
        A group has fewer than 2 or more than 254 columns, names a column that does not exist, or
        shares a column with another group.
    """
    owner = np.full(n_columns, -1)
    for g, group in enumerate(groups):
        if not 2 <= len(group) < NO_VALUE:
            raise InputError(f"group {g}: expected 2 to {NO_VALUE - 1} columns, got {len(group)}.")
        for c in group:
            if not 0 <= c < n_columns:
                raise InputError(f"group {g}: expected columns 0 to {n_columns - 1}, got {c}.")
            if owner[c] >= 0:
                raise InputError(f"group {g}: column {c} is already in group {owner[c]}.")
            owner[c] = g
    singles = [(c,) for c in np.flatnonzero(owner < 0).tolist()]
    variables = sorted([*map(tuple, groups), *singles], key=min)
    start = np.cumsum([0, *map(len, variables)], dtype=np.int64)
    column = np.concatenate([np.array(v, np.int32) for v in variables])
    return GroupedVariables(read_only(start), read_only(column))
