"""Kernels of mixtures of trees over binary variables."""

import numpy as np

from mnlearn.kernels.jit import kernel


@kernel
def fill_log_probabilities(rows, parent, log_prob, first, last, out):
    """Fill log P(row i | tree k) into out[i, k] for the rows from `first` to `last`.

    rows : uint8 of shape (n_rows, n_vars). parent : int64 of shape (n_trees, n_vars), -1 for a
    variable without parent. log_prob : float64 of shape (n_trees, n_vars, 2, 2), in nats,
    log P(v = x | parent = y) at [k, v, y, x], and log P(v = x) at [k, v, 0, x] without parent.
    """
    for i in range(first, last):
        for k in range(parent.shape[0]):
            total = 0.0
            for v in range(rows.shape[1]):
                above = parent[k, v]
                y = rows[i, above] if above >= 0 else 0
                total += log_prob[k, v, y, rows[i, v]]
            out[i, k] = total


@kernel
def add_pair_weights(var, start, chosen, weight, out):
    """Add the weight of each chosen row to out[u, v] for all its ones u <= v.

    var : the ones of all rows, row by row and ascending; those of row i are from start[i] to
    start[i + 1]. chosen : rows. weight : float64, of each chosen row.
    """
    for n in range(len(chosen)):
        last = start[chosen[n] + 1]
        for a in range(start[chosen[n]], last):
            for b in range(a, last):
                out[var[a], var[b]] += weight[n]


@kernel
def fill_pair_information(both, one, n_examples, out):
    """Fill in the mutual information of each pair of variables, in nats; the diagonal with 0.

    both : float64 of shape (n_vars, n_vars), examples in which u <= v are both 1. one : float64 of
    shape (n_vars,), examples in which a variable is 1. out : the shape of `both`, symmetric.
    """
    n_vars = len(one)
    entropy = np.empty(n_vars)
    for v in range(n_vars):
        p = one[v] / n_examples
        entropy[v] = _x_log_x(p) + _x_log_x(1.0 - p)
    for u in range(n_vars):
        out[u, u] = 0.0
        for v in range(u + 1, n_vars):
            p11 = both[u, v] / n_examples
            p10 = one[u] / n_examples - p11
            p01 = one[v] / n_examples - p11
            p00 = 1.0 - p11 - p10 - p01
            joint = _x_log_x(p11) + _x_log_x(p10) + _x_log_x(p01) + _x_log_x(p00)
            out[u, v] = joint - entropy[u] - entropy[v]
            out[v, u] = out[u, v]


@kernel
def _x_log_x(x):
    return x * np.log(x) if x > 0.0 else 0.0
