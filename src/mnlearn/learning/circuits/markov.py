"""ACMN: a Markov network grown together with its circuit (Lowd & Rooshenas 2013)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.inference.circuits.evaluation import UNKNOWN, Evaluator
from mnlearn.kernels.circuits.candidates import extension_bounds, extension_gain, renew_bounds
from mnlearn.kernels.circuits.evaluation import LANES
from mnlearn.learning.circuits.queue import Growing, Split
from mnlearn.learning.circuits.splitting import (
    settled_columns,
    split,
    state_counts,
)
from mnlearn.learning.weights.descent import Penalty, Stopping
from mnlearn.learning.weights.fit import fit_weights
from mnlearn.models.circuit import (
    ARRAYS,
    ArithmeticCircuit,
    product_of_marginals,
    state_leaves,
)
from mnlearn.models.features import feature_set, features_of
from mnlearn.variables.schema import Literal


class GrowingRows:
    """Rows of numbers in one array that has room for more of them."""

    def __init__(self, n_columns: int) -> None:
        self._rows = np.empty((16, n_columns))
        self._n_rows = 0

    def __len__(self) -> int:
        return self._n_rows

    def append(self, row: NDArray[np.float64]) -> None:
        self.extend(row[None])

    def extend(self, rows: NDArray[np.float64]) -> None:
        n_rows = self._n_rows + len(rows)
        if n_rows > len(self._rows):
            larger = np.empty((max(n_rows, 2 * len(self._rows)), self._rows.shape[1]))
            larger[: self._n_rows] = self.array
            self._rows = larger
        self._rows[self._n_rows : n_rows] = rows
        self._n_rows = n_rows

    def clear(self) -> None:
        self._n_rows = 0

    @property
    def array(self) -> NDArray[np.float64]:
        """The rows, float64 of shape (n_rows, n_columns)."""
        return self._rows[: self._n_rows]


# After a split, weights are learned until an iteration gains less than this share of the gain of
# the split. With less exact weights the gains of other splits would be wrong (decision 0052).
_SHARE_OF_GAIN = 1e-2
_ITERATIONS = 30
_FINAL_ITERATIONS = 300
_FINAL_DECREASE = 1e-7
_FINAL_WINDOW = 5
# Learned weights are rounded to this share of their standard errors, which costs 1e-9 nats each.
# A last bit, which another processor has differently, would double at each split (decision 0023).
_STEP = 2.0**-14


class MarkovGrowth(Growing):
    """A Markov network whose features are extended: f by f & X_v = a and f & not X_v = a.

    The objective is the penalised log-likelihood, summed over examples, in nats.
    """

    batch = LANES

    def __init__(self, train: Dataset, penalty: Penalty) -> None:
        self.n_examples = train.n_examples
        self.penalty = penalty
        ones, schema = train.frequency * train.n_examples, train.schema
        total = train.n_examples + 0.5 * schema.arity[schema.variable_of]
        super().__init__(train, product_of_marginals((ones + 0.5) / total, schema))
        self.literals: list[tuple[Literal, ...]] = [
            (divmod(leaf, 2),) for leaf in state_leaves(schema).tolist()
        ]
        self.n_satisfied = state_counts(train)
        self._extended = GrowingRows(train.n_columns)
        self._count_extended(self.literals)
        # The probabilities of features with each column, and alone, under the current model; and
        # the row of each feature in these.
        self._with_var = GrowingRows(train.n_columns)
        self._alone = GrowingRows(1)
        self._slot = np.full(len(self.literals), -1)
        self._evaluator = Evaluator(self.circuit, atomic=True)
        self._log_z = 0.0
        self.objective = self._learn(self.circuit.weight, 0.0, 0)

    def first(self) -> list[tuple[int, NDArray[np.float64]]]:
        return self._with_bounds(range(len(self.literals)))

    def bounds(self, groups: Sequence[int]) -> list[NDArray[np.float64]]:
        """Return upper bounds of the gain of extending each feature by each column, in nats."""
        self._find_probabilities(groups)
        out = []
        for group in groups:
            slot = self._slot[group]
            bound = np.empty(self.circuit.n_columns)
            extension_bounds(
                self.n_examples, self.penalty.l1, self.penalty.precision,
                self._extended.array[group], self.n_satisfied[group],
                self._with_var.array[slot], self._alone.array[slot, 0], bound,
            )  # fmt: skip
            out.append(bound)
        return out

    def renew(self, groups: Sequence[int], gain: NDArray[np.float64]) -> None:
        self._find_probabilities(groups)
        renew_bounds(np.array(groups), self._slot[groups], gain, self.terms())

    def terms(self) -> tuple[Any, ...]:
        return (
            float(self.n_examples), float(self.penalty.l1), float(self.penalty.precision),
            self._extended.array, self.n_satisfied,
            self._with_var.array, self._alone.array[:, 0], self._slot,
        )  # fmt: skip

    def _find_probabilities(self, groups: Sequence[int]) -> None:
        """Find the probabilities of features, alone and with each column."""
        schema = self.circuit.schema
        rows = np.full((len(groups), self.circuit.n_columns), UNKNOWN, np.uint8)
        for row, group in zip(rows, groups, strict=True):
            for column, value in self.literals[group]:
                if value and not schema.is_binary:
                    # The variable is in no other state.
                    row[schema.start[v := schema.variable_of[column]] : schema.start[v + 1]] = 0
                row[column] = value
        log_value, p_one = self._evaluator.marginals(self.circuit.weight, rows)
        # One at a time: an exponential of several numbers at once may differ in its last bit.
        alone = np.array([np.exp(value) for value in log_value - self._log_z])
        self._slot[groups] = len(self._alone) + np.arange(len(groups))
        self._alone.extend(alone[:, None])
        self._with_var.extend(p_one * alone[:, None])

    def _count_extended(self, features: Iterable[tuple[Literal, ...]]) -> None:
        for literals in features:
            self._extended.append(self.counts.count(literals)[1])

    def _best_extension(self, group: int, var: int) -> tuple[float, float, float]:
        """Return the gain and the weights of extending a feature whose bounds are of this model."""
        slot = self._slot[group]
        return extension_gain(
            self.n_examples, self.penalty.l1, self.penalty.precision,
            self._extended.array[group, var], self.n_satisfied[group],
            self._with_var.array[slot, var], self._alone.array[slot, 0],
        )  # fmt: skip

    def edges(self, group: int) -> NDArray[np.int64]:
        return self.split_edges().least(np.array([group]))

    def new_edges(self, group: int, var: int, limit: int) -> int:
        return self.split_edges().up_to(limit, np.array([group]), var, extend=True)

    def accept(self, chosen: Split) -> list[tuple[int, NDArray[np.float64]]]:
        """Extend a feature, learn all weights anew, and return the two new features."""
        group, var = chosen.group, chosen.var
        weight = np.concatenate([self.circuit.weight, self._best_extension(group, var)[1:]])
        self._with_var.clear()
        self._alone.clear()
        self.circuit = split(self.circuit, np.array([group]), var, extend=True)
        n_one = self._extended.array[group, var]
        self.n_satisfied = np.append(self.n_satisfied, [self.n_satisfied[group] - n_one, n_one])
        new = [len(self.literals), len(self.literals) + 1]
        for value in (0, 1):
            literals = (*self.literals[group], (var, value))
            self.literals.append(literals)
            self._count_extended([literals])
        self._slot = np.full(len(self.literals), -1)
        self._evaluator = Evaluator(self.circuit, atomic=True)
        self.objective = self._learn(weight, _SHARE_OF_GAIN * chosen.gain, _ITERATIONS)
        return self._with_bounds(new)

    def details(self) -> dict[str, float]:
        return {"objective": self.objective}

    def state(self) -> dict[str, NDArray]:
        features = features_of(self.literals)
        return {
            **{name: getattr(self.circuit, name) for name in ARRAYS},
            "literal_start": features.start,
            "literal_var": features.var,
            "literal_value": features.value,
            "n_satisfied": self.n_satisfied,
            "objective": np.array(self.objective),
        }

    def restore(self, state: Mapping[str, NDArray]) -> None:
        features = feature_set(state["literal_start"], state["literal_var"], state["literal_value"])
        n_known = len(self.literals)
        self.literals = [tuple(features.literals(k)) for k in range(len(features))]
        self._count_extended(self.literals[n_known:])
        self._slot = np.full(len(self.literals), -1)
        self.n_satisfied = state["n_satisfied"]
        self.objective = float(state["objective"])
        is_sum, start, child, weight = (state[name] for name in ARRAYS)
        self.circuit = ArithmeticCircuit(self.circuit.schema, is_sum, start, child, weight)
        self._evaluator = Evaluator(self.circuit, atomic=True)
        self._log_z = self._evaluator.expectations(self.circuit.weight)[0]

    def model(self) -> ArithmeticCircuit:
        """Return the circuit with its features, weights learned to the end."""
        before = self.circuit.weight, self.objective, self._log_z
        decrease = _FINAL_DECREASE * abs(self.objective)
        self._learn(before[0], decrease, _FINAL_ITERATIONS, _FINAL_WINDOW)
        features = features_of(sorted(literals) for literals in self.literals)
        learned = ArithmeticCircuit(
            self.circuit.schema, self.circuit.is_sum, self.circuit.start, self.circuit.child,
            self.circuit.weight, features,
        )  # fmt: skip
        # Further growth must not depend on whether this model was asked for.
        self.circuit = self.circuit.with_parameters(before[0])
        self.objective, self._log_z = before[1:]
        return learned

    def _with_bounds(self, groups: Sequence[int]) -> list[tuple[int, NDArray[np.float64]]]:
        out = []
        for begin in range(0, len(groups), LANES):
            chunk = groups[begin : begin + LANES]
            out += list(zip(chunk, self.bounds(chunk), strict=True))
        for group, bound in out:
            bound[settled_columns(self.circuit.schema, self.literals[group])] = -np.inf
        return out

    def _learn(
        self, weight: NDArray[np.float64], decrease: float, iterations: int, window: int = 1
    ) -> float:
        """Learn all weights; return the penalised log-likelihood.

        It stops when the last `window` iterations gained at most `decrease`, in nats.
        """
        likelihood = CircuitLikelihood(self._evaluator, self.n_examples, self.n_satisfied)
        # In these units the Hessian's diagonal is near 1.
        scale = 1.0 / np.sqrt(likelihood.curvature + self.penalty.precision)
        found = fit_weights(
            likelihood,
            self.penalty,
            start=weight,
            max_iterations=iterations,
            stopping=Stopping(window=window, gap=False, nats=decrease),
            scale=scale,
        )
        learned = _rounded(found.weight, scale) if iterations else weight
        self.circuit = self.circuit.with_parameters(learned)
        self._log_z = self._evaluator.expectations(learned)[0]
        return -found.objective


def _rounded(weight: NDArray[np.float64], error: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights as multiples of powers of two, near a share of their standard errors."""
    step = np.ldexp(_STEP, np.frexp(error)[1] - 1)
    return np.asarray(np.rint(weight / step) * step)


@dataclass(frozen=True, eq=False)
class CircuitLikelihood:
    """The likelihood of all examples, computed by a circuit, as a function of the weights."""

    evaluator: Evaluator
    n_examples: float
    n_satisfied: NDArray[np.float64]

    @property
    def n_features(self) -> int:
        return len(self.n_satisfied)

    @property
    def curvature(self) -> NDArray[np.float64]:
        """Diagonal of the Hessian where the model has the frequencies of the data; at least 1."""
        p = self.n_satisfied / self.n_examples
        return np.maximum(self.n_examples * p * (1.0 - p), 1.0)

    def value_and_gradient(self, w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        log_z, expected = self.evaluator.expectations(w)
        value = self.n_examples * log_z - self.n_satisfied @ w
        return float(value), self.n_examples * expected - self.n_satisfied
