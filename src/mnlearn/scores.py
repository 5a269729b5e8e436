"""Scores of a model on a dataset: PLL, CMLL, CLL and LL, in nats per example."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.compilation import compile_network
from mnlearn.data.dataset import Dataset
from mnlearn.errors import InputError
from mnlearn.inference.annealing import Annealing, estimated_log_partition
from mnlearn.inference.circuits import UNKNOWN, conditionals, log_partition, log_value
from mnlearn.inference.conditionals import conditional_log_odds
from mnlearn.inference.exact import conditional_log_likelihood
from mnlearn.inference.marginals import (
    MAX_ENUMERATED,
    Inference,
    Marginals,
    conditional_marginals,
)
from mnlearn.inference.terms import HARD_WEIGHT, finite, terms_of
from mnlearn.kernels.pseudo_likelihood import sum_log_probabilities
from mnlearn.kernels.tree import tree_log_odds
from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.files import Model
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.threads import map_ranges

Groups = Sequence[Sequence[int]]
# Rows of which all features are looked at together.
_ROWS = 1000


@dataclass(frozen=True, eq=False)
class Score:
    """A score of every distinct row, with the errors of its mean.

    per_row : float64, shape (n_rows,), of the rows of the dataset.
    mean : mean over examples. standard_error : of that mean over the draw of examples.
    monte_carlo_error : standard error due to sampling in inference; 0 if exact.
    """

    per_row: NDArray[np.float64]
    mean: float
    standard_error: float
    monte_carlo_error: float = 0.0


def _score(per_row: NDArray[np.float64], data: Dataset, monte_carlo_error: float = 0.0) -> Score:
    # A sum over a forbidden state is about minus HARD_WEIGHT; say what it stands for.
    per_row = np.where(per_row < -HARD_WEIGHT / 2, -np.inf, per_row)
    mean = float(data.weight @ per_row / data.n_examples)
    if not np.isfinite(mean) or data.n_examples <= 1:
        return Score(per_row, mean, 0.0, monte_carlo_error)
    variance = float(data.weight @ (per_row - mean) ** 2 / (data.n_examples - 1))
    return Score(per_row, mean, float(np.sqrt(variance / data.n_examples)), monte_carlo_error)


def check_variables(model: Model, data: Dataset) -> None:
    """Refuse data with other variables than the model's."""
    if model.n_vars != data.n_vars:
        raise InputError(
            f"data: expected {model.n_vars} variables as in the model, got {data.n_vars}."
        )
    if model.names and data.names and model.names != data.names:
        raise InputError("data: the columns have other names, or another order, than the model's.")


def pll(model: Model, data: Dataset, threads: int = 1) -> Score:
    """Log-pseudo-likelihood: sum over variables of log P(x_v | all others)."""
    check_variables(model, data)
    if isinstance(model, ArithmeticCircuit) and model.features is None:
        return cll(model, data, [[v] for v in range(data.n_vars)], threads)
    odds = conditional_log_odds(model, data, threads)
    per_row = np.empty(data.n_rows)
    sum_log_probabilities(odds, data.rows, per_row)
    return _score(per_row, data)


def cmll(
    model: Model,
    data: Dataset,
    groups: Groups,
    inference: Inference,
    seed: int,
    threads: int = 1,
) -> Score:
    """Conditional marginal log-likelihood (Lowd & Davis 2010, Section IV).

    groups : disjoint groups of variables; each is queried once given all others, and the score
        is the sum over all query variables of log P(x_v | evidence).
    inference, seed : not used for circuits, whose marginals are exact.
    """
    check_variables(model, data)
    check_groups(groups, data.n_vars)
    if isinstance(model, ArithmeticCircuit):
        return _score(_circuit_cmll(model, data, groups, threads), data)
    terms = terms_of(model)
    per_row = np.zeros(data.n_rows)
    variance = 0.0
    for group in groups:
        query = np.array(group, np.int64)
        marginals = conditional_marginals(terms, data.rows, query, inference, seed, threads)
        values = data.rows[:, marginals.query]
        p_one = marginals.probability[marginals.row_of]
        p_own = np.where(values, p_one, 1.0 - p_one)
        with np.errstate(divide="ignore"):
            per_row += np.log(p_own).sum(axis=1)
        if marginals.batches is not None:
            variance += _sampling_variance(marginals, data, values, p_own)
    return _score(per_row, data, float(np.sqrt(variance)) / data.n_examples)


def _circuit_cmll(
    circuit: ArithmeticCircuit, data: Dataset, groups: Groups, threads: int
) -> NDArray[np.float64]:
    per_row = np.zeros(data.n_rows)
    for group in groups:
        p = conditionals(circuit, _without(data.rows, group), threads)[1][:, group]
        p_own = np.where(data.rows[:, group], p[:, :, 1], p[:, :, 0])
        with np.errstate(divide="ignore"):
            per_row += np.log(p_own).sum(axis=1)
    return per_row


def _without(rows: NDArray[np.uint8], group: Sequence[int]) -> NDArray[np.uint8]:
    """Return the rows with the values of a group of variables unknown."""
    evidence = rows.copy()
    evidence[:, group] = UNKNOWN
    return evidence


