"""Belief propagation: exact on trees, near the exact marginals where couplings are weak."""

import numpy as np
import pytest

from conftest import random_dependency_network, random_network
from mnlearn.inference.belief_propagation import infer_beliefs
from mnlearn.inference.terms import terms_of
from mnlearn.models.features import features_of
from mnlearn.models.markov_network import markov_network
from mnlearn.runtime.errors import InputError
from oracles import conditional_marginals


def marginals(network, row, query):
    found = infer_beliefs(terms_of(network), row, np.array(query))
    assert found.query.tolist() == sorted(query)
    return 1 / (1 + np.exp(-found.log_odds)), found.converged


def tree(seed, n_vars=7):
    """Random weights on the literals and on conjunctions along a tree."""
    rng = np.random.default_rng(seed)
    conjunctions = [[(v, 1)] for v in range(n_vars)]
    conjunctions += [
        [(int(rng.integers(v)), int(rng.integers(2))), (v, 1)] for v in range(1, n_vars)
    ]
    return markov_network(
        n_vars, features_of(conjunctions), rng.normal(scale=2, size=len(conjunctions))
    )


@pytest.mark.parametrize("seed", range(8))
def test_beliefs_of_trees_are_exact(seed):
    network, rng = tree(seed), np.random.default_rng(seed)
    row = rng.integers(0, 2, 7).astype(np.uint8)
    for query in ([3], [0, 2, 5], list(range(7))):
        p, converged = marginals(network, row, query)
        assert converged
        np.testing.assert_allclose(p, conditional_marginals(network, row, query), atol=2e-4)


@pytest.mark.parametrize("seed", range(8))
def test_a_conjunction_of_many_literals_is_one_factor(seed):
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 2, 4)
    conjunctions = [[(v, 1)] for v in range(4)]
    conjunctions.append([(v, int(x)) for v, x in enumerate(values)])
    weight = np.append(rng.normal(size=4), rng.choice([-40.0, -3.0, 3.0, 40.0]))
    network = markov_network(4, features_of(conjunctions), weight)
    p, converged = marginals(network, np.zeros(4, np.uint8), [0, 1, 2, 3])
    exact = conditional_marginals(network, np.zeros(4, np.uint8), [0, 1, 2, 3])
    assert converged
    np.testing.assert_allclose(p, exact, atol=2e-4)


@pytest.mark.parametrize("seed", range(6))
def test_beliefs_are_near_the_marginals_where_couplings_are_weak(seed):
    network = random_network(seed, scale=0.3)
    row = np.random.default_rng(seed).integers(0, 2, 6).astype(np.uint8)
    p, converged = marginals(network, row, [0, 1, 3, 4])
    assert converged
    exact = conditional_marginals(network, row, [0, 1, 3, 4])
    np.testing.assert_allclose(p, exact, atol=0.02)
    # One variable asked for is no approximation.
    alone, _ = marginals(network, row, [2])
    np.testing.assert_allclose(alone, conditional_marginals(network, row, [2]), atol=1e-4)


def test_weights_that_rule_a_state_out_give_numbers():
    conjunctions = [[(0, 1)], [(0, 1), (1, 1)], [(1, 0), (2, 0)]]
    network = markov_network(3, features_of(conjunctions), np.array([np.inf, np.inf, -np.inf]))
    p, _ = marginals(network, np.zeros(3, np.uint8), [0, 1, 2])
    assert p[0] == pytest.approx(1)
    assert p[1] == pytest.approx(1)
    assert p[2] == pytest.approx(0.5)


def test_without_features_beliefs_are_even_and_dependency_networks_are_refused():
    network = markov_network(3, features_of([]), np.zeros(0))
    assert marginals(network, np.zeros(3, np.uint8), [0, 2])[0].tolist() == [0.5, 0.5]
    terms = terms_of(random_dependency_network(0))
    with pytest.raises(InputError, match="expected a Markov network"):
        infer_beliefs(terms, np.zeros(5, np.uint8), np.array([0, 1]))
