"""The parts of a path of L1-penalised regressions, against their definitions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import expit, log_expit, xlogy

from compiled import COMPILED
from mnlearn.kernels.l1_logistic import dense, path
from mnlearn.kernels.l1_logistic.loss import LogisticData, Target, bound_gap, evaluate
from mnlearn.kernels.l1_logistic.quadratic_model import (
    LEAST_CURVATURE,
    _sweep,
    correct_hessian,
    renew_hessian,
)


def lists_of(rows):
    return np.cumsum([0, *rows.sum(axis=1)]).astype(np.int64), np.nonzero(rows)[1].astype(np.int32)


class Made:
    """Rows of five variables, of which the target is the third, and a state of a path."""

    def __init__(self, seed, free, n_rows=40):
        rng = self.rng = np.random.default_rng(seed)
        n = self.n = 5
        rows = (rng.random((n_rows, n)) < 0.4).astype(np.uint8)
        rows[:, 1] = rows[:, 0] ^ (rng.random(n_rows) < 0.2)
        self.y = (rows[:, 0] ^ (rng.random(n_rows) < 0.3)).astype(np.uint8)
        self.flipped = np.arange(n) % 2 == 0
        lists = *lists_of(rows), *lists_of(rows.T)
        self.weight = rng.uniform(0.5, 2.0, n_rows)
        self.free = free
        ones = self.weight @ rows
        self.data = LogisticData(*lists, self.weight, ones, self.flipped, free)
        self.target = Target(self.y, (self.weight * self.y) @ rows)
        # With a free intercept the weights are those of the columns as they are stored.
        self.x = np.column_stack([rows ^ (self.flipped & (not free)), np.ones(n_rows)])
        self.theta = np.append(rng.normal(size=n), 0.3)
        self.theta[[2, 3]] = 0.0
        self.state = path._start(n, n_rows)
        self.state.theta[:] = self.theta
        self.loss = self.evaluate(self.theta, self.state.gradient)

    def evaluate(self, theta, gradient):
        arrays = self.state.scratch, self.state.residual, gradient
        return evaluate(self.data, self.target, theta, *arrays)

    def loss_of(self, theta):
        odds = self.x @ theta
        return -self.weight @ log_expit(np.where(self.y == 1, odds, -odds))


@pytest.mark.parametrize("free", [True, False])
def test_the_gap_is_that_of_a_dual_point(free):
    for seed in range(6):
        made = Made(seed, free)
        residual = made.weight * (expit(made.x @ made.theta) - made.y)
        assert_allclose(made.state.residual, residual)
        assert_allclose(made.state.gradient, made.x.T @ residual, atol=1e-10)
        factor = made.rng.uniform(0.5, 2.0, made.n + 1)
        factor[-1] = 0.0 if free else 1.5
        penalty, objective = 2.0, 50.0
        dual, moved = np.abs(residual), 0.0
        if free:
            ones, zeros = dual[made.y == 1].sum(), dual[made.y == 0].sum()
            moved = abs(ones - zeros)
            dual = dual * np.where(made.y == 1, min(1, zeros / ones), min(1, ones / zeros))
        slopes = np.abs(made.x.T @ residual)
        strongest = ((slopes + moved)[:-1] / factor[:-1]).max()
        if not free:
            strongest = max(strongest, slopes[-1] / factor[-1])
        q = dual / made.weight * min(1.0, penalty / strongest)
        entropy = -made.weight @ (xlogy(q, q) + xlogy(1 - q, 1 - q))
        arrays = made.state.residual, made.state.gradient, factor
        found = bound_gap(made.y, made.weight, *arrays, penalty, objective)
        assert found == pytest.approx(objective - entropy)


@pytest.mark.parametrize("exact", [True, False])
def test_active_coordinates(exact):
    state = Made(0, True).state
    state.theta[:] = [0.0, 1.0, 0.0, -2.0, 0.0, 0.0]
    state.gradient[:] = [3.0, 0.0, 9.0, 0.0, -2.0, -2.5]
    state.penalty[:] = 2.0
    state.covered[:] = [True, False, True, True, False, True]
    active, n_fresh = path._list_active(2, state, exact)
    # Coordinate 2 is the target, and 4 has a slope of just the penalty.
    assert active.tolist() == ([0, 1, 3, 5] if exact else [1, 0, 3, 5])
    assert n_fresh == (4 if exact else 1)
    assert path.penalised_loss(1.5, state.penalty, state.theta) == 1.5 + 2.0 * 3.0
    hessian = np.arange(36.0).reshape(6, 6)
    expected = hessian[np.ix_(active, active)]
    assert_array_equal(path._active_part(hessian, active), expected)


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_a_step_is_halved_until_it_pays(seed, free):
    made = Made(seed, free)
    state, active = made.state, np.array([0, 1, 4, 5])
    state.penalty[:] = [0.5] * 5 + [0.0 if free else 0.5]
    objective = made.loss_of(state.theta) + state.penalty @ np.abs(state.theta)
    way = -state.gradient[active] * made.rng.choice([0.05, 1.0, 30.0])
    state.delta[: len(active)] = way
    lower = 0.01
    expected = (0.0, 0.0)
    for k in range(30):
        trial = made.theta.copy()
        trial[active] += 0.5**k * way
        loss = made.loss_of(trial)
        if loss + state.penalty @ np.abs(trial) <= objective - 1e-3 * 0.5**k * lower:
            expected = (0.5**k, loss)
            break
    found = path._search_line(made.data, made.target, state, active, objective, lower)
    assert_allclose(found, expected)
    assert found[0] > 0
    assert_allclose(state.trial, trial)
    # Half of the decrease that is asked for is not enough.
    far = path._search_line(made.data, made.target, state, active, objective, 1e6)
    assert far == (0.0, 0.0)


def test_a_step_is_taken_with_its_gradient():
    made = Made(1, False)
    state, active = made.state, np.array([1, 3, 5])
    state.trial[:], state.changed[:] = np.arange(6.0), np.arange(6.0) * 3
    before = state.gradient.copy()
    state.delta[:3] = [1.0, -2.0, 0.5]
    model = np.eye(3, dtype=np.float32)
    path._move(2, state, model, active, np.arange(3), 0.5)
    assert_array_equal(state.theta, np.arange(6.0))
    assert_array_equal(state.gradient, [0.0, 3.0, 0.0, 9.0, 12.0, 15.0])
    assert_array_equal(state.delta[:3], [0.5, -1.0, 0.25])
    assert_allclose(state.trial, state.gradient - before)
    step, change = np.array([0.5, -1.0, 0.25]), (state.gradient - before)[active]
    if step @ change > 0:
        assert_allclose(state.hessian[:3, :3] @ step, change, rtol=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_corrections_give_the_change_of_the_gradient(seed):
    rng = np.random.default_rng(seed)
    n, active, at = 5, np.array([0, 2, 4]), np.array([3, 0, 1])
    root = rng.normal(size=(3, 3))
    model = (root @ root.T + np.eye(3)).astype(np.float32)
    hessian, delta = np.full((n, n), 7.0, np.float32), rng.normal(size=3)
    change = np.zeros(n)
    change[active] = model @ delta + 0.3 * rng.normal(size=3)
    image = np.empty(3)
    correct_hessian(hessian, at, model, active, delta, change, image)
    own = hessian[np.ix_(at, at)]
    if change[active] @ delta <= 0:
        assert (hessian == 7.0).all()
        return
    # The formula of Broyden, Fletcher, Goldfarb and Shanno.
    y, b = change[active], model.astype(float)
    expected = (
        b + np.outer(y, y) / (y @ delta) - np.outer(b @ delta, b @ delta) / (delta @ b @ delta)
    )
    assert_allclose(own, expected, rtol=1e-5, atol=1e-6)
    assert_allclose(own @ delta, y, rtol=1e-5, atol=1e-6)
    rest = hessian.copy()
    rest[np.ix_(at, at)] = 7.0
    assert (rest == 7.0).all()


@pytest.mark.parametrize(("bend", "curvature"), [(0.0, 1.0), (-1.0, 1.0), (1.0, 0.0), (1.0, -1.0)])
def test_nothing_is_corrected_without_curvature(bend, curvature):
    hessian, model = np.full((1, 1), 7.0, np.float32), np.full((1, 1), bend, np.float32)
    first = np.array([0])
    correct_hessian(hessian, first, model, first, np.ones(1), np.array([curvature]), np.empty(1))
    assert hessian[0, 0] == 7.0


def test_certain_rows_have_the_least_curvature():
    made = Made(0, True)
    hessian, active = np.full((6, 6), 7.0, np.float32), np.array([1, 5, 3])
    place = np.full(6, -1)
    renew_hessian(hessian, active, made.data, np.zeros(len(made.y)), active, 2, place)
    least = np.float32(LEAST_CURVATURE)
    assert_array_equal(hessian[np.ix_([1, 5], [1, 5, 3])], least * np.eye(2, 3, dtype=np.float32))
    assert (place == -1).all()


@pytest.mark.parametrize("every", [True, False])
def test_a_sweep_minimises_over_each_coordinate_in_turn(every):
    rng = np.random.default_rng(2)
    active, penalty = np.array([0, 2, 3, 5]), np.array([0.4, 9.0, 0.3, 0.0, 9.0, 3.0])
    theta = np.array([0.5, 9.0, 0.0, 0.0, 9.0, -0.1])
    root = rng.normal(size=(4, 5))
    model = (root @ root.T).astype(np.float32)
    delta, slope = np.array([0.1, 0.0, 0.2, 0.0]), rng.normal(size=4)
    expected, slopes, gain = delta.copy(), slope.copy(), 0.0
    for a, j in enumerate(active):
        old, bend = theta[j] + expected[a], model[a, a]
        if old == 0.0 and not every:
            continue
        free = old - slopes[a] / bend
        new = np.sign(free) * max(abs(free) - penalty[j] / bend, 0.0)
        expected[a] += new - old
        slopes += model[a] * (new - old)
        gain += bend * (new - old) ** 2
    found = _sweep(theta, penalty, model, active, delta, slope, every)
    assert found == pytest.approx(gain)
    assert_allclose(delta, expected)
    assert_allclose(slope, slopes)


@pytest.mark.parametrize("free", [True, False])
def test_weights_are_read_and_written_as_those_of_the_variables(free):
    made = Made(3, free)
    start = np.array([0.5, -1.0, 0.0, 0.25, 2.0, 0.7])
    state = path._start(made.n, len(made.y))
    assert state.covered.all()
    path._read(made.data, np.zeros(6), state)
    assert state.covered.all()
    path._read(made.data, start, state)
    assert not state.covered.any()
    sign = np.where(made.flipped & free, -1.0, 1.0)
    assert_array_equal(state.theta[:5], sign * start[:5])
    assert state.theta[5] == 0.7 + (start[:5][made.flipped].sum() if free else 0.0)
    result = path.PathResult(*(np.full(shape, np.nan) for shape in ((2, 5), 2, 2)))
    path._write(made.data, state, 1, result)
    assert_allclose(result.beta[1], start[:5])
    assert result.intercept[1] == pytest.approx(0.7)
    assert np.isnan(result.beta[0]).all()


def test_where_a_path_ends_early():
    loss = np.array([9.0, 8.0, 7.0, 6.5, 6.0, 5.9, 3.0])
    goal = dense.DenseGoal(np.ones(7), np.ones(3), 1e-3, 0.6, 0.02)
    # Of a loss of 10: the fourth penalty is too early, the sixth gains 0.1, the last explains 0.7.
    expected = [False, False, False, False, False, True, True]
    assert [bool(dense._ends(goal, p, loss, 10.0)) for p in range(7)] == expected
    never = goal._replace(explained=2.0, gain=-1.0)
    assert not any(dense._ends(never, p, loss, 10.0) for p in range(7))
    slow = goal._replace(explained=2.0, gain=0.2)
    assert [bool(dense._ends(slow, p, loss, 10.0)) for p in range(7)] == [False] * 4 + [
        True, True, False,
    ]  # fmt: skip


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_coordinates_get_places_as_they_become_active(seed, free):
    made = Made(seed, free)
    counts = made.rng.uniform(1.0, 9.0, (6, 6))
    counts += counts.T
    for active in ([4, 1], [1, 2, 4], [5, 0]):
        at = path._places(np.array(active), (counts, 0.25), made.state)
        expected = counts[np.ix_(active, active)] * 0.25 + LEAST_CURVATURE * np.eye(len(active))
        assert_allclose(path._active_part(made.state.hessian, at), expected, rtol=1e-6)
    assert made.state.slot.tolist() == [4, 1, 2, -1, 0, 3]


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=COMPILED), 2])
def test_a_whole_path(seed, free):
    """Each loss is within its gap, and the gap within the tolerance."""
    made = Made(seed, free)
    x = made.x.copy()
    x[:, 2] = 0.0  # the target itself
    counts = (x.T * made.weight) @ x
    factor = np.append(np.ones(5), 0.0 if free else 1.0)
    penalties = 8.0 * 0.6 ** np.arange(12)
    share = made.weight @ made.y / made.weight.sum()
    constant = -made.weight.sum() * (xlogy(share, share) + xlogy(1 - share, 1 - share))

    def learn(goal):
        shapes = ((12, 5), 12, 12)
        result = path.PathResult(*(np.full(shape, np.nan) for shape in shapes))
        path.l1_path(2, made.data, made.target, counts, goal, np.zeros(6), result)
        return result

    def losses(result):
        sign = np.where(made.flipped & free, -1.0, 1.0)
        moved = result.beta[:, made.flipped].sum(axis=1) if free else np.zeros(12)
        theta = np.column_stack([sign * result.beta, result.intercept + moved])
        return theta, np.array([made.loss_of(one) for one in theta])

    goal = path.PathGoal(penalties, factor, 1e-4)
    result = learn(goal)
    assert (result.gap <= 1e-4 * constant).all()
    best = learn(goal._replace(tolerance=1e-9))
    theta, loss = losses(result)
    best_theta, best_loss = losses(best)
    assert (result.beta[:, 2] == 0.0).all()
    price = penalties[:, None] * factor
    least = best_loss + (price * np.abs(best_theta)).sum(axis=1)
    found = loss + (price * np.abs(theta)).sum(axis=1)
    assert (least - 1e-6 * constant <= found).all()
    assert (found <= least + result.gap + 1e-6 * constant).all()
    assert (np.diff(loss[3:]) < 0).all()
