"""Expectation maximisation of the parameters of circuits on examples with missing cells."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from mnlearn.data.incomplete import MISSING, IncompleteData
from mnlearn.inference.circuits.exact import expected_counts
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.model import Model
from mnlearn.runtime.errors import DATA, InputError

# Steps of L-BFGS in one iteration, for the weights of features.
_STEPS = 10
# A gain below this share of the log-likelihood is rounding.
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Outcome:
    """The model, and the log-likelihood of known cells, first and after each iteration."""

    model: Model
    log_likelihood: NDArray[np.float64]

    def describe(self, n_examples: float) -> str:
        """Return how much was gained, for a sentence."""
        before, after = self.log_likelihood[[0, -1]] / n_examples
        n = len(self.log_likelihood) - 1
        return f"{n} iterations: known cells {before:.4f} to {after:.4f} nats per example"


def run_em(
    model: Model,
    data: IncompleteData,
    *,
    iterations: int = 100,
    tolerance: float = 1e-6,
    prior: float = 1.0,
    threads: int = 1,
) -> Outcome:
    """Learn the parameters of a circuit from examples with missing cells (Dempster et al. 1977).

    The expected number of examples with each parameter is exact: the circuit sums the missing cells
    out. The weights of features take steps of L-BFGS on the expected log-likelihood. Examples like
    the model at the start, `prior` of them, are added to the data.
    """
    if not model.is_exact:
        raise InputError("em: expected a model that is a circuit, for example of acmn or chow_liu.")
    circuit: ArithmeticCircuit = model.to_circuit()
    if not isinstance(model, ArithmeticCircuit):
        # Its parameters are probabilities, and stay so.
        circuit = replace(circuit, features=None, target=None)
    maximise = _maximiser(circuit)
    # Circuits take rows with unknown values as they take those of a dataset.
    evidence: Any = data
    added = prior * _expected_features(circuit, threads)[0]
    found, objective = [], []
    for k in range(iterations + 1):
        counts, total = expected_counts(circuit, evidence, threads)
        constant = _expected_features(circuit, threads)[1]
        found.append(total - data.n_examples * constant)
        if not np.isfinite(found[-1]):
            fault = "an example has probability 0 in the model that EM starts at."
            raise InputError(fault, where=DATA)
        of_prior = _product(added, circuit.weight) - prior * constant
        objective.append(found[-1] + of_prior)
        gain = objective[-1] - objective[-2] if k else np.inf
        if k == iterations or gain <= tolerance * abs(objective[-1]):
            break
        circuit = maximise(circuit, counts + added, data.n_examples + prior)
    return Outcome(model.with_parameters(circuit.weight), np.array(found))


def _product(counts: NDArray[np.float64], weight: NDArray[np.float64]) -> float:
    """Return the sum of counts times weights, in which 0 times infinity is 0."""
    used = counts > 0
    return float(counts[used] @ weight[used])


def _expected_features(
    circuit: ArithmeticCircuit, threads: int = 1
) -> tuple[NDArray[np.float64], float]:
    """Return how often one example of the circuit has each parameter, and its log-partition."""
    unknown = np.full((1, circuit.n_columns), MISSING, np.uint8)
    nothing: Any = IncompleteData(unknown, np.ones(1), np.zeros(1, np.int32), circuit.schema)
    return expected_counts(circuit, nothing, threads)


Maximiser = Callable[[ArithmeticCircuit, NDArray[np.float64], float], ArithmeticCircuit]


def _maximiser(circuit: ArithmeticCircuit) -> Maximiser:
    """Return the function that makes the best circuit for expected counts, or a better one."""
    if circuit.features is not None and circuit.target is None:
        return _raise_weights
    family = _families_of_cpds(circuit) if circuit.target is not None else _families(circuit)

    def normalise(
        given: ArithmeticCircuit, counts: NDArray[np.float64], _: float
    ) -> ArithmeticCircuit:
        total = np.bincount(family, counts)[family]
        with np.errstate(divide="ignore", invalid="ignore"):
            weight = np.log(counts / total)
        # What no example reaches keeps its probabilities.
        return given.with_parameters(np.where(total > 0, weight, given.weight))

    return normalise


def _families_of_cpds(circuit: ArithmeticCircuit) -> NDArray[np.int64]:
    """Return the number of the distribution that each parameter of a Bayesian network is of."""
    assert circuit.features is not None
    assert circuit.target is not None
    number: dict[tuple[int, tuple[tuple[int, int], ...]], int] = {}
    family = np.empty(len(circuit.weight), np.int64)
    variable_of = circuit.schema.variable_of
    for k, target in enumerate(circuit.target.tolist()):
        path = tuple(one for one in circuit.features.literals(k) if variable_of[one[0]] != target)
        family[k] = number.setdefault((target, path), len(number))
    return family


def _families(circuit: ArithmeticCircuit) -> NDArray[np.int64]:
    """Return the number of the sum that each parameter is a probability of."""
    first, last = 2 * circuit.n_columns, circuit.n_leaves
    family = np.full(len(circuit.weight), -1)
    children = [
        circuit.child[a:b].tolist()
        for a, b in zip(circuit.start[:-1].tolist(), circuit.start[1:].tolist(), strict=True)
    ]
    for s in np.flatnonzero(circuit.is_sum).tolist():
        for child in children[s]:
            inside = child < last or circuit.is_sum[child - last]
            factors = [child] if inside else children[child - last]
            own = [f - first for f in factors if first <= f < last]
            if len(own) != 1 or family[own[0]] not in (-1, s):
                raise InputError("em: the parameters of this circuit are no probabilities.")
            family[own[0]] = s
    if (family < 0).any():
        raise InputError("em: the parameters of this circuit are no probabilities.")
    return family


def _raise_weights(
    circuit: ArithmeticCircuit, counts: NDArray[np.float64], n: float
) -> ArithmeticCircuit:
    """Return the circuit after steps of L-BFGS on the expected log-likelihood of its features."""
    start = circuit.weight
    free = np.isfinite(start)

    def loss(w: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        weight = start.copy()
        weight[free] = w
        expected, log_z = _expected_features(circuit.with_parameters(weight))
        value = log_z - counts[free] @ w / n
        return float(value), expected[free] - counts[free] / n

    before = loss(start[free])[0]
    found = minimize(loss, start[free], jac=True, method="L-BFGS-B", options={"maxiter": _STEPS})
    if not found.fun <= before + _ROUNDING * abs(before):
        return circuit
    weight = start.copy()
    weight[free] = found.x
    return circuit.with_parameters(weight)
