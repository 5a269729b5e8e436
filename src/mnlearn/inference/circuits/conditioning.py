"""Condition circuits on evidence."""

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.circuits.exact import UNKNOWN
from mnlearn.kernels.circuits.structure import mark_below, rewrite, settle
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.runtime.errors import InputError


def condition(circuit: ArithmeticCircuit, evidence: NDArray[np.uint8]) -> ArithmeticCircuit:
    """Return the circuit that agrees with `circuit` on the evidence and is 0 in all other states.

    The result has the same variables. Without further evidence its value is the unnormalised
    probability of the evidence. Sums lose the children that the evidence rules out, nodes with one
    child are replaced by it, and parameters without effect are dropped. The result has no features.

    Parameters
    ----------
    circuit : ArithmeticCircuit
        The circuit.
    evidence : ndarray of uint8, shape (n_vars,)
        0, 1, or UNKNOWN.

    Raises
    ------
    InputError
        The evidence has probability 0.
    """
    n_literals, n_leaves = 2 * circuit.n_vars, circuit.n_leaves
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
        circuit.n_vars,
        is_sum,
        start[: n_inner + 1],
        child[:n_edges],
        circuit.weight[kept],
        names=circuit.names,
        states=circuit.states,
    )
