"""Scores over variables of one to four states, against enumeration."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import made_state_models as oracle
from made_state_models import (
    random_rows,
    random_states_dependency_network,
    random_states_network,
)
from mnlearn.data.dataset import merge_rows
from mnlearn.inference.circuits.compilation import compile_network
from mnlearn.inference.sampling import sample_rows
from mnlearn.inference.settings import Inference
from mnlearn.learning.learner import Task
from mnlearn.methods.chow_liu import ChowLiu
from mnlearn.methods.hclt import HCLT
from mnlearn.methods.lem import LEM
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.scoring.any_model import approximate_ll, cll, cmll, ll, pll
from state_oracles import every_row

GROUPS = [[0, 3], [1, 2], [4]]
EXACT = Inference("exact")


def as_circuit(network):
    """The circuit of a network, without the features, which would answer in its place."""
    c = compile_network(network)
    return ArithmeticCircuit(c.schema, c.is_sum, c.start, c.child, c.weight)


def log_own(model, data):
    """log P(x_v | the rest) of each row and variable."""
    values = model.schema.values(data.rows)
    return np.array(
        [
            [oracle.log_conditional(model, row, v)[values[i, v]] for v in range(len(model.schema))]
            for i, row in enumerate(data.rows)
        ]
    )


@pytest.mark.parametrize("seed", range(3))
def test_pll_of_every_kind_of_model(seed):
    network = random_states_network(seed)
    data = random_rows(seed, network.schema)
    expected = log_own(network, data).sum(axis=1)
    assert_allclose(pll(network, data).per_row, expected, atol=1e-10)
    assert_allclose(pll(as_circuit(network), data).per_row, expected, atol=1e-10)
    model = random_states_dependency_network(seed)
    assert_allclose(pll(model, data).per_row, log_own(model, data).sum(axis=1), atol=1e-10)


@pytest.mark.parametrize("form", [lambda network: network, as_circuit])
@pytest.mark.parametrize("seed", range(3))
def test_scores_of_groups_of_variables(seed, form):
    network = random_states_network(seed)
    data, model = random_rows(seed, network.schema), form(network)
    schema, rows = network.schema, every_row(network.schema)
    log_joint = np.log(oracle.joint(network))
    number = {row.tobytes(): i for i, row in enumerate(rows)}
    own = log_joint[[number[row.tobytes()] for row in data.rows]]
    assert_allclose(ll(model, data).per_row, own, atol=1e-10)
    conditional, marginal = np.zeros(data.n_rows), np.zeros(data.n_rows)
    values, all_values = schema.values(data.rows), schema.values(rows)
    for group in GROUPS:
        known = [v for v in range(len(schema)) if v not in group]
        for i, x in enumerate(values):
            same = (all_values[:, known] == x[known]).all(axis=1)
            evidence = np.logaddexp.reduce(log_joint[same])
            conditional[i] += own[i] - evidence
            for v in group:
                agree = same & (all_values[:, v] == x[v])
                marginal[i] += np.logaddexp.reduce(log_joint[agree]) - evidence
    assert_allclose(cll(model, data, GROUPS).per_row, conditional, atol=1e-9)
    assert_allclose(cmll(model, data, GROUPS, EXACT, seed=0).per_row, marginal, atol=1e-9)


def test_the_monte_carlo_error_covers_the_error_of_gibbs():
    z = []
    for seed in range(8):
        model = random_states_network(seed)
        # Rows of the model, and many samples: half a count for each state is a bias.
        data = merge_rows(sample_rows(model, 60, 50, seed), None, model.schema)
        groups = [[0, 1, 2], [3, 4]]
        exact = cmll(model, data, groups, EXACT, seed=0)
        sampled = cmll(model, data, groups, Inference(samples=40_000), seed=seed)
        assert sampled.monte_carlo_error > 0
        z.append((sampled.mean - exact.mean) / sampled.monte_carlo_error)
    assert np.abs(z).max() < 4
    assert 0.3 < np.std(z) < 2


@pytest.mark.parametrize("learner", [LEM, HCLT, ChowLiu])
def test_scores_of_learned_models(learner):
    """Their own evaluation of rows, against sums over all rows that there can be."""
    network = random_states_network(3, n_features=15)
    data = merge_rows(sample_rows(network, 200, 0, 1), None, network.schema)
    model = learner().learn(Task(data, learner.grid({}))).model
    rows = merge_rows(every_row(network.schema), None, network.schema)
    log_joint, values = ll(model, rows).per_row, network.schema.values(rows.rows)
    assert_allclose(np.logaddexp.reduce(log_joint), 0.0, atol=1e-9)
    expected = np.zeros(rows.n_rows)
    for v in range(model.n_vars):
        others = np.delete(values, v, axis=1)
        for i in range(rows.n_rows):
            same = (others == others[i]).all(axis=1)
            expected[i] += log_joint[i] - np.logaddexp.reduce(log_joint[same])
    assert_allclose(pll(model, rows).per_row, expected, atol=1e-9)
    every = [[v] for v in range(model.n_vars)]
    assert_allclose(cll(model, rows, every).per_row, expected, atol=1e-9)
    assert_allclose(cmll(model, rows, every, EXACT, seed=0).per_row, expected, atol=1e-9)


def test_beliefs_and_mean_field_score_by_variable():
    network = oracle.pairwise_tree(1)
    data = random_rows(1, network.schema)
    run = Inference("bp", iterations=500, tolerance=1e-9)
    exact = cmll(network, data, GROUPS, EXACT, seed=0)
    found = cmll(network, data, GROUPS, run, seed=0)
    assert found.converged == 1.0
    assert_allclose(found.per_row, exact.per_row, atol=1e-6)
    assert_allclose(approximate_ll(network, data, run).mean, ll(network, data).mean, atol=1e-6)
    bound = approximate_ll(network, data, Inference("meanfield", iterations=500)).mean
    assert bound >= ll(network, data).mean


def test_threads_change_no_score():
    network = random_states_network(4)
    data = random_rows(4, network.schema)
    for score in (pll, ll):
        one, more = (score(network, data, threads).per_row for threads in (1, 3))
        assert_array_equal(one, more)
