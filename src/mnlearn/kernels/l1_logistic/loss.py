"""The loss of a logistic regression, its gradient and its duality gap.

Coordinates are the weights of the variables and, last, the intercept. Columns with more ones than
zeros are stored negated. A free intercept compensates for that by itself; where it is penalised,
the weights are those of the variables, and the kernels undo the negation.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.logistic import exp_nonpositive, log1p_unit, log_normal
from mnlearn.kernels.arithmetic.sums import sum_of
from mnlearn.kernels.jit import kernel


class LogisticData(NamedTuple):
    """The rows, and the columns, as ascending lists of their ones; the weights of the rows, and of
    the ones of each column; which columns are stored negated.
    """

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    start: NDArray[np.int64]
    row: NDArray[np.int32]
    weight: NDArray[np.float64]
    ones: NDArray[np.float64]
    flipped: NDArray[np.bool_]
    free_intercept: bool


@kernel
def residuals_of(log_odds, y, weight, residual):
    """Write the derivatives of the loss by the log-odds; return the loss.

    The log-odds are replaced by the losses of the rows.
    """
    for i in range(len(log_odds)):
        s = log_odds[i] if y[i] else -log_odds[i]
        e = exp_nonpositive(-abs(s))
        log_odds[i] = weight[i] * (log1p_unit(e) - (s if s < 0.0 else 0.0))
        wrong = (e if s >= 0.0 else 1.0) / (1.0 + e)
        residual[i] = -weight[i] * wrong if y[i] else weight[i] * wrong
    return sum_of(log_odds)


@kernel
def penalised_loss(loss, penalty, theta):
    """Return the loss plus the penalty, which has a factor for each coordinate."""
    total = loss
    for j in range(len(theta)):
        total += penalty[j] * abs(theta[j])
    return total


class Target(NamedTuple):
    """The values of the variable that is regressed, and the weight of the rows in which it is 1 and
    so is each column, as it is stored.
    """

    y: NDArray[np.uint8]
    ones: NDArray[np.float64]


class Scratch(NamedTuple):
    """Scratch of `evaluate`: the weights of the columns as they are stored, then their gradient;
    the log-odds of the rows; and whether some weight counts in a row.
    """

    stored: NDArray[np.float64]
    log_odds: NDArray[np.float64]
    touched: NDArray[np.bool_]


@kernel
def evaluate(data, target, theta, scratch, residual, gradient):
    """Write the residuals of the rows and the gradient at theta; return the loss.

    Only rows that some weight counts in are walked: in all others the residual depends on the
    value of the target alone.
    """
    y, weight, flipped = target.y, data.weight, data.flipped
    stored, log_odds, touched = scratch
    n, is_free = len(flipped), data.free_intercept
    constant = theta[n]
    for j in range(n):
        stored[j] = theta[j]
        if flipped[j] and not is_free:
            stored[j] = -theta[j]
            constant += theta[j]
    for i in range(len(y)):
        log_odds[i] = constant
        touched[i] = False
    for j in range(n):
        if stored[j] != 0.0:
            for i in data.row[data.start[j] : data.start[j + 1]]:
                log_odds[i] += stored[j]
                touched[i] = True
    loss = residuals_of(log_odds, y, weight, residual)
    e = exp_nonpositive(-abs(constant))
    elsewhere = (1.0 if constant >= 0.0 else e) / (1.0 + e)
    for j in range(n):
        stored[j] = elsewhere * data.ones[j] - target.ones[j]
    whole = _add_residuals(data, y, elsewhere, touched, residual, stored)
    for j in range(n):
        gradient[j] = whole - stored[j] if flipped[j] and not is_free else stored[j]
    gradient[n] = whole
    return loss


@kernel
def _add_residuals(data, y, elsewhere, touched, residual, stored):
    """Add what touched rows have more than `elsewhere` to the gradient; return the sum of all."""
    whole = 0.0
    for i in range(len(y)):
        whole += residual[i]
        if touched[i]:
            more = residual[i] - data.weight[i] * (elsewhere - y[i])
            for j in data.indices[data.indptr[i] : data.indptr[i + 1]]:
                stored[j] += more
    return whole


@kernel
def _entropy(y, weight, residual, scale_one, scale_zero):
    """Return the dual of the loss at the residuals, scaled by a factor for each class."""
    entropy = np.empty(len(y))
    for i in range(len(y)):
        q = abs(residual[i]) / weight[i] * (scale_one if y[i] else scale_zero)
        q = min(max(q, 1e-300), 1.0 - 1e-16)
        entropy[i] = -weight[i] * (q * log_normal(q) + (1.0 - q) * log_normal(1.0 - q))
    return sum_of(entropy)


@kernel
def bound_gap(y, weight, residual, gradient, factor, penalty, objective):
    """Return an upper bound on how far the objective is above its minimum.

    The residuals are a dual point if no column's gradient exceeds its penalty and, where the
    intercept is free, if they sum to 0. To make them sum to 0, the class whose residuals weigh more
    is scaled down. That changes no gradient by more than the difference, which is allowed for.
    """
    n = len(gradient) - 1
    scale_one = scale_zero = 1.0
    moved = strongest = 0.0
    if factor[n] == 0.0:
        ones = zeros = 0.0
        for i in range(len(y)):
            if y[i]:
                ones -= residual[i]
            else:
                zeros += residual[i]
        moved = abs(zeros - ones)
        scale_one, scale_zero = min(1.0, zeros / ones), min(1.0, ones / zeros)
    else:
        strongest = abs(gradient[n]) / factor[n]
    for j in range(n):
        strongest = max(strongest, (abs(gradient[j]) + moved) / factor[j])
    feasible = min(1.0, penalty / strongest) if strongest > 0.0 else 1.0
    return objective - _entropy(y, weight, residual, scale_one * feasible, scale_zero * feasible)
