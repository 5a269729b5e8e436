"""Logistic regressions against their optimality conditions, and what is built from them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from made_random import random_data
from mnlearn.data.dataset import merge_rows
from mnlearn.inference.conditionals import conditional_log_odds
from mnlearn.kernels.l1_logistic.loss import Scratch, Target, evaluate
from mnlearn.kernels.l1_logistic.quadratic_model import (
    _step_inside,
    renew_hessian,
)
from mnlearn.learning.learner import Task
from mnlearn.learning.logistic import (
    Regressions,
    _design,
    build_pair_features,
    learn_logistic_path,
    merge_pairs,
)
from mnlearn.methods.dn_lr import PenaltyPaths
from mnlearn.runtime.errors import InputError

PENALTIES = [0.1, 1.0, 3.0, 10.0, 30.0, 100.0]


def losses(data, v, weights, intercept):
    """Return the loss and its derivatives by the weights and the intercept."""
    x, y = data.rows.astype(float), data.rows[:, v]
    odds = x @ weights + intercept
    loss = data.weight @ np.logaddexp(0.0, np.where(y == 1, -odds, odds))
    residual = data.weight * (1 / (1 + np.exp(-odds)) - y)
    return loss, x.T @ residual, residual.sum()


def objective(data, v, weights, intercept, penalty, free):
    loss = losses(data, v, weights, intercept)[0]
    return loss + penalty * (np.abs(weights).sum() + (0 if free else abs(intercept)))


def dense_data(seed):
    """Half of the columns are mostly ones."""
    rows = random_data(seed, n_examples=300, n_vars=8).rows.copy()
    rows[:, ::2] ^= 1
    weight = np.random.default_rng(seed).random(len(rows)) * 3 + 0.1
    return merge_rows(rows, weight)


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize(("n_rows", "zeros"), [(255, 0.0), (256, 0.9), (700, 1.0)])
def test_the_loss_and_its_gradient(n_rows, zeros, free):
    """Rows in which no weight counts are not walked."""
    rng = np.random.default_rng(n_rows)
    rows = np.unique(rng.random((4 * n_rows, 12)) < np.linspace(0.2, 0.8, 12), axis=0)[:n_rows]
    data = merge_rows(rows.astype(np.uint8), rng.uniform(0.1, 3, n_rows))
    design, _ = _design(data, free, np.arange(data.n_vars))
    theta, y = rng.normal(size=13), rng.integers(0, 2, n_rows).astype(np.uint8)
    theta[:12][rng.random(12) < zeros] = 0.0
    scratch = Scratch(np.empty(12), np.empty(n_rows), np.empty(n_rows, bool))
    residual, gradient = np.empty(n_rows), np.empty(13)
    stored = data.rows ^ design.flipped
    target = Target(y, (data.weight * y) @ stored)
    found = evaluate(design, target, theta, scratch, residual, gradient)
    # With a free intercept the weights are those of the columns as they are stored.
    x = stored if free else data.rows
    odds = x @ theta[:-1] + theta[-1]
    assert_allclose(found, data.weight @ np.logaddexp(0.0, np.where(y == 1, -odds, odds)))
    expected = data.weight * (1 / (1 + np.exp(-odds)) - y)
    assert_allclose(residual, expected, rtol=1e-9, atol=1e-12)
    assert_allclose(gradient, np.append(x.T @ expected, expected.sum()), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_optimality_conditions_hold_on_the_whole_path(seed, free):
    data = dense_data(seed)
    path = learn_logistic_path(data, PENALTIES, free, 1e-7)
    assert_array_equal(path.penalties, sorted(PENALTIES, reverse=True))
    for k, penalty in enumerate(path.penalties):
        coefficient = path.coefficient[k].toarray()
        assert not coefficient.diagonal().any()
        for v in range(data.n_vars):
            _, slope, of_intercept = losses(data, v, coefficient[v], path.intercept[k, v])
            slope = np.delete(slope, v)
            own = np.delete(coefficient[v], v)
            if not free:
                slope = np.append(slope, of_intercept)
                own = np.append(own, path.intercept[k, v])
            elif path.intercept[k, v]:
                assert abs(of_intercept) <= 0.02
            assert np.all(np.abs(slope) <= penalty + 0.02)
            inside = own != 0
            assert_allclose(slope[inside], -penalty * np.sign(own[inside]), atol=0.02)


@pytest.mark.parametrize("free", [True, False])
def test_the_gap_bounds_the_distance_to_the_minimum(free):
    data = dense_data(7)
    rough = learn_logistic_path(data, PENALTIES, free, 0.05)
    exact = learn_logistic_path(data, PENALTIES, free, 1e-7)
    for k, penalty in enumerate(rough.penalties):
        for v in range(data.n_vars):
            found, best = (
                objective(data, v, p.coefficient[k].toarray()[v], p.intercept[k, v], penalty, free)
                for p in (rough, exact)
            )
            assert best - 1e-6 <= found <= best + rough.gap[k, v] + 1e-6
            assert rough.gap[k, v] <= 0.05 * rough.constant_loss[v]
            assert exact.gap[k, v] <= 1e-7 * exact.constant_loss[v]


@pytest.mark.parametrize("free", [True, False])
def test_equal_and_opposite_columns_and_rare_values(free):
    """The Hessian is singular, and most of it vanishes where one column tells the target."""
    rows = random_data(8, n_examples=2000, n_vars=5).rows
    rare = np.zeros((len(rows), 2), np.uint8)
    rare[3, 0] = rare[5, 1] = 1
    weight = np.random.default_rng(8).integers(1, 200, len(rows)).astype(float)
    data = merge_rows(np.hstack([rows, rows, 1 - rows[:, :2], rare, rare]), weight)
    path = learn_logistic_path(data, [0.01, 0.1, 1.0, 10.0], free)
    assert np.all(path.gap <= 1e-5 * path.constant_loss)


@pytest.mark.parametrize("free", [True, False])
def test_the_hessian_of_some_coordinates(free):
    """Of the first of the active coordinates beside all active ones; the rest stays as it was."""
    rng = np.random.default_rng(7)
    data = dense_data(7)
    design, _ = _design(data, free, np.arange(data.n_vars))
    n, p = data.n_vars, rng.uniform(0.05, 0.95, data.n_rows)
    y = rng.integers(0, 2, data.n_rows)
    residual = data.weight * (p - y)
    active, n_fresh = np.array([1, 4, n, 0, 2, 6]), 3
    hessian, place = np.full((n + 1, n + 1), -1.0, np.float32), np.full(n + 1, -1)
    renew_hessian(hessian, active, design, residual, active, n_fresh, place)
    stored = data.rows ^ design.flipped if free else data.rows
    x = np.column_stack([stored, np.ones(data.n_rows)]).astype(float)
    expected = x.T @ ((data.weight * p * (1 - p))[:, None] * x)
    fresh = np.zeros((n + 1, n + 1), bool)
    fresh[np.ix_(active[:n_fresh], active)] = fresh[np.ix_(active, active[:n_fresh])] = True
    assert_allclose(hessian[fresh], expected[fresh], rtol=1e-4, atol=1e-4)
    assert np.all(hessian[~fresh] == -1.0)
    assert np.all(place == -1)


@pytest.mark.parametrize("free", [True, False])
def test_a_path_goes_on_where_another_ended(free):
    """Columns that are stored negated and a variable without ones are among them."""
    rows = dense_data(3).rows.copy()
    rows[:, 5] = 0
    regressions = Regressions(merge_rows(rows), free)
    ordered = np.array(PENALTIES[::-1])
    whole = regressions.all_paths(ordered, 1e-8)
    parts = None
    for part in np.split(ordered, [1, 4]):
        parts = regressions.all_paths(part, 1e-8, after=parts, threads=2)
    assert_array_equal(parts.penalties, ordered)
    assert_allclose(parts.intercept, whole.intercept, atol=1e-3)
    assert_allclose(parts.constant_loss, whole.constant_loss)
    assert np.all(parts.gap <= 1e-8 * whole.constant_loss)
    for mine, theirs in zip(parts.coefficient, whole.coefficient, strict=True):
        assert_allclose(mine.toarray(), theirs.toarray(), atol=1e-3)


def test_penalties_are_learned_down_to_the_one_that_is_asked_for():
    """The same bytes, whatever is asked for first."""
    data = random_data(4)
    falling, rising = (PenaltyPaths(Task(data, {"lambda": PENALTIES})) for _ in range(2))
    assert list(falling.path("free", 1e-5, 10.0)[0].penalties) == [100.0, 30.0, 10.0]
    rising.path("free", 1e-5, 0.1)
    seconds = [falling.path("free", 1e-5, p)[1] for p in PENALTIES[::-1]]
    assert seconds == sorted(seconds)
    mine, theirs = (paths.path("free", 1e-5, 0.1)[0] for paths in (falling, rising))
    for a, b in zip(mine.coefficient, theirs.coefficient, strict=True):
        assert_array_equal(a.toarray(), b.toarray())
    assert_array_equal(mine.intercept, theirs.intercept)


def test_constant_variables_are_given_smoothed_counts():
    rows = random_data(1, n_examples=50, n_vars=4).rows.copy()
    rows[:, 1], rows[:, 2] = 0, 1
    data = merge_rows(rows)
    path = learn_logistic_path(data, [1.0, 5.0])
    n = data.n_examples
    assert_allclose(path.intercept[:, 1], np.log(1 / (n + 1)))
    assert_allclose(path.intercept[:, 2], np.log((n + 1) / 1))
    for k in range(2):
        assert not path.coefficient[k].toarray()[[1, 2]].any()
    assert np.isfinite(conditional_log_odds(path.network(5.0), data)).all()


def test_the_network_has_the_log_odds_of_the_regressions():
    data = random_data(2, n_vars=7)
    path = learn_logistic_path(data, PENALTIES)
    k = path.place(3.0)
    expected = data.rows @ path.coefficient[k].toarray().T + path.intercept[k]
    assert_allclose(conditional_log_odds(path.network(3.0), data), expected, atol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_a_step_inside_solves_for_the_signs_that_the_weights_have_now(seed):
    """The changes since the last model have turned the signs of some weights."""
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(4, 4))
    model = (root @ root.T + 4 * np.eye(4)).astype(np.float32)
    theta, now = np.zeros(6), np.array([2.0, -3.0, 0.0, 4.0])
    active, penalty = np.array([5, 0, 2, 3]), np.full(6, 0.3)
    theta[active] = np.array([-0.2, 0.1, 0.0, 0.3])
    delta = now - theta[active]
    slope = rng.normal(size=4) * 0.5
    before = slope.copy()
    _step_inside(theta, penalty, model, active, delta, slope)
    inside = [0, 1, 3]
    step = np.linalg.solve(
        model[np.ix_(inside, inside)].astype(float), -before[inside] - 0.3 * np.sign(now[inside])
    )
    expected = now.copy()
    expected[inside] += step
    assert (np.sign(expected) == np.sign(now)).all()
    assert_allclose(theta[active] + delta, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("penalties", [[], [0.0], [-1.0], [np.inf]])
def test_refuses_penalties(penalties):
    with pytest.raises(InputError, match="positive penalties"):
        learn_logistic_path(random_data(0), penalties)


def test_neighbourhoods_merged_by_and_and_or():
    coefficient = sparse.csr_array(
        np.array([[0, 1.0, 0, -2.0], [0.5, 0, 0, 0], [0, 0, 0, 3.0], [0, 0, 0, 0]])
    )
    assert merge_pairs(coefficient, "and").tolist() == [[0, 1]]
    assert merge_pairs(coefficient, "or").tolist() == [[0, 1], [0, 3], [2, 3]]
    features = build_pair_features(4, merge_pairs(coefficient, "or"))
    assert [features.literals(f) for f in range(len(features))] == [
        [(0, 1)], [(1, 1)], [(2, 1)], [(3, 1)],
        [(0, 1), (1, 1)], [(0, 1), (3, 1)], [(2, 1), (3, 1)],
    ]  # fmt: skip
