"""Scopes of the nodes of a circuit as bit sets, and faults in them."""

import numpy as np

from mnlearn.kernels.jit import kernel

SOUND, NOT_SMOOTH, NOT_DECOMPOSABLE = 0, 1, 2


@kernel
def scopes(start, child, n_vars, n_leaves, scope):
    """Fill in the variables below each node; scope : uint64, (n_nodes, n_words), zero on entry."""
    for v in range(n_vars):
        bit = np.uint64(1) << np.uint64(v % 64)
        scope[2 * v, v // 64] = bit
        scope[2 * v + 1, v // 64] = bit
    for i in range(len(start) - 1):
        for e in range(start[i], start[i + 1]):
            scope[n_leaves + i] |= scope[child[e]]


@kernel
def find_fault(is_sum, start, child, n_leaves, scope):
    """Return the first node that is not smooth or not decomposable, and which it is; or 0, 0."""
    n_words = scope.shape[1]
    for i in range(len(is_sum)):
        own = scope[n_leaves + i]
        for w in range(n_words):
            seen = np.uint64(0)
            for e in range(start[i], start[i + 1]):
                one = scope[child[e], w]
                if is_sum[i] and one != own[w]:
                    return n_leaves + i, NOT_SMOOTH
                if not is_sum[i] and one & seen:
                    return n_leaves + i, NOT_DECOMPOSABLE
                seen |= one
    return 0, SOUND


@kernel
def topological(start, child, n_leaves):
    """Tell whether every child stands before its parent."""
    for i in range(len(start) - 1):
        for e in range(start[i], start[i + 1]):
            if not 0 <= child[e] < n_leaves + i:
                return False
    return True