def _sampling_variance(
    marginals: Marginals, data: Dataset, values: NDArray, p_own: NDArray
) -> float:
    """Return the variance of the summed score due to sampling, by batch means.

    To first order the score is linear in the estimates; examples with equal evidence share a
    chain and so their errors add up before squaring.
    """
    assert marginals.batches is not None
    n_batches = marginals.batches.shape[1]
    if n_batches < 2:
        return 0.0
    slope = np.where(values, 1.0, -1.0) / p_own * data.weight[:, None]
    total = np.zeros(marginals.probability.shape)
    np.add.at(total, marginals.row_of, slope)
    per_batch = np.einsum("ebq,eq->eb", marginals.batches, total)
    return float(per_batch.var(axis=1, ddof=1).sum() / n_batches)


def cll(model: Model, data: Dataset, groups: Groups, threads: int = 1) -> Score:
    """Conditional log-likelihood: sum over groups of log P(x_group | all others), exact."""
    check_variables(model, data)
    check_groups(groups, data.n_vars)
    per_row = np.zeros(data.n_rows)
    if isinstance(model, ArithmeticCircuit):
        own = log_value(model, data.rows, threads)
        for group in groups:
            per_row += own - log_value(model, _without(data.rows, group), threads)
        return _score(per_row, data)
    terms = terms_of(_with_joint(model, "cll"))
    for group in groups:
        per_row += conditional_log_likelihood(terms, data.rows, np.array(group), threads)
    return _score(per_row, data)


def has_exact_likelihood(model: Model) -> bool:
    """Tell whether `ll` is cheap: of a circuit, a Bayesian network, or by enumeration."""
    if isinstance(model, MarkovNetwork):
        return model.n_vars <= MAX_ENUMERATED
    return isinstance(model, ArithmeticCircuit | BayesianNetwork)


def ll(model: Model, data: Dataset, threads: int = 1) -> Score:
    """Log-likelihood, exact: in a circuit, from CPDs, or by enumeration of up to 2^20 states.

    Larger Markov networks are compiled into a circuit.

    Raises
    ------
    InputError
        The model has no joint distribution, or its circuit would be too large.
    """
    check_variables(model, data)
    if isinstance(model, ArithmeticCircuit):
        return _score(log_value(model, data.rows, threads) - log_partition(model), data)
    if isinstance(model, BayesianNetwork):
        return _score(_sum_of_cpds(model, data, threads), data)
    network = _with_joint(model, "ll")
    if network.n_vars > MAX_ENUMERATED:
        return ll(compile_network(network), data, threads)
    terms = terms_of(network)
    every = np.arange(data.n_vars)
    return _score(conditional_log_likelihood(terms, data.rows, every, threads), data)


def _sum_of_cpds(network: BayesianNetwork, data: Dataset, threads: int) -> NDArray[np.float64]:
    """Return the sum over variables of log P(x_v | parents) for each row."""
    trees = network.trees
    per_row = np.empty(data.n_rows)

    def fill(first: int, last: int) -> None:
        for begin in range(first, last, _ROWS):
            rows = data.rows[begin : min(begin + _ROWS, last)]
            log_p = np.empty((2, *rows.shape))
            for x in (0, 1):
                leaf = np.ascontiguousarray(trees.log_prob[:, x])
                tree_log_odds(rows, trees.start, trees.split_var, trees.child, leaf, log_p[x])
            per_row[begin : begin + len(rows)] = np.where(rows, log_p[1], log_p[0]).sum(axis=1)

    map_ranges(fill, data.n_rows, threads)
    return per_row


def annealed_ll(
    model: Model, data: Dataset, annealing: Annealing, seed: int, threads: int = 1
) -> Score:
    """Log-likelihood with a partition function estimated by annealed importance sampling.

    Its Monte Carlo error is that of the estimate of log Z, the same for all rows.
    """
    check_variables(model, data)
    if isinstance(model, ArithmeticCircuit | BayesianNetwork):
        return ll(model, data, threads)
    network = _with_joint(model, "ll")
    log_z, error = estimated_log_partition(network, annealing, seed, threads)
    potential = np.concatenate(
        [
            network.features.satisfied(data.rows[first : first + _ROWS]) @ finite(network.weight)
            for first in range(0, data.n_rows, _ROWS)
        ]
    )
    return _score(potential - log_z, data, error)


def _with_joint(
    model: MarkovNetwork | DependencyNetwork | BayesianNetwork, metric: str
) -> MarkovNetwork:
    if isinstance(model, BayesianNetwork):
        return model.network()
    if not isinstance(model, MarkovNetwork):
        raise InputError(
            f"metric {metric}: expected a Markov network; a dependency network has no joint "
            "distribution, use pll or cmll."
        )
    return model


def check_groups(groups: Groups, n_vars: int) -> None:
    """Refuse query groups that overlap or name variables that do not exist."""
    seen: set[int] = set()
    for group in groups:
        for v in group:
            if not 0 <= v < n_vars:
                raise InputError(f"query groups: expected variables 0 to {n_vars - 1}, got {v}.")
            if v in seen:
                raise InputError(f"query groups: variable {v} is in two groups.")
            seen.add(v)
