"""Likelihoods of feature trees: one way down for each row."""

import numpy as np

from mnlearn.kernels.jit import kernel

_NO_VALUE = 255
_NO_BRANCH = -1


@kernel
def log_likelihoods(values, literals, edges, fixed, log_prob, stack, out):
    """Fill in the log-probability of each row; see `models.feature_tree` for the arrays."""
    for i in range(len(values)):
        out[i] = _walk(values[i], literals, edges, fixed, log_prob, stack)


@kernel
def _walk(x, literals, edges, fixed, log_prob, stack):
    """Return the log-probability of one row."""
    for v in range(len(x)):
        if x[v] == _NO_VALUE:
            return -np.inf
    branch_start, child_start, child = edges
    total = 0.0
    n_waiting = 0
    a = 0
    while True:
        for e in range(child_start[a], child_start[a + 1]):
            stack[n_waiting] = child[e]
            n_waiting += 1
        if n_waiting == 0:
            return total
        n_waiting -= 1
        f = stack[n_waiting]
        first, last = branch_start[f], branch_start[f + 1]
        if literals[0][f] < literals[0][f + 1]:
            a = first + _holds(x, literals, f)
        else:
            a = _find_cell(x, fixed, first, last)
            if a == _NO_BRANCH:
                return -np.inf
        total += log_prob[a]


@kernel
def _holds(x, literals, f):
    """Tell whether a row satisfies all literals of an F-node."""
    start, var, value = literals
    for e in range(start[f], start[f + 1]):
        if x[var[e]] != value[e]:
            return 0
    return 1


@kernel
def _find_cell(x, fixed, first, last):
    """Return the A-node of a table whose values a row has, by bisection of the sorted cells."""
    start, var, value = fixed
    while first < last:
        middle = (first + last) // 2
        order = 0
        for e in range(start[middle], start[middle + 1]):
            if x[var[e]] != value[e]:
                order = -1 if x[var[e]] < value[e] else 1
                break
        if order == 0:
            return middle
        if order < 0:
            last = middle
        else:
            first = middle + 1
    return _NO_BRANCH
