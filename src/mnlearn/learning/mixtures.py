"""Averages of dependency networks: the mean of their log-odds, variable by variable."""

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.dependency_network import DependencyNetwork, flat_trees
from mnlearn.models.features import FeatureSet, concatenate, feature_set, with_literal
from mnlearn.runtime.arrays import read_only
from mnlearn.runtime.errors import InputError


def average_networks(parts: list[tuple[float, DependencyNetwork]]) -> DependencyNetwork:
    """Return the network whose log-odds are the weighted sum of the log-odds of networks.

    Parameters
    ----------
    parts : list of (float, DependencyNetwork)
        Shares and networks over the same variables. Shares that sum to 1 make each CPD the
        normalised geometric mean of the CPDs.

    Returns
    -------
    DependencyNetwork
        All of its CPDs are log-linear.

    Raises
    ------
    InputError
        A network has a probability of 0.
    """
    pieces = [(share, *log_odds_features(network)) for share, network in parts if share]
    first = parts[0][1]
    return DependencyNetwork(
        flat_trees(first.n_vars),
        concatenate([features for _, features, _, _ in pieces]),
        read_only(np.concatenate([target for _, _, target, _ in pieces]).astype(np.int32)),
        read_only(np.concatenate([share * weight for share, _, _, weight in pieces])),
        first.names,
    )


def log_odds_features(network: DependencyNetwork) -> tuple[FeatureSet, NDArray, NDArray]:
    """Return the CPDs as (features, target, weight): the weights add up to the log-odds.

    The features of a tree are the paths to its leaves, each with the value 1 of the target.

    Raises
    ------
    InputError
        A CPD has a probability of 0.
    """
    trees = network.trees
    leaves = np.flatnonzero(trees.is_leaf)
    log_odds = trees.log_prob[leaves, 1] - trees.log_prob[leaves, 0]
    if not np.isfinite(log_odds).all():
        raise InputError("mixture: a conditional probability is 0; smooth the network first.")
    leaves, log_odds = leaves[log_odds != 0], log_odds[log_odds != 0]
    target = trees.target[leaves].astype(np.int32)
    paths = with_literal(trees.paths().select(leaves), target, 1)
    order = np.lexsort((paths.var, paths.owner))
    return (
        concatenate(
            [feature_set(paths.start, paths.var[order], paths.value[order]), network.features]
        ),
        np.concatenate([target, network.target]),
        np.concatenate([log_odds, network.weight]),
    )
