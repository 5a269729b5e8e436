"""Inference by variable on models of one to four states, against enumeration."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import made_state_models as oracle
from made_state_models import (
    pairwise_tree,
    random_conjunction,
    random_rows,
    random_states_dependency_network,
    random_states_network,
)
from mnlearn.inference.annealing import Annealing, estimate_log_partition
from mnlearn.inference.conditionals import log_conditionals
from mnlearn.inference.indicators import over_indicators
from mnlearn.inference.marginals import conditional_log_likelihood, conditional_marginals
from mnlearn.inference.sampling import advance_chains, sample_rows
from mnlearn.inference.settings import Inference
from mnlearn.inference.terms import terms_of
from mnlearn.inference.variational import bethe_log_partition, bound_log_partition
from mnlearn.models.features import features_of
from mnlearn.runtime.errors import InputError
from state_oracles import every_row, schema_of

EXACT = Inference("exact")
QUERIES = [[1], [0, 3], [2], [0, 1, 2, 3, 4], [1, 4]]


def log_partition(network):
    rows = every_row(network.schema)
    return np.logaddexp.reduce([oracle.log_potential(network, row) for row in rows])


@pytest.mark.parametrize("seed", range(6))
def test_conjunctions_have_one_literal_for_each_variable(seed):
    rng, schema = np.random.default_rng(seed), schema_of(oracle.ARITIES)
    features = features_of([random_conjunction(rng, schema) for _ in range(60)])
    rows = every_row(schema)
    found, possible, indicators = over_indicators(features, schema.start)
    holds = features.satisfied(rows)
    assert_array_equal(found.satisfied(indicators.extend(rows))[:, possible], holds[:, possible])
    assert not holds[:, ~possible].any()
    for f in range(len(found)):
        own = [int(indicators.variable_of[k]) for k, _ in found.literals(f)]
        assert len(own) == len(set(own))
    assert len(indicators.sets)
    assert not possible.all()


@pytest.mark.parametrize("make", [random_states_network, random_states_dependency_network])
@pytest.mark.parametrize("seed", range(5))
def test_conditionals_match_the_definition(make, seed):
    model = make(seed)
    data = random_rows(seed, model.schema)
    found = log_conditionals(model, data)
    assert_allclose(found, oracle.log_conditionals(model, data.rows), atol=1e-10)
    assert_array_equal(found, log_conditionals(model, data, threads=3))


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("seed", range(3))
def test_exact_marginals(seed, query):
    network, rows = random_states_network(seed), random_rows(seed, schema_of(oracle.ARITIES)).rows
    found = conditional_marginals(terms_of(network), rows, np.array(query), EXACT, seed=0)
    expected = [oracle.conditional_marginals(network, row, query) for row in rows]
    assert_allclose(found.probability[found.row_of], expected, atol=1e-12)
    assert_allclose(found.complement, 1.0 - found.probability, atol=1e-12)
    assert_array_equal(found.columns, np.flatnonzero(np.isin(network.schema.variable_of, query)))


@pytest.mark.parametrize("seed", range(3))
def test_exact_marginals_of_a_dependency_network_are_those_gibbs_converges_to(seed):
    model = random_states_dependency_network(seed)
    rows = random_rows(seed, model.schema).rows[:4]
    for query in ([0, 1], [1, 3], [4]):
        found = conditional_marginals(terms_of(model), rows, np.array(query), EXACT, seed=0)
        expected = [oracle.stationary(model, row, query) for row in rows]
        assert_allclose(found.probability[found.row_of], expected, atol=1e-9)


@pytest.mark.parametrize(
    ("make", "method"),
    [
        (random_states_network, "gibbs"),
        (random_states_dependency_network, "gibbs"),
        (random_states_network, "mcsat"),
    ],
)
def test_samples_are_within_their_error_bars(make, method):
    errors = []
    for seed in range(6):
        model = make(seed)
        rows = random_rows(seed, model.schema).rows[:6]
        query = np.array([0, 1, 3, 4])
        run = Inference(method, burn_in=50, samples=4000)
        found = conditional_marginals(terms_of(model), rows, query, run, seed=seed)
        exact = conditional_marginals(terms_of(model), rows, query, EXACT, seed=0)
        assert_allclose(found.probability[:, 1:4].sum(axis=1), 1.0, atol=1e-4)
        spread = found.batches.std(axis=1, ddof=1) / np.sqrt(found.batches.shape[1])
        errors.append((found.probability - exact.probability) / np.maximum(spread, 1e-3))
    errors = np.concatenate([e.ravel() for e in errors])
    assert np.abs(errors).max() < 5
    assert 0.4 < errors.std() < 1.4


@pytest.mark.parametrize("method", ["gibbs", "mcsat"])
def test_sampling_does_not_depend_on_threads_or_on_other_rows(method):
    network = random_states_network(1, (3, 4, 2, 3, 5, 3), n_features=60)
    rows, query = random_rows(1, network.schema).rows, np.array([0, 2, 4, 5])
    terms, run = terms_of(network), Inference(method, burn_in=5, samples=33)
    one = conditional_marginals(terms, rows, query, run, seed=3)
    more = conditional_marginals(terms, rows, query, run, seed=3, threads=4)
    assert_array_equal(one.probability, more.probability)
    part = conditional_marginals(terms, rows[5:9], query, run, seed=3)
    assert_array_equal(part.probability[part.row_of], one.probability[one.row_of[5:9]])


def test_draws_of_mcsat_among_many_clauses():
    """Weights that rule out most states, so that clauses tie all variables."""
    errors = []
    for seed in range(4):
        network = random_states_network(seed, (3, 4, 3, 5), n_features=30, scale=3.0)
        run = Inference("mcsat", burn_in=200, samples=20_000)
        every = np.arange(4)
        rows = np.zeros((1, network.n_columns), np.uint8)
        found = conditional_marginals(terms_of(network), rows, every, run, seed=seed)
        exact = conditional_marginals(terms_of(network), rows, every, EXACT, seed=0)
        spread = found.batches.std(axis=1, ddof=1) / np.sqrt(found.batches.shape[1])
        errors.append((found.probability - exact.probability) / np.maximum(spread, 1e-3))
    assert np.abs(np.concatenate(errors)).max() < 5


@pytest.mark.parametrize("schedule", ["sequential", "parallel"])
@pytest.mark.parametrize("seed", range(4))
def test_beliefs_of_trees_are_exact(seed, schedule):
    network = pairwise_tree(seed)
    rows = random_rows(seed, network.schema).rows[:5]
    run = Inference("bp", iterations=500, tolerance=1e-9, schedule=schedule)
    for query in QUERIES:
        found = conditional_marginals(terms_of(network), rows, np.array(query), run, seed=0)
        expected = [oracle.conditional_marginals(network, row, query) for row in rows]
        assert_allclose(found.probability[found.row_of], expected, atol=1e-6)
        assert found.approximation.converged.all()
    log_z, converged = bethe_log_partition(network, run)
    assert converged
    assert_allclose(log_z, log_partition(network), atol=1e-6)


@pytest.mark.parametrize("seed", range(4))
def test_mean_field_is_a_bound_and_a_fixed_point(seed):
    run = Inference("meanfield", iterations=2000, tolerance=1e-10)
    weak = random_states_network(seed, scale=0.1)
    rows = random_rows(seed, weak.schema).rows[:5]
    for query in QUERIES:
        found = conditional_marginals(terms_of(weak), rows, np.array(query), run, seed=0)
        expected = [oracle.conditional_marginals(weak, row, query) for row in rows]
        assert_allclose(found.probability[found.row_of], expected, atol=0.02)
    single = [0], [1], [3]
    for query in single:
        # The marginals of one variable have no others to depend on.
        network = random_states_network(seed)
        found = conditional_marginals(terms_of(network), rows, np.array(query), run, seed=0)
        expected = [oracle.conditional_marginals(network, row, query) for row in rows]
        assert_allclose(found.probability[found.row_of], expected, atol=1e-8)
    for network in (weak, random_states_network(seed)):
        bound, converged = bound_log_partition(network, run)
        assert converged
        assert bound <= log_partition(network) + 1e-9
    assert_allclose(bound_log_partition(weak, run)[0], log_partition(weak), atol=0.05)


@pytest.mark.parametrize("seed", range(3))
def test_annealing_agrees_with_enumeration(seed):
    network = random_states_network(seed, (2, 3, 4, 1, 3, 2), n_features=40)
    found, error = estimate_log_partition(network, Annealing(200, 500), seed)
    assert abs(found - log_partition(network)) < 5 * max(error, 1e-3)
    assert error < 0.1
    assert (found, error) == estimate_log_partition(network, Annealing(200, 500), seed, threads=3)


@pytest.mark.parametrize("seed", range(2))
def test_joint_probabilities(seed):
    network = random_states_network(seed)
    rows, every = every_row(network.schema), np.arange(5)
    found = conditional_log_likelihood(terms_of(network), rows, every)
    assert_allclose(np.exp(found), oracle.joint(network), atol=1e-12)
    neither = np.zeros((1, network.n_columns), np.uint8)
    assert_array_equal(conditional_log_likelihood(terms_of(network), neither, every), -np.inf)


def test_too_many_joint_states():
    network = random_states_network(0, (3,) * 13)
    rows = np.zeros((1, 39), np.uint8)
    with pytest.raises(InputError, match=r"13 query variables are too many .* 2\^20 joint states"):
        conditional_marginals(terms_of(network), rows, np.arange(13), EXACT, seed=0)


def assert_follow(rows, network, small):
    """Rows have one state for each variable, and the first variables those of a small network."""
    assert (network.schema.values(rows) < network.schema.arity).all()
    n = small.n_columns
    expected = oracle.joint(small) @ every_row(small.schema)
    error = np.sqrt(expected * (1 - expected) / len(rows))
    assert (np.abs(rows[:, :n].mean(axis=0) - expected) < 5 * error).all()


@pytest.mark.parametrize("n_more", [0, 14])
def test_samples_have_one_state_for_each_variable(n_more):
    """Exact where there are few joint states; else the ends of Gibbs chains."""
    small = random_states_network(2)
    schema = schema_of((*oracle.ARITIES, *(3,) * n_more))
    network = type(small)(schema, small.features, small.weight)
    rows = sample_rows(network, 8000, 60, 7)
    assert_follow(rows, network, small)
    assert_array_equal(rows[:50], sample_rows(network, 50, 60, 7, threads=3)[:50]) if n_more else 0
    assert_follow(advance_chains(network, rows, 5, 1), network, small)
    model = random_states_dependency_network(3)
    drawn = sample_rows(model, 50, 5, 1)
    assert (model.schema.values(drawn) < model.schema.arity).all()


@pytest.mark.parametrize("method", ["exact", "gibbs", "mcsat", "bp", "meanfield"])
def test_a_variable_of_one_state_is_in_it(method):
    network = random_states_network(0)
    data = random_rows(0, network.schema)
    run = Inference(method, burn_in=1, samples=2)
    for query in ([2], [2, 3]):
        found = conditional_marginals(terms_of(network), data.rows, np.array(query), run, seed=0)
        assert_array_equal(found.log_own(network.schema.values(data.rows)[:, query])[:, 0], 0.0)
