"""Kernels of regressions on dense columns, against NumPy and the optimality conditions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from compiled import COMPILED
from made_random import random_data
from mnlearn.data.dataset import merge_rows
from mnlearn.kernels.l1_logistic.dense import DenseData, dense_hessian, evaluate_dense
from mnlearn.learning.ising.estimation import N_PENALTIES, Items

N = 9


def dense_data(n_rows):
    """Rows of 9 variables from rare to frequent, with weights."""
    rng = np.random.default_rng(n_rows)
    columns = (rng.random((N, n_rows)) < np.linspace(0.05, 0.95, N)[:, None]).astype(np.uint8)
    return DenseData(columns, rng.uniform(0.1, 3, n_rows)), rng


@pytest.mark.parametrize("n_rows", [1, 511, 512, 1300])
def test_the_loss_and_its_gradient(n_rows):
    """Rows are taken in blocks of 512."""
    data, rng = dense_data(n_rows)
    y = rng.integers(0, 2, n_rows).astype(np.uint8)
    theta = np.where(rng.random(N + 1) < 0.3, 0.0, rng.normal(size=N + 1))
    residual, gradient = np.empty(n_rows), np.empty(N + 1)
    found = evaluate_dense(data, y, theta, residual, gradient)
    odds = theta[:-1] @ data.columns + theta[-1]
    assert_allclose(found, data.weight @ np.logaddexp(0.0, np.where(y == 1, -odds, odds)))
    expected = data.weight * (1 / (1 + np.exp(-odds)) - y)
    assert_allclose(residual, expected, rtol=1e-12, atol=1e-14)
    slopes = np.append(data.columns @ expected, expected.sum())
    assert_allclose(gradient, slopes, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("n_rows", [1, 511, 512, 1300])
def test_the_hessian_of_some_coordinates(n_rows):
    data, rng = dense_data(n_rows)
    p, y = rng.uniform(0.05, 0.95, n_rows), rng.integers(0, 2, n_rows)
    active = np.array([0, 2, 3, 8, N])
    found = dense_hessian(data, data.weight * (p - y), active)
    x = np.vstack([data.columns, np.ones(n_rows)])[active]
    expected = (x * data.weight * p * (1 - p)) @ x.T
    assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
    assert_array_equal(found, found.T)


def check_optimal(data, v, path, tolerance):
    """Check the conditions of a minimum on the whole path, for inputs of unit variance."""
    deviation = np.sqrt(data.frequency * (1 - data.frequency))
    y, x = data.rows[:, v], data.rows.astype(float)
    others = np.delete(np.arange(data.n_vars), v)
    for k, penalty in enumerate(path.penalties):
        odds = x @ path.beta[k] + path.intercept[k]
        loss = data.weight @ np.logaddexp(0.0, np.where(y == 1, -odds, odds))
        assert_allclose(path.loss[k], loss, rtol=1e-9)
        residual = data.weight * (1 / (1 + np.exp(-odds)) - y)
        assert abs(residual.sum()) <= tolerance
        slope = (x.T @ residual)[others] / deviation[others]
        own = path.beta[k, others]
        assert np.all(np.abs(slope) <= penalty + tolerance)
        inside = own != 0
        assert_allclose(slope[inside], -penalty * np.sign(own[inside]), atol=tolerance)
        assert path.beta[k, v] == 0.0


@COMPILED  # or it takes half a minute
@pytest.mark.parametrize("seed", range(3))
def test_optimality_conditions_hold_on_the_whole_path(seed):
    rows = random_data(seed, n_examples=900, n_vars=8).rows.copy()
    rows[:, ::2] ^= 1
    data = merge_rows(rows, np.random.default_rng(seed).uniform(0.5, 3, len(rows)))
    items = Items(data)
    for v in range(data.n_vars):
        path = items.path(v, 1e-9)
        assert len(path.penalties) > 10
        assert np.count_nonzero(path.beta[0]) == 0
        assert np.count_nonzero(path.beta[1:]) > 0
        check_optimal(data, v, path, 1e-3)


@COMPILED
def test_equal_and_opposite_columns_and_rare_values():
    """The Hessian is singular, and columns tell the target nearly or quite."""
    rows = random_data(8, n_examples=600, n_vars=5).rows
    rare = np.zeros((len(rows), 2), np.uint8)
    rare[[3, 9], 0] = rare[[5, 6], 1] = 1
    near = rows[:, :1].copy()
    near[::50] ^= 1
    data = merge_rows(np.hstack([rows, rows[:, 2:], 1 - rows[:, 1:2], rare, near]))
    items = Items(data)
    for v in range(data.n_vars):
        path = items.path(v, 1e-8)
        share = data.frequency[v]
        constant = -data.n_examples * (share * np.log(share) + (1 - share) * np.log(1 - share))
        assert len(path.penalties) <= N_PENALTIES
        assert np.all(path.gap <= 1e-8 * constant)


def test_a_variable_that_depends_on_no_other_has_no_neighbours():
    """All four combinations of two variables occur equally often."""
    data = merge_rows(np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.uint8), np.full(4, 5.0))
    path = Items(data).path(0, 1e-8)
    assert not path.beta.any()
    assert_allclose(path.intercept, 0.0, atol=1e-12)
