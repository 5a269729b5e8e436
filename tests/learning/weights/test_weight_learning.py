"""The pseudo-likelihood, its gradient and its optimum against enumeration and other solvers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from l1_oracle import least_with_l1
from made_random import random_data, random_features, random_network
from mnlearn.data.dataset import merge_rows
from mnlearn.learning.weights.arrangement import learn_weights
from mnlearn.learning.weights.descent import Penalty, Stopping
from mnlearn.learning.weights.fit import fit_weights
from mnlearn.learning.weights.packed_likelihood import find_flipped_partners
from mnlearn.learning.weights.stored_likelihood import arrange_stored
from mnlearn.models.features import atomic_features, canonicalise, concatenate
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.scoring.any_model import pll


def problem(seed, n_vars=6, n_features=25):
    rng = np.random.default_rng(seed)
    features, _ = canonicalise(
        concatenate([atomic_features(n_vars), random_features(rng, n_vars, n_features, 4)])
    )
    data = random_data(seed, n_vars=n_vars)
    return features, data, arrange_stored(features, data)


def test_more_rows_than_sixteen_bits_number():
    rng = np.random.default_rng(0)
    data = merge_rows(rng.integers(0, 2, (80000, 20)))
    assert data.n_rows > 2**16
    features, _ = canonicalise(random_features(rng, 20, 30, 3))
    likelihood = arrange_stored(features, data)
    assert likelihood.design.touched.dtype == np.uint32
    w = rng.normal(size=len(features))
    expected = data.n_examples * -pll(MarkovNetwork(20, features, w), data).mean
    assert_allclose(likelihood.value_and_gradient(w)[0], expected, rtol=1e-12)


def test_partners_differ_in_one_value():
    features, _, _ = problem(3, n_features=60)
    partner = find_flipped_partners(features)
    assert (partner >= 0).sum() > 10
    all_literals = [features.literals(f) for f in range(len(features))]
    for k, g in enumerate(partner.tolist()):
        f = features.owner[k]
        wanted = [(v, 1 - value if v == features.var[k] else value) for v, value in all_literals[f]]
        assert (all_literals.index(wanted) if wanted in all_literals else -1) == g


PENALTIES = [Penalty(1.0), Penalty(0.1), Penalty(None, 5.0), Penalty(1.0, 2.0), Penalty(0.3, 10.0)]


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
def test_the_optimum_is_that_of_an_independent_solver(penalty):
    features, _data, likelihood = problem(1)
    learned = fit_weights(likelihood, penalty, max_iterations=500, stopping=Stopping(1e-9))

    def smooth(w):
        value, gradient = likelihood.value_and_gradient(w)
        return value + 0.5 * penalty.precision * w @ w, gradient + penalty.precision * w

    best = least_with_l1(smooth, np.full(len(features), penalty.l1))
    assert_allclose(learned.objective, best, rtol=1e-7)
    assert learned.gap >= -1e-9 * learned.objective
    assert learned.objective - best <= learned.gap + 1e-6


@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
def test_the_gap_bounds_the_distance_to_the_optimum_at_any_point(penalty):
    _features, _, likelihood = problem(2)
    best = fit_weights(likelihood, penalty, max_iterations=1000, stopping=Stopping(1e-10)).objective
    for iterations in (1, 3, 10):
        early = fit_weights(likelihood, penalty, max_iterations=iterations)
        assert early.objective - best <= early.gap * (1 + 1e-9) + 1e-7


def test_the_weights_that_are_given_are_not_read():
    network, data = random_network(5), random_data(5)
    other = MarkovNetwork(6, network.features, np.full(len(network.features), -np.inf))
    one, _ = learn_weights(network, data, Penalty(1.0), threads=2)
    two, _ = learn_weights(other, data, Penalty(1.0))
    assert one.weight.tobytes() == two.weight.tobytes()


def test_a_large_l1_penalty_leaves_weights_of_0():
    network, data = random_network(5), random_data(5)
    none, _ = learn_weights(network, data, Penalty(l1=1e6))
    assert not none.weight.any()
    some, _ = learn_weights(network, data, Penalty(l1=10.0))
    assert 0 < np.count_nonzero(some.weight) < len(network.features)
    _, fit = learn_weights(network, data, Penalty(1.0), max_iterations=1)
    assert fit.n_iterations == 1
