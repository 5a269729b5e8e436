"""A model as tables: what answers exactly, as circuits do, in rows of columns.

UNKNOWN columns are summed out. The trees of the last questions are kept.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.state_columns import column_probabilities
from mnlearn.inference.tables import answers
from mnlearn.inference.tables.buckets import Cost
from mnlearn.inference.tables.clique_tree import CliqueTree
from mnlearn.inference.tables.factors import Factors
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.memory import most_cells
from mnlearn.variables.schema import NO_STATE, Schema

Rows = NDArray[np.uint8]
Values = NDArray[np.float64]
# Rows of up to so many patterns of unknown variables have a tree for each pattern. More patterns
# share one tree.
_PATTERNS = 32
# So many trees are kept for further questions.
_KEPT = 8


class _Part(NamedTuple):
    """Rows that one tree answers: their numbers, and the tree."""

    members: NDArray[np.int64]
    tree: CliqueTree


@dataclass(frozen=True, eq=False)
class TableForm:
    """The factors of a model, and the trees of the last questions."""

    factors: Factors
    schema: Schema
    trees: dict[bytes, CliqueTree] = field(default_factory=dict)

    @property
    def width(self) -> int:
        """The most neighbours of a variable when the tree of the last question sums it out."""
        tree = self.trees[next(reversed(self.trees))]
        return int(np.diff(tree.buckets.axis_start).max(initial=0))

    def parts(self, unknown: NDArray[np.bool_], asked: NDArray[np.bool_]) -> Iterator[_Part]:
        """Yield rows with the tree over what is not known in them, or over what matters of it.

        unknown : bool, (n_rows, n_vars). What is not known in each row. asked : bool, (n_vars,).
        The variables whose marginals are wanted; none for the probability of the evidence.
        """
        if len(unknown) == 1:
            yield _Part(np.zeros(1, np.int64), self._tree(unknown[0], asked))
            return
        patterns, pattern_of = np.unique(unknown, axis=0, return_inverse=True)
        if len(patterns) > _PATTERNS:
            every = np.ones(len(asked), bool)
            yield _Part(np.arange(len(unknown)), self._tree(np.asarray(unknown.any(axis=0)), every))
            return
        for k, pattern in enumerate(patterns):
            yield _Part(np.flatnonzero(pattern_of.ravel() == k), self._tree(pattern, asked))

    def _tree(self, unknown: NDArray[np.bool_], asked: NDArray[np.bool_]) -> CliqueTree:
        key = unknown.tobytes() + asked.tobytes()
        if key not in self.trees:
            if asked[unknown].all():
                tree = CliqueTree(self.factors, ~unknown, max_cells=most_cells(), in_parts=True)
            else:
                query = np.flatnonzero(asked & unknown).tolist()
                whole = not query
                how = {"max_cells": most_cells(), "only_up": whole}
                tree = answers.pruned_tree(self.factors, ~unknown, query, whole, **how)
            while len(self.trees) >= _KEPT:
                del self.trees[next(iter(self.trees))]
            self.trees[key] = tree
        return self.trees[key]

    def cost(self, unknown: NDArray[np.bool_], asked: NDArray[np.bool_]) -> Cost:
        """Return the cells of the largest tree for some rows, and the operations of all."""
        cells, operations = 0.0, 0.0
        for part in self.parts(unknown, asked):
            cells = max(cells, part.tree.cost.cells)
            operations += len(part.members) * part.tree.cost.operations
        return Cost(cells, operations)

    def marginals(
        self, values: Rows, asked: NDArray[np.bool_], threads: int = 1
    ) -> tuple[Values, Values]:
        """Return the log-value of each row, and P(state | row) of the states of asked variables.

        The log-value of a row is finite if what bears on the asked variables is possible.
        """
        log_values = np.empty(len(values))
        p = np.empty((len(values), int(self.schema.arity.sum())))
        for members, tree in self.parts(values == NO_STATE, asked):
            found = tree.marginals(_without_absent(tree, values[members]), threads)
            log_values[members], p[members] = found
        return log_values, p

    def log_values(self, values: Rows, threads: int = 1) -> Values:
        """Return the log of the sum over what is not known in each row."""
        out = np.empty(len(values))
        for members, tree in self.parts(values == NO_STATE, np.zeros(len(self.schema), bool)):
            out[members] = tree.log_values(_without_absent(tree, values[members]), threads)
        return out


def _without_absent(tree: CliqueTree, values: Rows) -> Rows:
    """Return evidence in which variables that the tree leaves out have some state."""
    assert tree.known is not None
    return np.where((values == NO_STATE) & tree.known, 0, values).astype(np.uint8)


def log_value(form: TableForm, rows: Rows, threads: int = 1) -> Values:
    """Return the log of the sum over the UNKNOWN columns of each row."""
    return form.log_values(form.schema.known_values(rows), threads)


def log_partition(form: TableForm) -> float:
    """Return log Z in nats."""
    return float(form.log_values(np.full((1, len(form.schema)), NO_STATE, np.uint8))[0])


def conditionals(form: TableForm, rows: Rows, threads: int = 1) -> tuple[Values, Values]:
    """Return the log-value of each row, and P(column = x | row) of all columns."""
    every = np.ones(len(form.schema), bool)
    log_values, p = form.marginals(form.schema.known_values(rows), every, threads)
    return log_values, column_probabilities(p, form.schema.start)


def draw(form: TableForm, known: Rows, n_rows: int, seed: int, threads: int = 1) -> Rows:
    """Return independent examples given the states of some variables, (n_vars,)."""
    if (known != NO_STATE).any() and np.isneginf(form.log_values(known[None])[0]):
        raise InputError("has probability 0.", where="evidence")
    found = answers.draw(form.factors, known, n_rows, seed, threads, most_cells())
    return form.schema.rows(found)


def most_probable(form: TableForm, rows: Rows) -> tuple[Rows, Values]:
    """Return the most probable row that agrees with each row of evidence, and its log-value."""
    values = form.schema.known_values(rows)
    found, log_values = answers.most_probable(form.factors, values, most_cells())
    return form.schema.rows(found), log_values
