"""Conditionals and exact marginals of variables of one to four states, against enumeration."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import oracles
from made_random import random_data, random_dependency_network, random_network
from made_state_models import (
    ARITIES,
    random_conjunction,
    random_states_dependency_network,
    random_states_network,
)
from made_states import every_row, random_rows, schema_of
from mnlearn.inference.conditionals import conditional_log_odds, log_conditionals
from mnlearn.inference.indicators import over_indicators
from mnlearn.inference.marginals import conditional_log_likelihood, conditional_marginals
from mnlearn.inference.settings import Inference, inference_of
from mnlearn.inference.terms import terms_of
from mnlearn.models.features import features_of
from mnlearn.models.markov_network import markov_network
from mnlearn.runtime.errors import InputError

EXACT = Inference("exact")
NETWORKS = [random_network, random_states_network]
DEPENDENCY_NETWORKS = [random_dependency_network, random_states_dependency_network]
QUERIES = [[1], [0, 3], [2], [0, 1, 2, 3, 4], [1, 4], [0, 2, 4]]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("make", [random_network, random_dependency_network])
def test_conditional_log_odds_match_the_definition(make, seed):
    model = make(seed)
    data = random_data(seed, n_vars=model.n_vars)
    assert_allclose(
        conditional_log_odds(model, data), oracles.log_odds_matrix(model, data.rows), atol=1e-12
    )


@pytest.mark.parametrize("make", [random_states_network, random_states_dependency_network])
@pytest.mark.parametrize("seed", range(5))
def test_conditionals_match_the_definition(make, seed):
    model = make(seed)
    data = random_rows(seed, model.schema)
    found = log_conditionals(model, data)
    assert_allclose(found, oracles.log_conditionals(model, data.rows), atol=1e-10)
    assert_array_equal(found, log_conditionals(model, data, threads=3))


@pytest.mark.parametrize("seed", range(6))
def test_conjunctions_have_one_literal_for_each_variable(seed):
    rng, schema = np.random.default_rng(seed), schema_of(*ARITIES)
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


@pytest.mark.parametrize("query", QUERIES)
@pytest.mark.parametrize("make", NETWORKS)
@pytest.mark.parametrize("seed", range(3))
def test_exact_marginals(seed, make, query):
    network = make(seed)
    rows = random_rows(seed, network.schema).rows
    found = conditional_marginals(terms_of(network), rows, np.array(query), EXACT, seed=0)
    expected = [oracles.conditional_marginals(network, row, query) for row in rows]
    assert_allclose(found.probability[found.row_of], expected, atol=1e-12)
    assert_allclose(found.complement, 1.0 - found.probability, atol=1e-12)
    assert_array_equal(found.columns, np.flatnonzero(np.isin(network.schema.variable_of, query)))


@pytest.mark.parametrize("make", DEPENDENCY_NETWORKS)
@pytest.mark.parametrize("seed", range(3))
def test_exact_marginals_of_a_dependency_network_are_those_gibbs_converges_to(seed, make):
    model = make(seed)
    rows = random_rows(seed, model.schema).rows[:4]
    for query in ([0, 1], [1, 3], [4], [0, 2, 3]):
        found = conditional_marginals(terms_of(model), rows, np.array(query), EXACT, seed=0)
        expected = [oracles.stationary(model, row, query) for row in rows]
        assert_allclose(found.probability[found.row_of], expected, atol=1e-9)


@pytest.mark.parametrize("make", NETWORKS)
@pytest.mark.parametrize("seed", range(2))
def test_joint_probabilities(seed, make):
    network = make(seed)
    rows, every = every_row(network.schema), np.arange(network.n_vars)
    found = conditional_log_likelihood(terms_of(network), rows, every)
    assert_allclose(np.exp(found), oracles.joint(network), atol=1e-12)
    if network.schema.several:
        neither = np.zeros((1, network.n_columns), np.uint8)
        assert_array_equal(conditional_log_likelihood(terms_of(network), neither, every), -np.inf)


@pytest.mark.parametrize(
    ("network", "n_query", "most"),
    [
        (random_network(0, n_vars=22), 21, "20"),
        (random_states_network(0, (3,) * 13), 13, r"2\^20 joint states"),
    ],
    ids=["binary", "states"],
)
def test_too_many_joint_states(network, n_query, most):
    rows = np.zeros((1, network.n_columns), np.uint8)
    with pytest.raises(InputError, match=rf"{n_query} query .* too many .*\(at most {most}\)"):
        conditional_marginals(terms_of(network), rows, np.arange(n_query), EXACT, seed=0)


@pytest.mark.parametrize("n_vars", [5, 70])
@pytest.mark.parametrize("samples", [7, 64, 100])
def test_gibbs_sampling_of_independent_variables_is_exact(n_vars, samples):
    """Means of conditional probabilities, which are the marginals in every state.

    Half a sample of each value is added.
    """
    rng = np.random.default_rng(2)
    weight = rng.normal(scale=2, size=n_vars)
    network = markov_network(n_vars, features_of([[(v, 1)] for v in range(n_vars)]), weight)
    rows = np.zeros((1, n_vars), np.uint8)
    gibbs = Inference("gibbs", burn_in=3, samples=samples)
    found = conditional_marginals(terms_of(network), rows, np.arange(n_vars), gibbs, seed=1)
    expected = (samples / (1 + np.exp(-weight)) + 0.5) / (samples + 1)
    assert_allclose(found.probability[0], expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("run", "error"),
    [(EXACT, 1e-3), (Inference("gibbs"), 1e-3), (inference_of("mcsat"), 0.03)],
    ids=lambda x: getattr(x, "method", ""),
)
def test_an_infinite_weight_forbids_a_state(run, error):
    network = markov_network(2, features_of([[(0, 1), (1, 1)], [(0, 1)]]), [-np.inf, 1.0])
    rows = np.array([[0, 1], [0, 0]], np.uint8)
    found = conditional_marginals(terms_of(network), rows, np.array([0]), run, seed=0)
    assert found.probability[found.row_of[0], 0] < 1e-3
    assert_allclose(found.probability[found.row_of[1], 0], 1 / (1 + np.exp(-1)), atol=error)


@pytest.mark.parametrize("method", ["exact", "gibbs", "mcsat", "bp", "meanfield"])
def test_a_variable_of_one_state_is_in_it(method):
    network = random_states_network(0)
    data = random_rows(0, network.schema)
    run = Inference(method, burn_in=1, samples=2)
    for query in ([2], [2, 3]):
        found = conditional_marginals(terms_of(network), data.rows, np.array(query), run, seed=0)
        assert_array_equal(found.log_own(network.schema.values(data.rows)[:, query])[:, 0], 0.0)
