"""Dependency networks converted in closed form, against the definition and the paper's examples."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import oracles
from conftest import random_data, random_dependency_network, random_network
from mnlearn.data.dataset import merge_rows
from mnlearn.inference.conditionals import conditional_log_odds
from mnlearn.learning.conversion import Orders, cpd_features, to_markov_network
from mnlearn.models.dependency_network import (
    DependencyNetwork,
    Trees,
    flat_trees,
    tree_network,
)
from mnlearn.models.features import concatenate, features_of
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.runtime.errors import InputError

N_VARS = 5


def potentials(network):
    states = oracles.all_states(network.n_vars)
    value = np.array([oracles.log_potential(network, x) for x in states])
    return value - value[0]


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


def shapes():
    return [(r, b) for r in (False, True) for b in (False, True)]


@pytest.mark.parametrize(("rotations", "reverse"), shapes())
@pytest.mark.parametrize("seed", range(3))
def test_product_base_is_the_expectation_over_base_instances(seed, rotations, reverse):
    model = random_dependency_network(seed, N_VARS)
    rng = np.random.default_rng(seed)
    orders = Orders(rng.permutation(N_VARS), rotations, reverse)
    probability = rng.random(N_VARS)
    bases = oracles.all_states(N_VARS)
    weights = np.where(bases, probability, 1 - probability).prod(axis=1)
    found = to_markov_network(model, probability, orders)
    assert_allclose(
        potentials(found), expected_potentials(model, bases, weights, orders), atol=1e-10
    )


@pytest.mark.parametrize(("rotations", "reverse"), shapes())
def test_base_instances_from_data(rotations, reverse):
    model = random_dependency_network(3, N_VARS)
    data = random_data(5, n_examples=40, n_vars=N_VARS)
    orders = Orders(np.random.default_rng(1).permutation(N_VARS), rotations, reverse)
    weights = data.weight / data.n_examples
    assert_allclose(
        potentials(to_markov_network(model, data, orders)),
        expected_potentials(model, data.rows, weights, orders),
        atol=1e-10,
    )


@pytest.mark.parametrize("seed", range(3))
def test_the_average_over_all_orders(seed):
    model = random_dependency_network(seed, 4)
    orders = Orders(np.arange(4), all_up_to=4)
    data = random_data(seed, n_examples=6, n_vars=4)
    assert_allclose(
        potentials(to_markov_network(model, data, orders)),
        expected_potentials(model, data.rows, data.weight / data.n_examples, orders),
        atol=1e-10,
    )
    probability = np.random.default_rng(seed).random(4)
    bases = oracles.all_states(4)
    weights = np.where(bases, probability, 1 - probability).prod(axis=1)
    assert_allclose(
        potentials(to_markov_network(model, probability, orders)),
        expected_potentials(model, bases, weights, orders),
        atol=1e-10,
    )


def test_longer_features_than_all_orders_are_wanted_for_are_averaged_over_rotations():
    model = random_dependency_network(1, N_VARS)
    base = np.full(N_VARS, 0.3)
    none = to_markov_network(model, base, Orders(np.arange(N_VARS), all_up_to=1))
    rotations = to_markov_network(model, base, Orders(np.arange(N_VARS)))
    assert_allclose(potentials(none), potentials(rotations), atol=1e-12)


def test_one_base_instance_is_a_base_of_zeros_and_ones():
    model = random_dependency_network(8, N_VARS)
    base = np.array([0, 1, 1, 0, 1], np.uint8)
    orders = Orders(np.array([2, 0, 4, 1, 3]), rotations=False, reverse=False)
    by_instance = to_markov_network(model, merge_rows(base[None]), orders)
    by_product = to_markov_network(model, base.astype(float), orders)
    expected = expected_potentials(model, [base], [1.0], orders)
    assert_allclose(potentials(by_instance), expected, atol=1e-10)
    assert_allclose(potentials(by_product), expected, atol=1e-10)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), rotations=st.booleans(), reverse=st.booleans())
def test_a_consistent_network_is_converted_exactly(seed, rotations, reverse):
    """The conditionals of a Markov network give it back, whatever the base and the orders."""
    rng = np.random.default_rng(seed)
    network = random_network(seed, N_VARS, 8, 3)
    features, target, weight = [], [], []
    for f, w in enumerate(network.weight):
        for v, _ in network.features.literals(f):
            features.append(network.features.select(np.array([f])))
            target.append(v)
            weight.append(w)
    model = DependencyNetwork(
        flat_trees(N_VARS), concatenate(features), np.array(target, np.int32), np.array(weight)
    )
    orders = Orders(rng.permutation(N_VARS), rotations, reverse)
    found = to_markov_network(model, rng.random(N_VARS), orders)
    assert_allclose(potentials(found), potentials(network), atol=1e-9)


def two_variables(p_first, p_second):
    """Trees of two variables; p[b] is the probability of 1 given that the other one is b."""
    p = np.array([[0.5, *p_first], [0.5, *p_second]]).ravel()
    return tree_network(
        Trees(
            np.array([0, 3, 6]),
            np.array([1, -1, -1, 0, -1, -1], np.int32),
            np.array([[1, 2], [-1, -1], [-1, -1], [4, 5], [-1, -1], [-1, -1]], np.int32),
            np.log(np.column_stack([1 - p, p])),
        )
    )


def distribution(network):
    """Probabilities of the states (1, 1), (1, 0), (0, 1), (0, 0)."""
    weight = np.exp(potentials(network))[::-1]
    return weight / weight.sum()


@pytest.mark.parametrize("base", [(0.0, 0.0), (1.0, 1.0), (0.0, 1.0), (0.3, 0.8)])
@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_example_of_section_4_1(base, order):
    """A consistent network has the same distribution for every base and order."""
    network = two_variables(p_first=(0.4, 0.8), p_second=(1 / 4, 2 / 3))
    orders = Orders(np.array(order), rotations=False, reverse=False)
    found = to_markov_network(network, np.array(base), orders)
    assert_allclose(distribution(found), [0.4, 0.2, 0.1, 0.3], atol=1e-12)


@pytest.mark.parametrize(
    ("base", "expected"), [((1.0, 1.0), (4, 16, 1, 64)), ((0.0, 0.0), (64, 1, 16, 4))]
)
def test_example_of_section_5(base, expected):
    """The first variable is mostly equal to the second, which mostly differs from the first."""
    network = two_variables(p_first=(0.2, 0.8), p_second=(0.8, 0.2))
    orders = Orders(np.arange(2), rotations=False, reverse=False)
    found = to_markov_network(network, np.array(base), orders)
    assert_allclose(distribution(found), np.array(expected) / 85, atol=1e-12)


def weights_by_literals(network):
    """Weights by the literals of their features, variables counted from 1 as in the paper."""
    return {
        frozenset((v + 1, a) for v, a in network.features.literals(f)): w
        for f, w in enumerate(network.weight)
    }


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        # The paper's result: X1 and not X2, X1 and X2, and X1 in the denominator; f3 is removed.
        ((4, 3, 2, 1), {"f1": {(1, 1), (2, 0)}, "f2": {(1, 1), (2, 1)}, "-f2": {(1, 1)}}),
        # By the definition of Section 4, the order that the paper names fixes X1 and not X4.
        (
            (1, 2, 3, 4),
            {"f1": {(2, 0), (4, 1)}, "f2": {(2, 1)}, "f3": {(2, 1), (4, 0)}, "-f3": {(4, 0)}},
        ),
    ],
)
def test_example_of_section_4_2(order, expected):
    """Three features of P(X2 | X1, X4) from the base instance T, T, T, T.

    The paper names the order 1, 2, 3, 4 but fixes X3 and X4, which come after X2 in it. Its
    definition and its Table 2 fix the variables before the target, which the order 4, 3, 2, 1
    makes X3 and X4.
    """
    weight = {"f1": 0.7, "f2": -1.3, "f3": 2.9}
    features = features_of([[(0, 1), (1, 0), (3, 1)], [(0, 1), (1, 1)], [(1, 1), (3, 0)]])
    model = DependencyNetwork(
        flat_trees(4), features, np.ones(3, np.int32), np.array(list(weight.values()))
    )
    orders = Orders(np.array(order) - 1, rotations=False, reverse=False)
    found = to_markov_network(model, np.ones(4), orders)
    assert weights_by_literals(found) == {
        frozenset(literals): pytest.approx(-weight[name[1:]] if name[0] == "-" else weight[name])
        for name, literals in expected.items()
    }


@pytest.mark.parametrize("k", [0, 1, 2, 3, 4])
def test_uniform_base_of_section_5_1(k):
    """Of all base instances the share 2^-k agrees with k tests that are removed."""
    n, target, weight = 6, 4, 1.7
    # The variables before the target in the order 1, 2, ..., n are removed; X6 comes after it.
    conjunction = [(v, v % 2) for v in range(4 - k, 4)] + [(target, 1), (5, 0)]
    model = DependencyNetwork(
        flat_trees(n), features_of([conjunction]), np.array([target], np.int32), np.array([weight])
    )
    orders = Orders(np.arange(n), rotations=False, reverse=False)
    found = to_markov_network(model, np.full(n, 0.5), orders)
    # The denominator fixes the target as well.
    assert weights_by_literals(found) == {
        frozenset({(5, 1), (6, 0)}): pytest.approx(weight * 2.0**-k),
        frozenset({(6, 0)}): pytest.approx(-weight * 2.0 ** -(k + 1)),
    }


def test_two_literals_of_section_5_2():
    """For features of two literals, 2n orders are the same as all orders."""
    rng = np.random.default_rng(4)
    pairs = [(v, u) for v in range(N_VARS) for u in range(N_VARS) if u != v]
    features = features_of([[(v, 1), (u, int(rng.integers(2)))] for v, u in pairs])
    target = np.array([v for v, _ in pairs], np.int32)
    model = DependencyNetwork(flat_trees(N_VARS), features, target, rng.normal(size=len(pairs)))
    base = rng.random(N_VARS)
    rotations = to_markov_network(model, base, Orders(rng.permutation(N_VARS)))
    every = to_markov_network(model, base, Orders(np.arange(N_VARS), all_up_to=2))
    assert_allclose(potentials(rotations), potentials(every), atol=1e-12)


def test_example_of_section_5_2():
    """The feature X4, X6, X7, X13 of the target X7 in all rotations of n variables.

    The paper prints 5/n as the weight of X7 alone; with the three others that sums to (n - 1)/n.
    Six rotations, those that begin with X8 to X13, leave X7 alone.
    """
    n = 15
    of = {name: name - 1 for name in (4, 6, 7, 13)}
    conjunction = [(v, 1) for v in of.values()]
    model = DependencyNetwork(
        flat_trees(n), features_of([conjunction]), np.array([of[7]], np.int32), np.array([1.0])
    )
    # Removed tests hold and the target's does not, so that only features with it are left.
    base = np.ones(n)
    base[of[7]] = 0.0
    found = to_markov_network(model, base, Orders(np.arange(n), reverse=False))
    weights = {
        frozenset(v + 1 for v, _ in found.features.literals(f)): w
        for f, w in enumerate(found.weight)
        if (of[7], 1) in found.features.literals(f) and found.features.length[f] > 1
    }
    assert weights == {
        frozenset({4, 6, 7, 13}): pytest.approx(1 / n),
        frozenset({4, 7, 13}): pytest.approx(2 / n),
        frozenset({7, 13}): pytest.approx((4 + n - 13) / n),
    }
    single = {
        found.features.literals(f)[0]: w
        for f, w in enumerate(found.weight)
        if found.features.length[f] == 1
    }
    assert single[of[7], 1] == pytest.approx(6 / n)


@pytest.mark.parametrize("k", [2, 3, 4, 5])
def test_order_fraction_of_section_5_2(k):
    """Of all orders (l-1)! (k-l)! / k! leave a given feature of l of the k literals."""
    model = DependencyNetwork(
        flat_trees(k), features_of([[(v, 1) for v in range(k)]]), np.array([0], np.int32),
        np.array([1.0]),
    )  # fmt: skip
    base = np.ones(k)
    base[0] = 0.0
    found = to_markov_network(model, base, Orders(np.arange(k), all_up_to=k))
    for f, w in enumerate(found.weight):
        length = int(found.features.length[f])
        if length > 1:
            fraction = math.factorial(length - 1) * math.factorial(k - length) / math.factorial(k)
            assert w == pytest.approx(fraction)
    assert int((found.features.length > 1).sum()) == 2 ** (k - 1) - 1


def test_features_are_distinct_sorted_and_not_constant():
    model = random_dependency_network(2, N_VARS)
    found = to_markov_network(model, np.full(N_VARS, 0.3), Orders(np.arange(N_VARS)))
    literals = [tuple(found.features.literals(f)) for f in range(len(found.features))]
    assert len(set(literals)) == len(literals)
    assert all(list(c) == sorted(c) and len(c) > 0 for c in literals)
    assert np.all(found.weight != 0)


def test_cpd_features_sum_to_the_conditional_log_probabilities():
    model = random_dependency_network(4, N_VARS)
    features, target, weight = cpd_features(model)
    states = oracles.all_states(N_VARS)
    odds = conditional_log_odds(model, merge_rows(states))
    holds = features.satisfied(merge_rows(states).rows)
    for v in range(N_VARS):
        own = target == v
        value = features.value[features.var == np.repeat(target, features.length)]
        sign = np.where(value == 1, 1.0, -1.0)
        rest = holds.copy()
        for f in np.flatnonzero(own):
            others = [(u, a) for u, a in features.literals(f) if u != v]
            rows = merge_rows(states).rows
            rest[:, f] = [oracles.holds(others, x) for x in rows]
        assert_allclose((rest * weight * sign)[:, own].sum(axis=1), odds[:, v], atol=1e-12)


def test_rotations_of_one_long_feature_by_the_gaps_between_removed_variables():
    """A feature of three tests among six variables; the shares are counted by hand."""
    model = DependencyNetwork(
        flat_trees(6),
        features_of([[(1, 1), (3, 1), (4, 1)]]),
        np.array([3], np.int32),
        np.array([6.0]),
    )
    base = np.zeros(6)  # all removed tests fail, so only what no order removes is left
    found = to_markov_network(model, base, Orders(np.arange(6), rotations=True, reverse=False))
    weights = {
        tuple(found.features.literals(f)): w
        for f, w in enumerate(found.weight)
        if found.features.length[f] > 1
    }
    # Of the six rotations two keep variables 1 and 4 after 3: those that begin with 2 and 3.
    assert weights == {((1, 1), (3, 1), (4, 1)): pytest.approx(2.0)}


def test_equal_features_of_both_directions_are_merged():
    model = tree_network(
        Trees(
            np.array([0, 1, 4]),
            np.array([-1, 0, -1, -1], np.int32),
            np.array([[-1, -1], [2, 3], [-1, -1], [-1, -1]], np.int32),
            np.log(np.array([[0.5, 0.5], [0.5, 0.5], [0.8, 0.2], [0.1, 0.9]])),
        )
    )
    found = to_markov_network(model, np.full(2, 0.5), Orders(np.arange(2)))
    assert isinstance(found, MarkovNetwork)
    # Orders (0, 1) and (1, 0): the CPD of variable 1 alone depends on anything, so 4 features
    # of both variables, 2 + 2 of one.
    assert len(found.features) <= 8
    every = [oracles.log_potential(found, np.array(s)) for s in itertools.product((0, 1), repeat=2)]
    assert every[3] - every[2] > 0 > every[1] - every[0]


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
