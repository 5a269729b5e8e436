"""Weights for the features of a network that is given, against a minimiser of the definition."""

import numpy as np
import pytest
import scipy.optimize
from numpy.testing import assert_allclose

from made_random import random_data, random_network
from mnlearn.data.dataset import merge_rows
from mnlearn.learning.weights.arrangement import learn_weights
from mnlearn.learning.weights.descent import Penalty
from mnlearn.models.markov_network import MarkovNetwork
from oracles import pll


@pytest.mark.parametrize("heaviest", [1, 5])
def test_the_weights_maximise_the_penalised_pseudo_likelihood(heaviest):
    network = random_network(3, n_vars=5, n_features=8)
    data = random_data(3, n_vars=5)
    data = merge_rows(data.rows, data.weight * np.linspace(1, heaviest, data.n_rows))
    learned, fit = learn_weights(network, data, Penalty(0.8))
    assert learned.features is network.features
    assert learned.schema.names == network.schema.names

    def objective(w):
        scored = MarkovNetwork(5, network.features, w)
        return (w**2).sum() / (2 * 0.8**2) - data.weight @ pll(scored, data.rows)

    best = scipy.optimize.minimize(objective, np.zeros(len(network.features)), tol=1e-9)
    assert objective(learned.weight) <= best.fun + fit.gap + 1e-6
    assert_allclose(learned.weight, best.x, atol=0.05)


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
