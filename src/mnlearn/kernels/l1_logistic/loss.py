"""The loss of a logistic regression, its gradient and its duality gap.

Coordinates are the weights of the variables and, last, the intercept. Columns with more ones than
zeros are stored negated. A free intercept compensates for that by itself; where it is penalised,
the weights are those of the variables, and the kernels undo the negation.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.logistic import exp_nonpositive, log1p_unit, log_normal
from mnlearn.kernels.jit import kernel, sum_kernel

_BLOCK = 256


class LogisticData(NamedTuple):
    """The rows as ascending lists of their ones, with weights; which columns are stored negated."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weight: NDArray[np.float64]
    flipped: NDArray[np.bool_]
    free_intercept: bool


@sum_kernel
def residuals_of(log_odds, y, weight, residual):
    """Write the derivatives of the loss by the log-odds; return the loss.

    Of one array for both, the loop would take one row at a time.
    """
    loss = 0.0
    for i in range(len(log_odds)):
        s = log_odds[i] if y[i] else -log_odds[i]
        e = exp_nonpositive(-abs(s))
        loss += weight[i] * (log1p_unit(e) - (s if s < 0.0 else 0.0))
        wrong = (e if s >= 0.0 else 1.0) / (1.0 + e)
        residual[i] = -weight[i] * wrong if y[i] else weight[i] * wrong
    return loss


@kernel
def penalised_loss(loss, penalty, theta):
    """Return the loss plus the penalty, which has a factor for each coordinate."""
    total = loss
    for j in range(len(theta)):
        total += penalty[j] * abs(theta[j])
    return total


@kernel
def evaluate(data, y, theta, stored, residual, gradient):
    """Write the residuals of the rows and the gradient at theta; return the loss."""
    indptr, indices, weight, flipped, free_intercept = data
    n = len(flipped)
    constant = theta[n]
    for j in range(n):
        stored[j] = theta[j]
        if flipped[j] and not free_intercept:
            stored[j] = -theta[j]
            constant += theta[j]
    loss = 0.0
    log_odds = np.empty(_BLOCK)
    for begin in range(0, len(y), _BLOCK):
        end = min(begin + _BLOCK, len(y))
        block = log_odds[: end - begin]
        for i in range(begin, end):
            total = constant
            for j in indices[indptr[i] : indptr[i + 1]]:
                total += stored[j]
            block[i - begin] = total
        loss += residuals_of(block, y[begin:end], weight[begin:end], residual[begin:end])
    stored[:] = 0.0
    whole = 0.0
    for i in range(len(y)):
        r = residual[i]
        whole += r
        for j in indices[indptr[i] : indptr[i + 1]]:
            stored[j] += r
    for j in range(n):
        gradient[j] = whole - stored[j] if flipped[j] and not free_intercept else stored[j]
    gradient[n] = whole
    return loss


@sum_kernel
def _entropy(y, weight, residual, scale_one, scale_zero):
    """Return the dual of the loss at the residuals, scaled by a factor for each class."""
    total = 0.0
    for i in range(len(y)):
        q = abs(residual[i]) / weight[i] * (scale_one if y[i] else scale_zero)
        q = min(max(q, 1e-300), 1.0 - 1e-16)
        total -= weight[i] * (q * log_normal(q) + (1.0 - q) * log_normal(1.0 - q))
    return total


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
