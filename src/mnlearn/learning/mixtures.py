"""Averages of dependency networks and mixtures of circuits."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.inference.circuits.exact import log_partition, log_value
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.circuit_building import mixture_circuit
from mnlearn.models.dependency_network import DependencyNetwork, flat_trees
from mnlearn.models.features import FeatureSet, concatenate, feature_set
from mnlearn.models.tree_features import paths_with_states
from mnlearn.runtime.arrays import read_only
from mnlearn.runtime.errors import DATA, InputError
from mnlearn.runtime.random_streams import stream


def average_networks(parts: list[tuple[float, DependencyNetwork]]) -> DependencyNetwork:
    """Return the network whose scores of states are the weighted sums of those given."""
    pieces = [(share, *log_odds_features(network)) for share, network in parts if share]
    first = parts[0][1]
    return DependencyNetwork(
        flat_trees(first.schema),
        concatenate([features for _, features, _, _ in pieces]),
        read_only(np.concatenate([target for _, _, target, _ in pieces]).astype(np.int32)),
        read_only(np.concatenate([share * weight for share, _, _, weight in pieces])),
        first.schema,
    )


def log_odds_features(network: DependencyNetwork) -> tuple[FeatureSet, NDArray, NDArray]:
    """Return the CPDs as (features, target, weight), log-odds of states against the first one."""
    trees = network.trees
    paths, place = paths_with_states(trees, network.schema, np.flatnonzero(trees.is_leaf))
    node, state = np.divmod(place, trees.most_states)
    log_odds = trees.log_prob[node, state] - trees.log_prob[node, 0]
    if not np.isfinite(log_odds).all():
        raise InputError("mixture: a conditional probability is 0; smooth the network first.")
    # The first state, and those that are as probable.
    kept = np.flatnonzero(log_odds)
    paths, log_odds = paths.select(kept), log_odds[kept]
    target = trees.target[node[kept]].astype(np.int32)
    order = np.lexsort((paths.var, paths.owner))
    return (
        concatenate(
            [feature_set(paths.start, paths.var[order], paths.value[order]), network.features]
        ),
        np.concatenate([target, network.target]),
        np.concatenate([log_odds, network.weight]),
    )


# Iterations of EM for the shares alone, which converge quickly.
_SHARE_ITERATIONS = 50


def learn_circuit_mixture(
    data: Dataset,
    joint: NDArray[np.float64],
    learn: Callable[[Dataset], ArithmeticCircuit],
    *,
    rounds: int = 1,
    seed: int = 20,
    threads: int = 1,
) -> ArithmeticCircuit:
    """Return a mixture of circuits with the components of another mixture, `joint`, as a start.

    A round draws each example to a component by its posterior probabilities (stochastic EM), since
    learners of structure count whole examples, learns the circuits, and then the shares by EM.
    """
    if data.is_weighted:
        raise InputError("mixtures of this base take no examples with weights.", where=DATA)
    rng = stream(seed, "mixture of circuits")
    for _ in range(rounds):
        components = _draw(joint[data.row_of], rng)
        circuits = [
            learn(data.take(np.flatnonzero(components == k))) for k in np.unique(components)
        ]
        log_z = np.array([log_partition(one) for one in circuits])
        log_p = np.stack([log_value(one, data.rows, threads) for one in circuits], axis=1) - log_z
        log_share = _learn_shares(log_p, data.weight)
        kept = np.flatnonzero(np.isfinite(log_share))
        circuits, joint = [circuits[k] for k in kept], (log_p + log_share)[:, kept]
    return mixture_circuit(circuits, (log_share - log_z)[kept])


def _draw(joint: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.intp]:
    """Return a component of each row of `joint`, drawn by its posterior probabilities."""
    # The largest sum of a log-probability and a Gumbel variable is a draw.
    return np.argmax(joint + rng.gumbel(size=joint.shape), axis=1)


def _learn_shares(log_p: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the logs of the shares that make the likelihood of fixed components greatest."""
    n_components = log_p.shape[1]
    log_share = np.full(n_components, -np.log(n_components))
    for _ in range(_SHARE_ITERATIONS):
        joint = log_p + log_share
        posterior = np.exp(joint - np.logaddexp.reduce(joint, axis=1)[:, None])
        with np.errstate(divide="ignore"):
            log_share = np.log((weight[:, None] * posterior).sum(axis=0) / weight.sum())
    return log_share
