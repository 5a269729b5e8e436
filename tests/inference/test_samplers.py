"""Samplers on variables of one to four states: within their own error bars, and repeatable."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import oracles
from made_random import random_data, random_dependency_network, random_network
from made_state_models import ARITIES, random_states_dependency_network, random_states_network
from made_states import every_row, random_rows, schema_of
from mnlearn.inference import marginals
from mnlearn.inference.marginals import conditional_marginals
from mnlearn.inference.sampling import advance_chains, sample_rows
from mnlearn.inference.settings import Inference
from mnlearn.inference.terms import terms_of
from mnlearn.models.markov_network import markov_network

EXACT = Inference("exact")


def errors_of(model, rows, query, run, seed, least):
    """How far estimates are from the exact marginals, in standard errors of `least` or more."""
    terms = terms_of(model)
    found = conditional_marginals(terms, rows, query, run, seed=seed)
    exact = conditional_marginals(terms, rows, query, EXACT, seed=0)
    for v in query:
        own = model.schema.variable_of[found.columns] == v
        if own.sum() > 1:
            assert_allclose(found.probability[:, own].sum(axis=1), 1.0, atol=1e-4)
    spread = found.batches.std(axis=1, ddof=1) / np.sqrt(found.batches.shape[1])
    return ((found.probability - exact.probability) / np.maximum(spread, least)).ravel()


@pytest.mark.parametrize(
    ("make", "method", "scan_limit"),
    [
        # By scans of up to 64 variables, and by blocks.
        *((make, "gibbs", n) for make in (random_network, random_dependency_network)
          for n in (64, 0)),
        (random_states_network, "gibbs", 64),
        (random_states_dependency_network, "gibbs", 64),
        (random_states_network, "mcsat", 64),
    ],
)  # fmt: skip
def test_samples_are_within_their_error_bars(make, method, scan_limit, monkeypatch):
    monkeypatch.setattr(marginals, "SCAN_LIMIT", scan_limit)
    errors, run = [], Inference(method, burn_in=50, samples=4000)
    for seed in range(6):
        model = make(seed)
        rows = random_rows(seed, model.schema).rows[:8]
        errors.append(errors_of(model, rows, np.array([0, 1, 3, 4]), run, seed, 1e-3))
    errors = np.concatenate(errors)
    assert np.abs(errors).max() < 5
    assert 0.5 < errors.std() < 1.3


def test_draws_of_mcsat_among_many_clauses():
    """Weights that rule out most states, so that clauses tie all variables."""
    run, errors = Inference("mcsat", burn_in=200, samples=20_000), []
    for seed in range(4):
        network = random_states_network(seed, (3, 4, 3, 5), n_features=30, scale=3.0)
        rows = np.zeros((1, network.n_columns), np.uint8)
        errors.append(errors_of(network, rows, np.arange(4), run, seed, 1e-3))
    assert np.abs(np.concatenate(errors)).max() < 5


@pytest.mark.parametrize(
    ("kind", "method"),
    [
        *itertools.product(["binary", "states"], ["gibbs", "mcsat", "bp", "meanfield"]),
        *itertools.product(["dependency network"], ["gibbs", "meanfield"]),
    ],
)
def test_rows_are_answered_alike_in_any_number_of_threads_and_without_the_others(kind, method):
    if kind == "dependency network":
        network, rows = random_dependency_network(0), random_data(0, n_vars=5).rows
        query = np.array([0, 2, 3])
    elif kind == "binary":
        network, rows = random_network(1, 12, 60), random_data(1, n_vars=12).rows
        query = np.arange(0, 12, 2)
    else:
        network = random_states_network(1, (3, 4, 2, 3, 5, 3), n_features=60)
        rows, query = random_rows(1, network.schema).rows, np.array([0, 2, 4, 5])
    terms, run = terms_of(network), Inference(method, burn_in=10, samples=50)
    one = conditional_marginals(terms, rows, query, run, seed=3)
    for threads in (2, 4):
        more = conditional_marginals(terms, rows, query, run, seed=3, threads=threads)
        assert_array_equal(one.probability, more.probability)
    part = conditional_marginals(terms, rows[5:9], query, run, seed=3)
    # Sums of messages begin at those of the rows before, which moves their last bit.
    error = 1e-15 if method == "bp" else 0
    assert_allclose(
        part.probability[part.row_of], one.probability[one.row_of[5:9]], rtol=0, atol=error
    )
    other = conditional_marginals(terms, rows, query, run, seed=4)
    assert (one.probability != other.probability).any() == (method in ("gibbs", "mcsat"))


def assert_follow(rows, network, small):
    """Rows have one state for each variable, and the first variables those of a small network."""
    assert (network.schema.values(rows) < network.schema.arity).all()
    n = small.n_columns
    expected = oracles.joint(small) @ every_row(small.schema)
    error = np.sqrt(expected * (1 - expected) / len(rows))
    assert (np.abs(rows[:, :n].mean(axis=0) - expected) < 5 * error).all()


@pytest.mark.parametrize(
    ("arities", "more"),
    [((2,) * 5, ()), ((2,) * 5, (2,) * 19), (ARITIES, ()), (ARITIES, (3,) * 14)],
)
def test_samples_follow_the_distribution(arities, more):
    """Exact where there are few joint states; else the ends of Gibbs chains."""
    small = random_states_network(2, arities)
    network = markov_network(schema_of(*arities, *more), small.features, small.weight)
    rows = sample_rows(network, 8000, 60, 7)
    assert_follow(rows, network, small)
    few, same = (sample_rows(network, 50, 60, 7, threads=threads) for threads in (1, 3))
    assert_array_equal(few, same)
    assert_follow(advance_chains(network, rows, 5, 1), network, small)


def test_samples_of_a_dependency_network_have_one_state_for_each_variable():
    model = random_states_dependency_network(3)
    drawn = sample_rows(model, 50, 5, 1)
    assert (model.schema.values(drawn) < model.schema.arity).all()
