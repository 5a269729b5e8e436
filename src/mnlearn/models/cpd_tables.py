"""Conditional distributions as tables, with a cell for each state of a variable and its parents."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.features import FeatureSet, state_features
from mnlearn.models.fields import check_spans, set_array
from mnlearn.runtime.arrays import read_only
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Schema

# Most cells of all tables of a network that is read or written.
MAX_CELLS = 1 << 24
# A distribution that sums to 1 up to this error is not normalised again, so that a model that is
# written and read keeps its last bits.
_NORMALISED = 1e-12


class CpdTable(NamedTuple):
    """P(variable | parents), with an axis for each parent, then one for the variable itself."""

    parents: tuple[int, ...]
    prob: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Tables:
    """The tables of the variables that have one, in flat arrays.

    The parents of variable v are parent[parent_start[v]:parent_start[v + 1]]. Its cells are
    prob[start[v]:start[v + 1]], none if it has a tree. The state of the variable itself changes
    fastest, then that of its last parent.
    """

    parent_start: NDArray[np.int64]
    parent: NDArray[np.int32]
    start: NDArray[np.int64]
    prob: NDArray[np.float64]

    def __post_init__(self) -> None:
        parent_start = set_array(self, "parent_start", np.int64, (None,))
        n_parents = len(set_array(self, "parent", np.int32, (None,)))
        start = set_array(self, "start", np.int64, (len(parent_start),))
        n_cells = len(set_array(self, "prob", np.float64, (None,)))
        check_spans(self, parent_start, n_parents)
        check_spans(self, start, n_cells)

    def __contains__(self, v: int) -> bool:
        """Whether variable `v` has a table."""
        return bool(self.start[v + 1] > self.start[v])

    @cached_property
    def log_prob(self) -> NDArray[np.float64]:
        """Logarithms of `prob`."""
        with np.errstate(divide="ignore"):
            return read_only(np.log(self.prob))

    def parents(self, v: int) -> tuple[int, ...]:
        """Return the parents of variable `v` in its table."""
        return tuple(self.parent[self.parent_start[v] : self.parent_start[v + 1]].tolist())

    def table(self, v: int, arity: NDArray[np.int64]) -> CpdTable:
        """Return the table of variable `v`, given the numbers of states of all variables."""
        parents = self.parents(v)
        shape = [int(arity[u]) for u in (*parents, v)]
        return CpdTable(parents, self.prob[self.start[v] : self.start[v + 1]].reshape(shape))

    def log_table(self, v: int, arity: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the logarithms of the table of variable `v`."""
        own = self.log_prob[self.start[v] : self.start[v + 1]]
        return own.reshape([int(arity[u]) for u in (*self.parents(v), v)])

    def features(self, schema: Schema) -> Iterator[tuple[FeatureSet, NDArray[np.float64]]]:
        """Yield for each table a conjunction for each cell, and the logarithms of the cells."""
        for v in np.flatnonzero(np.diff(self.start)).tolist():
            scope = [*self.parents(v), v]
            states = np.indices(schema.arity[scope].tolist()).reshape(len(scope), -1).T
            log_prob = self.log_prob[self.start[v] : self.start[v + 1]]
            yield state_features(schema, scope, states), log_prob

    def check(self, arity: NDArray[np.int64]) -> None:
        """Check that the tables have these numbers of states and distributions as rows."""
        for v in range(len(self.start) - 1):
            if v not in self:
                continue
            parents, size = self.parents(v), int(self.start[v + 1] - self.start[v])
            fits = len({*parents, v}) == len(parents) + 1 and min((*parents, v)) >= 0
            fits = fits and max((*parents, v)) < len(arity)
            fits = fits and size == np.prod([float(arity[u]) for u in (*parents, v)])
            if not fits or not _is_distribution(self.table(v, arity).prob, 1e-9):
                raise InputError(f"the table of variable {v} is no distribution given its parents.")


def tables_of(n_vars: int, tables: Mapping[int, CpdTable]) -> Tables:
    """Return the tables of some variables in flat arrays, each distribution normalised."""
    parents: list[Sequence[int]] = [()] * n_vars
    cells: list[NDArray[np.float64]] = [np.zeros(0)] * n_vars
    for v, table in tables.items():
        total = table.prob.sum(axis=-1, keepdims=True)
        exact = np.abs(total - 1.0) <= _NORMALISED
        parents[v] = table.parents
        cells[v] = np.where(exact, table.prob, table.prob / total).ravel()
    return Tables(
        np.cumsum([0, *map(len, parents)]),
        np.array([u for own in parents for u in own], np.int32),
        np.cumsum([0, *map(len, cells)]),
        np.concatenate(cells) if cells else np.zeros(0),
    )


def _is_distribution(prob: NDArray[np.float64], error: float) -> bool:
    """Tell whether all numbers are probabilities, and those on the last axis add up to 1."""
    # NaN makes a comparison false.
    return bool((prob >= 0).all() and (np.abs(prob.sum(axis=-1) - 1.0) <= error).all())
