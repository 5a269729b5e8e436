"""Dependency networks as Markov networks, in closed form (Lowd 2012)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit

from mnlearn.data.dataset import Dataset
from mnlearn.inference.conditionals import conditional_log_odds
from mnlearn.kernels.conversion import shares as kernels
from mnlearn.kernels.conversion.subfeatures import merge_subfeatures, write_subfeatures
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.features import FeatureSet, concatenate, feature_set, with_literal
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.runtime.errors import InputError

# Most distinct rows that the consistency gap is averaged over.
GAP_ROWS = 1000


@dataclass(frozen=True, eq=False)
class Orders:
    """The orders of the variables over which a conversion averages (Lowd 2012, Section 5).

    order : int64, shape (n_vars,). A permutation of the variables.
    rotations : all n_vars rotations of it, and not it alone.
    reverse : the reverse of each order as well, with the same weight.
    all_up_to : CPD features of at most this many literals are averaged over all n_vars! orders
        instead, in time and memory that double with every literal.
    """

    order: NDArray[np.int64]
    rotations: bool = True
    reverse: bool = True
    all_up_to: int = 0


ORDERS = ("one", "pair", "rotations", "both-rotations", "all")
BASES = ("marginals", "uniform", "mode", "examples")


def orders_named(name: str, n_vars: int, max_length: int) -> Orders:
    """Return the orders called `name`, one of ORDERS, of variables as they are numbered.

    max_length : of the features that "all" averages over all orders; longer ones are averaged
        over both rotations.
    """
    return Orders(
        np.arange(n_vars),
        rotations=name in ("rotations", "both-rotations", "all"),
        reverse=name in ("pair", "both-rotations", "all"),
        all_up_to=max_length if name == "all" else 0,
    )


def base_named(name: str, data: Dataset) -> NDArray[np.float64] | Dataset:
    """Return the base distribution called `name`, one of BASES, of training data.

    The mode is the one base instance in which every variable has its more frequent value.
    """
    if name == "examples":
        return data
    if name == "uniform":
        return np.full(data.n_vars, 0.5)
    if name == "mode":
        return (data.frequency > 0.5).astype(np.float64)
    return smoothed_marginals(data)


def smoothed_marginals(data: Dataset) -> NDArray[np.float64]:
    """Return P(X_v = 1) with one count added per value: the base that gives the printed scores."""
    ones = data.frequency * data.n_examples
    return np.asarray((ones + 1.0) / (data.n_examples + 2.0))


def cpd_features(network: DependencyNetwork) -> tuple[FeatureSet, NDArray, NDArray]:
    """Return all CPDs as (features, target, weight): log P(target | rest) is their sum.

    Of a tree these are the paths to its leaves with either value of the target, weighted by the
    log-probability of that value; none of a single leaf of log-odds 0. Every feature contains
    its target. Of log-linear CPDs the sum lacks the normalisation, which depends on the rest.

    Raises
    ------
    InputError
        A CPD has a probability of 0, which no product of potentials with finite weights gives.
    """
    trees = network.trees
    root = trees.start[:-1]
    flat = trees.is_leaf[root] & (trees.log_prob[root, 0] == trees.log_prob[root, 1])
    leaves = np.flatnonzero(trees.is_leaf & ~flat[trees.target])
    paths = trees.paths().select(leaves)
    target = trees.target[leaves].astype(np.int32)
    weight = trees.log_prob[leaves]
    if not (np.isfinite(weight).all() and np.isfinite(network.weight).all()):
        raise InputError("conversion: a conditional probability is 0; smooth the network first.")
    with_value = [with_literal(paths, target, value) for value in (0, 1)]
    return (
        concatenate([*with_value, network.features]),
        np.concatenate([target, target, network.target]),
        np.concatenate([weight[:, 0], weight[:, 1], network.weight]),
    )


def consistency_gap(
    network: DependencyNetwork, converted: MarkovNetwork, data: Dataset, threads: int = 1
) -> float:
    """Return how far the conditionals of a network are from those of its converted network.

    The Kullback-Leibler divergence of the one from the other, in nats per variable, averaged
    over variables and over an evenly spaced subset of at most 1,000 distinct rows. It is 0 if the
    network is consistent, and bounds nothing, but costs no test data: a conversion with a large
    gap describes another distribution than the network.
    """
    data = data.subset(np.arange(0, data.n_rows, -(-data.n_rows // GAP_ROWS)))
    log_odds = conditional_log_odds(network, data, threads)
    of_converted = conditional_log_odds(converted, data, threads)
    one, zero = expit(log_odds), expit(-log_odds)
    divergence = one * (log_expit(log_odds) - log_expit(of_converted))
    divergence += zero * (log_expit(-log_odds) - log_expit(-of_converted))
    return float(data.weight @ divergence.mean(axis=1) / data.n_examples)


def to_markov_network(
    network: DependencyNetwork, base: NDArray[np.float64] | Dataset, orders: Orders
) -> MarkovNetwork:
    """Return the Markov network that a dependency network is converted to.

    base : what takes the place of the variables that come before a target (Lowd 2012, Sections
        4 and 5.1): float64 of shape (n_vars,), the probability of each being 1, independently
        of the others (0 and 1 for a single base instance); or a dataset, for the average over
        its examples as base instances.

    If the CPDs are those of a positive distribution and the base is one, the network has that
    distribution for every order and base. Else it is an approximation. Equal features are merged;
    their order is that of appearance.

    Raises
    ------
    InputError
        A CPD has a probability of 0; the base or the order does not fit the variables.
    """
    n_vars = network.n_vars
    if sorted(orders.order.tolist()) != list(range(n_vars)):
        raise InputError(f"conversion: expected an order of the variables 0 to {n_vars - 1}.")
    features, target, weight = cpd_features(network)
    place = np.empty(n_vars, np.int64)
    place[orders.order] = np.arange(n_vars)
    n_literals = len(features.var)
    order, distance = np.empty(n_literals, np.int64), np.empty(n_literals, np.int64)
    target_at = np.empty(len(features), np.int64)
    kernels.sort_tests(
        features.start, features.var, target, place, n_vars, order, distance, target_at
    )
    fixed = (features.start, features.var, features.value, order, target_at)
    n_subsets = np.where(features.length <= orders.all_up_to, 1 << (features.length - 1), 0)
    subset_start = np.concatenate([[0], np.cumsum(n_subsets)])
    shares = np.empty((2, n_literals)), np.empty((2, n_literals))
    subsets = subset_start, np.empty(subset_start[-1]), np.empty(subset_start[-1])
    if isinstance(base, Dataset):
        if base.n_vars != n_vars:
            raise InputError(f"conversion: expected base examples of {n_vars} variables.")
        weight_of_row = base.weight / base.n_examples
        kernels.data_shares(*fixed, base.columns, base.last_word, weight_of_row, *shares)
        kernels.data_subset_shares(*fixed, base.rows, weight_of_row, *subsets)
    else:
        if base.shape != (n_vars,) or not ((base >= 0) & (base <= 1)).all():
            raise InputError(f"conversion: expected {n_vars} probabilities as base distribution.")
        one = base[features.var]
        probability = np.where(features.value == 1, one, 1.0 - one)
        arranged = (features.start, order, target_at, probability)
        kernels.product_shares(*arranged, *shares)
        kernels.product_subset_shares(*arranged, *subsets)
    mark = np.random.default_rng(0).integers(0, 2**64, (n_vars, 2), np.uint64)
    share = 0.5 if orders.reverse else 1.0
    total, source = merge_subfeatures(
        features.start, order, distance, target_at, mark[features.var, features.value], weight,
        shares, subsets, n_vars, n_vars - place[target], orders.rotations,
        share, share if orders.reverse else 0.0,
    )  # fmt: skip
    kept = total != 0.0
    total, source = total[kept], source[kept]
    start = np.concatenate([[0], np.cumsum(source[:, 1] + source[:, 3])])
    var, value = np.empty(start[-1], np.int32), np.empty(start[-1], np.uint8)
    write_subfeatures(*fixed, source, start, var, value)
    return MarkovNetwork(n_vars, feature_set(start, var, value), total, network.names)
