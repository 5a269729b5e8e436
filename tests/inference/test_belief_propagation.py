"""Belief propagation by features: exact on trees, near exact where couplings are weak."""

import numpy as np
import pytest

from checked_networks import CHECKED
from made_random import random_data, random_dependency_network, random_network
from made_state_models import random_states_network
from mnlearn.inference.marginals import conditional_marginals as marginals_of_rows
from mnlearn.inference.settings import Inference
from mnlearn.inference.terms import query_of, terms_of
from mnlearn.inference.variational import bethe_log_partition, infer_beliefs, propagate
from mnlearn.models.features import features_of
from mnlearn.models.markov_network import markov_network
from mnlearn.runtime.errors import InputError
from oracles import BeliefPropagation, all_states, conditional_marginals, log_potential

NOTHING = np.empty((1, 0), np.uint8)


def marginals(network, row, query, inference=None):
    run = inference or Inference("bp")
    asked, found = infer_beliefs(terms_of(network), row, np.array(query), run)
    assert asked.query.tolist() == sorted(query)
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


@pytest.mark.parametrize("seed", range(8))
def test_beliefs_of_trees_are_exact(seed):
    network, rng = tree(seed), np.random.default_rng(seed)
    row = rng.integers(0, 2, 7).astype(np.uint8)
    for query in ([3], [0, 2, 5], list(range(7))):
        p, converged = marginals(network, row, query)
        assert converged
        np.testing.assert_allclose(p, conditional_marginals(network, row, query), atol=2e-4)


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
    terms = terms_of(random_dependency_network(0))
    with pytest.raises(InputError, match="expected a Markov network"):
        infer_beliefs(terms, np.zeros(5, np.uint8), np.array([0, 1]), Inference("bp"))
    states = random_states_network(0)
    with pytest.raises(InputError, match="inference bp: some features are too long for tables"):
        infer_beliefs(
            terms_of(states), np.zeros(states.n_columns, np.uint8), np.arange(2), Inference("bp")
        )


def tight(**settings):
    return Inference("bp", iterations=2000, tolerance=1e-12, **settings)


def log_z(network):
    return np.logaddexp.reduce([log_potential(network, x) for x in all_states(network.n_vars)])


@pytest.mark.parametrize("schedule", ["sequential", "parallel"])
@pytest.mark.parametrize("seed", range(50))
def test_marginals_and_log_z_of_trees_are_exact(seed, schedule):
    network = tree(seed)
    found = propagate(query_of(terms_of(network), np.arange(7)), NOTHING, tight(schedule=schedule))
    assert found.converged.all()
    exact = conditional_marginals(network, np.zeros(7, np.uint8), range(7))
    np.testing.assert_allclose(1 / (1 + np.exp(-found.log_odds[0])), exact, atol=1e-9)
    assert found.log_partition[0] == pytest.approx(log_z(network), abs=1e-9)


@pytest.mark.parametrize("schedule", ["sequential", "parallel"])
@pytest.mark.parametrize("checked", CHECKED)
def test_fixed_points_are_those_of_another_program(checked, schedule):
    network = checked.network
    asked = query_of(terms_of(network), np.arange(network.n_vars))
    for damping in (0.2, 0.5, 0.8):
        found = propagate(asked, NOTHING, tight(schedule=schedule, damping=damping))
        assert found.converged.all()
        p = 1 / (1 + np.exp(-found.log_odds[0]))
        np.testing.assert_allclose(p, checked.marginals["bp"], atol=1e-9)
        assert found.log_partition[0] == pytest.approx(checked.log_z["bp"], abs=1e-8)
    assert log_z(network) == pytest.approx(checked.log_z["exact"], abs=1e-9)


@pytest.mark.parametrize("schedule", ["sequential", "parallel"])
def test_fifty_networks_with_loops_agree_with_an_implementation_by_tables(schedule):
    """After a few iterations, in the order of the factors, and where the updates end."""
    for seed in range(50):
        scale = (0.5, 2.0)[seed % 2]
        network = random_network(seed, n_vars=8, n_features=25, scale=scale)
        asked = query_of(terms_of(network), np.arange(8))
        oracle = BeliefPropagation(network)
        for _ in range(3):
            oracle.iterate(0.25, schedule == "parallel")
        few = Inference("bp", iterations=3, tolerance=0.0, damping=0.25, schedule=schedule)
        found = propagate(asked, NOTHING, few)
        np.testing.assert_allclose(found.log_odds[0], oracle.beliefs, atol=1e-9)
        if scale == 2.0:
            continue
        while oracle.iterate(0.25, schedule == "parallel") > 1e-12:
            pass
        found = propagate(asked, NOTHING, tight(damping=0.25, schedule=schedule))
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
        worst_z = max(worst_z, abs(value - log_z(network)))
        p, _ = marginals(network, np.zeros(6, np.uint8), list(range(6)))
        exact = conditional_marginals(network, np.zeros(6, np.uint8), range(6))
        worst = max(worst, np.abs(p - exact).max())
    assert worst < 0.05
    assert worst_z < 0.07


def test_rows_of_evidence_are_answered_alike_in_any_number_of_threads():
    network, rows = random_network(0, scale=0.5), random_data(0).rows
    query = np.array([0, 2, 3])
    run = Inference("bp")
    one = marginals_of_rows(terms_of(network), rows, query, run, seed=0)
    two = marginals_of_rows(terms_of(network), rows, query, run, seed=1, threads=3)
    assert one.probability.tobytes() == two.probability.tobytes()
    assert one.approximation.converged.all()
    for i, row in enumerate(rows[:20]):
        alone = marginals_of_rows(terms_of(network), row[None], query, run, seed=0)
        np.testing.assert_allclose(one.probability[one.row_of[i]], alone.probability[0], atol=1e-15)


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
