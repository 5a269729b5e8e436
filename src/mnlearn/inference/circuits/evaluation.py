"""Repeated evaluation of a circuit: with plain numbers where they suffice, else in log space.

Plain numbers are several times faster. They are trusted for a row of evidence if the value of the
root and the probabilities of all values that the evidence allows are well within their range.
"""

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.circuits.evaluation import (
    LANES,
    LOG_ZERO,
    log_space_flows,
    log_values,
    plain_flows,
    plain_flows_of_lanes,
    plain_values,
    plain_values_in_rows,
    plain_values_of_lanes,
)
from mnlearn.kernels.circuits.structure import depth_first, share_rows
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.variables.schema import Schema

UNKNOWN = 2
# Plain numbers are trusted if the log of the root is at most this far from 0 (nats), and all
# probabilities are at least this.
_PLAIN_RANGE = 600.0
_LEAST_PROBABILITY = 1e-100


class LogSpace:
    """Evaluates a circuit for up to LANES rows of evidence at a time, in log space."""

    def __init__(self, circuit: ArithmeticCircuit, weight: NDArray[np.float64]) -> None:
        self._circuit = circuit
        self._arrays = (circuit.is_sum, circuit.start, circuit.child, circuit.n_leaves)
        self.all_values = np.empty((circuit.n_nodes, LANES))
        n_literals = 2 * circuit.n_columns
        self.all_values[n_literals : circuit.n_leaves] = np.maximum(weight, LOG_ZERO)[:, None]
        self._scratch = np.empty((2, LANES))
        self._flows: NDArray[np.float64] | None = None

    def values(self, rows: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return the log-value of the root for each row of evidence; see `Batch.values`."""
        literal = self.all_values[: 2 * self._circuit.n_columns].reshape(-1, 2, LANES)
        for x in (0, 1):
            literal[:, x, : len(rows)] = np.where(1 - x == rows.T, LOG_ZERO, 0.0)
            literal[:, x, len(rows) :] = 0.0
        log_values(*self._arrays, self.all_values, *self._scratch)
        root = self.all_values[-1, : len(rows)]
        return np.where(root < LOG_ZERO / 2, -np.inf, root)

    def flows(self) -> NDArray[np.float64]:
        """Return the flows of all nodes for the last rows, float64 of shape (n_nodes, LANES)."""
        if self._flows is None:
            self._flows = np.empty(self.all_values.shape)
        log_space_flows(*self._arrays, self.all_values, self._flows)
        return self._flows


class _Lanes:
    """Evaluates a circuit for up to LANES rows of evidence at a time, each by itself.

    atomic : whether the first parameters are the weights of the states, in their order. If so, the
    states of each variable are scaled by their sum. Otherwise the root has a factor for every
    variable and leaves the range of plain numbers at a few hundred variables.

    A subclass has the array `_values`, that of the literals first, and the row of the root.
    """

    _values: NDArray[np.float64]
    _root = -1

    def __init__(self, circuit: ArithmeticCircuit, atomic: bool) -> None:
        self._circuit, self._weight = circuit, circuit.weight
        self._log_space: LogSpace | None = None
        self._log_scale = _log_scale(circuit.weight, circuit.schema, atomic)

    def values(self, rows: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return the log-value of the root for each row of evidence.

        rows : uint8, (n_rows, n_columns). 0, 1, or UNKNOWN for a column to be summed out; at most
        LANES rows. Where a column of several is 1, the others are 0.
        """
        n_rows = len(rows)
        literal = self._values[: 2 * self._circuit.n_columns].reshape(-1, 2, LANES)
        scale = _by_column(np.exp(-self._log_scale), self._circuit.schema)[:, None]
        literal[:] = scale[:, None]
        for x in (0, 1):
            literal[:, x, :n_rows] = np.where(1 - x == rows.T, 0.0, scale)
        self._evaluate()
        root = self._values[self._root, :n_rows]
        self._trusted = _trusted(root)
        with np.errstate(divide="ignore", invalid="ignore"):
            log_root = np.log(root) + self._log_scale.sum()
        if self._trusted.all():
            return np.asarray(log_root)
        return np.where(self._trusted, log_root, self._in_log_space().values(rows))

    def _evaluate(self) -> None:
        """Fill in the values of all nodes. Each space of numbers writes this."""
        raise NotImplementedError

    def _in_log_space(self) -> LogSpace:
        if self._log_space is None:
            self._log_space = LogSpace(self._circuit, self._weight)
        return self._log_space


class Values(_Lanes):
    """Evaluates a circuit for many rows of evidence, without flows.

    Nodes are visited depth first and leave their place to others, so that values stay in the
    nearest caches; to find the order takes as long as some rows.
    """

    def __init__(self, circuit: ArithmeticCircuit, atomic: bool) -> None:
        super().__init__(circuit, atomic)
        n_inner, n_literals = len(circuit.is_sum), 2 * circuit.n_columns
        arrays = (circuit.is_sum, circuit.start, circuit.child, circuit.n_leaves)
        order = np.empty(n_inner, np.int64)
        order = order[: depth_first(*arrays[1:], order)]
        row = np.full(circuit.n_nodes, -1, np.int32)
        row[:n_literals] = np.arange(n_literals)
        log_factor, start = np.zeros(len(order)), np.zeros(len(order) + 1, np.int64)
        child = np.empty(circuit.n_edges, np.int32)
        found = (row, log_factor, start, child)
        n_rows, n_edges = share_rows(arrays, order, circuit.weight, *found)
        own = row[circuit.n_leaves + order]
        self._root = int(own[-1])
        self._values = np.empty((n_rows, LANES))
        alone = n_literals + np.flatnonzero(row[n_literals : circuit.n_leaves] >= 0)
        with np.errstate(over="ignore"):
            self._values[row[alone]] = np.exp(circuit.weight[alone - n_literals])[:, None]
            factor = np.exp(log_factor)
        self._arrays = (circuit.is_sum[order], start, child[:n_edges], own, factor)

    def _evaluate(self) -> None:
        plain_values_in_rows(*self._arrays, self._values)


class Batch(_Lanes):
    """Evaluates a circuit for up to LANES rows of evidence at a time, with flows."""

    def __init__(self, circuit: ArithmeticCircuit, atomic: bool) -> None:
        super().__init__(circuit, atomic)
        self._atomic = atomic
        self._arrays = (circuit.is_sum, circuit.start, circuit.child, circuit.n_leaves)
        self._values = np.empty((circuit.n_nodes, LANES))
        self._flows: NDArray[np.float64] | None = None
        self._unused = has_others(circuit.schema)[:, None]
        self.weigh(circuit.weight)

    def weigh(self, weight: NDArray[np.float64]) -> None:
        """Replace the parameters by `weight`, float64 of shape (n_parameters,)."""
        circuit = self._circuit
        self._weight = weight
        self._log_scale = _log_scale(weight, circuit.schema, self._atomic)
        with np.errstate(over="ignore"):
            self._values[2 * circuit.n_columns : circuit.n_leaves] = np.exp(weight)[:, None]
        self._log_space = None

    def values(self, rows: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return the log-value of the root for each row of evidence."""
        self._rows = rows
        return super().values(rows)

    def _evaluate(self) -> None:
        plain_values_of_lanes(*self._arrays, self._values)

    def flows(self) -> NDArray[np.float64]:
        """Return the flows of the leaves for the last rows, float64 of shape (n_leaves, n_rows)."""
        if self._flows is None:
            self._flows, self._share = np.empty(self._values.shape), np.empty(LANES)
        plain_flows_of_lanes(*self._arrays, self._values, self._flows, self._share)
        leaves = self._flows[: self._circuit.n_leaves, : len(self._rows)]
        p = leaves[: 2 * self._circuit.n_columns].reshape(-1, 2, len(self._rows))
        ruled_out = np.stack([self._rows.T == 1, self._rows.T == 0], axis=1)
        if not self._circuit.schema.is_binary:
            ruled_out[:, 0] |= self._unused
        lost = ~(self._trusted & ((p >= _LEAST_PROBABILITY) | ruled_out).all(axis=(0, 1)))
        if lost.any():
            batch = self._in_log_space()
            batch.values(self._rows)
            leaves[:, lost] = batch.flows()[: len(leaves), : len(lost)][:, lost]
        return leaves


class Evaluator:
    """Evaluates a circuit for one row of evidence at a time, under weights that may change.

    `Batch` is faster where many rows are known together.
    """

    def __init__(self, circuit: ArithmeticCircuit, atomic: bool = False) -> None:
        self._circuit, self._atomic = circuit, atomic
        self._arrays = (circuit.is_sum, circuit.start, circuit.child, circuit.n_leaves)
        self._values, self._flows = np.empty(circuit.n_nodes), np.empty(circuit.n_nodes)
        self._literal = self._values[: 2 * circuit.n_columns].reshape(-1, 2)
        self._unused = has_others(circuit.schema)
        self._batch: Batch | None = None
        self._weighed: NDArray[np.float64] | None = None
        self._weigh(circuit.weight)

    def _weigh(self, weight: NDArray[np.float64]) -> None:
        circuit = self._circuit
        self._weight = weight
        log_scale = _log_scale(weight, circuit.schema, self._atomic)
        self._scale = _by_column(np.exp(-log_scale), circuit.schema)[:, None]
        self._total_log_scale = float(log_scale.sum())
        with np.errstate(over="ignore"):
            np.exp(weight, out=self._values[2 * circuit.n_columns : circuit.n_leaves])
        self._log_space: LogSpace | None = None

    def expectations(self, weight: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return log Z and the expectation of each feature."""
        first, last = 2 * self._circuit.n_columns, self._circuit.n_leaves
        self._weigh(weight)
        self._literal[:] = self._scale
        plain_values(*self._arrays, self._values)
        root = self._values[-1:]
        if _trusted(root).all():
            plain_flows(*self._arrays, self._values, self._flows)
            return float(np.log(root[0])) + self._total_log_scale, self._flows[first:last].copy()
        log_z, flows = self._in_log_space(np.full(self._circuit.n_columns, UNKNOWN, np.uint8))
        return log_z, flows[first:last].copy()

    def conditionals(self, row: NDArray[np.uint8]) -> tuple[float, NDArray[np.float64]]:
        """Return the log-value of the root, and P(column = x | evidence).

        row : uint8, (n_columns,). 0, 1, or UNKNOWN for a column to be summed out; see
        `Batch.values`.
        """
        ruled_out = np.stack([row == 1, row == 0], axis=1)
        self._literal[:] = np.where(ruled_out, 0.0, self._scale)
        plain_values(*self._arrays, self._values)
        root, n_literals = self._values[-1:], 2 * self._circuit.n_columns
        if _trusted(root).all():
            plain_flows(*self._arrays, self._values, self._flows)
            p = self._flows[:n_literals].reshape(-1, 2)
            ruled_out[:, 0] |= self._unused
            if ((p >= _LEAST_PROBABILITY) | ruled_out).all():
                return float(np.log(root[0])) + self._total_log_scale, p.copy()
        log_root, flows = self._in_log_space(row)
        p = flows[:n_literals].reshape(-1, 2)
        return log_root, p.copy() if np.isfinite(log_root) else np.full(p.shape, np.nan)

    def _in_log_space(self, row: NDArray[np.uint8]) -> tuple[float, NDArray[np.float64]]:
        """Return the log-value of the root, and the flows of all nodes."""
        if self._log_space is None:
            self._log_space = LogSpace(self._circuit, self._weight)
        return float(self._log_space.values(row[None])[0]), self._log_space.flows()[:, 0]

    def marginals(
        self, weight: NDArray[np.float64], rows: NDArray[np.uint8]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the log-value of the root, and P(column = 1 | evidence), for each row."""
        if self._batch is None:
            self._batch = Batch(self._circuit, self._atomic)
        # An array that can be written to may have changed.
        if weight is not self._weighed or weight.flags.writeable:
            self._batch.weigh(weight)
            self._weighed = weight
        log_root = self._batch.values(rows)
        return log_root, self._batch.flows()[1 : 2 * self._circuit.n_columns : 2].T.copy()


def _log_scale(weight: NDArray[np.float64], schema: Schema, atomic: bool) -> NDArray[np.float64]:
    """Return the logarithm of the scale of each variable, float64 of shape (n_vars,)."""
    out = np.zeros(len(schema))
    if atomic and schema.is_binary:
        n = 2 * len(schema)
        return np.asarray(np.logaddexp(weight[:n:2], weight[1:n:2]))
    if atomic and schema.n_columns:
        several = schema.arity > 1
        first = np.cumsum(schema.arity[several])
        blocks = np.concatenate([[0], first[:-1]])
        out[several] = np.logaddexp.reduceat(weight[: first[-1]], blocks)
    return out


def _by_column(numbers: NDArray[np.float64], schema: Schema) -> NDArray[np.float64]:
    """Return the number of the variable of each column."""
    return numbers if schema.is_binary else numbers[schema.variable_of]


def has_others(schema: Schema) -> NDArray[np.bool_]:
    """Return whether the variable of each column has several; its leaf of value 0 is not used."""
    return (schema.arity > 2)[schema.variable_of]


def _trusted(root: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Tell which values of the root are well within the range of plain numbers."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((root > 0.0) & (np.abs(np.log(root)) < _PLAIN_RANGE))
