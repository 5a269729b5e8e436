"""Dependency networks converted in closed form, against the definition."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

import oracles
from made_random import random_data, random_dependency_network
from mnlearn.learning import conversion
from mnlearn.learning.conversion import (
    Orders,
    choose_orders,
    consistency_gap,
    to_markov_network,
)
from mnlearn.models.dependency_network import (
    DependencyNetwork,
    Trees,
    flat_trees,
    tree_network,
)
from mnlearn.models.features import features_of
from mnlearn.runtime.errors import InputError

N_VARS = 5


def orders_of(orders):
    if orders.all_up_to:
        return [np.array(o) for o in itertools.permutations(orders.order)]
    rotated = [np.roll(orders.order, -r) for r in range(len(orders.order))]
    chosen = rotated if orders.rotations else [orders.order]
    return chosen + [o[::-1] for o in chosen] if orders.reverse else chosen


def expected_potentials(model, bases, weights, orders):
    """The definition, averaged over orders and base instances, less that of the first state."""
    states = oracles.all_states(model.n_vars)
    total = np.zeros(len(states))
    every_order = orders_of(orders)
    for base, weight in zip(bases, weights, strict=True):
        for order in every_order:
            value = [oracles.converted_potential(model, x, base, order) for x in states]
            total += weight / len(every_order) * np.array(value)
    return total - total[0]


@pytest.mark.parametrize("longest", [3, 4])
def test_features_up_to_the_longest_are_averaged_over_all_orders_and_the_others_over_rotations(
    longest,
):
    """The features have one to five literals; each adds its own part to the potentials."""
    rng = np.random.default_rng(longest)
    variables = [rng.choice(N_VARS, length, replace=False) for length in (1, 2, 3, 3, 4, 4, 5)]
    conjunctions = [[(int(v), int(rng.integers(2))) for v in sorted(own)] for own in variables]
    target = np.array([own[0] for own in variables], np.int32)
    weight = rng.normal(size=len(target))
    base = rng.integers(0, 2, N_VARS)

    def network_of(chosen):
        features = features_of([conjunctions[f] for f in chosen])
        return DependencyNetwork(flat_trees(N_VARS), features, target[chosen], weight[chosen])

    orders = choose_orders("all", N_VARS, longest)
    rotations = choose_orders("both-rotations", N_VARS, longest)
    expected = np.zeros(2**N_VARS)
    for is_long, own in ((False, orders), (True, rotations)):
        chosen = np.flatnonzero([(len(c) > longest) == is_long for c in conjunctions])
        if len(chosen):
            expected += expected_potentials(network_of(chosen), [base], [1.0], own)
    found = to_markov_network(network_of(np.arange(len(target))), base.astype(float), orders)
    assert_allclose(oracles.potentials(found), expected, atol=1e-10)


@pytest.mark.parametrize(("n_rows", "step"), [(1000, 1), (8, 3)])
def test_the_consistency_gap_is_the_mean_divergence_of_the_conditionals(monkeypatch, n_rows, step):
    """Of every third of the 20 distinct rows if at most 8 are to be used."""
    monkeypatch.setattr(conversion, "GAP_ROWS", n_rows)
    data = random_data(2, n_examples=400, n_vars=N_VARS)
    assert data.n_rows == 20
    model = random_dependency_network(2, N_VARS)
    found = to_markov_network(model, np.full(N_VARS, 0.3), Orders(np.arange(N_VARS)))
    total, weights = 0.0, data.weight[::step]
    for row, weight in zip(data.rows[::step], weights, strict=True):
        for v in range(N_VARS):
            p, q = (expit(oracles.log_odds(m, row, v)) for m in (model, found))
            total += weight * (p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q)))
    expected = total / weights.sum() / N_VARS
    assert expected > 1e-3
    assert consistency_gap(model, found, data) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("base", "order", "names"),
    [
        (np.full(4, 0.5), np.arange(5), "5 probabilities"),
        (np.full(5, 1.5), np.arange(5), "5 probabilities"),
        (np.full(5, 0.5), np.array([0, 1, 2, 3, 3]), "an order of the variables 0 to 4"),
        (random_data(0, n_vars=4), np.arange(5), "examples of 5 variables"),
    ],
)
def test_refuses(base, order, names):
    with pytest.raises(InputError, match=names):
        to_markov_network(random_dependency_network(0, 5), base, Orders(order))


def test_refuses_probabilities_of_zero():
    trees = Trees(
        np.arange(3), np.full(2, -1, np.int32), np.full((2, 2), -1, np.int32),
        np.array([[0.0, -np.inf], [np.log(0.5)] * 2]),
    )  # fmt: skip
    with pytest.raises(InputError, match="probability is 0"):
        to_markov_network(tree_network(trees), np.full(2, 0.5), Orders(np.arange(2)))


@pytest.mark.parametrize("all_up_to", [1, 2, 3])
def test_a_subfeature_of_several_features_is_one_feature(all_up_to):
    """Whichever way its weights are computed: from orders, or from all subsets."""
    rng = np.random.default_rng(5)
    literals = [(v, int(x)) for v, x in enumerate(rng.integers(0, 2, N_VARS))]
    kinds = [[0, 1], [0, 1, 2], [0, 1, 2, 3], [1, 2], [1, 2, 3]]
    features = features_of([[literals[v] for v in own] for own in kinds])
    target = np.array([own[0] for own in kinds], np.int32)
    model = DependencyNetwork(flat_trees(N_VARS), features, target, rng.normal(size=len(kinds)))
    base = rng.random(N_VARS)
    found = to_markov_network(model, base, Orders(rng.permutation(N_VARS), all_up_to=all_up_to))
    kept = [tuple(sorted(found.features.literals(f))) for f in range(len(found.features))]
    assert len(kept) == len(set(kept))
