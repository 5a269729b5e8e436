"""Exact inference in circuits: values, marginals, most probable states, samples, conditioning."""

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.inference.circuits.evaluation import (
    UNKNOWN,
    Batch,
    Evaluator,
    LogSpace,
    Values,
    has_others,
)
from mnlearn.kernels.circuits.evaluation import (
    LANES,
    LOG_ZERO,
    add_expected,
    draw_state,
    log_derivatives,
    most_probable_state,
)
from mnlearn.kernels.circuits.structure import mark_below, rewrite, settle
from mnlearn.models.circuit import ArithmeticCircuit, state_leaves
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.threads import map_ranges

_PIECES = 16
# So many rows are evaluated sooner than the order for more of them is found.
_FEW = 4 * LANES


def log_value(
    circuit: ArithmeticCircuit, rows: NDArray[np.uint8], threads: int = 1
) -> NDArray[np.float64]:
    """Return the log of the circuit's value for each row of evidence.

    rows : uint8, (n_rows, n_columns). 0, 1, or UNKNOWN for a column to be summed out. Where a
    column of several is 1, the others are 0.
    """
    out = np.empty(len(rows))

    def fill(first: int, last: int) -> None:
        lanes = (Values if len(rows) > _FEW else Batch)(circuit, _is_atomic(circuit))
        for begin in range(first, last, LANES):
            end = min(begin + LANES, last)
            out[begin:end] = lanes.values(rows[begin:end])

    map_ranges(fill, len(rows), threads)
    return out


def log_partition(circuit: ArithmeticCircuit) -> float:
    """Return log Z in nats, the log of the sum of the circuit's value over all states."""
    return float(log_value(circuit, np.full((1, circuit.n_columns), UNKNOWN, np.uint8))[0])


