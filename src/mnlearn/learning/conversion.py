"""Dependency networks as Markov networks, in closed form (Lowd 2012)."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset, merge_rows
from mnlearn.inference.conditionals import log_conditionals
from mnlearn.kernels import conversion as kernels
from mnlearn.models.dependency_network import DependencyNetwork, flat_trees
from mnlearn.models.features import (
    FeatureSet,
    canonicalise,
    concatenate,
    feature_set,
    features_of,
    with_least_literals,
)
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.tree_features import paths_with_states
from mnlearn.runtime.arrays import read_only
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Schema

# The consistency gap is averaged over at most this many distinct rows.
GAP_ROWS = 1000


@dataclass(frozen=True, eq=False)
class Orders:
    """The orders of the variables over which a conversion averages (Lowd 2012, Section 5).

    These are `order`, all its `rotations`, and with `reverse` the reverse of each. CPD features of
    up to `all_up_to` literals are averaged over all n_vars! orders; work doubles with every
    literal.
    """

    order: NDArray[np.int64]
    rotations: bool = True
    reverse: bool = True
    all_up_to: int = 0


ORDERS = ("one", "pair", "rotations", "both-rotations", "all")
BASES = ("marginals", "uniform", "mode", "examples")


def choose_orders(name: str, n_vars: int, max_length: int) -> Orders:
    """Return the orders called `name`; "all" averages longer features over both rotations."""
    return Orders(
        np.arange(n_vars),
        rotations=name in ("rotations", "both-rotations", "all"),
        reverse=name in ("pair", "both-rotations", "all"),
        all_up_to=max_length if name == "all" else 0,
    )


def choose_base(name: str, data: Dataset) -> NDArray[np.float64] | Dataset:
    """Return the base called `name`, one of BASES; "mode": each variable's most frequent state."""
    if name == "examples":
        return data
    if name == "uniform":
        return uniform_marginals(data.schema)
    if name == "mode":
        mode = (data.frequency > 0.5).astype(np.float64)
        for own in map(list, data.schema.several):
            mode[own] = np.arange(len(own)) == data.ones[own].argmax()
        return mode
    return smooth_marginals(data)


def uniform_marginals(schema: Schema) -> NDArray[np.float64]:
    """Return the probability of each column, shape (n_columns,), if all states are as probable."""
    return 1.0 / schema.arity[schema.variable_of]


def smooth_marginals(data: Dataset) -> NDArray[np.float64]:
    """Return the probability of each column, one count added for each state (decision 0005)."""
    ones = data.frequency * data.n_examples
    n_states = data.schema.arity[data.schema.variable_of]
    return np.asarray((ones + 1.0) / (data.n_examples + n_states))


def cpd_features(
    network: DependencyNetwork, odds: bool = False
) -> tuple[FeatureSet, NDArray, NDArray]:
    """Return all CPDs as (features, target, weight), whose sum is log P(target | rest).

    The features of a tree are the paths to its leaves with each state of the target. The weights of
    log-linear CPDs lack the normalisation, which depends on the other variables. With `odds` those
    of trees are log-odds against the first state, without those of 0.
    """
    trees, schema = network.trees, network.schema
    leaves = np.flatnonzero(trees.is_leaf & ~trees.is_flat(schema)[trees.target])
    paths, place = paths_with_states(trees, schema, leaves)
    node, state = np.divmod(place, trees.most_states)
    weight = trees.log_prob[node, state] - (trees.log_prob[node, 0] if odds else 0.0)
    if not np.isfinite(weight).all():
        raise InputError("conversion: a conditional probability is 0; smooth the network first.")
    if odds:
        kept = np.flatnonzero(weight)
        paths, node, weight = paths.select(kept), node[kept], weight[kept]
        order = np.lexsort((paths.var, paths.owner))
        paths = feature_set(paths.start, paths.var[order], paths.value[order])
    features, target = concatenate([paths, network.features]), trees.target[node]
    target = np.concatenate([target, network.target]).astype(np.int32)
    weight = np.concatenate([weight, network.weight])
    if odds or (schema.arity <= 2).all():
        return features, target, weight
    features, can_hold = with_least_literals(features, schema.start)
    return features.select(can_hold), target[can_hold], weight[can_hold]


