"""L1-penalised logistic regression of one binary variable on all others, for a path of penalties.

Each step minimises a quadratic model of the loss plus the penalty over the active coordinates by
coordinate descent. The stopping rule is the duality gap of the whole problem.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.ties import EQUAL
from mnlearn.kernels.jit import copy_into, kernel
from mnlearn.kernels.l1_logistic.loss import Scratch, bound_gap, evaluate, penalised_loss
from mnlearn.kernels.l1_logistic.quadratic_model import (
    LEAST_CURVATURE,
    correct_hessian,
    minimise_model,
    renew_hessian,
)

MAX_STEPS = 300
# So many steps without convergence are a sign that the model is far off.
STEPS_PER_HESSIAN = 10
# The model is minimised until a sweep lowers it by less than this share of the first.
_SWEEP_TOLERANCE = 1e-3
_ARMIJO = 1e-3
_MAX_HALVINGS = 30


class PathGoal(NamedTuple):
    """What is minimised, and how exactly.

    factor : what a penalty is multiplied by for each coordinate; 0 for a free intercept. tolerance
    : greatest gap, as a share of the loss of the best constant.
    """

    penalties: NDArray[np.float64]
    factor: NDArray[np.float64]
    tolerance: float


class PathResult(NamedTuple):
    """What `l1_path` writes for each penalty; the gap is in nats."""

    beta: NDArray[np.float64]
    intercept: NDArray[np.float64]
    gap: NDArray[np.float64]


class _State(NamedTuple):
    """The weights, and their gradient and residuals; weights that are tried, and the gradient
    there.

    covered : whether the Hessian is that of the loss, but for corrections, in a coordinate.
    hessian : that of the coordinates that were active, at their `slot`, in the order in which they
    became so; what is behind them is not touched, and takes no memory. known : those coordinates,
    and last how many they are. The rest is scratch; see `evaluate`, `minimise_model` and
    `renew_hessian`.
    """

    theta: NDArray[np.float64]
    gradient: NDArray[np.float64]
    residual: NDArray[np.float64]
    trial: NDArray[np.float64]
    changed: NDArray[np.float64]
    scratch: Scratch
    delta: NDArray[np.float64]
    slope: NDArray[np.float64]
    penalty: NDArray[np.float64]
    place: NDArray[np.int64]
    hessian: NDArray[np.float32]
    slot: NDArray[np.int64]
    known: NDArray[np.int64]
    covered: NDArray[np.bool_]


@kernel
def l1_path(own, data, target, counts, goal, start, result):
    """Learn the coefficients of one variable for descending penalties, each from the last."""
    share = _share_of_ones(target.y, data.weight)
    bend = share * (1.0 - share) if data.free_intercept else 0.25
    state = _start(len(data.flipped), len(target.y))
    _read(data, start, state)
    constant_loss = -data.weight.sum() * (share * np.log(share) + (1.0 - share) * np.log1p(-share))
    enough = goal.tolerance * constant_loss
    loss = evaluate(data, target, state.theta, state.scratch, state.residual, state.gradient)
    state.gradient[own] = 0.0
    for p in range(len(goal.penalties)):
        for j in range(len(state.penalty)):
            state.penalty[j] = goal.penalties[p] * goal.factor[j]
        loss = _minimise(own, data, target, (counts, bend), goal, p, enough, loss, state, result)
        _write(data, state, p, result)


@kernel
def _read(data, start, state):
    """Take the weights to start at, which are those of the columns that were given."""
    n = len(data.flipped)
    copy_into(state.theta, start)
    for j in range(n):
        if start[j] != 0.0:
            state.covered[:] = False  # the Hessian is that at weights of 0
            if data.free_intercept and data.flipped[j]:
                state.theta[j] = -start[j]
                state.theta[n] += start[j]


@kernel
def _write(data, state, p, result):
    """Write the weights of penalty `p` as those of the columns that were given.

    The slope of a copy of a column equals the penalty where the column has a weight. Rounding then
    gives the copy a weight of 1e-16 or none; weights that small are written as 0.
    """
    n = len(data.flipped)
    result.intercept[p] = state.theta[n]
    for j in range(n):
        weight = state.theta[j] if abs(state.theta[j]) > EQUAL else 0.0
        result.beta[p, j] = weight
        if data.free_intercept and data.flipped[j]:
            result.beta[p, j] = -weight
            result.intercept[p] += weight


@kernel
def _share_of_ones(y, weight):
    """Return the weight of the rows with y = 1, as a share of that of all rows."""
    total = weight.sum()
    share = 0.0
    for i in range(len(y)):
        share += weight[i] / total if y[i] else 0.0
    return share


@kernel
def _start(n, n_rows):
    """Return the state at weights of 0."""
    scratch = Scratch(np.empty(n), np.empty(n_rows), np.empty(n_rows, np.bool_))
    return _State(
        np.zeros(n + 1), np.zeros(n + 1), np.empty(n_rows), np.zeros(n + 1), np.zeros(n + 1),
        scratch, np.empty(n + 1), np.empty(n + 1), np.empty(n + 1),
        np.full(n + 1, -1, np.int64), np.empty((n + 1, n + 1), np.float32),
        np.full(n + 1, -1, np.int64), np.zeros(n + 2, np.int64), np.ones(n + 1, np.bool_),
    )  # fmt: skip


@kernel
def _minimise(own, data, target, first, goal, p, enough, loss, state, result):
    """Take steps until the gap is small; `first` is the counts and their factor of `_places`."""
    misled = False
    n_steps = 0
    for _ in range(MAX_STEPS):
        exact = misled or n_steps >= STEPS_PER_HESSIAN
        objective = penalised_loss(loss, state.penalty, state.theta)
        active, n_fresh = _list_active(own, state, exact)
        at = _places(active, first, state)
        exact |= n_fresh == len(active)
        if n_fresh:
            _renew(data, state, active, at, n_fresh, exact)
            if exact:
                misled = False
                n_steps = 0
        model = _active_part(state.hessian, at)
        lower = minimise_model(
            state.theta, state.gradient, state.penalty, model, active, state.delta, state.slope,
            _SWEEP_TOLERANCE,
        )  # fmt: skip
        if lower < 0.0 and not exact:
            misled = True
            continue
        # The gap costs logarithms; it is computed when the model is nearly at its minimum.
        if lower <= 2.0 * enough:
            result.gap[p] = _gap(data, target.y, state, goal, p, objective)
            if result.gap[p] <= enough:
                break
        length, new_loss = _search_line(data, target, state, active, objective, lower)
        misled |= length < 1.0
        if length == 0.0:
            if exact:
                break  # rounding leaves no step that lowers the objective
            continue
        loss = new_loss
        n_steps += 1
        _move(own, state, model, active, at, length)
    return loss


@kernel
def _list_active(own, state, exact):
    """Return the active coordinates, those to renew first, and how many these are."""
    theta, gradient, penalty, covered = state.theta, state.gradient, state.penalty, state.covered
    n_active = n_fresh = 0
    for j in range(len(theta)):
        if j != own and (theta[j] != 0.0 or abs(gradient[j]) > penalty[j]):
            n_active += 1
            n_fresh += exact or not covered[j]
    active = np.empty(n_active, np.int64)
    a, b = 0, n_fresh
    for j in range(len(theta)):
        if j != own and (theta[j] != 0.0 or abs(gradient[j]) > penalty[j]):
            if exact or not covered[j]:
                active[a] = j
                a += 1
            else:
                active[b] = j
                b += 1
    return active, n_fresh


@kernel
def _places(active, first, state):
    """Return the places of coordinates in the Hessian, where new ones get those behind the last."""
    counts, bend = first
    known, hessian, last = state.known, state.hessian, len(state.known) - 1
    at = np.empty(len(active), np.int64)
    for a in range(len(active)):
        j = active[a]
        if state.slot[j] < 0:
            m = known[last]
            known[last] = m + 1
            known[m] = j
            state.slot[j] = m
            for k in range(m):
                hessian[m, k] = hessian[k, m] = counts[j, known[k]] * bend
            hessian[m, m] = counts[j, j] * bend + LEAST_CURVATURE
        at[a] = state.slot[j]
    return at


@kernel
def _renew(data, state, active, at, n_fresh, exact):
    """Renew the Hessian of the first `n_fresh` active coordinates; if `exact`, that is all."""
    renew_hessian(state.hessian, at, data, state.residual, active, n_fresh, state.place)
    if exact:
        state.covered[:] = False
    for a in range(len(active)):
        state.covered[active[a]] = True


@kernel
def _gap(data, y, state, goal, p, objective):
    """Return an upper bound on how far the objective is above its minimum."""
    penalty, gradient = goal.penalties[p], state.gradient
    return bound_gap(y, data.weight, state.residual, gradient, goal.factor, penalty, objective)


@kernel
def _active_part(hessian, at):
    """Return the Hessian of the coordinates at some places, float32 of (n_active, n_active)."""
    model = np.empty((len(at), len(at)), np.float32)
    for a in range(len(at)):
        row = hessian[at[a]]
        for b in range(len(at)):
            model[a, b] = row[at[b]]
    return model


@kernel
def _search_line(data, target, state, active, objective, lower):
    """Halve the step until it lowers the objective enough; return its length or 0, and the loss."""
    trial = state.trial
    length = 1.0
    for _ in range(_MAX_HALVINGS):
        copy_into(trial, state.theta)
        for a in range(len(active)):
            trial[active[a]] += length * state.delta[a]
        loss = evaluate(data, target, trial, state.scratch, state.residual, state.changed)
        if penalised_loss(loss, state.penalty, trial) <= objective - _ARMIJO * length * lower:
            return length, loss
        length *= 0.5
    return 0.0, 0.0


@kernel
def _move(own, state, model, active, at, length):
    """Take the weights that were tried, and correct the Hessian."""
    theta, gradient, trial, changed = state.theta, state.gradient, state.trial, state.changed
    changed[own] = 0.0
    for a in range(len(active)):
        state.delta[a] *= length
    for j in range(len(theta)):
        theta[j] = trial[j]
        trial[j] = changed[j] - gradient[j]
        gradient[j] = changed[j]
    correct_hessian(state.hessian, at, model, active, state.delta, trial, state.slope)
