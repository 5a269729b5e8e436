"""Scores against enumeration, and the errors they come with."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import oracles
from made_random import random_data, random_dependency_network, random_network
from mnlearn.data.dataset import merge_rows
from mnlearn.inference.evidence import Evidence
from mnlearn.inference.plan import MARGINALS, plan
from mnlearn.inference.queries import answer
from mnlearn.inference.query_groups import partitions
from mnlearn.inference.sampling import sample_rows
from mnlearn.inference.settings import Inference
from mnlearn.models.features import features_of
from mnlearn.models.markov_network import markov_network
from mnlearn.runtime.errors import InputError
from mnlearn.scoring.any_model import cll, cmll, ll, pll
from mnlearn.variables.schema import NO_STATE

GROUPS = [[0, 3], [1, 2], [4, 5]]
EXACT = Inference("exact")


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("make", [random_network, random_dependency_network])
def test_pll(make, seed):
    model = make(seed)
    data = random_data(seed, n_vars=model.n_vars)
    found = pll(model, data)
    expected = oracles.pll(model, data.rows)
    assert_allclose(found.per_row, expected, atol=1e-10)
    every = expected[data.row_of]
    assert_allclose(found.mean, every.mean())
    assert_allclose(found.standard_error, every.std(ddof=1) / np.sqrt(len(every)))


@pytest.mark.parametrize("seed", range(3))
def test_exact_scores_of_a_markov_network(seed):
    network, data = random_network(seed), random_data(seed)
    states = oracles.all_states(6)
    log_joint = np.log(oracles.joint(network))
    index = [int("".join(map(str, x)), 2) for x in data.rows]
    assert_allclose(ll(network, data).per_row, log_joint[index], atol=1e-10)

    conditional, marginal = np.zeros(data.n_rows), np.zeros(data.n_rows)
    for group in GROUPS:
        known = [v for v in range(6) if v not in group]
        for i, x in enumerate(data.rows):
            same = (states[:, known] == x[known]).all(axis=1)
            conditional[i] += log_joint[index[i]] - np.logaddexp.reduce(log_joint[same])
            p = oracles.conditional_marginals(network, x, group)
            marginal[i] += np.log(np.where(x[group], p, 1 - p)).sum()
    assert_allclose(cll(network, data, GROUPS).per_row, conditional, atol=1e-10)
    assert_allclose(cmll(network, data, GROUPS, EXACT, seed=0).per_row, marginal, atol=1e-10)


@pytest.mark.parametrize("make", [random_network, random_dependency_network])
def test_the_monte_carlo_error_covers_the_error_of_gibbs(make):
    z = []
    for seed in range(8):
        model = make(seed)
        data = random_data(seed, 60, n_vars=model.n_vars)
        groups = [[0, 1, 2], [3, 4]]
        exact = cmll(model, data, groups, EXACT, seed=0)
        sampled = cmll(model, data, groups, Inference(samples=2000), seed=seed)
        assert sampled.monte_carlo_error > 0
        z.append((sampled.mean - exact.mean) / sampled.monte_carlo_error)
    assert np.abs(z).max() < 4
    assert 0.3 < np.std(z) < 2


def test_an_impossible_example_scores_minus_infinity():
    network = markov_network(2, features_of([[(0, 1), (1, 1)]]), [-np.inf])
    data = merge_rows(np.array([[1, 1], [0, 0]]))
    assert pll(network, data).mean == -np.inf
    assert ll(network, data).mean == -np.inf
    assert_allclose(ll(network, merge_rows(np.array([[0, 0]]))).mean, -np.log(3))
    # P(X_1 = 1 | X_0 = 1) is 0 and P(X_1 = 0 | X_0 = 0) one half.
    per_row = cmll(network, data, [[1]], EXACT, seed=0).per_row
    assert_allclose(per_row[data.row_of], [-np.inf, -np.log(2)])


def test_weighted_examples_count_as_often_as_they_weigh():
    network = random_network(0)
    rows = random_data(0).rows[:10]
    weight = np.arange(1, 11)
    weighted = pll(network, merge_rows(rows, weight))
    repeated = pll(network, merge_rows(np.repeat(rows, weight, axis=0)))
    assert_allclose(weighted.mean, repeated.mean)
    assert_allclose(weighted.standard_error, repeated.standard_error)


def test_scores_that_do_not_apply():
    data = random_data(0, n_vars=5)
    with pytest.raises(InputError, match="expected a Markov network"):
        ll(random_dependency_network(0), data)
    with pytest.raises(InputError, match="expected 6 variables"):
        pll(random_network(0), data)
    with pytest.raises(InputError, match="variable 1 is in two groups"):
        cmll(random_network(0, n_vars=5), data, [[0, 1], [1]], EXACT, seed=0)


def test_partitions_do_not_depend_on_how_many_are_asked_for():
    few, many = partitions(1, "d", 10, 4, n=2), partitions(1, "d", 10, 4, n=8)
    assert many[:2] == few
    for groups in many:
        assert sorted(v for g in groups for v in g) == list(range(10))
        assert {len(g) for g in groups} == {2, 3}
    assert partitions(2, "d", 10, 4, n=1) != few[:1]
    assert partitions(1, "e", 10, 4, n=1) != few[:1]
    assert many[0] != many[1]


@pytest.mark.parametrize("n_vars", [5, 24])
def test_samples_follow_the_distribution(n_vars):
    """Exact up to 20 variables; for more, Gibbs chains over variables that are independent."""
    network = random_network(1, n_vars=5)
    network = markov_network(n_vars, network.features, network.weight)
    rows = sample_rows(network, 20_000, 60, 7)
    small = random_network(1, n_vars=5)
    expected = oracles.joint(small) @ oracles.all_states(5)
    error = np.sqrt(expected * (1 - expected) / len(rows))
    assert (np.abs(rows[:, :5].mean(axis=0) - expected) < 5 * error).all()
    assert (sample_rows(network, 50, 60, 7) == sample_rows(network, 50, 60, 7, threads=3)).all()


def test_queries_of_a_person():
    network = random_network(3)
    unknown = NO_STATE
    values = [[unknown, 1, 0, unknown, 1, 1], [0, 1, 0, 1, 1, 1], [1, unknown, 0, 1, 1, 1]]
    evidence = Evidence(np.array(values, np.uint8), "row {}".format)
    chosen = plan(network, MARGINALS, evidence.values == unknown)
    p = answer(network, evidence, chosen, EXACT, seed=0).probability[:, 1::2]
    for x, found in zip(evidence.values, p, strict=True):
        query = np.flatnonzero(x == unknown)
        if len(query):
            assert_allclose(found[query], oracles.conditional_marginals(network, x, query))
        assert_allclose(found[x != unknown], x[x != unknown])
