"""Regressions of variables of several states, against SciPy and their own definition."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp

from l1_oracle import least_with_l1
from made_states import SURVEY as SCHEMA
from mnlearn.data.dataset import Dataset
from mnlearn.inference.conditionals import log_conditionals
from mnlearn.learning.logistic import build_pair_features, learn_logistic_path, merge_pairs


def chain(n=600, seed=0):
    """Rows in which each variable depends on the one before."""
    rng = np.random.default_rng(seed)
    values = np.zeros((n, 4), np.uint8)
    values[:, 0] = rng.random(n) < 0.4
    follow = rng.dirichlet(np.ones(3), 2)
    values[:, 1] = [rng.choice(3, p=follow[x]) for x in values[:, 0]]
    follow = rng.dirichlet(np.ones(4), 3)
    values[:, 3] = [rng.choice(4, p=follow[x]) for x in values[:, 1]]
    return Dataset.from_arrays(SCHEMA.rows(values), rng.integers(1, 3, n), schema=SCHEMA)


def objective(data, v, beta, intercept, penalty):
    logits = data.rows @ beta.T + intercept
    own = SCHEMA.values(data.rows)[:, v]
    log_prob = logits[np.arange(len(own)), own] - logsumexp(logits, axis=1)
    return -data.weight @ log_prob + penalty * np.abs(beta).sum()


def smallest_objective(data, v, penalty):
    """The minimum by SciPy."""
    own = list(SCHEMA.columns(v))
    x = np.delete(data.rows, own, axis=1).astype(float)
    observed, shape = data.rows[:, own], (len(own), x.shape[1])

    def smooth(parameters):
        logits = x @ parameters[: -len(own)].reshape(shape).T + parameters[-len(own) :]
        log_share = logits - logsumexp(logits, axis=1, keepdims=True)
        residual = data.weight[:, None] * (np.exp(log_share) - observed)
        value = -data.weight @ (log_share * observed).sum(axis=1)
        return value, np.append((residual.T @ x).ravel(), residual.sum(axis=0))

    return least_with_l1(smooth, np.repeat([penalty, 0.0], [np.prod(shape), len(own)]))


@pytest.mark.parametrize("v", [1, 3])
@pytest.mark.parametrize("penalty", [20.0, 1.0])
def test_the_minimum_is_that_of_another_search(v, penalty):
    data = chain()
    path = learn_logistic_path(data, [30.0, penalty], tolerance=1e-7)
    own = list(SCHEMA.columns(v))
    place = path.place(penalty)
    beta = path.coefficient[place].toarray()[own]
    assert not beta[:, own].any()
    found = objective(data, v, beta, path.intercept[place, own], penalty)
    best = smallest_objective(data, v, penalty)
    assert found == pytest.approx(best, rel=1e-6)
    assert found - path.gap[place, v] <= best + 1e-9 * best
    assert path.gap[place, v] <= 1e-7 * path.constant_loss[v]


def test_a_search_that_takes_few_coordinates_at_a_time(monkeypatch):
    data = chain()
    whole = learn_logistic_path(data, [1.0], tolerance=1e-9)
    monkeypatch.setattr("mnlearn.learning.softmax_regression._MOST_NEW", 2)
    path = learn_logistic_path(data, [1.0], tolerance=1e-9)
    own = list(SCHEMA.columns(3))
    objectives = [
        objective(data, 3, p.coefficient[0].toarray()[own], p.intercept[0, own], 1.0)
        for p in (whole, path)
    ]
    assert objectives[0] == pytest.approx(objectives[1], rel=1e-8)
    assert path.gap[0, 3] <= 1e-9 * path.constant_loss[3]


def test_a_penalised_intercept():
    data = chain()
    path = learn_logistic_path(data, [5.0], free_intercept=False, tolerance=1e-9)
    beta, intercept = path.coefficient[0].toarray()[1:4], path.intercept[0, 1:4]
    here = objective(data, 1, beta, intercept, 5.0) + 5.0 * np.abs(intercept).sum()
    rng = np.random.default_rng(0)
    for _ in range(50):
        near = intercept + rng.normal(size=3) * 1e-3
        moved = objective(data, 1, beta, near, 5.0) + 5.0 * np.abs(near).sum()
        assert moved >= here - 1e-7


@pytest.mark.parametrize("free", [True, False])
def test_a_penalty_that_holds_all_weights(free):
    data = chain()
    path = learn_logistic_path(data, [1e6], free_intercept=free)
    assert path.coefficient[0].nnz == 0
    assert (path.gap <= 1e-5 * path.constant_loss + 1e-12).all()
    share = np.exp(path.intercept[0, 4:]) / np.exp(path.intercept[0, 4:]).sum()
    expected = data.counts(3) / data.n_examples if free else np.full(4, 0.25)
    assert_allclose(share, expected, atol=1e-6)


def test_pairs_of_states_and_a_network():
    data = chain()
    path = learn_logistic_path(data, [10.0])
    both, either = (merge_pairs(path.coefficient[0], merge) for merge in ("and", "or"))
    assert 0 < len(both) < len(either)
    variable = SCHEMA.variable_of[either]
    assert (variable[:, 0] != variable[:, 1]).all()
    features = build_pair_features(SCHEMA.n_columns, both)
    assert len(features) == SCHEMA.n_columns + len(both)


def test_a_state_that_never_occurs_is_rare_and_a_constant_variable_smooth():
    data = chain()
    values = SCHEMA.values(data.rows)
    values[values[:, 3] == 2, 3] = 1
    path = learn_logistic_path(
        Dataset.from_arrays(SCHEMA.rows(values), data.weight, schema=SCHEMA), [5.0]
    )
    own = list(SCHEMA.columns(3))
    logits = data.rows @ path.coefficient[0].toarray()[own].T + path.intercept[0, own]
    share = np.exp(logits - logsumexp(logits, axis=1, keepdims=True))
    assert np.isfinite(path.intercept).all()
    assert np.average(share[:, 2], weights=data.weight) == pytest.approx(
        1 / data.n_examples, rel=0.5
    )
    values[:, 1] = 0
    constant = Dataset.from_arrays(SCHEMA.rows(values), data.weight, schema=SCHEMA)
    path = learn_logistic_path(constant, [5.0])
    n = data.n_examples
    expected = np.log([n + 1, 1, 1])
    assert_allclose(path.intercept[0, 1:4], expected - expected.mean())


def test_the_dependency_network_has_the_probabilities_of_the_regressions():
    data = chain()
    path = learn_logistic_path(data, [3.0])
    shares = np.exp(log_conditionals(path.network(3.0), data))
    for v, first in ((1, 2), (3, 6)):
        own = list(SCHEMA.columns(v))
        logits = data.rows @ path.coefficient[0].toarray()[own].T + path.intercept[0, own]
        expected = np.exp(logits - logsumexp(logits, axis=1, keepdims=True))
        assert_allclose(shares[:, first : first + len(own)], expected)
