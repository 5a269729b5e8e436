"""The worked examples of Lowd (2012), Sections 4 and 5."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

import oracles
from mnlearn.learning.conversion import Orders, to_markov_network
from mnlearn.models.dependency_network import (
    DependencyNetwork,
    Trees,
    flat_trees,
    tree_network,
)
from mnlearn.models.features import features_of

N_VARS = 5


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
    weight = np.exp(oracles.potentials(network))[::-1]
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
    assert_allclose(oracles.potentials(rotations), oracles.potentials(every), atol=1e-12)


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
