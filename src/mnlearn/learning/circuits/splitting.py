"""Splits of parameters of a circuit: the counts they need, their cost in edges, the new circuit."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.kernels.circuits.candidates import count_ones
from mnlearn.kernels.circuits.split_costs import (
    edges_of_copies,
    edges_of_split,
    literals_below,
    parents_of,
)
from mnlearn.kernels.circuits.splitting import (
    ONE,
    PARAMETER,
    ZERO,
    mark_below,
    plan_split,
    write_split,
)
from mnlearn.models.circuit import ArithmeticCircuit, state_leaves
from mnlearn.runtime.arrays import read_only
from mnlearn.variables.schema import Literal, Schema


class ExtensionCounts:
    """Counts of conjunctions in one dataset."""

    def __init__(self, data: Dataset) -> None:
        self.data = data
        self._everything = np.full(data.columns.shape[1], ~np.uint64(0))
        self._everything[-1] = data.last_word
        self._ones = data.lists()

    def count(self, literals: Iterable[tuple[int, int]]) -> tuple[float, NDArray[np.float64]]:
        """Return the weight of the examples with all literals, and (n_columns,) with a 1, too."""
        satisfied = self._everything.copy()
        for c, value in literals:
            column = self.data.columns[c]
            satisfied &= column if value else ~column
        ones, of_rows = np.empty(self.data.n_columns), self._ones
        total = count_ones(satisfied, of_rows.start, of_rows.column, self.data.weight, ones)
        return total, ones


def state_counts(data: Dataset) -> NDArray[np.float64]:
    """Return the weight of the examples with each state, in the order of `state_leaves`."""
    column, value = np.divmod(state_leaves(data.schema), 2)
    ones = (data.frequency * data.n_examples)[column]
    return np.where(value == 1, ones, data.n_examples - ones)


def settled_columns(schema: Schema, literals: Iterable[Literal]) -> list[int]:
    """Return the columns on which a conjunction cannot be split, or not in a way of their own.

    If a variable has two states left, either column says the same; the second one is left out.
    """
    settled: list[int] = []
    excluded: dict[int, list[int]] = {}
    for c, value in literals:
        v = int(schema.variable_of[c])
        own = schema.columns(v)
        if value or len(own) == 1:
            settled += own
        else:
            excluded.setdefault(v, []).append(c)
    for v, columns in excluded.items():
        left = [c for c in schema.columns(v) if c not in columns]
        settled += columns + (left[1:] if len(left) == 2 else left[: len(left) == 1])
    return settled


class SplitEdges:
    """How many edges splits of a circuit add; the work is that of the nodes which change."""

    def __init__(self, circuit: ArithmeticCircuit) -> None:
        n_nodes, n_words = circuit.n_nodes, (circuit.n_columns + 63) // 64
        self._first = 2 * circuit.n_columns
        self._circuit = circuit.is_sum, circuit.start, circuit.child, circuit.n_leaves
        layout = self._circuit[1:]
        self._parents = np.empty(n_nodes + 1, np.int64), np.empty(circuit.n_edges, np.int32)
        parents_of(*layout, *self._parents)
        self._below = np.empty((n_nodes, 2, n_words), np.uint64)
        literals_below(*layout, circuit.schema.start, self._below)
        mark, wanted = np.zeros((2, n_nodes), np.uint8)
        stack, order = np.empty((2, n_nodes), np.int64), np.empty(n_nodes, np.int64)
        self._room = mark, wanted, stack, order
        self._twice = np.empty((n_nodes, n_words), np.uint64)
        self._n_columns = circuit.n_columns

    def least(self, parameters: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many edges splits of some parameters add at least, int64 of (n_columns,)."""
        n_edges = np.empty(self._n_columns, np.int64)
        edges_of_copies(
            self._circuit, self._parents, self._below, self._first + parameters,
            self._room, self._twice, n_edges,
        )  # fmt: skip
        return n_edges

    def up_to(self, limit: int, parameters: NDArray[np.int64], column: int, extend: bool) -> int:
        """Return the number of new edges of a split; if above `limit`, another number above it."""
        change = edges_of_split(
            self._circuit, self._parents, self._below, self._first + parameters,
            column, extend, limit, self._room,
        )  # fmt: skip
        return int(change)


def split(
    circuit: ArithmeticCircuit, parameters: NDArray[np.int64], column: int, extend: bool
) -> ArithmeticCircuit:
    """Return the circuit with parameters split on a column; its polynomial is the same.

    No two parameters are factors of one term. With `extend` a parameter stays, multiplied with a
    new one for each value of the column, as a feature is extended: parameters[k] gets those at
    n_parameters + 2 * k for value 0 and the next one for value 1, of weight 0. Otherwise two
    replace it, as in a CPD: it becomes that for value 0, and n_parameters + k, of the same weight,
    is that for value 1. `features` are left out.
    """
    leaves = (2 * circuit.n_columns + parameters).astype(np.int32)
    below, wanted, change = _mark(circuit, leaves, column)
    n_new = len(parameters) * (2 if extend else 1)
    new = np.arange(circuit.n_leaves, circuit.n_leaves + n_new, dtype=np.int32)
    same = np.arange(circuit.n_nodes, dtype=np.int32)
    versions = np.repeat(same[:, None], 2, axis=1)
    if extend:
        used = np.stack([wanted[leaves] & ZERO, wanted[leaves] & ONE], axis=1) > 0
        pairs = np.stack([new.reshape(-1, 2)[used], np.repeat(leaves, used.sum(axis=1))], axis=1)
        versions[np.repeat(leaves, used.sum(axis=1)), np.nonzero(used)[1]] = (
            circuit.n_leaves + n_new + np.arange(len(pairs))
        )
        added = np.zeros(n_new)
    else:
        pairs = np.zeros((0, 2), np.int32)
        versions[leaves, 1] = new
        added = circuit.weight[parameters]
    n_edges = circuit.n_edges + change + 2 * len(pairs)
    room = n_edges + len(circuit.is_sum)
    out = (np.empty(room, np.uint8), np.empty(room + 1, np.int64), np.empty(n_edges, np.int32))
    n_inner, written = write_split(
        circuit.is_sum, circuit.start, circuit.child, circuit.n_leaves,
        below, wanted, n_new, pairs, same, versions, out,
    )  # fmt: skip
    assert written == n_edges
    return replace(
        circuit,
        is_sum=read_only(out[0][:n_inner]),
        start=read_only(out[1][: n_inner + 1]),
        child=read_only(out[2]),
        weight=read_only(np.concatenate([circuit.weight, added])),
        features=None,
    )


def _mark(
    circuit: ArithmeticCircuit, leaves: NDArray[np.int32], column: int
) -> tuple[NDArray[np.uint8], NDArray[np.uint8], int]:
    """Return what is below each node, its versions that are wanted, and the edges they add."""
    below, wanted = np.zeros(circuit.n_nodes, np.uint8), np.empty(circuit.n_nodes, np.uint8)
    # The other states of a variable of several are what its column is 0 for.
    for c in circuit.schema.columns(int(circuit.schema.variable_of[column])):
        below[2 * c + 1] = ZERO
    below[2 * column], below[2 * column + 1] = ZERO, ONE
    below[leaves] = PARAMETER
    arrays = (circuit.start, circuit.child, circuit.n_leaves, below)
    mark_below(*arrays)
    return below, wanted, int(plan_split(circuit.is_sum, *arrays, wanted))
