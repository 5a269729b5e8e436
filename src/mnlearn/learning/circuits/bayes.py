"""ACBN: a Bayesian network with tree CPDs grown with its circuit (Lowd & Domingos 2008)."""

from collections.abc import Mapping, Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.learning.circuits.queue import Growing, Split
from mnlearn.learning.circuits.splitting import (
    settled_columns,
    split,
    state_counts,
)
from mnlearn.models.circuit import (
    ARRAYS,
    ArithmeticCircuit,
    product_of_marginals,
)
from mnlearn.models.features import feature_set, features_of
from mnlearn.runtime.arrays import read_only
from mnlearn.variables.schema import Literal


class BayesGrowth(Growing):
    """A Bayesian network whose CPDs are trees; a leaf is split on a column.

    Leaf k of variable target[k] holds the examples with the literals path[k]; its probabilities are
    the parameters parameters[k] of the circuit. The gain is that in log-likelihood, in nats.
    """

    def __init__(self, train: Dataset, pseudocount: float) -> None:
        self.pseudocount = pseudocount
        ones, schema = train.frequency * train.n_examples, train.schema
        arity = schema.arity
        total = train.n_examples + arity[schema.variable_of] * pseudocount
        super().__init__(train, product_of_marginals((ones + pseudocount) / total, schema))
        self.target = np.flatnonzero(arity > 1).tolist()
        self.path: list[tuple[Literal, ...]] = [()] * len(self.target)
        self.parameters = self._blocks(np.arange(len(self.circuit.weight)))
        counts = self._blocks(state_counts(train))
        self.log_likelihood = float(
            np.sum([_log_likelihood(own[:, None], pseudocount)[0] for own in counts])
        )
        # leads_to[u, v] is whether there is a directed path from u to v.
        self._leads_to = np.eye(train.n_vars, dtype=bool)

    def _blocks(self, numbers: NDArray) -> list[NDArray]:
        """Return the numbers of the states of each leaf from those of all, one after the other."""
        return np.split(numbers, np.cumsum(self.counts.data.schema.arity[self.target])[:-1])

    def first(self) -> list[tuple[int, NDArray[np.float64]]]:
        leaves = range(len(self.target))
        return list(zip(leaves, self._gains(leaves), strict=True))

    def bounds(self, groups: Sequence[int]) -> list[NDArray[np.float64]]:
        return self._gains(groups)

    def _gains(self, groups: Sequence[int]) -> list[NDArray[np.float64]]:
        """Return the gain of splitting each leaf on each column; it depends on the data only."""
        out = []
        schema = self.counts.data.schema
        for leaf in groups:
            target, path = self.target[leaf], self.path[leaf]
            own = np.empty((schema.arity[target], 1))
            by_value = np.empty((2, len(own), self.circuit.n_columns))
            for x in range(len(own)):
                own[x], by_value[1, x] = self.counts.count((*path, schema.literal(target, x)))
                by_value[0, x] = own[x] - by_value[1, x]
            gain = np.zeros(self.circuit.n_columns)
            for counts in by_value:
                gain += _log_likelihood(counts, self.pseudocount)
            gain -= _log_likelihood(own, self.pseudocount)
            gain[[*schema.columns(target), *settled_columns(schema, path)]] = -np.inf
            out.append(gain)
        return out

    def edges(self, group: int) -> NDArray[np.int64]:
        return self.split_edges().least(self.parameters[group])

    def new_edges(self, group: int, var: int, limit: int) -> int | None:
        """Return how many edges a split adds, None if it would close a directed circle."""
        if self._leads_to[self.target[group], self.circuit.schema.variable_of[var]]:
            return None
        return self.split_edges().up_to(limit, self.parameters[group], var, extend=False)

    def accept(self, chosen: Split) -> list[tuple[int, NDArray[np.float64]]]:
        leaf, var = chosen.group, chosen.var
        target, n_old = self.target[leaf], len(self.circuit.weight)
        schema = self.circuit.schema
        self.circuit = split(self.circuit, self.parameters[leaf], var, False)
        weight = self.circuit.weight.copy()
        new = []
        for value in (0, 1):
            path = (*self.path[leaf], (var, value))
            before = self.parameters[leaf]
            parameters = n_old + np.arange(len(before)) if value else before
            literals = [schema.literal(target, x) for x in range(len(before))]
            own = np.array([self.counts.count((*path, one))[0] for one in literals])
            weight[parameters] = np.log(own + self.pseudocount)
            weight[parameters] -= np.log(own.sum() + len(own) * self.pseudocount)
            new.append(len(self.target))
            self.target.append(target)
            self.path.append(path)
            self.parameters.append(parameters)
        self.circuit = self.circuit.with_parameters(weight)
        self.log_likelihood += chosen.gain
        self._leads_to |= np.outer(
            self._leads_to[:, schema.variable_of[var]], self._leads_to[target]
        )
        return list(zip(new, self._gains(new), strict=True))

    def details(self) -> dict[str, float]:
        return {"log_likelihood": self.log_likelihood}

    def state(self) -> dict[str, NDArray]:
        paths = features_of(self.path)
        return {
            **{name: getattr(self.circuit, name) for name in ARRAYS},
            "path_start": paths.start,
            "path_var": paths.var,
            "path_value": paths.value,
            "target": np.array(self.target, np.int64),
            "parameters": np.concatenate(self.parameters),
            "leads_to": self._leads_to,
            "log_likelihood": np.array(self.log_likelihood),
        }

    def restore(self, state: Mapping[str, NDArray]) -> None:
        paths = feature_set(state["path_start"], state["path_var"], state["path_value"])
        self.path = [tuple(paths.literals(k)) for k in range(len(paths))]
        self.target = state["target"].tolist()
        self.parameters = self._blocks(state["parameters"])
        self._leads_to = state["leads_to"].copy()
        self.log_likelihood = float(state["log_likelihood"])
        is_sum, start, child, weight = (state[name] for name in ARRAYS)
        self.circuit = ArithmeticCircuit(self.circuit.schema, is_sum, start, child, weight)

    def model(self) -> ArithmeticCircuit:
        """Return the circuit with the conjunctions that its parameters belong to."""
        circuit, schema = self.circuit, self.circuit.schema
        n_parameters = len(circuit.weight)
        conjunctions: list[list[Literal]] = [[]] * n_parameters
        target_of = np.empty(n_parameters, np.int32)
        # A later leaf overwrites the conjunctions of the leaf whose parameters it took.
        for target, path, own in zip(self.target, self.path, self.parameters, strict=True):
            for x, parameter in enumerate(own):
                conjunctions[parameter] = sorted((*path, schema.literal(target, x)))
                target_of[parameter] = target
        return ArithmeticCircuit(
            schema, circuit.is_sum, circuit.start, circuit.child, circuit.weight,
            features_of(conjunctions), read_only(target_of),
        )  # fmt: skip


def _log_likelihood(counts: NDArray[np.float64], pseudocount: float) -> NDArray[np.float64]:
    """Return the log-likelihood of examples in leaves, by their counts (n_states, n_leaves)."""
    total = counts.sum(axis=0)
    own = scipy.special.xlogy(counts, counts + pseudocount).sum(axis=0)
    return np.asarray(own - scipy.special.xlogy(total, total + len(counts) * pseudocount))
