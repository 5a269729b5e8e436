"""Scores of Markov, dependency and Bayesian networks: PLL, CMLL, and exact CLL and LL."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.inference.conditionals import conditional_log_odds
from mnlearn.inference.marginals import (
    MAX_ENUMERATED,
    Marginals,
    conditional_log_likelihood,
    conditional_marginals,
)
from mnlearn.inference.score import Groups, Score, check_groups, check_variables, score_of
from mnlearn.inference.settings import Inference
from mnlearn.inference.terms import terms_of
from mnlearn.kernels.likelihood.stored_columns import sum_log_probabilities
from mnlearn.kernels.trees import tree_log_odds
from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.threads import map_ranges

Network = MarkovNetwork | DependencyNetwork | BayesianNetwork
# Number of rows that go down the trees together, which bounds the memory.
_ROWS = 1000


def pll(network: Network, data: Dataset, threads: int = 1) -> Score:
    """Return the log-pseudo-likelihood; see `scoring.any_model.pll`."""
    check_variables(network, data)
    odds = conditional_log_odds(network, data, threads)
    per_row = np.empty(data.n_rows)
    sum_log_probabilities(odds, data.rows, per_row)
    return score_of(per_row, data)


def cmll(
    network: Network,
    data: Dataset,
    groups: Groups,
    inference: Inference,
    *,
    seed: int,
    threads: int = 1,
) -> Score:
    """Return the conditional marginal log-likelihood by any method of inference.

    See `scoring.any_model.cmll`.
    """
    check_variables(network, data)
    check_groups(groups, data.n_vars)
    terms = terms_of(network)
    per_row = np.zeros(data.n_rows)
    variance = 0.0
    converged: list[float] = []
    for group in groups:
        query = np.array(group, np.int64)
        marginals = conditional_marginals(
            terms, data.rows, query, inference, seed=seed, threads=threads
        )
        values, row_of = data.rows[:, marginals.query], marginals.row_of
        if marginals.approximation is not None:
            odds = marginals.approximation.log_odds[row_of]
            # From the log-odds: 1 minus a probability could be 0.
            per_row -= np.logaddexp(0.0, np.where(values, -odds, odds)).sum(axis=1)
            ended = marginals.approximation.converged[row_of]
            converged.append(float(data.weight @ ended / data.n_examples))
            continue
        p_own = np.where(values, marginals.probability[row_of], marginals.complement[row_of])
        with np.errstate(divide="ignore"):
            per_row += np.log(p_own).sum(axis=1)
        if marginals.batches is not None:
            variance += _sampling_variance(marginals, data, values, p_own)
    score = score_of(per_row, data, float(np.sqrt(variance)) / data.n_examples)
    return replace(score, converged=float(np.mean(converged))) if converged else score


def _sampling_variance(
    marginals: Marginals, data: Dataset, values: NDArray, p_own: NDArray
) -> float:
    """Return the variance of the summed score due to sampling, by batch means.

    To first order the score is linear in the estimates. Examples with equal evidence share a chain,
    so their errors are added up before they are squared.
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


def cll(network: Network, data: Dataset, groups: Groups, threads: int = 1) -> Score:
    """Return the conditional log-likelihood, by enumeration; see `scoring.any_model.cll`."""
    check_variables(network, data)
    check_groups(groups, data.n_vars)
    per_row = np.zeros(data.n_rows)
    terms = terms_of(with_joint(network, "cll"))
    for group in groups:
        per_row += conditional_log_likelihood(terms, data.rows, np.array(group), threads)
    return score_of(per_row, data)


def ll(network: Network, data: Dataset, threads: int = 1) -> Score:
    """Return the log-likelihood: from CPDs, or by enumeration of up to 2^20 states."""
    check_variables(network, data)
    if isinstance(network, BayesianNetwork):
        return score_of(_sum_of_cpds(network, data, threads), data)
    terms = terms_of(with_joint(network, "ll"))
    every = np.arange(data.n_vars)
    return score_of(conditional_log_likelihood(terms, data.rows, every, threads), data)


def has_exact_likelihood(network: Network) -> bool:
    """Tell whether `ll` is exact and cheap for a network."""
    if isinstance(network, MarkovNetwork):
        return network.n_vars <= MAX_ENUMERATED
    return isinstance(network, BayesianNetwork)


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


def with_joint(network: Network, metric: str) -> MarkovNetwork:
    """Return a network as a Markov network.

    Parameters
    ----------
    network : MarkovNetwork, DependencyNetwork or BayesianNetwork
        The network to score.
    metric : str
        Name of the score, for the sentence.

    Raises
    ------
    InputError
        The network is a dependency network, which has no joint distribution.
    """
    if isinstance(network, BayesianNetwork):
        return network.to_markov_network()
    if not isinstance(network, MarkovNetwork):
        raise InputError(
            f"metric {metric}: expected a Markov network; a dependency network has no joint "
            "distribution, use pll or cmll."
        )
    return network
