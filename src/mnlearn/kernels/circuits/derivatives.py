"""Derivatives of arithmetic circuits by their nodes, in log space, parents before children.

The arrays of a circuit are as in `kernels.circuits.evaluation`.
"""

from mnlearn.kernels.arithmetic.logistic import exp_nonpositive, log1p_unit
from mnlearn.kernels.circuits.evaluation import LANES, LOG_ZERO
from mnlearn.kernels.jit import fused_kernel


@fused_kernel
def _add_in_log_space(to, one):
    """Replace each lane of `to` by the log of the sum of the numbers whose logs are given."""
    for k in range(LANES):
        above = to[k] if to[k] > one[k] else one[k]
        to[k] = above + log1p_unit(exp_nonpositive(-abs(to[k] - one[k])))


@fused_kernel
def log_derivatives(is_sum, start, child, n_leaves, values, derivatives, scratch):
    """Fill in the log of the derivative of the root by each node.

    values : float64, (n_nodes, LANES), log-values of all nodes. derivatives : the same shape,
    overwritten. scratch : float64, (3, LANES).
    """
    n_nodes = n_leaves + len(is_sum)
    n_zeros, product, others = scratch[0], scratch[1], scratch[2]
    for i in range(n_nodes - 1):
        for k in range(LANES):
            derivatives[i, k] = LOG_ZERO
    for k in range(LANES):
        derivatives[n_nodes - 1, k] = 0.0
    for i in range(len(is_sum) - 1, -1, -1):
        own = derivatives[n_leaves + i]
        if is_sum[i]:
            for e in range(start[i], start[i + 1]):
                _add_in_log_space(derivatives[child[e]], own)
            continue
        # The derivative by a child is the product of the others, of which some may be 0.
        for k in range(LANES):
            n_zeros[k] = 0.0
            product[k] = own[k]
        for e in range(start[i], start[i + 1]):
            one = values[child[e]]
            for k in range(LANES):
                is_zero = one[k] < 0.5 * LOG_ZERO
                n_zeros[k] += 1.0 if is_zero else 0.0
                product[k] += 0.0 if is_zero else one[k]
        for e in range(start[i], start[i + 1]):
            one = values[child[e]]
            for k in range(LANES):
                is_zero = one[k] < 0.5 * LOG_ZERO
                left = n_zeros[k] - (1.0 if is_zero else 0.0)
                without = product[k] - (0.0 if is_zero else one[k])
                others[k] = LOG_ZERO if left > 0.0 else without
            _add_in_log_space(derivatives[child[e]], others)