def average_networks(parts: list[tuple[float, DependencyNetwork]]) -> DependencyNetwork:
    """Return the network whose scores of states are the weighted sums of those given."""
    pieces = [(share, *cpd_features(network, odds=True)) for share, network in parts if share]
    first = parts[0][1]
    return DependencyNetwork(
        flat_trees(first.schema),
        concatenate([features for _, features, _, _ in pieces]),
        read_only(np.concatenate([target for _, _, target, _ in pieces])),
        read_only(np.concatenate([share * weight for share, _, _, weight in pieces])),
        first.schema,
    )


def consistency_gap(
    network: DependencyNetwork, converted: MarkovNetwork, data: Dataset, threads: int = 1
) -> float:
    """Return the Kullback-Leibler divergence of a network's conditionals from the converted ones.

    It is in nats, averaged over variables and an evenly spaced subset of at most 1,000 rows; 0 if
    the network is consistent.
    """
    data = data.subset(np.arange(0, data.n_rows, -(-data.n_rows // GAP_ROWS)))
    log_p, of_converted = (log_conditionals(m, data, threads) for m in (network, converted))
    divergence = (np.exp(log_p) * (log_p - of_converted)).sum(axis=1) / data.n_vars
    return float(data.weight @ divergence / data.n_examples)


class _SortedTests(NamedTuple):
    """CPD features with their tests in an order of the variables.

    order, distance : int64, (n_literals,), literals of each feature but its target's, the nearest
        first, and steps from the target to each. target_at, boundary : int64, (n_features,),
        literal of each target, and steps from it to the end of the order.
    """

    features: FeatureSet
    order: NDArray[np.int64]
    distance: NDArray[np.int64]
    target_at: NDArray[np.int64]
    boundary: NDArray[np.int64]


# What is removed and what stays with the target, for tests and for subsets of them.
_Shares = tuple[tuple[NDArray, NDArray], tuple[NDArray, NDArray, NDArray]]


def to_markov_network(
    network: DependencyNetwork, base: NDArray[np.float64] | Dataset, orders: Orders
) -> MarkovNetwork:
    """Return the Markov network of a dependency network (Lowd 2012, Sections 4 and 5).

    For an order of the variables and a base instance b, the weights are those of
    log P(x) - log P(b) = sum_i [log P(x_i | x_after, b_before) - log P(b_i | x_after, b_before)].
    The base is the probability that each column is 1, or a dataset, to average over its examples.
    """
    n_vars, schema = network.n_vars, network.schema
    if sorted(orders.order.tolist()) != list(range(n_vars)):
        raise InputError(f"conversion: expected an order of the variables 0 to {n_vars - 1}.")
    _check_base(base, schema)
    features, target, weight = cpd_features(network)
    features, variable, joined = join_literals(features, schema)
    tests = _sort_tests(features, variable, target, orders.order)
    shares, subsets = _shares(tests, _join_base(base, joined), orders.all_up_to)
    n_tested = schema.n_columns + len(joined)
    mark = np.random.default_rng(0).integers(0, 2**64, (n_tested, 2), np.uint64)
    share = 0.5 if orders.reverse else 1.0
    total, source = kernels.merge_subfeatures(
        features.start, tests.order, tests.distance, tests.target_at,
        mark[features.var, features.value], weight, shares, subsets, n_vars, tests.boundary,
        orders.rotations, share, share if orders.reverse else 0.0,
    )  # fmt: skip
    kept = total != 0.0
    found = part_literals(_write_features(tests, source[kept]), joined, schema)
    return MarkovNetwork(schema, found, total[kept])


def join_literals(
    features: FeatureSet, schema: Schema
) -> tuple[FeatureSet, NDArray[np.int32], FeatureSet]:
    """Return features of one literal for each variable, its variable, and what joined literals say.

    Several literals of a variable, which say which states it is not in, become one literal
    (n_columns + j, 1) that says conjunction j of the third value.
    """
    variable = schema.variable_of[features.var]
    if (schema.arity <= 2).all():
        return features, variable, features_of([])
    first = np.flatnonzero(np.diff(features.owner * len(schema) + variable, prepend=-1))
    literals = feature_set(np.append(first, len(variable)), features.var, features.value)
    several = literals.length > 1
    joined, place = canonicalise(literals.select(several))
    var, value = features.var[first], features.value[first]
    var[several], value[several] = schema.n_columns + place, 1
    n_tests = np.bincount(features.owner[first], minlength=len(features))
    start = np.concatenate([[0], np.cumsum(n_tests)])
    return feature_set(start, var, value), variable[first], joined


def part_literals(features: FeatureSet, joined: FeatureSet, schema: Schema) -> FeatureSet:
    """Return features without the joined literals of `join_literals`; columns ascend."""
    if len(joined) == 0:
        return features
    n = schema.n_columns
    single = feature_set(np.arange(2 * n + 1), np.repeat(np.arange(n), 2), np.tile([0, 1], n))
    number = np.where(features.var < n, 2 * features.var + features.value, features.var + n)
    literals = concatenate([single, joined]).select(number)
    owner = features.owner[literals.owner]
    order = np.lexsort((literals.var, owner))
    start = np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(features)))])
    return feature_set(start, literals.var[order], literals.value[order])


