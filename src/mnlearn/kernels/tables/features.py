"""The weights of conjunctions added to tables."""

import numpy as np

from mnlearn.kernels.jit import kernel
from mnlearn.kernels.tables.graphs import longest


@kernel
def _allow(var, value, first, last, start, n_states, out):
    """Write the states of a variable that satisfy literals first:last to `out`; return how many.

    start : the first column of the variable.
    """
    n = 0
    for x in range(n_states):
        holds = True
        for i in range(first, last):
            state = 1 if n_states == 2 else var[i] - start
            holds &= (x == state) == (value[i] == 1)
        if holds:
            out[n] = x
            n += 1
    return n


@kernel
def add_features(features, columns, home, scope, scope_start, offset, out):
    """Add the weight of each feature to the cells of its table in which it holds.

    features : start, var, value and weight of conjunctions over columns, the columns of a feature
        ascending. columns : `variable_of`, `start` and `arity` of the schema.
    home : the table of each feature. The variables of table t, ascending, are
        scope[scope_start[t]:scope_start[t + 1]], and its cells begin at offset[t] in `out`.
    """
    first, var, value, weight = features
    variable_of, start, arity = columns
    found = np.empty(longest(offset), np.int64)
    state = np.empty(256, np.int64)
    for f in range(len(weight)):
        t, n, stride, last = home[f], 1, 1, first[f + 1]
        found[0] = offset[t]
        for k in range(scope_start[t + 1] - 1, scope_start[t] - 1, -1):
            v, begin = scope[k], last
            while begin > first[f] and variable_of[var[begin - 1]] == v:
                begin -= 1
            n_allowed = _allow(var, value, begin, last, start[v], arity[v], state)
            # The first of the states overwrites what the others add to, so it comes last.
            for q in range(n_allowed - 1, -1, -1):
                for j in range(n):
                    found[q * n + j] = found[j] + state[q] * stride
            last, stride, n = begin, stride * arity[v], n * n_allowed
        for j in range(n):
            out[found[j]] += weight[f]
