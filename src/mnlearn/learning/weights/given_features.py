"""Weights of the features of a network that is given."""

import math
from dataclasses import replace

from mnlearn.data.dataset import Dataset
from mnlearn.data.domains import domains_of
from mnlearn.learning.penalty import Penalty
from mnlearn.learning.weights.arrangement import arrange
from mnlearn.learning.weights.fit import MAX_ITERATIONS, WeightFit, fit_weights
from mnlearn.models.exclusive_columns import exclusive_columns
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.names import labels_of


def learn_weights(
    network: MarkovNetwork,
    data: Dataset,
    penalty: Penalty,
    *,
    max_iterations: int = MAX_ITERATIONS,
    threads: int = 1,
) -> tuple[MarkovNetwork, WeightFit]:
    """Learn new weights for the features of a network by pseudo-likelihood.

    Parameters
    ----------
    network : MarkovNetwork
        Has the features; its weights are not read.
    data : Dataset
        The training data, with the variables of the network.
    penalty : Penalty
        The prior on the weights; an infinite `sd` is none.
    max_iterations : int
        Iterations of weight learning, which start at weights of 0.
    threads : int
        Number of threads; the result does not depend on it.

    Returns
    -------
    MarkovNetwork, WeightFit
        The network of the same features, and how learning ended.

    Raises
    ------
    InputError
        The network has variables of several columns, which exclude each other. Each of the columns
        follows from the others, so that pseudo-likelihood learns nothing else.
    """
    named = [domain.columns for domain in domains_of(network).values()]
    several = [
        columns
        for columns in exclusive_columns(network, least=2)
        if len(columns) > 2 or columns in named
    ]
    if several:
        names = labels_of(network.names, network.n_vars)
        listed = ", ".join(names[v] for v in several[0])
        raise InputError(
            f"network: the columns {listed} are states of one variable; pseudo-likelihood, which "
            "predicts each column from the others, cannot learn weights of such a network."
        )
    if penalty.sd == math.inf:
        # Its precision is 0, and the gap would be infinite.
        penalty = replace(penalty, sd=None)
    found = fit_weights(
        arrange(network.features, data, threads),
        penalty,
        max_iterations=max_iterations,
        screen=True,
    )
    return MarkovNetwork(network.n_vars, network.features, found.weight, network.names), found