def _join_base(
    base: NDArray[np.float64] | Dataset, joined: FeatureSet
) -> NDArray[np.float64] | Dataset:
    """Return the base with a column for each conjunction of `join_literals`."""
    if len(joined) == 0:
        return base
    if isinstance(base, Dataset):
        columns = np.column_stack([base.rows, joined.satisfied(base.rows)])
        return merge_rows(columns.astype(np.uint8), base.weight)
    # A variable is in none of several states.
    excluded = np.bincount(joined.owner, base[joined.var], len(joined))
    return np.concatenate([base, np.maximum(1.0 - excluded, 0.0)])


def _sort_tests(
    features: FeatureSet, variable: NDArray, target: NDArray, order: NDArray[np.int64]
) -> _SortedTests:
    """Sort the tests of CPD features by the order of the variables."""
    n_vars, n_literals = len(order), len(features.var)
    place = np.empty(n_vars, np.int64)
    place[order] = np.arange(n_vars)
    ordered, distance = np.empty(n_literals, np.int64), np.empty(n_literals, np.int64)
    target_at = np.empty(len(features), np.int64)
    kernels.sort_tests(
        features.start, variable, target, place, n_vars, ordered, distance, target_at
    )
    return _SortedTests(features, ordered, distance, target_at, n_vars - place[target])


def _shares(tests: _SortedTests, base: NDArray[np.float64] | Dataset, all_up_to: int) -> _Shares:
    """Return the probabilities under the base that removed tests hold; see `kernels.conversion`."""
    features = tests.features
    n_subsets = np.where(features.length <= all_up_to, 1 << (features.length - 1), 0)
    subset_start = np.concatenate([[0], np.cumsum(n_subsets)])
    shares = np.empty((2, len(features.var))), np.empty((2, len(features.var)))
    subsets = subset_start, np.empty(subset_start[-1]), np.empty(subset_start[-1])
    if isinstance(base, Dataset):
        weight = base.weight / base.n_examples
        fixed = features.start, features.var, features.value, tests.order, tests.target_at
        kernels.data_shares(*fixed, base.columns, base.last_word, weight, *shares)
        kernels.data_subset_shares(*fixed, base.rows, weight, *subsets)
    else:
        one = base[features.var]
        probability = np.where(features.value == 1, one, 1.0 - one)
        arranged = features.start, tests.order, tests.target_at, probability
        kernels.product_shares(*arranged, *shares)
        kernels.product_subset_shares(*arranged, *subsets)
    return shares, subsets


def _write_features(tests: _SortedTests, source: NDArray[np.int64]) -> FeatureSet:
    """Return the subfeatures that `merge_subfeatures` found."""
    features = tests.features
    start = np.concatenate([[0], np.cumsum(source[:, 1] + source[:, 3])])
    var, value = np.empty(start[-1], np.int32), np.empty(start[-1], np.uint8)
    kernels.write_subfeatures(
        features.start, features.var, features.value, tests.order, tests.target_at, source, start,
        var, value,
    )  # fmt: skip
    return feature_set(start, var, value)


def _check_base(base: NDArray[np.float64] | Dataset, schema: Schema) -> None:
    n = schema.n_columns
    if isinstance(base, Dataset):
        if base.n_columns != n:
            raise InputError(f"conversion: expected base examples of {len(schema)} variables.")
    elif base.shape != (n,) or not ((base >= 0) & (base <= 1)).all():
        raise InputError(f"conversion: expected {n} probabilities as base distribution.")
