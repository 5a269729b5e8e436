"""Splitting parameters of a circuit on a variable: the cost in edges, and the new circuit."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import read_only
from mnlearn.kernels.circuit_split import (
    ONE,
    PARAMETER,
    ZERO,
    mark_below,
    plan_split,
    write_split,
)
from mnlearn.kernels.split_edges import edges_of_copies, literals_below
from mnlearn.models.circuit import ArithmeticCircuit


@dataclass(frozen=True, eq=False)
class SplitPlan:
    """How the circuit changes if parameters are made to depend on a variable.

    n_new_edges : change in the number of edges.
    """

    parameters: NDArray[np.int64]
    below: NDArray[np.uint8]
    wanted: NDArray[np.uint8]
    n_new_edges: int
    extend: bool


def plan(
    circuit: ArithmeticCircuit, parameters: NDArray[np.int64], var: int, extend: bool
) -> SplitPlan:
    """Return how to split parameters on a variable.

    parameters : indices of parameters of which no two are factors of one term of the circuit.
    extend : whether a parameter stays, multiplied with a new one for each value of the
        variable, as a feature is extended; otherwise two parameters replace it, as in a CPD.
    """
    below = np.zeros(circuit.n_nodes, np.uint8)
    below[2 * var], below[2 * var + 1] = ZERO, ONE
    leaves = 2 * circuit.n_vars + parameters
    below[leaves] = PARAMETER
    wanted = np.empty(circuit.n_nodes, np.uint8)
    arrays = (circuit.start, circuit.child, circuit.n_leaves, below)
    mark_below(*arrays)
    change = plan_split(circuit.is_sum, *arrays, wanted)
    if extend:
        change += 2 * int(((wanted[leaves] & ZERO) > 0).sum() + ((wanted[leaves] & ONE) > 0).sum())
    return SplitPlan(parameters, below, wanted, int(change), extend)


class LeastEdges:
    """How many edges splits of a circuit add at least, for all variables at once.

    Only copies of what is above the parameters are counted; `plan` counts all edges, of one split.
    """

    def __init__(self, circuit: ArithmeticCircuit) -> None:
        self._circuit = circuit
        n_words = (circuit.n_vars + 63) // 64
        self._below = np.empty((circuit.n_nodes, 2, n_words), np.uint64)
        self._above = np.empty(circuit.n_nodes, np.uint8)
        self._twice = np.empty((circuit.n_nodes, n_words), np.uint64)
        literals_below(circuit.start, circuit.child, circuit.n_leaves, circuit.n_vars, self._below)

    def of(self, parameters: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of edges, (n_vars,), of splits of some parameters; see `plan`."""
        circuit = self._circuit
        n_edges = np.empty(circuit.n_vars, np.int64)
        edges_of_copies(
            circuit.is_sum, circuit.start, circuit.child, circuit.n_leaves,
            2 * circuit.n_vars + parameters, self._below, self._above, self._twice, n_edges,
        )  # fmt: skip
        return n_edges


def split(circuit: ArithmeticCircuit, planned: SplitPlan) -> ArithmeticCircuit:
    """Return the circuit after a planned split; its polynomial is the same.

    New parameters come after the old ones. Extended, parameter parameters[k] gets those at
    n_parameters + 2 * k for value 0 and the next one for value 1, of weight 0. Replaced, it
    becomes that for value 0, and n_parameters + k, of the same weight, is that for value 1.
    `features` are left out.
    """
    parameters = planned.parameters
    leaves = (2 * circuit.n_vars + parameters).astype(np.int32)
    n_new = len(parameters) * (2 if planned.extend else 1)
    new = np.arange(circuit.n_leaves, circuit.n_leaves + n_new, dtype=np.int32)
    same = np.arange(circuit.n_nodes, dtype=np.int32)
    versions = np.repeat(same[:, None], 2, axis=1)
    if planned.extend:
        used = np.stack([planned.wanted[leaves] & ZERO, planned.wanted[leaves] & ONE], axis=1) > 0
        pairs = np.stack([new.reshape(-1, 2)[used], np.repeat(leaves, used.sum(axis=1))], axis=1)
        versions[np.repeat(leaves, used.sum(axis=1)), np.nonzero(used)[1]] = (
            circuit.n_leaves + n_new + np.arange(len(pairs))
        )
        added = np.zeros(n_new)
    else:
        pairs = np.zeros((0, 2), np.int32)
        versions[leaves, 1] = new
        added = circuit.weight[parameters]
    n_edges = circuit.n_edges + planned.n_new_edges
    room = n_edges + len(circuit.is_sum)
    out = (np.empty(room, np.uint8), np.empty(room + 1, np.int64), np.empty(n_edges, np.int32))
    n_inner, written = write_split(
        circuit.is_sum, circuit.start, circuit.child, circuit.n_leaves,
        planned.below, planned.wanted, n_new, pairs, same, versions, out,
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
