"""Scores of any model on a dataset: PLL, CMLL, CLL and LL, in nats per example.

All functions raise InputError if the data have other variables than the model. Their result does
not depend on the number of threads.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.data.incomplete import IncompleteData
from mnlearn.inference.annealing import Annealing, estimate_log_partition
from mnlearn.inference.circuits.compilation import compile_network
from mnlearn.inference.marginals import MAX_ENUMERATED
from mnlearn.inference.score import Groups, Score, check_variables, score_of
from mnlearn.inference.settings import Inference
from mnlearn.inference.terms import finite
from mnlearn.inference.variational import bethe_log_partition, bound_log_partition
from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.hidden_tree import HiddenTree
from mnlearn.models.io.native import Model
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.tree_models import TreeModel, circuit_of
from mnlearn.runtime.errors import InputError
from mnlearn.scoring import circuits, feature_trees, hidden_trees, networks
from mnlearn.scoring.networks import with_joint

# Number of rows whose features are evaluated together, which bounds the memory.
_ROWS = 1000


def _scores_of(model: Model) -> Any:
    """Return the module that scores models of this kind."""
    if isinstance(model, HiddenTree):
        return hidden_trees
    if isinstance(model, TreeModel):
        return feature_trees
    return circuits if isinstance(model, ArithmeticCircuit) else networks


def pll(model: Model, data: Dataset, threads: int = 1) -> Score:
    """Return the log-pseudo-likelihood: the sum over variables of log P(x_v | all others)."""
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
    """Return the conditional marginal log-likelihood.

    Each group is queried once, given all other variables. The score is the sum over all query
    variables of log P(x_v | evidence).

    Parameters
    ----------
    model : Model
        Any kind of model.
    data : Dataset
        The examples.
    groups : sequence of sequence of int
        Disjoint groups of variables.
    inference : Inference
        How marginals are computed; no effect on circuits, whose marginals are exact.
    seed : int
        Seed of the samplers.
    threads : int
        Number of threads.

    References
    ----------
    Lowd & Davis, "Learning Markov network structure with decision trees", ICDM 2010, Section IV.
    """
    score: Score = _scores_of(model).cmll(
        model, data, groups, inference, seed=seed, threads=threads
    )
    return score


def cll(model: Model, data: Dataset, groups: Groups, threads: int = 1) -> Score:
    """Return the conditional log-likelihood, exact.

    It is the sum over groups of log P(x_group | all other variables).

    Raises
    ------
    InputError
        The model has no joint distribution, or a group of a network has more than 20 variables.
    """
    score: Score = _scores_of(model).cll(model, data, groups, threads)
    return score


def ll(model: Model, data: Dataset, threads: int = 1) -> Score:
    """Return the exact log-likelihood: of a circuit, from CPDs, or by enumeration of 2^20 states.

    Markov networks of more than 20 variables are compiled into a circuit.

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


def marginal_ll(model: Model, data: IncompleteData, threads: int = 1) -> Score:
    """Return the exact log-likelihood of the known cells: a circuit sums the missing ones out.

    Networks are compiled into a circuit.

    Raises
    ------
    InputError
        The model has no joint distribution, or its circuit would be too large.
    """
    # Circuits take rows with unknown values as they take those of a dataset.
    evidence: Any = data
    if isinstance(model, HiddenTree):
        return hidden_trees.ll(model, evidence, threads)
    if isinstance(model, TreeModel):
        return circuits.ll(circuit_of(model), evidence, threads)
    if isinstance(model, BayesianNetwork | MarkovNetwork):
        check_variables(model, evidence)
        model = compile_network(model)
    if not isinstance(model, ArithmeticCircuit):
        raise InputError("ll: a dependency network has no joint distribution to sum out of.")
    return circuits.ll(model, evidence, threads)


def annealed_ll(
    model: Model, data: Dataset, annealing: Annealing, seed: int, *, threads: int = 1
) -> Score:
    """Return the log-likelihood with a partition function from annealed importance sampling.

    Models with an exact log-likelihood get that one. The Monte Carlo error is that of the estimate
    of log Z, which is the same for all rows.

    Parameters
    ----------
    model : Model
        Any model with a joint distribution.
    data : Dataset
        The examples.
    annealing : Annealing
        Numbers of chains and steps.
    seed : int
        Seed of the chains.
    threads : int
        Number of threads.
    """
    check_variables(model, data)
    if isinstance(model, ArithmeticCircuit | BayesianNetwork | TreeModel):
        return ll(model, data, threads)
    network = with_joint(model, "ll")
    log_z, error = estimate_log_partition(network, annealing, seed, threads)
    return score_of(_log_potential(network, data) - log_z, data, error)


def approximate_ll(model: Model, data: Dataset, inference: Inference) -> Score:
    """Return the log-likelihood with an approximate partition function.

    Belief propagation gives the Bethe estimate. Mean field gives a lower bound of the partition
    function, so the score is an upper bound of the log-likelihood. Models with an exact
    log-likelihood get that one.

    Parameters
    ----------
    model : Model
        Any model with a joint distribution.
    data : Dataset
        The examples.
    inference : Inference
        Belief propagation or mean field, with its settings.

    References
    ----------
    Gogate, Webb & Domingos, "Learning efficient Markov networks", NIPS 2010, Section 5.
    """
    check_variables(model, data)
    if isinstance(model, ArithmeticCircuit | BayesianNetwork | TreeModel):
        return ll(model, data)
    network = with_joint(model, "ll")
    approximate = bethe_log_partition if inference.method == "bp" else bound_log_partition
    log_z, converged = approximate(network, inference)
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
