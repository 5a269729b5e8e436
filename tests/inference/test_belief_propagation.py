"""Belief propagation by features: exact on trees, near exact where couplings are weak."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from made_factors import log_joint, marginals_of
from made_random import random_data, random_dependency_network, random_network
from made_state_models import pairwise_tree, random_states_network
from made_states import random_rows
from mnlearn.inference.marginals import conditional_marginals as marginals_of_rows
from mnlearn.inference.settings import SCHEDULES, Inference
from mnlearn.inference.state_columns import log_state_probabilities
from mnlearn.inference.tables.factors import factors_of
from mnlearn.inference.terms import given_by_feature, terms_of
from mnlearn.inference.variational import bethe_log_partition, propagate
from mnlearn.models.features import features_of
from mnlearn.models.markov_network import markov_network
from mnlearn.runtime.errors import InputError
from oracles import BeliefPropagation, conditional_marginals, log_partition

QUERIES = [[1], [0, 3], [2], [0, 1, 2, 3, 4], [1, 4]]


def beliefs(network, inference, query=None, row=None):
    query = range(network.n_vars) if query is None else query
    row = np.zeros(network.n_vars, np.uint8) if row is None else row
    return propagate(given_by_feature(network), row[None], np.sort(list(query)), inference)


def marginals(network, row, query, inference=None):
    found = beliefs(network, inference or Inference("bp"), query, row)
    return 1 / (1 + np.exp(-found.log_odds[0])), found.converged[0]


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


def test_several_features_over_one_pair_are_a_loop_as_the_page_on_inference_says():
    """The cells of a table are features; one feature of the same pair is answered exactly."""
    cells = [[(0, x), (1, y)] for x in (0, 1) for y in (0, 1)]
    table = np.log([0.128, 0.872, 0.92, 0.08])
    network = markov_network(2, features_of([[(0, 1)], *cells]), [0.25, *table])
    row, query = np.zeros(2, np.uint8), [0, 1]
    exact = conditional_marginals(network, row, query)
    p, converged = marginals(network, row, query)
    assert converged
    assert np.abs(p - exact).max() > 0.01
    one = [
        0.25 + table[2] - table[0],
        table[1] - table[0],
        table[3] - table[2] - table[1] + table[0],
    ]
    same = markov_network(2, features_of([[(0, 1)], [(1, 1)], [(0, 1), (1, 1)]]), one)
    np.testing.assert_allclose(conditional_marginals(same, row, query), exact, atol=1e-12)
    np.testing.assert_allclose(marginals(same, row, query)[0], exact, atol=1e-4)


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
    p, _ = marginals(network, np.zeros(3, np.uint8), [0, 1, 2], tight())
    assert p[0] == pytest.approx(1)
    assert p[1] == pytest.approx(1)
    assert p[2] == pytest.approx(0.5)


def test_without_features_beliefs_are_even_and_dependency_networks_are_refused():
    network = markov_network(3, features_of([]), np.zeros(0))
    assert marginals(network, np.zeros(3, np.uint8), [0, 2])[0].tolist() == [0.5, 0.5]
    network, rows = random_dependency_network(0), random_data(0).rows
    with pytest.raises(InputError, match="expected a Markov network"):
        marginals_of_rows(terms_of(network), rows, np.array([0]), Inference("bp"), seed=0)


@pytest.mark.parametrize("seed", range(6))
def test_features_of_variables_of_several_states(seed):
    """Exact on a tree, and the same as tables with loops where a table has one feature."""
    network = pairwise_tree(seed, scale=2.0)
    values = np.zeros(network.n_vars, np.uint8)
    exact = marginals_of(log_joint(factors_of(network)))
    found = beliefs(network, tight(), row=values)
    own = np.exp(log_state_probabilities(found.log_odds[0], network.schema.start))
    np.testing.assert_allclose(own, exact, atol=1e-9)
    loops = random_states_network(seed, n_features=8, scale=0.5)
    for schedule in SCHEDULES:
        found = beliefs(loops, tight(schedule=schedule), row=values)
        assert found.converged.all()
        p = np.exp(log_state_probabilities(found.log_odds[0], loops.schema.start))
        np.testing.assert_allclose(p, marginals_of(log_joint(factors_of(loops))), atol=0.05)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("seed", range(4))
def test_beliefs_of_trees_of_several_states_are_exact(seed, schedule):
    network = pairwise_tree(seed)
    rows = random_rows(seed, network.schema).rows[:5]
    run = Inference("bp", iterations=500, tolerance=1e-9, schedule=schedule)
    for query in QUERIES:
        found = marginals_of_rows(terms_of(network), rows, np.array(query), run, seed=0)
        expected = [conditional_marginals(network, row, query) for row in rows]
        assert_allclose(found.probability[found.row_of], expected, atol=1e-6)
        assert found.approximation.converged.all()
    log_z, converged = bethe_log_partition(network, run)
    assert converged
    assert_allclose(log_z, log_partition(network), atol=1e-6)


def tight(**settings):
    return Inference("bp", iterations=2000, tolerance=1e-12, **settings)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("seed", range(50))
def test_marginals_and_log_z_of_trees_are_exact(seed, schedule):
    network = tree(seed)
    found = beliefs(network, tight(schedule=schedule))
    assert found.converged.all()
    exact = conditional_marginals(network, np.zeros(7, np.uint8), range(7))
    np.testing.assert_allclose(1 / (1 + np.exp(-found.log_odds[0])), exact, atol=1e-9)
    assert found.log_partition[0] == pytest.approx(log_partition(network), abs=1e-9)


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_fifty_networks_with_loops_agree_with_an_implementation_by_tables(schedule):
    """After a few iterations from the same messages, and where the updates end."""
    for seed in range(50):
        scale = (0.5, 2.0)[seed % 2]
        network = random_network(seed, n_vars=8, n_features=25, scale=scale)
        oracle = BeliefPropagation(network)
        if schedule == "parallel":
            for _ in range(3):
                oracle.iterate(0.25)
            few = Inference("bp", iterations=3, tolerance=0.0, damping=0.25, schedule=schedule)
            found = beliefs(network, few)
            np.testing.assert_allclose(found.log_odds[0], oracle.beliefs, atol=1e-9)
        if scale == 2.0:
            continue
        while oracle.iterate(0.25) > 1e-12:
            pass
        # Where updates end does not depend on the damping.
        damping = (0.25, 0.5, 0.8)[seed % 3]
        found = beliefs(network, tight(damping=damping, schedule=schedule))
        assert found.converged.all()
        np.testing.assert_allclose(found.log_odds[0], oracle.beliefs, atol=1e-9)
        assert found.log_partition[0] == pytest.approx(oracle.log_partition(), abs=1e-9)


def test_fifty_networks_with_loops_are_near_the_exact_answers():
    """The bounds are what was seen (0.065 nats for log Z), rounded up: propagation has no proof."""
    worst, worst_z = 0.0, 0.0
    for seed in range(50):
        network = random_network(seed, n_vars=6, n_features=20, scale=0.5)
        value, converged = bethe_log_partition(network, tight(), by_feature=True)
        assert converged
        worst_z = max(worst_z, abs(value - log_partition(network)))
        p, _ = marginals(network, np.zeros(6, np.uint8), list(range(6)))
        exact = conditional_marginals(network, np.zeros(6, np.uint8), range(6))
        worst = max(worst, np.abs(p - exact).max())
    assert worst < 0.05
    assert worst_z < 0.07


def test_propagation_that_ends_early_is_reported(caplog):
    network, rows = random_network(0, scale=2.0), random_data(0).rows[:4]
    run = Inference("bp", iterations=2)
    with caplog.at_level("WARNING", logger="mnlearn"):
        found = marginals_of_rows(terms_of(network), rows, np.arange(6), run, seed=0)
    assert not found.approximation.converged.any()
    assert found.approximation.n_iterations.tolist() == [2]
    assert caplog.messages == ["inference bp: 1 of 1 queries did not converge in 2 iterations."]


def test_a_weight_whose_exponential_overflows():
    network = markov_network(3, features_of([[(v, 1) for v in range(3)]]), [800.0])
    value, converged = bethe_log_partition(network, tight(), by_feature=True)
    assert converged
    assert value == pytest.approx(800.0, abs=1e-9)


def test_work_of_a_feature_is_proportional_to_its_length():
    """A feature of 2,000 literals takes one iteration of 2,000 messages, not a table of states."""
    n_vars = 2000
    network = markov_network(n_vars, features_of([[(v, 1) for v in range(n_vars)]]), [800.0])
    value, converged = bethe_log_partition(network, tight(), by_feature=True)
    assert converged
    assert value == pytest.approx(n_vars * np.log(2), abs=1e-9)
