"""Orders of elimination, on rows of bits that say which variables share a table."""

import numpy as np

from mnlearn.kernels.arithmetic.bits import lowest_bit
from mnlearn.kernels.jit import kernel

_ONE = np.uint64(1)


@kernel
def members_of(near, v, out):
    """Write the variables of row `v` of bits to `out`, ascending; return how many there are."""
    n = 0
    for w in range(near.shape[1]):
        bits = near[v, w]
        while bits:
            out[n] = 64 * w + np.int64(lowest_bit(bits))
            n += 1
            bits &= bits - _ONE
    return n


@kernel
def _set(near, v, u, value):
    """Set or clear bit `u` of row `v`."""
    bit = _ONE << np.uint64(u & 63)
    if value:
        near[v, u >> 6] |= bit
    else:
        near[v, u >> 6] &= ~bit


@kernel
def join_scopes(start, scope, near):
    """Set the bits of all pairs of variables that share a scope; negative numbers are left out."""
    for f in range(len(start) - 1):
        for i in range(start[f], start[f + 1]):
            for j in range(start[f], i):
                if scope[i] >= 0 and scope[j] >= 0:
                    _set(near, scope[i], scope[j], True)
                    _set(near, scope[j], scope[i], True)


@kernel
def _fill(near, v, weight, members):
    """Return the weight of the pairs of neighbours of `v` that are not joined."""
    n = members_of(near, v, members)
    score = 0.0
    for i in range(n):
        row, own = near[members[i]], weight[members[i]]
        for j in range(i):
            u = members[j]
            if not (row[u >> 6] >> np.uint64(u & 63)) & _ONE:
                score += own * weight[u]
    return score


@kernel
def _add(near, v, out, row):
    """Set the bits of row `v` of `near` in a row of `out`."""
    for w in range(near.shape[1]):
        out[row, w] |= near[v, w]


@kernel
def _eliminate_one(near, v, members, changed):
    """Join the neighbours of a variable; mark in `changed` whose fill may be another one.

    The neighbours are a clique then, so the common neighbours of each new edge count too.
    """
    n = members_of(near, v, members)
    changed[:] = 0
    for i in range(n):
        u = members[i]
        _add(near, v, near, u)
        _set(near, u, u, False)
        _set(near, u, v, False)
        _add(near, u, changed, 0)
    _add(near, v, changed, 0)
    return n


@kernel
def eliminate(near, weight, log_size, rank, most, order):
    """Write an order of elimination to `order`; return its length and log2 of the cells it takes.

    The next variable is one of the lowest rank, of these one whose elimination joins the fewest
    pairs of neighbours, and of these the first. Each takes a table over it and its neighbours.

    near : uint64, bits of the neighbours of each variable. Afterwards the row of a variable holds
        the neighbours that it had when it was eliminated.
    weight : a pair counts as the product of two weights. log_size : log2 of the number of states.
    rank : negative for a variable that is not eliminated.
    most : the search ends where the cells are more.
    """
    n = len(near)
    left = rank >= 0
    members, touched = np.empty(n, np.int64), np.empty(n, np.int64)
    changed = np.empty((1, near.shape[1]), np.uint64)
    score, cells = np.empty(n), 0.0
    for v in range(n):
        score[v] = _fill(near, v, weight, members)
    n_left = left.sum()
    for k in range(n_left):
        best = -1
        for v in range(n):
            if left[v] and (best < 0 or (rank[v], score[v]) < (rank[best], score[best])):
                best = v
        order[k], left[best] = best, False
        size = log_size[best]
        for i in range(_eliminate_one(near, best, members, changed)):
            size += log_size[members[i]]
        cells += 2.0 ** min(size, 1000.0)
        if np.log2(cells) > most:
            return k + 1, np.log2(cells)
        for i in range(members_of(changed, 0, touched)):
            if left[touched[i]]:
                score[touched[i]] = _fill(near, touched[i], weight, members)
    return n_left, np.log2(cells)
