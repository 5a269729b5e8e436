"""The minimum of a quadratic model with an L1 penalty, against coordinate descent in Python."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mnlearn.kernels.l1_logistic.quadratic_model import (
    _cholesky_solve,
    _step_clipped,
    minimise_model,
)

N = 12
ACTIVE = np.array([0, 3, 4, 7, 8, 11])


def minimise(hessian, theta, gradient, penalty):
    delta, slope = np.empty(len(ACTIVE)), np.empty(len(ACTIVE))
    model = hessian.astype(np.float32)
    lower = minimise_model(theta, gradient, penalty, model, ACTIVE, delta, slope, 1e-3)
    return lower, delta


def decrease(hessian, theta, gradient, penalty, delta):
    """By how much a step lowers the penalised model."""
    before, after = (np.abs(theta[ACTIVE] + step) @ penalty[ACTIVE] for step in (0.0, delta))
    return before - after - gradient[ACTIVE] @ delta - 0.5 * delta @ hessian @ delta


def oracle(hessian, theta, gradient, penalty):
    delta = np.zeros(len(ACTIVE))
    for _ in range(5000):
        for a, j in enumerate(ACTIVE):
            slope = gradient[j] + hessian[a] @ delta
            free = theta[j] + delta[a] - slope / hessian[a, a]
            edge = penalty[j] / hessian[a, a]
            delta[a] = np.sign(free) * max(abs(free) - edge, 0.0) - theta[j]
    return decrease(hessian, theta, gradient, penalty, delta)


@pytest.mark.parametrize("seed", range(10))
def test_the_step_lowers_the_model_nearly_as_far_as_possible(seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(len(ACTIVE), len(ACTIVE) + seed % 3))
    hessian = root @ root.T + 0.1 * np.eye(len(ACTIVE))
    theta, gradient = (rng.normal(size=N) * (rng.random(N) < 0.6) for _ in range(2))
    gradient *= 4
    penalty = np.where(np.arange(N) == N - 1, 0.0, rng.uniform(0.1, 1.0, N))
    lower, delta = minimise(hessian, theta, gradient, penalty)
    assert_allclose(lower, decrease(hessian, theta, gradient, penalty, delta), rtol=1e-4)
    assert lower == pytest.approx(oracle(hessian, theta, gradient, penalty), rel=0.02)


def test_linear_equations_end_what_sweeps_alone_do_not():
    """Two coordinates that nearly do the same: sweeps come closer slowly."""
    hessian = np.array([[1.0, 0.999], [0.999, 1.0]], np.float32)
    theta, gradient, penalty = np.zeros(2), np.array([1.0, -1.0]), np.full(2, 1e-3)
    delta, slope, active = np.empty(2), np.empty(2), np.arange(2)
    lower = minimise_model(theta, gradient, penalty, hessian, active, delta, slope, 1e-9)
    # By symmetry the step is (-d, d), and d minimises (1 - 0.999) d^2 - 2 d + 2 * 0.001 d.
    bend = 1.0 - float(hessian[0, 1])
    assert lower == pytest.approx((1.0 - 1e-3) ** 2 / bend, rel=1e-4)
    assert_allclose(delta, np.array([-1.0, 1.0]) * (1.0 - 1e-3) / bend, rtol=1e-3)


def test_a_model_without_a_minimum_is_noticed():
    hessian = np.full((len(ACTIVE), len(ACTIVE)), -3.0) + 4.0 * np.eye(len(ACTIVE))
    rng = np.random.default_rng(0)
    assert minimise(hessian, np.zeros(N), rng.normal(size=N), np.full(N, 0.01))[0] == -1.0


@pytest.mark.parametrize("n", [1, 3, 4, 5, 8, 9, 17, 40])
def test_linear_equations_of_all_sizes(n):
    """Columns are made eight at a time, in fours."""
    rng = np.random.default_rng(n)
    root = rng.normal(size=(n, n + 5))
    matrix, right = (root @ root.T).astype(np.float32), rng.normal(size=n).astype(np.float32)
    x = right.copy()
    assert _cholesky_solve(matrix.copy(), x)
    assert_allclose(matrix.astype(float) @ x, right, atol=1e-3)


@pytest.mark.parametrize("matrix", [np.ones((3, 3)), -np.eye(3), np.full((2, 2), np.nan)])
def test_equations_that_have_no_single_minimum_are_not_solved(matrix):
    assert not _cholesky_solve(matrix.astype(np.float32), np.ones(len(matrix), np.float32))


def test_a_step_is_taken_just_where_it_lowers_the_model():
    """Against the penalised model itself, for steps of all lengths."""
    rng = np.random.default_rng(5)
    taken = []
    for _ in range(300):
        root = rng.normal(size=(len(ACTIVE), 8))
        hessian = (root @ root.T).astype(np.float32)
        theta, gradient = rng.normal(size=N), rng.normal(size=N)
        penalty = np.where(np.arange(N) == N - 1, 0.0, rng.uniform(0.1, 1.0, N))
        way = -(gradient[ACTIVE] / np.diag(hessian) * rng.uniform(0.0, 2.5)).astype(np.float32)
        crosses = (penalty[ACTIVE] > 0.0) & (theta[ACTIVE] * (theta[ACTIVE] + way) < 0.0)
        change = np.where(crosses, -theta[ACTIVE], way)
        lower = decrease(hessian, theta, gradient, penalty, change)
        if abs(lower) < 1e-4:
            continue
        delta, slope = np.zeros(len(ACTIVE)), gradient[ACTIVE].copy()
        places = np.arange(len(ACTIVE))
        found = _step_clipped(theta, penalty, hessian, ACTIVE, delta, slope, places, way)
        assert found == (lower > 0.0)
        assert_allclose(delta, change if found else 0.0, rtol=1e-6)
        taken.append(found)
    assert 50 < sum(taken) < 250
