"""The minimum of a smooth function with an L1 penalty, by a search with bounds of SciPy."""

import numpy as np
from scipy.optimize import minimize


def least_with_l1(smooth, l1):
    """Return the least of `smooth(x)`, a value with its gradient, plus the prices `l1` of |x|.

    x is a difference of two vectors that are not negative.
    """
    n = len(l1)

    def loss(parts):
        value, gradient = smooth(parts[:n] - parts[n:])
        gradients = np.concatenate([gradient, -gradient])
        return value + l1 @ (parts[:n] + parts[n:]), gradients + np.tile(l1, 2)

    options = {"maxiter": 20_000, "maxfun": 40_000, "ftol": 1e-15, "gtol": 1e-8}
    bounds = [(0, None)] * 2 * n
    return minimize(loss, np.zeros(2 * n), jac=True, bounds=bounds, options=options).fun
