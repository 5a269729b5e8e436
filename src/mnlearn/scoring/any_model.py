"""Scores of any model on a dataset: PLL, CMLL, CLL and LL, in nats per example.

All functions raise InputError if the data have other variables than the model. Their result does
not depend on the number of threads.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.data.incomplete import IncompleteData
from mnlearn.inference.circuits.exact import conditional_scores
from mnlearn.inference.conditionals import conditional_log_odds, log_own_conditionals
from mnlearn.inference.exact import log_partition, log_value
from mnlearn.inference.hidden_trees import log_conditionals
from mnlearn.inference.plan import CONDITIONAL, LIKELIHOOD, OWN, VALUE, plan
from mnlearn.inference.score import Groups, Score, check_groups, check_variables, score_of
from mnlearn.inference.settings import ANNEALED, Annealing, Inference
from mnlearn.inference.state_columns import of_values
from mnlearn.inference.terms import finite, terms_of
from mnlearn.kernels.likelihood.log_odds import sum_log_probabilities
from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.hidden_tree import HiddenTree
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.model import Model
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import NO_STATE

# Number of rows that are evaluated together, which bounds the memory.
_ROWS = 1000


def pll(model: Model, data: Dataset, threads: int = 1) -> Score:
    """Return the log-pseudo-likelihood: the sum over variables of log P(x_v | all others)."""
    check_variables(model, data)
    if isinstance(model, HiddenTree):
        if _divides_badly(model):
            return cll(model, data, [[v] for v in range(data.n_vars)], threads)
        return _by_parts(lambda part: log_conditionals(model, part.rows, threads).sum(axis=1), data)
    return _by_parts(lambda part: _log_pseudo_likelihood(model, part, threads), data)


def _by_parts(score: Callable[[Dataset], NDArray[np.float64]], data: Dataset) -> Score:
    """Score each distinct row, a few at a time where rows are stored as lists."""
    return score_of(np.concatenate([score(part) for part in data.parts()]), data)


def _divides_badly(tree: HiddenTree) -> bool:
    """Tell whether something is impossible, which a posterior cannot be divided by."""
    return bool(((tree.emission <= 0) | (tree.emission >= 1)).any())


def _log_pseudo_likelihood(model: Model, data: Dataset, threads: int) -> NDArray[np.float64]:
    """Return the log-pseudo-likelihood of each distinct row.

    Models with features and dependency networks are scored by these, other models by themselves.
    """
    if model.has_own_likelihood and model.is_exact:
        return _by_flips(model, data)
    if isinstance(model, ArithmeticCircuit) and model.features is None:
        return _by_derivatives(model, data, threads)
    if isinstance(model, BayesianNetwork):
        return _own_conditionals(model, data, threads)
    scores = conditional_log_odds(model, data, threads)
    if data.schema.is_binary:
        per_row = np.empty(data.n_rows)
        sum_log_probabilities(scores, data.rows, per_row)
        return per_row
    return np.asarray(log_own_conditionals(scores, data).sum(axis=1))


def _by_derivatives(circuit: ArithmeticCircuit, data: Dataset, threads: int) -> NDArray[np.float64]:
    """Find the values of a row with each variable changed by the derivatives of a circuit."""
    scores = conditional_scores(circuit, data.rows, threads)
    with np.errstate(invalid="ignore"):
        log_own = log_own_conditionals(scores, data)
    # A row and its neighbours that are all impossible: it has the score of any such row.
    log_own[np.isnan(log_own)] = -np.inf
    return np.asarray(log_own.sum(axis=1))


def _own_conditionals(network: BayesianNetwork, data: Dataset, threads: int) -> NDArray[np.float64]:
    """Return the sum of the log-probabilities of the states of all variables given the others."""
    per_row, states = np.empty(data.n_rows), network.schema.values(data.rows)
    for first in range(0, data.n_rows, _ROWS):
        part = slice(first, first + _ROWS)
        by_state = network.log_conditionals(data.rows[part], threads)
        per_row[part] = of_values(by_state, states[part], network.schema.start).sum(axis=1)
    return per_row


def _by_flips(tree: Model, data: Dataset) -> NDArray[np.float64]:
    """Evaluate each row once for each variable and each of its other states.

    A row takes the nodes that it satisfies, and the circuit would take all nodes.
    """
    from mnlearn.inference.sampling import rows_of_states

    own = tree.log_likelihood(data.rows)
    values = data.schema.values(data.rows)
    per_row, rows = np.zeros(data.n_rows), data.rows.copy()
    for v, variable in enumerate(data.schema):
        columns, other = list(data.schema.columns(v)), np.full(data.n_rows, -np.inf)
        for shift in range(1, variable.arity):
            state = (values[:, v].astype(np.int64) + shift) % variable.arity
            rows[:, columns] = rows_of_states(state[:, None], np.array([0, len(columns)]))
            other = np.logaddexp(other, tree.log_likelihood(rows))
        rows[:, columns] = data.rows[:, columns]
        per_row -= np.where(np.isneginf(own), np.inf, np.logaddexp(0.0, other - own))
    return per_row


def cmll(
    model: Model,
    data: Dataset,
    groups: Groups,
    inference: Inference,
    *,
    seed: int,
    threads: int = 1,
) -> Score:
    """Return the conditional marginal log-likelihood.

    Each group is queried once, given all other variables. The score is the sum over all query
    variables of log P(x_v | evidence). It is minus infinity if the evidence has probability 0.

    See Lowd & Davis, "Learning Markov network structure with decision trees", ICDM 2010, Section
    IV.
    """
    from mnlearn.scoring.answers import answerer, sampling_variance

    check_variables(model, data)
    check_groups(groups, data.n_vars)
    per_row = np.zeros(data.n_rows)
    variance = 0.0
    converged: list[float] = []
    answer = answerer(model, inference, seed, threads)
    for group in groups:
        found = answer(data, np.array(group, np.int64))
        per_row += found.log_own.sum(axis=1)
        if found.converged is not None:
            converged.append(float(data.weight @ found.converged / data.n_examples))
        if found.sampled is not None:
            variance += sampling_variance(found.sampled, data)
    score = score_of(per_row, data, float(np.sqrt(variance)) / data.n_examples)
    return replace(score, converged=float(np.mean(converged))) if converged else score


def cll(model: Model, data: Dataset, groups: Groups, threads: int = 1) -> Score:
    """Return the conditional log-likelihood, exact.

    It is the sum over groups of log P(x_group | all other variables), and minus infinity for a row
    of probability 0, also where the evidence has probability 0.
    """
    from mnlearn.scoring.answers import without

    check_variables(model, data)
    check_groups(groups, data.n_vars)
    _refuse_without_joint(model, "cll")
    per_row, own = np.zeros(data.n_rows), None
    for group in groups:
        query = np.array(group, np.int64)
        unknown = np.isin(np.arange(data.n_vars), query)
        form = plan(model, CONDITIONAL, unknown[None]).form
        if form is None:
            from mnlearn.inference.marginals import conditional_log_likelihood

            terms = terms_of(model)
            per_row += conditional_log_likelihood(terms, data.rows, query, threads)
            continue
        own = log_value(form, data.rows, threads) if own is None else own
        evidence = log_value(form, without(data.rows, query, data.schema), threads)
        possible = np.isfinite(own)
        per_row[possible] += own[possible] - evidence[possible]
        per_row[~possible] = -np.inf
    return score_of(per_row, data)


def ll(model: Model, data: Dataset, threads: int = 1) -> Score:
    """Return the exact log-likelihood."""
    check_variables(model, data)
    _refuse_without_joint(model, "ll")
    chosen = plan(model, LIKELIHOOD)
    if chosen.form is not None:
        form, log_z = chosen.form, log_partition(chosen.form)
        return _by_parts(lambda part: log_value(form, part.rows, threads) - log_z, data)
    if chosen.way == OWN:
        return _by_parts(lambda part: model.log_likelihood(part.rows, threads), data)
    from mnlearn.inference.marginals import conditional_log_likelihood

    every = np.arange(data.n_vars)
    per_row = conditional_log_likelihood(terms_of(model), data.rows, every, threads)
    return score_of(per_row, data)


def marginal_ll(model: Model, data: IncompleteData, threads: int = 1) -> Score:
    """Return the exact log-likelihood of the known cells: the missing ones are summed out."""
    if not model.has_joint:
        raise InputError("ll: a dependency network has no joint distribution to sum out of.")
    # Exact forms take rows with unknown values as they take those of a dataset.
    evidence: Any = data
    check_variables(model, evidence)
    form = plan(model, VALUE, model.schema.known_values(data.rows) == NO_STATE).form
    assert form is not None
    return score_of(log_value(form, data.rows, threads) - log_partition(form), evidence)


def annealed_ll(
    model: Model, data: Dataset, annealing: Annealing, seed: int, *, threads: int = 1
) -> Score:
    """Return the log-likelihood with a partition function from annealed importance sampling.

    Models with an exact log-likelihood get that one. The Monte Carlo error is that of the estimate
    of log Z, which is the same for all rows.
    """
    check_variables(model, data)
    if plan(model, LIKELIHOOD, method=ANNEALED).is_exact:
        return ll(model, data, threads)
    _refuse_without_joint(model, "ll")
    from mnlearn.inference.annealing import estimate_log_partition

    network: MarkovNetwork = model.to_markov_network()
    log_z, error = estimate_log_partition(network, annealing, seed, threads)
    return score_of(_log_potential(network, data) - log_z, data, error)


def approximate_ll(
    model: Model, data: Dataset, inference: Inference, *, by_feature: bool = False
) -> Score:
    """Return the log-likelihood with an approximate partition function.

    Belief propagation gives the Bethe estimate. Mean field gives a lower bound of the partition
    function, so the score is an upper bound of the log-likelihood. Models with an exact
    log-likelihood get that one.

    by_feature : see `inference.variational.bethe_log_partition`.

    See Gogate, Webb & Domingos, "Learning efficient Markov networks", NIPS 2010, Section 5.
    """
    check_variables(model, data)
    if plan(model, LIKELIHOOD, method=inference.method).is_exact:
        return ll(model, data)
    _refuse_without_joint(model, "ll")
    network: MarkovNetwork = model.to_markov_network()
    from mnlearn.inference.variational import bethe_log_partition, bound_log_partition

    if inference.method == "bp":
        log_z, converged = bethe_log_partition(network, inference, by_feature=by_feature)
    else:
        log_z, converged = bound_log_partition(network, inference)
    score = score_of(_log_potential(network, data) - log_z, data)
    return replace(score, converged=float(converged))


def _log_potential(network: MarkovNetwork, data: Dataset) -> NDArray[np.float64]:
    """Return the unnormalised log-probability of each distinct row."""
    return np.concatenate(
        [
            network.features.satisfied(data.rows[first : first + _ROWS]) @ finite(network.weight)
            for first in range(0, data.n_rows, _ROWS)
        ]
    )


def _refuse_without_joint(model: Model, metric: str) -> None:
    if not model.has_joint:
        raise InputError(
            f"metric {metric}: expected a Markov network; a dependency network has no joint "
            "distribution, use pll or cmll."
        )
