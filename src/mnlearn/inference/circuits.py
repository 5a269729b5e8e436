"""Exact inference in arithmetic circuits: values, flows, marginals, MPE states and samples."""

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.kernels.circuit import (
    LANES,
    LOG_ZERO,
    add_expected,
    log_space_flows,
    log_values,
    plain_flows,
    plain_flows_of_lanes,
    plain_values,
    plain_values_of_lanes,
)
from mnlearn.kernels.circuit_states import draw_state, most_probable_state
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.threads import map_ranges

UNKNOWN = 2
# Plain numbers are trusted where the value of the root stays within this many nats of 0.
_PLAIN_RANGE = 600.0
_PIECES = 16


class Evaluator:
    """Evaluates one circuit again and again, under other weights or evidence.

    Plain numbers are used as long as the root stays well within their range, else log space.

    atomic : whether the first parameters are weights of the literals, in their order. Then each
        variable is scaled by the sum of its two, so that the root has no factor for each of many
        variables: it would leave the range at a few hundred of them.
    """

    def __init__(self, circuit: ArithmeticCircuit, atomic: bool = False) -> None:
        self._circuit, self._atomic = circuit, atomic
        self._arrays = (circuit.is_sum, circuit.start, circuit.child, circuit.n_leaves)
        self._values = np.empty(circuit.n_nodes)
        self._flows = np.empty(circuit.n_nodes)
        self._lanes: tuple[NDArray[np.float64], ...] | None = None

    def expectations(self, weight: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        """Return log Z and the expectation of each feature, float64 of (n_parameters,).

        weight : float64, (n_parameters,), in place of the circuit's own.
        """
        first, last = 2 * self._circuit.n_vars, self._circuit.n_leaves
        log_scale = self._log_scale(weight)
        self._values[:first] = np.exp(-np.repeat(log_scale, 2))
        with np.errstate(over="ignore"):
            np.exp(weight, out=self._values[first:last])
        plain_values(*self._arrays, self._values)
        root = self._values[-1]
        if _trusted(root):
            plain_flows(*self._arrays, self._values, self._flows)
            return float(np.log(root) + log_scale.sum()), self._flows[first:last].copy()
        batch = _Batch(self._circuit, weight)
        row = np.full((1, self._circuit.n_vars), UNKNOWN, np.uint8)
        log_z = float(batch.values(row)[0])
        return log_z, batch.flows()[first:last, 0].copy()

    def given(
        self, weight: NDArray[np.float64], rows: NDArray[np.uint8]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the log-value of the root, and P(X_v = 1 | evidence), for rows of evidence.

        rows : uint8, (n_rows, n_vars), at most LANES of them, as for `log_value`.
        """
        circuit, n_rows = self._circuit, len(rows)
        if self._lanes is None:
            shape = (circuit.n_nodes, LANES)
            self._lanes = (np.empty(shape), np.empty(shape), np.empty(LANES))
        values, flows, share = self._lanes
        n_literals = 2 * circuit.n_vars
        literal = values[:n_literals].reshape(-1, 2, LANES)
        log_scale = self._log_scale(weight)
        scale = np.exp(-log_scale)[:, None]
        literal[:] = scale[:, None]
        for x in (0, 1):
            literal[:, x, :n_rows] = np.where(1 - x == rows.T, 0.0, scale)
        with np.errstate(over="ignore"):
            values[n_literals : circuit.n_leaves] = np.exp(weight)[:, None]
        plain_values_of_lanes(*self._arrays, values)
        root = values[-1, :n_rows]
        if all(_trusted(value) for value in root):
            plain_flows_of_lanes(*self._arrays, values, flows, share)
            log_root = np.log(root) + log_scale.sum()
            return log_root, flows[1:n_literals:2, :n_rows].T.copy()
        batch = _Batch(circuit, weight)
        log_root = batch.values(rows)
        return log_root, batch.flows()[1:n_literals:2, :n_rows].T.copy()

    def _log_scale(self, weight: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return by what each variable is scaled, in nats, float64 of (n_vars,)."""
        n_vars = self._circuit.n_vars
        if not self._atomic:
            return np.zeros(n_vars)
        return np.logaddexp(weight[: 2 * n_vars : 2], weight[1 : 2 * n_vars : 2])


def _trusted(root: float) -> bool:
    return bool(root > 0.0) and abs(np.log(root)) < _PLAIN_RANGE


class _Batch:
    """Room to evaluate up to LANES rows of evidence at a time, in log space."""

    def __init__(self, circuit: ArithmeticCircuit, weight: NDArray[np.float64]) -> None:
        self._circuit = circuit
        self._arrays = (circuit.is_sum, circuit.start, circuit.child, circuit.n_leaves)
        self.all_values = np.empty((circuit.n_nodes, LANES))
        n_literals = 2 * circuit.n_vars
        self.all_values[n_literals : circuit.n_leaves] = np.maximum(weight, LOG_ZERO)[:, None]
        self._scratch = np.empty((2, LANES))
        self._flows: NDArray[np.float64] | None = None

    def values(self, rows: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return the log-value of the root for each of up to LANES rows."""
        literal = self.all_values[: 2 * self._circuit.n_vars].reshape(-1, 2, LANES)
        for x in (0, 1):
            literal[:, x, : len(rows)] = np.where(1 - x == rows.T, LOG_ZERO, 0.0)
            literal[:, x, len(rows) :] = 0.0
        log_values(*self._arrays, self.all_values, *self._scratch)
        root = self.all_values[-1, : len(rows)]
        return np.where(root < LOG_ZERO / 2, -np.inf, root)

    def flows(self) -> NDArray[np.float64]:
        """Return the flows of all nodes for the rows evaluated last, (n_nodes, LANES)."""
        if self._flows is None:
            self._flows = np.empty(self.all_values.shape)
        log_space_flows(*self._arrays, self.all_values, self._flows)
        return self._flows


def log_value(
    circuit: ArithmeticCircuit, rows: NDArray[np.uint8], threads: int = 1
) -> NDArray[np.float64]:
    """Return the log of the circuit's value for each row of evidence, float64 of (n_rows,).

    rows : uint8, (n_rows, n_vars): 0, 1, or UNKNOWN for a variable to be summed out. Minus
        infinity for evidence of probability 0.
    """
    out = np.empty(len(rows))

    def fill(first: int, last: int) -> None:
        batch = _Batch(circuit, circuit.weight)
        for begin in range(first, last, LANES):
            end = min(begin + LANES, last)
            out[begin:end] = batch.values(rows[begin:end])

    map_ranges(fill, len(rows), threads)
    return out


def log_partition(circuit: ArithmeticCircuit) -> float:
    """Return log Z, the log of the sum of the circuit's value over all states."""
    return float(log_value(circuit, np.full((1, circuit.n_vars), UNKNOWN, np.uint8))[0])


def conditionals(
    circuit: ArithmeticCircuit, rows: NDArray[np.uint8], threads: int = 1
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the log of the circuit's value for each row of evidence, and P(X_v = x | evidence).

    rows : as in `log_value`. The second value is float64 of (n_rows, n_vars, 2), not a number
        where the evidence has probability 0. Small probabilities are as exact as large ones.
    """
    log_values_of, p = np.empty(len(rows)), np.empty((*rows.shape, 2))

    def fill(first: int, last: int) -> None:
        batch = _Batch(circuit, circuit.weight)
        for begin in range(first, last, LANES):
            end = min(begin + LANES, last)
            log_values_of[begin:end] = batch.values(rows[begin:end])
            own = batch.flows()[: 2 * circuit.n_vars, : end - begin].T
            possible = np.isfinite(log_values_of[begin:end])
            p[begin:end] = np.where(possible[:, None], own, np.nan).reshape(end - begin, -1, 2)

    map_ranges(fill, len(rows), threads)
    return log_values_of, p


def marginals(
    circuit: ArithmeticCircuit, rows: NDArray[np.uint8], threads: int = 1
) -> NDArray[np.float64]:
    """Return P(X_v = 1 | evidence), float64 of (n_rows, n_vars); see `conditionals`."""
    p = conditionals(circuit, rows, threads)[1]
    return np.asarray(p[:, :, 1] / p.sum(axis=2))


def expected_counts(
    circuit: ArithmeticCircuit, data: Dataset, threads: int = 1
) -> tuple[NDArray[np.float64], float]:
    """Return the expected number of examples with each parameter, and their log-value.

    The first, float64 of (n_parameters,), is what expectation maximisation needs; the second is
    the sum over examples of the log of the circuit's value.
    """

    def add_up(first: int, last: int) -> tuple[NDArray[np.float64], float]:
        batch = _Batch(circuit, circuit.weight)
        counts, total = np.zeros(len(circuit.weight)), 0.0
        for begin in range(first, last, LANES):
            end = min(begin + LANES, last)
            weight = data.weight[begin:end]
            total += float(weight @ batch.values(data.rows[begin:end]))
            flows = batch.flows()[2 * circuit.n_vars : circuit.n_leaves, : end - begin]
            counts += flows @ weight
        return counts, total

    # The same pieces for any number of threads, so that sums are the same.
    pieces = np.linspace(0, data.n_rows, min(data.n_rows, _PIECES) + 1).astype(int).tolist()

    def add_pieces(first: int, last: int) -> list[tuple[NDArray[np.float64], float]]:
        return [add_up(pieces[k], pieces[k + 1]) for k in range(first, last)]

    parts = [part for chunk in map_ranges(add_pieces, len(pieces) - 1, threads) for part in chunk]
    return np.sum([counts for counts, _ in parts], axis=0), sum(total for _, total in parts)


def expected_counts_given(
    circuit: ArithmeticCircuit, literal: NDArray[np.float64], weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """Do as `expected_counts` for evidence that is not certain.

    literal : float64, (n_rows, n_vars, 2). Log of what each row multiplies each literal by.
    weight : float64, (n_rows,).
    """
    values, flows = np.empty((2, circuit.n_nodes, LANES))
    values[2 * circuit.n_vars : circuit.n_leaves] = np.maximum(circuit.weight, LOG_ZERO)[:, None]
    counts = np.zeros(len(circuit.weight))
    layout = (circuit.is_sum, circuit.start, circuit.child, circuit.n_leaves)
    rows = literal.reshape(len(weight), -1)
    scratch = (values, flows, np.empty(LANES), np.empty(LANES))
    total = add_expected(layout, rows.shape[1], rows, weight, scratch, counts)
    return counts, float(total)


def draw(circuit: ArithmeticCircuit, n_rows: int, seed: int, threads: int = 1) -> NDArray[np.uint8]:
    """Return independent examples, uint8 of shape (n_rows, n_vars); example i depends on i."""
    batch = _Batch(circuit, circuit.weight)
    batch.values(np.full((1, circuit.n_vars), UNKNOWN, np.uint8))
    values = batch.all_values[:, 0].copy()
    out = np.empty((n_rows, circuit.n_vars), np.uint8)

    def fill(first: int, last: int) -> None:
        stack = np.empty(circuit.n_nodes, np.int64)
        for i in range(first, last):
            draw_state(*_layout(circuit), values, np.uint64(seed), np.uint64(i), stack, out[i])

    map_ranges(fill, n_rows, threads)
    return out


def most_probable(
    circuit: ArithmeticCircuit, rows: NDArray[np.uint8], threads: int = 1
) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Return the most probable state that agrees with each row of evidence, and its log-value.

    rows : as in `log_value`. With hidden variables the states of these are maximised as well.
    """
    out = rows.copy()
    log_values_of = np.empty(len(rows))

    def fill(first: int, last: int) -> None:
        stack = np.empty(circuit.n_nodes, np.int64)
        values = np.empty(circuit.n_nodes)
        values[2 * circuit.n_vars : circuit.n_leaves] = circuit.weight
        for i in range(first, last):
            for x in (0, 1):
                literal = values[x : 2 * circuit.n_vars : 2]
                literal[:] = np.where(rows[i] == 1 - x, -np.inf, 0.0)
            log_values_of[i] = most_probable_state(*_layout(circuit), values, stack, out[i])

    map_ranges(fill, len(rows), threads)
    return out, log_values_of


def _layout(circuit: ArithmeticCircuit) -> tuple[NDArray, NDArray, NDArray, int, int]:
    return circuit.is_sum, circuit.start, circuit.child, circuit.n_leaves, circuit.n_vars
