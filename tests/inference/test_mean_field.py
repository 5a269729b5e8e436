"""Mean field: its fixed-point equations and the bound of log Z."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import oracles
from made_random import random_data, random_dependency_network, random_network
from made_state_models import random_states_network
from made_states import random_rows
from mnlearn.inference.marginals import conditional_marginals
from mnlearn.inference.settings import Inference
from mnlearn.inference.terms import query_of, terms_of
from mnlearn.inference.variational import bound_log_partition, fit_independent
from mnlearn.models.features import features_of
from mnlearn.models.markov_network import markov_network

TIGHT = Inference("meanfield", iterations=5000, tolerance=1e-13)


def expected_log_odds(model, row, query, p):
    """Expected log-odds of each query variable, by the sum over the states of all of them."""
    states = oracles.all_states(len(query))
    q = np.where(states, p, 1 - p).prod(axis=1)
    total = np.zeros(len(query))
    for state, weight in zip(states, q, strict=True):
        full = row.copy()
        full[query] = state
        total += weight * np.array([oracles.log_odds(model, full, v) for v in query])
    return total


@pytest.mark.parametrize("seed", range(50))
def test_marginals_solve_the_fixed_point_equations(seed):
    make = random_network if seed % 2 else random_dependency_network
    model = make(seed)
    row = random_data(seed, n_vars=model.n_vars).rows[0]
    query = np.array([0, 2, 3, 4])
    asked = query_of(terms_of(model), query)
    found = fit_independent(asked, row[asked.evidence][None], TIGHT)
    assert found.converged.all()
    p = 1 / (1 + np.exp(-found.log_odds[0]))
    np.testing.assert_allclose(
        found.log_odds[0], expected_log_odds(model, row, query, p), atol=1e-9
    )


@pytest.mark.parametrize("scale", [0.3, 1.0, 5.0])
def test_the_bound_is_below_log_z_of_fifty_networks(scale):
    for seed in range(50):
        network = random_network(seed, scale=scale)
        log_z = oracles.log_partition(network)
        for iterations in (1, 3, 1000):
            run = Inference("meanfield", iterations=iterations)
            assert bound_log_partition(network, run)[0] <= log_z + 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_a_bound_and_a_fixed_point_of_several_states(seed):
    run = Inference("meanfield", iterations=2000, tolerance=1e-10)
    weak = random_states_network(seed, scale=0.1)
    rows = random_rows(seed, weak.schema).rows[:5]
    for query in ([1], [0, 3], [2], [0, 1, 2, 3, 4], [1, 4]):
        found = conditional_marginals(terms_of(weak), rows, np.array(query), run, seed=0)
        expected = [oracles.conditional_marginals(weak, row, query) for row in rows]
        assert_allclose(found.probability[found.row_of], expected, atol=0.02)
    single = [0], [1], [3]
    for query in single:
        # The marginals of one variable have no others to depend on.
        network = random_states_network(seed)
        found = conditional_marginals(terms_of(network), rows, np.array(query), run, seed=0)
        expected = [oracles.conditional_marginals(network, row, query) for row in rows]
        assert_allclose(found.probability[found.row_of], expected, atol=1e-8)
    for network in (weak, random_states_network(seed)):
        bound, converged = bound_log_partition(network, run)
        assert converged
        assert bound <= oracles.log_partition(network) + 1e-9
    assert_allclose(bound_log_partition(weak, run)[0], oracles.log_partition(weak), atol=0.05)


@pytest.mark.parametrize("seed", range(5))
def test_independent_variables_are_exact(seed):
    rng = np.random.default_rng(seed)
    conjunctions = [[(v, int(rng.integers(2)))] for v in range(5)]
    weight = rng.normal(scale=4, size=5)
    network = markov_network(5, features_of(conjunctions), weight)
    value, converged = bound_log_partition(network, TIGHT)
    assert converged
    assert value == pytest.approx(np.logaddexp(0, weight).sum(), abs=1e-10)


def test_weights_that_rule_a_state_out_give_numbers():
    conjunctions = [[(0, 1)], [(0, 1), (1, 1)], [(1, 0), (2, 0)]]
    network = markov_network(3, features_of(conjunctions), np.array([np.inf, np.inf, -np.inf]))
    rows = np.zeros((1, 3), np.uint8)
    found = conditional_marginals(terms_of(network), rows, np.arange(3), TIGHT, seed=0)
    np.testing.assert_allclose(found.probability[0], [1, 1, 0.5], atol=1e-6)
    assert np.isfinite(found.approximation.log_partition).all()