def conditionals(
    circuit: ArithmeticCircuit, rows: NDArray[np.uint8], threads: int = 1
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the log of the circuit's value for each row of evidence, and P(column = x | evidence).

    Small probabilities have the same relative accuracy as large ones.

    The second has the shape (n_rows, n_columns, 2), and NaN where the evidence has probability 0.
    """
    log_values_of, p = np.empty(len(rows)), np.empty((*rows.shape, 2))

    def fill(first: int, last: int) -> None:
        batch = _batch(circuit)
        for begin in range(first, last, LANES):
            end = min(begin + LANES, last)
            log_values_of[begin:end] = batch.values(rows[begin:end])
            own = batch.flows()[: 2 * circuit.n_columns].T
            possible = np.isfinite(log_values_of[begin:end])
            p[begin:end] = np.where(possible[:, None], own, np.nan).reshape(end - begin, -1, 2)

    map_ranges(fill, len(rows), threads)
    for columns in circuit.schema.several:
        # The leaf of value 0 of a column of several is not used.
        own = slice(columns[0], columns[-1] + 1)
        p[:, own, 0] = 1.0 - p[:, own, 1]
    return log_values_of, p


def expected_counts(
    circuit: ArithmeticCircuit, data: Dataset, threads: int = 1
) -> tuple[NDArray[np.float64], float]:
    """Return the expected number of examples with each parameter, and the log-value of the data."""

    def add_up(first: int, last: int) -> tuple[NDArray[np.float64], float]:
        batch = _batch(circuit)
        counts, total = np.zeros(len(circuit.weight)), 0.0
        for begin in range(first, last, LANES):
            end = min(begin + LANES, last)
            weight = data.weight[begin:end]
            total += float(weight @ batch.values(data.rows[begin:end]))
            counts += batch.flows()[2 * circuit.n_columns :] @ weight
        return counts, total

    # The pieces do not depend on the number of threads, so that sums do not either.
    pieces = np.linspace(0, data.n_rows, min(data.n_rows, _PIECES) + 1).astype(int).tolist()

    def add_pieces(first: int, last: int) -> list[tuple[NDArray[np.float64], float]]:
        return [add_up(pieces[k], pieces[k + 1]) for k in range(first, last)]

    parts = [part for chunk in map_ranges(add_pieces, len(pieces) - 1, threads) for part in chunk]
    return np.sum([counts for counts, _ in parts], axis=0), sum(total for _, total in parts)


def expected_counts_given(
    circuit: ArithmeticCircuit, literal: NDArray[np.float64], weight: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """Return the same as `expected_counts` for evidence that is not certain.

    literal : float64, (n_rows, n_columns, 2). Log of the factor by which each row multiplies each
    literal.
    """
    values, flows = np.empty((2, circuit.n_nodes, LANES))
    values[2 * circuit.n_columns : circuit.n_leaves] = np.maximum(circuit.weight, LOG_ZERO)[:, None]
    counts = np.zeros(len(circuit.weight))
    layout = (circuit.is_sum, circuit.start, circuit.child, circuit.n_leaves)
    rows = literal.reshape(len(weight), -1)
    scratch = (values, flows, np.empty(LANES), np.empty(LANES))
    total = add_expected(layout, rows.shape[1], rows, weight, scratch, counts)
    return counts, float(total)


def draw(circuit: ArithmeticCircuit, n_rows: int, seed: int, threads: int = 1) -> NDArray[np.uint8]:
    """Return independent examples; example i depends on the seed and on i."""
    batch = LogSpace(circuit, circuit.weight)
    batch.values(np.full((1, circuit.n_columns), UNKNOWN, np.uint8))
    values = batch.all_values[:, 0].copy()
    # A column of several is set only where it is 1.
    out = np.zeros((n_rows, circuit.n_columns), np.uint8)

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

    Hidden variables are maximised too.
    """
    out = rows.copy()
    # A column of several is set only where it is 1.
    out[:, np.array([c for own in circuit.schema.several for c in own], np.intp)] = 0
    log_values_of = np.empty(len(rows))

    def fill(first: int, last: int) -> None:
        stack = np.empty(circuit.n_nodes, np.int64)
        values = np.empty(circuit.n_nodes)
        values[2 * circuit.n_columns : circuit.n_leaves] = circuit.weight
        for i in range(first, last):
            for x in (0, 1):
                literal = values[x : 2 * circuit.n_columns : 2]
                literal[:] = np.where(rows[i] == 1 - x, -np.inf, 0.0)
            log_values_of[i] = most_probable_state(*_layout(circuit), values, stack, out[i])

    map_ranges(fill, len(rows), threads)
    return out, log_values_of


def _layout(circuit: ArithmeticCircuit) -> tuple[NDArray, NDArray, NDArray, int, int]:
    return circuit.is_sum, circuit.start, circuit.child, circuit.n_leaves, circuit.n_columns


def row_evaluator(circuit: ArithmeticCircuit) -> Evaluator:
    """Return an evaluator for one row of evidence at a time, scaled as in `conditionals`."""
    return Evaluator(circuit, _is_atomic(circuit))


def _batch(circuit: ArithmeticCircuit) -> Batch:
    return Batch(circuit, _is_atomic(circuit))


def _is_atomic(circuit: ArithmeticCircuit) -> bool:
    """Tell whether the first parameters are those of the states, so that values can be scaled."""
    features, literals = circuit.features, state_leaves(circuit.schema)
    n = len(literals)
    return bool(
        features is not None
        and len(features) >= n
        and np.array_equal(features.start[: n + 1], np.arange(n + 1))
        and np.array_equal(features.var[:n], literals // 2)
        and np.array_equal(features.value[:n], literals % 2)
    )


def condition(circuit: ArithmeticCircuit, evidence: NDArray[np.uint8]) -> ArithmeticCircuit:
    """Return the circuit that agrees with `circuit` on the evidence and is 0 in all other states.

    The result has the same variables. Without further evidence its value is the unnormalised
    probability of the evidence. Sums lose the children that the evidence rules out, nodes with one
    child are replaced by it, and parameters without effect are dropped. The result has no features.

    evidence : uint8, (n_columns,). 0, 1, or UNKNOWN.
    """
    n_literals, n_leaves = 2 * circuit.n_columns, circuit.n_leaves
    alias = np.arange(circuit.n_nodes, dtype=np.int32)
    known = np.flatnonzero(evidence != UNKNOWN)
    alias[2 * known + 1 - evidence[known]] = -1
    alias[n_literals:n_leaves][np.isneginf(circuit.weight)] = -1
    settle(circuit.is_sum, circuit.start, circuit.child, n_leaves, alias)
    root = alias[-1]
    if root < 0:
        raise InputError("has probability 0.", where="evidence")
    marked = np.zeros(circuit.n_nodes, np.uint8)
    marked[root] = 1
    mark_below(circuit.start, circuit.child, n_leaves, alias, marked)
    kept = np.flatnonzero(marked[n_literals:n_leaves])
    marked[:n_literals] = 1
    inner = np.flatnonzero(marked[n_leaves:])
    place = np.full(circuit.n_nodes, -1, np.int32)
    place[marked == 1] = np.arange(n_literals + len(kept) + len(inner))
    start = np.zeros(len(inner) + 2, np.int64)
    child = np.empty(circuit.n_edges + 1, np.int32)
    n_inner, n_edges = rewrite(circuit.start, circuit.child, n_leaves, alias, place, start, child)
    is_sum = circuit.is_sum[inner]
    if n_inner == 0:
        # The root is a leaf; a circuit needs an inner node, here a product of this leaf.
        is_sum, n_inner, n_edges = np.zeros(1, np.uint8), 1, 1
        start[1], child[0] = 1, place[root]
    return ArithmeticCircuit(
        circuit.schema,
        is_sum,
        start[: n_inner + 1],
        child[:n_edges],
        circuit.weight[kept],
    )


def conditional_scores(
    circuit: ArithmeticCircuit, rows: NDArray[np.uint8], threads: int = 1
) -> NDArray[np.float64]:
    """Return log-odds of variables of two states and scores of other states, given all others.

    One pass up and one down the circuit yield all variables of a row: the value with X_v in another
    state is the derivative of the circuit by the leaf of that state (Darwiche 2003, Section 4). The
    score of a state is the log-value of the row with the variable in that state. NaN where both
    values of a variable of two states are 0.

    rows : uint8, (n_rows, n_columns); the result, float64, has the same shape.
    """
    out, n_literals = np.empty(rows.shape), 2 * circuit.n_columns
    arrays = (circuit.is_sum, circuit.start, circuit.child, circuit.n_leaves)
    several = has_others(circuit.schema)[:, None]

    def fill(first: int, last: int) -> None:
        batch, scratch = LogSpace(circuit, circuit.weight), np.empty((3, LANES))
        derivatives = np.empty((circuit.n_nodes, LANES))
        for begin in range(first, last, LANES):
            part = rows[begin : min(begin + LANES, last)]
            batch.values(part)
            log_derivatives(*arrays, batch.all_values, derivatives, scratch)
            found = derivatives[:n_literals, : len(part)].reshape(-1, 2, len(part))
            zero, one = np.where(found < LOG_ZERO / 2, -np.inf, found).swapaxes(0, 1)
            with np.errstate(invalid="ignore"):
                out[begin : begin + len(part)] = np.where(several, one, one - zero).T

    map_ranges(fill, len(rows), threads)
    return out
