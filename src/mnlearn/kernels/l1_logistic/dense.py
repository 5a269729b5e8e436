"""L1-penalised logistic regression of one binary variable on few dense ones, for glmnet's path.

Each step minimises a quadratic model of the loss plus the penalty. The penalties are close to each
other: three steps are enough for each, and the Hessian is computed once, after the first. The
stopping rule is the duality gap of the whole problem.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.sums import dot, fused, sum_of
from mnlearn.kernels.jit import copy_into, kernel
from mnlearn.kernels.l1_logistic.loss import bound_gap, penalised_loss, residuals_of
from mnlearn.kernels.l1_logistic.quadratic_model import LEAST_CURVATURE, minimise_model

# Rows whose log-odds, and whose columns as the Hessian takes them, stay in the nearest cache.
_BLOCK = 512


class DenseData(NamedTuple):
    """The values of the variables, (n_vars, n_rows), and the weight of each row."""

    columns: NDArray[np.uint8]
    weight: NDArray[np.float64]


@kernel
def _add(total, factor, column):
    """Add a multiple of a column."""
    for i in range(len(total)):
        total[i] = fused(factor, np.float64(column[i]), total[i])


@kernel
def evaluate_dense(data, y, theta, residual, gradient):
    """Write the residuals of the rows and the gradient at theta; return the loss."""
    columns, weight = data
    n = len(columns)
    gradient[:] = 0.0
    loss = 0.0
    log_odds = np.empty(_BLOCK)
    for begin in range(0, len(y), _BLOCK):
        end = min(begin + _BLOCK, len(y))
        block, own = log_odds[: end - begin], residual[begin:end]
        block[:] = theta[n]
        for j in range(n):
            if theta[j] != 0.0:
                _add(block, theta[j], columns[j, begin:end])
        loss += residuals_of(block, y[begin:end], weight[begin:end], own)
        for j in range(n):
            gradient[j] += dot(own, columns[j, begin:end])
        gradient[n] += sum_of(own)
    return loss


@kernel
def _curvatures(residual, weight, curvature):
    """Write the second derivatives of the loss by the log-odds."""
    for i in range(len(residual)):
        r = abs(residual[i])
        curvature[i] = r * (1.0 - r / weight[i])


@kernel
def dense_hessian(data, residual, active):
    """Return the Hessian of the active coordinates: ascending, with the intercept."""
    columns, weight = data
    n_active = len(active) - 1
    total = np.zeros((n_active + 1, n_active + 1))
    curvature = np.empty(_BLOCK, np.float32)
    bent = np.empty(_BLOCK, np.float32)
    for begin in range(0, len(residual), _BLOCK):
        end = min(begin + _BLOCK, len(residual))
        own, product = curvature[: end - begin], bent[: end - begin]
        _curvatures(residual[begin:end], weight[begin:end], own)
        total[n_active, n_active] += sum_of(own)
        for a in range(n_active):
            column = columns[active[a], begin:end]
            for i in range(len(own)):
                product[i] = own[i] * column[i]
            total[n_active, a] += sum_of(product)
            for b in range(a + 1):
                total[a, b] += dot(product, columns[active[b], begin:end])
    model = np.empty((n_active + 1, n_active + 1), np.float32)
    for a in range(n_active + 1):
        for b in range(n_active + 1):
            model[a, b] = total[max(a, b), min(a, b)]
        model[a, a] = total[a, a] + LEAST_CURVATURE
    return model


_MAX_STEPS = 300
# A path does not end before so many penalties.
_FEWEST_PENALTIES = 5
_ARMIJO = 1e-3
_MAX_HALVINGS = 30
# A sum of the losses of the rows is exact to about this share.
_ROUNDING = 1e-14
# The model is minimised until a sweep lowers it by less than this share of the first.
_SWEEP_TOLERANCE = 1e-9
# A step that leaves more than this share of the gap calls for a new Hessian.
_SLOW = 0.1
# The Hessian covers coordinates whose gradient reaches this share of their penalty: at the next
# penalties they will be needed.
_NEAR = 0.8


class DenseGoal(NamedTuple):
    """What is minimised, and how exactly.

    shares : descending from 1: the penalties, as shares of the least at which all weights are 0.
    factor : what a penalty is multiplied by for each coordinate; 0 for the intercept. tolerance :
    greatest gap, as a share of the loss of the best constant. The path ends early where the loss is
    lower than that by a greater share than `explained`, or a penalty lowers it by a smaller one
    than `gain`.
    """

    shares: NDArray[np.float64]
    factor: NDArray[np.float64]
    tolerance: float
    explained: float
    gain: float


class DenseResult(NamedTuple):
    """What `dense_path` writes for each penalty; the loss, in nats, is without the penalty."""

    penalties: NDArray[np.float64]
    theta: NDArray[np.float64]
    gap: NDArray[np.float64]
    loss: NDArray[np.float64]


class _State(NamedTuple):
    """The weights, and their gradient and residuals; weights that are tried, and the gradient
    there.
    """

    theta: NDArray[np.float64]
    gradient: NDArray[np.float64]
    residual: NDArray[np.float64]
    trial: NDArray[np.float64]
    changed: NDArray[np.float64]
    penalty: NDArray[np.float64]


class _Model(NamedTuple):
    """The Hessian of the active coordinates, ascending, and which these are."""

    active: NDArray[np.int64]
    hessian: NDArray[np.float32]
    covered: NDArray[np.bool_]


@kernel
def dense_path(target, data, y, goal, result):
    """Learn one variable for descending penalties, each from the last; return their number."""
    n = len(data.columns)
    share = data.weight[y == 1].sum() / data.weight.sum()
    state = _State(
        np.zeros(n + 1), np.empty(n + 1), np.empty(len(y)), np.empty(n + 1), np.empty(n + 1),
        np.empty(n + 1),
    )  # fmt: skip
    state.theta[n] = np.log(share / (1.0 - share))
    constant_loss = evaluate_dense(data, y, state.theta, state.residual, state.gradient)
    state.gradient[target] = 0.0
    _set_penalties(state.gradient, goal, data.weight.sum(), result.penalties)
    enough, loss = goal.tolerance * constant_loss, constant_loss
    model = _renew(target, data, state, result.penalties[0] * goal.factor)
    for p in range(len(goal.shares)):
        copy_into(state.penalty, result.penalties[p] * goal.factor)
        loss, model = _minimise(target, data, y, goal, p, enough, loss, state, model, result)
        copy_into(result.theta[p], state.theta)
        result.loss[p] = loss
        if _ends(goal, p, result.loss, constant_loss):
            return p + 1
    return len(goal.shares)


@kernel
def _set_penalties(gradient, goal, total, penalties):
    """Write the penalties, given the gradient at the best constant and the weight of all rows."""
    # Where the variable depends on no other at all, any penalty will do.
    largest = 1e-6 * total
    for j in range(len(gradient) - 1):
        largest = max(largest, abs(gradient[j]) / goal.factor[j])
    for p in range(len(penalties)):
        penalties[p] = largest * goal.shares[p]
    # All weights are 0 at the first penalty, and rounding must not change this.
    penalties[0] *= 1.0 + 1e-9


@kernel
def _ends(goal, p, loss, constant_loss):
    """Return whether the path ends at penalty `p`, given the losses so far."""
    if p + 1 < _FEWEST_PENALTIES:
        return False
    explained = (constant_loss - loss[p]) / constant_loss
    return explained > goal.explained or loss[p - 1] - loss[p] < goal.gain * constant_loss


@kernel
def _renew(target, data, state, penalty):
    """Return the Hessian at the present weights, of the coordinates that the penalty may need."""
    theta, gradient = state.theta, state.gradient
    covered = (theta != 0.0) | (np.abs(gradient) >= _NEAR * penalty)
    covered[target] = False
    active = np.flatnonzero(covered)
    return _Model(active, dense_hessian(data, state.residual, active), covered)


@kernel
def _minimise(target, data, y, goal, p, enough, loss, state, model, result):
    """Take steps until the gap of penalty `p` is at most `enough`; return loss and model."""
    last, total = np.inf, data.weight.sum()
    for step in range(_MAX_STEPS):
        objective = penalised_loss(loss, state.penalty, state.theta)
        expected = _expect_gap(state, goal.factor, result.penalties[p], total)
        if expected <= enough:
            # The bound costs logarithms; it is computed when it is nearly sure to suffice.
            result.gap[p] = bound_gap(
                y, data.weight, state.residual, state.gradient, goal.factor,
                result.penalties[p], objective,
            )  # fmt: skip
            if result.gap[p] <= enough:
                break
        fresh = step == 1 or expected > _SLOW * last or not _covers(state, model)
        last = expected
        if fresh:
            model = _renew(target, data, state, state.penalty)
        delta, slope = np.empty(len(model.active)), np.empty(len(model.active))
        lower = minimise_model(
            state.theta, state.gradient, state.penalty, model.hessian, model.active, delta, slope,
            _SWEEP_TOLERANCE,
        )  # fmt: skip
        length, new_loss = _search_line(data, y, state, model.active, delta, objective, lower)
        if length == 0.0:
            if fresh:
                break  # rounding leaves no step that lowers the objective
            last = 0.0
            evaluate_dense(data, y, state.theta, state.residual, state.gradient)
            continue
        loss = new_loss
        state.changed[target] = 0.0
        copy_into(state.theta, state.trial)
        copy_into(state.gradient, state.changed)
    return loss, model


@kernel
def _covers(state, model):
    """Return whether the model has all coordinates that are not 0 or have to change."""
    for j in range(len(state.theta)):
        needed = state.theta[j] != 0.0 or abs(state.gradient[j]) > state.penalty[j]
        if needed and not model.covered[j]:
            return False
    return True


@kernel
def _expect_gap(state, factor, penalty, total):
    """Return about what `bound_gap` does, to second order in how far the residuals are scaled."""
    theta, gradient = state.theta, state.gradient
    n = len(theta) - 1
    moved, strongest, norm, product = abs(gradient[n]), 0.0, 0.0, 0.0
    for j in range(n):
        strongest = max(strongest, (abs(gradient[j]) + moved) / factor[j])
        norm += factor[j] * abs(theta[j])
        product += theta[j] * gradient[j]
    scale = min(1.0, penalty / strongest) if strongest > 0.0 else 1.0
    return penalty * norm + scale * product + 0.5 * (1.0 - scale) ** 2 * total


@kernel
def _search_line(data, y, state, active, delta, objective, lower):
    """Halve the step until it lowers the objective enough; return its length or 0, and the loss."""
    length = 1.0
    for _ in range(_MAX_HALVINGS):
        copy_into(state.trial, state.theta)
        for a in range(len(active)):
            state.trial[active[a]] += length * delta[a]
        loss = evaluate_dense(data, y, state.trial, state.residual, state.changed)
        reached = penalised_loss(loss, state.penalty, state.trial)
        if reached <= objective - _ARMIJO * length * lower + _ROUNDING * objective:
            return length, loss
        length *= 0.5
    return 0.0, 0.0
