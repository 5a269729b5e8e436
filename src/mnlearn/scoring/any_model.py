"""Scores of any model on a dataset: PLL, CMLL, CLL and LL, in nats per example."""

from typing import Any

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.inference.annealing import Annealing, estimate_log_partition
from mnlearn.inference.circuits.compilation import compile_network
from mnlearn.inference.marginals import MAX_ENUMERATED
from mnlearn.inference.score import Groups, Score, check_variables, score_of
from mnlearn.inference.settings import Inference
from mnlearn.inference.terms import finite
from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.io.native import Model
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.scoring import circuits, networks
from mnlearn.scoring.networks import with_joint

# Rows of which all features are looked at together.
_ROWS = 1000


def _scores_of(model: Model) -> Any:
    return circuits if isinstance(model, ArithmeticCircuit) else networks


def pll(model: Model, data: Dataset, threads: int = 1) -> Score:
    """Log-pseudo-likelihood: sum over variables of log P(x_v | all others)."""
    score: Score = _scores_of(model).pll(model, data, threads)
    return score


def cmll(
    model: Model,
    data: Dataset,
    groups: Groups,
    inference: Inference,
    *,
    seed: int,
    threads: int = 1,
) -> Score:
    """Conditional marginal log-likelihood (Lowd & Davis 2010, Section IV).

    groups : disjoint groups of variables; each is queried once given all others, and the score
        is the sum over all query variables of log P(x_v | evidence).
    inference, seed : not used for circuits, whose marginals are exact.
    """
    score: Score = _scores_of(model).cmll(
        model, data, groups, inference, seed=seed, threads=threads
    )
    return score


def cll(model: Model, data: Dataset, groups: Groups, threads: int = 1) -> Score:
    """Conditional log-likelihood: sum over groups of log P(x_group | all others), exact."""
    score: Score = _scores_of(model).cll(model, data, groups, threads)
    return score


def ll(model: Model, data: Dataset, threads: int = 1) -> Score:
    """Log-likelihood, exact: in a circuit, from CPDs, or by enumeration of up to 2^20 states.

    Larger Markov networks are compiled into a circuit.

    Raises
    ------
    InputError
        The model has no joint distribution, or its circuit would be too large.
    """
    if isinstance(model, MarkovNetwork) and model.n_vars > MAX_ENUMERATED:
        check_variables(model, data)
        return circuits.ll(compile_network(model), data, threads)
    score: Score = _scores_of(model).ll(model, data, threads)
    return score


def annealed_ll(
    model: Model, data: Dataset, annealing: Annealing, seed: int, *, threads: int = 1
) -> Score:
    """Log-likelihood with a partition function estimated by annealed importance sampling.

    Its Monte Carlo error is that of the estimate of log Z, the same for all rows.
    """
    check_variables(model, data)
    if isinstance(model, ArithmeticCircuit | BayesianNetwork):
        return ll(model, data, threads)
    network = with_joint(model, "ll")
    log_z, error = estimate_log_partition(network, annealing, seed, threads)
    potential = np.concatenate(
        [
            network.features.satisfied(data.rows[first : first + _ROWS]) @ finite(network.weight)
            for first in range(0, data.n_rows, _ROWS)
        ]
    )
    return score_of(potential - log_z, data, error)
