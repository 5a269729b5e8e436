"""Conditionals and marginals against enumeration; Gibbs within its own error bars."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import oracles
from made_random import random_data, random_dependency_network, random_network
from mnlearn.inference import marginals
from mnlearn.inference.conditionals import conditional_log_odds
from mnlearn.inference.marginals import conditional_marginals
from mnlearn.inference.settings import Inference
from mnlearn.inference.terms import terms_of
from mnlearn.models.features import features_of
from mnlearn.models.markov_network import markov_network
from mnlearn.runtime.errors import InputError

EXACT = Inference("exact")


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("make", [random_network, random_dependency_network])
def test_conditional_log_odds_match_the_definition(make, seed):
    model = make(seed)
    data = random_data(seed, n_vars=model.n_vars)
    assert_allclose(
        conditional_log_odds(model, data), oracles.log_odds_matrix(model, data.rows), atol=1e-12
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("query", [[0, 2, 5], [4], [0, 1, 2, 3, 4, 5]])
def test_exact_marginals_of_a_markov_network(seed, query):
    network = random_network(seed)
    rows = random_data(seed).rows
    found = conditional_marginals(terms_of(network), rows, np.array(query), EXACT, seed=0)
    expected = [oracles.conditional_marginals(network, x, query) for x in rows]
    assert_allclose(found.probability[found.row_of], expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_exact_marginals_of_a_dependency_network_are_those_gibbs_converges_to(seed):
    model = random_dependency_network(seed)
    rows = random_data(seed, n_vars=model.n_vars).rows[:6]
    query = [0, 2, 3]
    found = conditional_marginals(terms_of(model), rows, np.array(query), EXACT, seed=0)
    expected = [oracles.gibbs_stationary(model, x, query) for x in rows]
    assert_allclose(found.probability[found.row_of], expected, atol=1e-10)


@pytest.mark.parametrize("way", ["scans", "blocks"])
@pytest.mark.parametrize("make", [random_network, random_dependency_network])
def test_gibbs_marginals_are_within_their_error_bars(make, way, monkeypatch):
    monkeypatch.setattr(marginals, "SCAN_LIMIT", 64 if way == "scans" else 0)
    errors = []
    for seed in range(6):
        model = make(seed)
        rows = random_data(seed, n_vars=model.n_vars).rows[:8]
        query = np.array([0, 1, 3, 4])
        gibbs_run = Inference("gibbs", burn_in=50, samples=4000)
        found = conditional_marginals(terms_of(model), rows, query, gibbs_run, seed=seed)
        exact = conditional_marginals(terms_of(model), rows, query, EXACT, seed=0)
        spread = found.batches.std(axis=1, ddof=1) / np.sqrt(found.batches.shape[1])
        errors.append((found.probability - exact.probability) / np.maximum(spread, 1e-3))
    errors = np.concatenate([e.ravel() for e in errors])
    assert np.abs(errors).max() < 5
    assert 0.5 < errors.std() < 1.3


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


def test_sampling_does_not_depend_on_threads_or_on_other_rows():
    network = random_network(1, n_vars=12, n_features=60)
    rows = random_data(1, n_vars=12).rows
    query = np.arange(0, 12, 2)
    run = Inference(samples=50)
    one = conditional_marginals(terms_of(network), rows, query, run, seed=3)
    for threads in (2, 4):
        more = conditional_marginals(terms_of(network), rows, query, run, seed=3, threads=threads)
        assert_array_equal(one.probability, more.probability)
    part = conditional_marginals(terms_of(network), rows[5:9], query, run, seed=3)
    assert_array_equal(part.probability[part.row_of], one.probability[one.row_of[5:9]])
    other = conditional_marginals(terms_of(network), rows, query, run, seed=4)
    assert (one.probability != other.probability).any()


def test_an_infinite_weight_forbids_a_state():
    network = markov_network(2, features_of([[(0, 1), (1, 1)], [(0, 1)]]), [-np.inf, 1.0])
    rows = np.array([[0, 1], [0, 0]], np.uint8)
    for run in (EXACT, Inference()):
        found = conditional_marginals(terms_of(network), rows, np.array([0]), run, seed=0)
        assert found.probability[found.row_of[0], 0] < 1e-3
        assert_allclose(found.probability[found.row_of[1], 0], 1 / (1 + np.exp(-1)), atol=1e-3)


def test_too_many_query_variables_for_enumeration():
    network = random_network(0, n_vars=22)
    rows = np.zeros((1, 22), np.uint8)
    with pytest.raises(InputError, match="21 query variables are too many"):
        conditional_marginals(terms_of(network), rows, np.arange(21), EXACT, seed=0)
