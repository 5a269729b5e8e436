"""ACBN: a Bayesian network with tree CPDs grown with its circuit (Lowd & Domingos 2008)."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.kernels.arithmetic.ties import EQUAL
from mnlearn.kernels.circuits.candidates import log_likelihood_of_leaves
from mnlearn.learning.circuits.queue import Split
from mnlearn.learning.circuits.splitting import ExtensionCounts, SplitEdges, plan, split
from mnlearn.models.circuit import (
    ArithmeticCircuit,
    circuit_arrays,
    circuit_of_arrays,
    product_of_marginals,
)
from mnlearn.models.features import feature_set, features_of
from mnlearn.runtime.arrays import read_only


class BayesGrowth:
    """A Bayesian network whose CPDs are trees; a leaf is split on a variable.

    Leaf k of variable target[k] holds the examples with the literals path[k]. Its probabilities are
    the parameters parameters[k] of the circuit; `pseudocount` is added to the count of each value.
    The gain of a split is the rise of the log-likelihood of the training data, in nats.
    """

    batch = 0

    def __init__(self, train: Dataset, pseudocount: float) -> None:
        self.counts = ExtensionCounts(train)
        self.pseudocount = pseudocount
        self.tolerance = EQUAL * train.n_examples
        ones = train.frequency * train.n_examples
        total = train.n_examples + 2.0 * pseudocount
        self.circuit = product_of_marginals((ones + pseudocount) / total)
        self._split_edges: SplitEdges | None = None
        n_vars = train.n_vars
        self.target = list(range(n_vars))
        self.path: list[tuple[tuple[int, int], ...]] = [()] * n_vars
        self.parameters = [np.array([2 * v, 2 * v + 1]) for v in range(n_vars)]
        self.log_likelihood = float(
            _log_likelihood(np.stack([train.n_examples - ones, ones]), pseudocount).sum()
        )
        # leads_to[u, v] is whether there is a directed path from u to v.
        self._leads_to = np.eye(n_vars, dtype=bool)

    def first(self) -> list[tuple[int, NDArray[np.float64]]]:
        """Return the CPDs without parents, with their gains."""
        leaves = range(len(self.target))
        return list(zip(leaves, self._gains(leaves), strict=True))

    def bounds(self, groups: Sequence[int]) -> list[NDArray[np.float64]]:
        """Return the gains of splitting each leaf on each variable, which need no bounds."""
        return self._gains(groups)

    def renew(self, groups: Sequence[int], gain: NDArray[np.float64]) -> None:
        """Leave gains as they are."""

    def terms(self) -> tuple[Any, ...]:
        """Return that gains are exact; see `kernels.circuits.candidates.settle`."""
        none, table = np.empty(0), np.empty((0, 0))
        return 0.0, 0.0, 0.0, table, none, table, none, np.empty(0, np.int64)

    def gain(self, group: int, var: int) -> float:
        """Return the gain of splitting a leaf."""
        return float(self._gains([group])[0][var])

    def _gains(self, groups: Sequence[int]) -> list[NDArray[np.float64]]:
        """Return the gain of splitting each leaf on each variable; it depends on the data only."""
        out = []
        for leaf in groups:
            target, path = self.target[leaf], self.path[leaf]
            gain = np.zeros(self.circuit.n_vars)
            own = np.empty((2, 1))
            by_var = np.empty((2, 2, self.circuit.n_vars))
            for x in (0, 1):
                own[x], by_var[1, x] = self.counts.count((*path, (target, x)))
                by_var[0, x] = own[x] - by_var[1, x]
            for counts in by_var:
                gain += _log_likelihood(counts, self.pseudocount)
            gain -= _log_likelihood(own, self.pseudocount)
            gain[[target, *(var for var, _ in path)]] = -np.inf
            out.append(gain)
        return out

    def edges(self, group: int) -> NDArray[np.int64]:
        """Return how many edges splitting a leaf adds at least, by variable."""
        return self._counted().least(self.parameters[group])

    def new_edges(self, group: int, var: int, limit: int) -> int | None:
        """Return how many edges a split adds, as `SplitEdges.up_to` does.

        None if the split would close a directed circle.
        """
        if self._leads_to[self.target[group], var]:
            return None
        return self._counted().up_to(limit, self.parameters[group], var, extend=False)

    def _counted(self) -> SplitEdges:
        if self._split_edges is None:
            self._split_edges = SplitEdges(self.circuit)
        return self._split_edges

    def accept(self, chosen: Split) -> list[tuple[int, NDArray[np.float64]]]:
        """Split a leaf and return the two that take its place."""
        leaf, var = chosen.group, chosen.var
        target, n_old = self.target[leaf], len(self.circuit.weight)
        self.circuit = split(self.circuit, plan(self.circuit, self.parameters[leaf], var, False))
        self._split_edges = None
        weight = self.circuit.weight.copy()
        new = []
        for value in (0, 1):
            path = (*self.path[leaf], (var, value))
            parameters = np.array([n_old, n_old + 1]) if value else self.parameters[leaf]
            own = np.array([self.counts.count((*path, (target, x)))[0] for x in (0, 1)])
            weight[parameters] = np.log(own + self.pseudocount)
            weight[parameters] -= np.log(own.sum() + 2.0 * self.pseudocount)
            new.append(len(self.target))
            self.target.append(target)
            self.path.append(path)
            self.parameters.append(parameters)
        self.circuit = self.circuit.with_parameters(weight)
        self.log_likelihood += chosen.gain
        self._leads_to |= np.outer(self._leads_to[:, var], self._leads_to[target])
        return list(zip(new, self._gains(new), strict=True))

    def replaced(self, chosen: Split) -> bool:
        """Tell whether a split leaf is gone, which is always so."""
        return True

    def details(self) -> dict[str, float]:
        """Return the objective, summed over examples, in nats."""
        return {"log_likelihood": self.log_likelihood}

    def state(self) -> dict[str, NDArray]:
        """Return the circuit and the leaves as arrays."""
        paths = features_of(self.path)
        return {
            **circuit_arrays(self.circuit),
            "path_start": paths.start,
            "path_var": paths.var,
            "path_value": paths.value,
            "target": np.array(self.target, np.int64),
            "parameters": np.array(self.parameters, np.int64),
            "leads_to": self._leads_to,
            "log_likelihood": np.array(self.log_likelihood),
        }

    def restore(self, state: Mapping[str, NDArray]) -> None:
        """Replace the start of the growth by a state."""
        paths = feature_set(state["path_start"], state["path_var"], state["path_value"])
        self.path = [tuple(paths.literals(k)) for k in range(len(paths))]
        self.target = state["target"].tolist()
        self.parameters = list(state["parameters"])
        self._leads_to = state["leads_to"].copy()
        self.log_likelihood = float(state["log_likelihood"])
        self.circuit = circuit_of_arrays(self.circuit.schema, state)
        self._split_edges = None

    def model(self) -> ArithmeticCircuit:
        """Return the circuit with the conjunctions that its parameters belong to."""
        n_parameters = len(self.circuit.weight)
        conjunctions: list[list[tuple[int, int]]] = [[]] * n_parameters
        target_of = np.empty(n_parameters, np.int32)
        # A later leaf overwrites the conjunctions of the leaf whose parameters it took.
        for target, path, own in zip(self.target, self.path, self.parameters, strict=True):
            for x, parameter in enumerate(own):
                conjunctions[parameter] = sorted((*path, (target, x)))
                target_of[parameter] = target
        circuit = self.circuit
        return ArithmeticCircuit(
            self.counts.data.schema, circuit.is_sum, circuit.start, circuit.child, circuit.weight,
            features_of(conjunctions), read_only(target_of),
        )  # fmt: skip


def _log_likelihood(counts: NDArray[np.float64], pseudocount: float) -> NDArray[np.float64]:
    """Return the log-likelihood of examples in leaves, by their counts (2, n_leaves)."""
    out = np.empty(counts.shape[1])
    log_likelihood_of_leaves(counts, float(pseudocount), out)
    return out
