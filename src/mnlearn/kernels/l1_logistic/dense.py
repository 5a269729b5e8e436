"""The loss of a logistic regression, its gradient and its Hessian, where the columns are dense.

Coordinates are the weights of the variables and, last, the intercept, which is not penalised.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.jit import fused_kernel, kernel, sum_kernel
from mnlearn.kernels.l1_logistic.loss import residuals_of
from mnlearn.kernels.l1_logistic.quadratic_model import LEAST_CURVATURE

# Rows whose log-odds, and whose columns as the Hessian takes them, stay in the nearest cache.
_BLOCK = 512


class DenseData(NamedTuple):
    """The data of logistic regressions.

    columns : uint8, (n_vars, n_rows), the values of the variables.
    weight : float64, (n_rows,), weight of each row.
    """

    columns: NDArray[np.uint8]
    weight: NDArray[np.float64]


@fused_kernel
def _add(total, factor, column):
    """Add a multiple of a column."""
    for i in range(len(total)):
        total[i] += factor * column[i]


@sum_kernel
def _dot(values, column):
    """Return the product of values and a column."""
    total = 0.0
    for i in range(len(values)):
        total += values[i] * column[i]
    return total


@sum_kernel
def _dot_single(values, column):
    """Return the product of two float32 arrays."""
    total = np.float32(0.0)
    for i in range(len(values)):
        total += values[i] * column[i]
    return total


@sum_kernel
def _sum(values):
    """Return the sum of an array."""
    total = values.dtype.type(0.0)
    for i in range(len(values)):
        total += values[i]
    return total


@kernel
def evaluate_dense(data, y, theta, residual, gradient):
    """Write the residuals of the rows and the gradient at theta; return the loss.

    data : DenseData. y : uint8, (n_rows,), values of the target. theta : float64, (n_vars + 1,).
    residual : float64, (n_rows,), and gradient : float64, (n_vars + 1,), written.
    """
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
            gradient[j] += _dot(own, columns[j, begin:end])
        gradient[n] += _sum(own)
    return loss


@fused_kernel
def _curvatures(residual, weight, curvature):
    """Write the second derivatives of the loss by the log-odds."""
    for i in range(len(residual)):
        r = abs(residual[i])
        curvature[i] = r * (1.0 - r / weight[i])


@kernel
def dense_hessian(data, residual, active):
    """Return the Hessian of the active coordinates, float32, (n_active, n_active).

    data : DenseData. residual : float64, (n_rows,). active : int64, (n_active,), ascending, with
    the intercept.
    """
    columns, weight = data
    n_active = len(active) - 1
    total = np.zeros((n_active + 1, n_active + 1))
    curvature = np.empty(_BLOCK, np.float32)
    bent = np.empty(_BLOCK, np.float32)
    for begin in range(0, len(residual), _BLOCK):
        end = min(begin + _BLOCK, len(residual))
        own, product = curvature[: end - begin], bent[: end - begin]
        _curvatures(residual[begin:end], weight[begin:end], own)
        total[n_active, n_active] += _sum(own)
        for a in range(n_active):
            column = columns[active[a], begin:end]
            for i in range(len(own)):
                product[i] = own[i] * column[i]
            total[n_active, a] += _sum(product)
            for b in range(a + 1):
                total[a, b] += _dot_single(product, columns[active[b], begin:end])
    model = np.empty((n_active + 1, n_active + 1), np.float32)
    for a in range(n_active + 1):
        for b in range(n_active + 1):
            model[a, b] = total[max(a, b), min(a, b)]
        model[a, a] = total[a, a] + LEAST_CURVATURE
    return model
