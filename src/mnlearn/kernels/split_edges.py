"""How many edges splits of a parameter add at least, on each variable at once.

Circuits are laid out as in `kernels.circuit`. Sets of variables are rows of 64-bit words.
"""

import numpy as np

from mnlearn.jit import kernel
from mnlearn.kernels.bits import lowest_bit

_PLANES = 32


@kernel
def literals_below(start, child, n_leaves, n_vars, below):
    """Find the variables whose literals are below each node.

    below : uint64, (n_nodes, 2, n_words), overwritten: for the literals of value 0 and 1.
    """
    below[:n_leaves] = 0
    for v in range(n_vars):
        for x in range(2):
            below[2 * v + x, x, v // 64] = np.uint64(1) << np.uint64(v % 64)
    for i in range(len(start) - 1):
        n = n_leaves + i
        below[n] = 0
        for e in range(start[i], start[i + 1]):
            c = child[e]
            for x in range(2):
                for k in range(below.shape[2]):
                    below[n, x, k] |= below[c, x, k]


@kernel
def edges_of_copies(is_sum, start, child, n_leaves, parameters, below, above, twice, n_edges):
    """Count the edges that are new above some parameters if these depend on a variable.

    A node above a parameter and not above the variable is copied if both values are wanted of it.
    A product where the two part becomes a sum of two, which adds 4 edges, or 5 if it has more
    than two factors; conditioning its factor above the variable may save 2 of them, where that is
    a choice between the two literals. What else conditioning costs is left out.

    parameters : int64: indices of leaves of which no two are factors of one term.
    below : as by `literals_below`.
    above : uint8, (n_nodes,), and twice : uint64, (n_nodes, n_words): room to work in.
    n_edges : int64, (n_vars,), overwritten.
    """
    n_words = below.shape[2]
    above[:] = 0
    for p in parameters:
        above[p] = 1
        twice[p] = 0
    for i in range(len(start) - 1):
        for e in range(start[i], start[i + 1]):
            if above[child[e]]:
                above[n_leaves + i] = 1
                twice[n_leaves + i] = 0
                break
    planes = np.zeros((_PLANES, n_words), np.uint64)
    for i in range(len(start) - 2, -1, -1):
        n = n_leaves + i
        if not above[n]:
            continue
        degree = start[i + 1] - start[i]
        _add(planes, twice[n], degree)
        if is_sum[i]:
            for e in range(start[i], start[i + 1]):
                c = child[e]
                if above[c]:
                    for k in range(n_words):
                        twice[c, k] |= twice[n, k]
            continue
        part = 0
        for e in range(start[i], start[i + 1]):
            if above[child[e]]:
                part = child[e]
        for e in range(start[i], start[i + 1]):
            c = child[e]
            if c != part:
                both = below[c, 0] & below[c, 1]
                _add(planes, both, 2 if degree == 2 else 3)
                for k in range(n_words):
                    twice[part, k] |= both[k]
        for k in range(n_words):
            twice[part, k] |= twice[n, k]
    n_edges[:] = 0
    for plane in range(_PLANES):
        for k in range(n_words):
            left = planes[plane, k]
            while left:
                n_edges[64 * k + np.int64(lowest_bit(left))] += np.int64(1) << plane
                left &= left - np.uint64(1)


@kernel
def _add(planes, members, amount):
    """Add an amount to the counters of some variables; bit b of a counter is in plane b."""
    for b in range(_PLANES):
        if not amount >> b:
            break
        if not (amount >> b) & 1:
            continue
        for k in range(len(members)):
            carry = members[k]
            plane = b
            while carry:
                before = planes[plane, k]
                planes[plane, k] = before ^ carry
                carry &= before
                plane += 1
