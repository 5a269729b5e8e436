"""Variables with states, and the indicator columns that kernels see in their place."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, overload

import numpy as np
from numpy.typing import NDArray

from mnlearn.runtime.arrays import read_only
from mnlearn.runtime.errors import DATA, InputError
from mnlearn.runtime.names import check_names, labels_of
from mnlearn.variables.frames import states_table
from mnlearn.variables.variable import BINARY, MISSING, NO_STATE, Variable

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["BINARY", "MISSING", "NO_STATE", "Literal", "Schema", "Variable", "binary_schema"]

# A column and the value that it is to have.
Literal = tuple[int, int]


@dataclass(frozen=True)
class Schema(Sequence[Variable]):
    """The variables of a dataset or of a model, in order.

    Kernels see indicator columns of 0 and 1. A variable of two states has one column, which is 1 in
    the second state. A variable of k > 2 states has k columns, and exactly one of them is 1. A
    variable of one state has none. The columns of a variable stand together, in the order of its
    states. Variables that are not named are called V0, V1, ...
    """

    variables: tuple[Variable, ...]
    is_named: bool = True

    def __post_init__(self) -> None:
        if self.is_named:
            check_names(self.names)

    def __len__(self) -> int:
        return len(self.variables)

    def __iter__(self) -> Iterator[Variable]:
        return iter(self.variables)

    @overload
    def __getitem__(self, key: int | str) -> Variable: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[Variable, ...]: ...
    def __getitem__(self, key: int | str | slice) -> Variable | tuple[Variable, ...]:
        return self.variables[self.number(key) if isinstance(key, str) else key]

    def __repr__(self) -> str:
        shown = ", ".join(self.names[:4]) + (", ..." if len(self) > 4 else "")
        return f"<Schema: {len(self):,} variables {shown}>"

    def number(self, name: str) -> int:
        """Return the number of a variable, from 0."""
        if name not in self._number:
            raise InputError(f"{name!r} is no variable; there are {_listed(self.names)}.")
        return self._number[name]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the variables."""
        return tuple(variable.name for variable in self.variables)

    @cached_property
    def _number(self) -> dict[str, int]:
        return {name: number for number, name in enumerate(self.names)}

    @cached_property
    def arity(self) -> NDArray[np.int64]:
        """Number of states of each variable, shape (n_vars,)."""
        return read_only(np.array([v.arity for v in self.variables], np.int64))

    @cached_property
    def start(self) -> NDArray[np.int64]:
        """Columns of the variables: variable v has columns start[v]:start[v + 1]."""
        width = [variable.n_columns for variable in self.variables]
        return read_only(np.concatenate([[0], np.cumsum(width, dtype=np.int64)]))

    @property
    def n_columns(self) -> int:
        """Number of indicator columns."""
        return int(self.start[-1])

    @cached_property
    def variable_of(self) -> NDArray[np.int32]:
        """Number of the variable of each column, shape (n_columns,)."""
        return read_only(np.repeat(np.arange(len(self), dtype=np.int32), np.diff(self.start)))

    @cached_property
    def is_binary(self) -> bool:
        """Whether every variable has two states, so that columns are variables."""
        return bool((np.diff(self.start) == 1).all())

    @cached_property
    def column_labels(self) -> tuple[str, ...]:
        """What each column says: the name of a variable of two states, else `name=state`."""
        labels = []
        for variable in self.variables:
            if variable.n_columns == 1:
                labels.append(variable.name)
            elif variable.n_columns:
                labels += [f"{variable.name}={text}" for text in variable.texts]
        return tuple(labels)

    @cached_property
    def several(self) -> tuple[tuple[int, ...], ...]:
        """The columns of each variable of more than two states."""
        return tuple(own for own in map(self.columns, range(len(self))) if len(own) > 1)

    def columns(self, v: int) -> tuple[int, ...]:
        """Return the columns of variable `v`."""
        return tuple(range(int(self.start[v]), int(self.start[v + 1])))

    def values(self, rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return the number of the state of each variable, uint8 of shape (n_rows, n_vars).

        It is NO_STATE where a row gives a variable none of its states, or several.
        """
        out = np.zeros((len(rows), len(self)), np.uint8)
        single = np.diff(self.start) == 1
        out[:, single] = rows[:, self.start[:-1][single]]
        for v in np.flatnonzero(np.diff(self.start) > 1).tolist():
            own = rows[:, self.start[v] : self.start[v + 1]]
            out[:, v] = np.where(own.sum(axis=1) == 1, own.argmax(axis=1), NO_STATE)
        return out

    def rows(self, values: NDArray) -> NDArray[np.uint8]:
        """Return the rows, uint8 of shape (n_rows, n_columns), of the numbers of states."""
        if self.is_binary:
            return np.array(values, np.uint8)
        out = np.zeros((len(values), self.n_columns), np.uint8)
        single = np.diff(self.start) == 1
        out[:, self.start[:-1][single]] = values[:, single]
        for v in np.flatnonzero(np.diff(self.start) > 1).tolist():
            first, last = self.start[v], self.start[v + 1]
            out[:, first:last] = values[:, v, None] == np.arange(last - first)
        return out

    def known_values(self, rows: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return `values` of rows of 0, 1 and MISSING, NO_STATE where a cell is missing."""
        values = self.values(rows)
        single = np.diff(self.start) == 1
        values[:, single] = np.where(values[:, single] == MISSING, NO_STATE, values[:, single])
        return values

    def known_rows(self, values: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return `rows` of numbers of states, MISSING where they are NO_STATE."""
        rows, missing = self.rows(values), values == NO_STATE
        if missing.any():
            rows[missing[:, self.variable_of]] = MISSING
        return rows

    def decode(self, rows: NDArray[np.uint8]) -> "pd.DataFrame":
        """Return rows as a table of states, in the dtypes of the data that the schema is of."""
        values = self.values(rows)
        if (values == NO_STATE).any():
            row, v = (int(k) for k in np.argwhere(values == NO_STATE)[0])
            raise InputError(f"row {row}: has not one state of {self.names[v]!r}.")
        return states_table(self.variables, values)

    def literal(self, v: int, state: int) -> Literal:
        """Return the literal that says that variable `v`, of two states or more, is in a state."""
        first = int(self.start[v])
        return (first, state) if self.start[v + 1] - first == 1 else (first + state, 1)

    def implied(self, v: int, state: int) -> dict[int, int]:
        """Return the values of all columns of variable `v` where it is in a state."""
        columns = self.columns(v)
        if len(columns) == 1:
            return {columns[0]: state}
        return {c: int(k == state) for k, c in enumerate(columns)}

    def select(self, numbers: Iterable[int]) -> "Schema":
        """Return some of the variables, in the order of their numbers."""
        return Schema(tuple(self.variables[v] for v in numbers), self.is_named)

    def rename(self, names: Sequence[str] | None) -> "Schema":
        """Return the same variables with other names, or with none."""
        if names is not None and len(names) != len(self):
            raise InputError(f"expected {len(self)} names, got {len(names)}.", where=DATA)
        labels = labels_of(names, len(self))
        pairs = zip(self.variables, labels, strict=True)
        renamed = (Variable(label, v.states, v.ordered, v.dtype) for v, label in pairs)
        return Schema(tuple(renamed), names is not None)


def binary_schema(variables: int | Sequence[str], names: Sequence[str] | None = None) -> Schema:
    """Return the schema of variables of the states 0 and 1, given their number or their names."""
    if isinstance(variables, int | np.integer):
        n_vars = int(variables)
    else:
        n_vars, names = len(variables), variables
    if names is not None and len(names) != n_vars:
        raise InputError(f"expected {n_vars} names, got {len(names)}.", where=DATA)
    return Schema(tuple(map(Variable, labels_of(names, n_vars))), names is not None)


def numbered_schema(arity: Sequence[int]) -> Schema:
    """Return nameless variables whose states are the numbers from 0."""
    states = {k: BINARY if k == 2 else tuple(range(k)) for k in set(arity)}
    pairs = zip(labels_of(None, len(arity)), arity, strict=True)
    return Schema(tuple(Variable(name, states[k]) for name, k in pairs), is_named=False)


def _listed(names: Sequence[str], most: int = 10) -> str:
    """Return names for a sentence, the first of many."""
    return ", ".join(names[:most]) + (", ..." if len(names) > most else "")
