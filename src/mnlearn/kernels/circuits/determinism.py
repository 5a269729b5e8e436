"""Whether at most one term of each sum of a circuit can be other than 0 in a state."""

import numpy as np

from mnlearn.kernels.jit import kernel


@kernel
def find_overlap(is_sum, start, child, n_leaves, n_vars, fixed):
    """Return the first sum of which two terms do not exclude each other by a variable, or -1.

    The circuit is laid out as in `kernels.circuits.evaluation`. Two terms exclude each other if
    there is a variable whose value 0 all states of one need, and whose value 1 all of the other.

    fixed : uint64, (n_nodes, 2, n_words), overwritten: the variables that are 0, and 1, wherever a
        node is not 0.
    """
    n_words = fixed.shape[2]
    fixed[:n_leaves] = 0
    for v in range(n_vars):
        for x in range(2):
            fixed[2 * v + x, x, v // 64] = np.uint64(1) << np.uint64(v % 64)
    for i in range(len(is_sum)):
        n = n_leaves + i
        fixed[n] = np.uint64(0xFFFFFFFFFFFFFFFF) if is_sum[i] else np.uint64(0)
        for e in range(start[i], start[i + 1]):
            c = child[e]
            for x in range(2):
                for k in range(n_words):
                    if is_sum[i]:
                        fixed[n, x, k] &= fixed[c, x, k]
                    else:
                        fixed[n, x, k] |= fixed[c, x, k]
        if not is_sum[i]:
            continue
        for e in range(start[i], start[i + 1]):
            for f in range(start[i], e):
                if not _exclude(fixed[child[e]], fixed[child[f]]):
                    return i
    return -1


@kernel
def _exclude(one, other):
    opposite = np.uint64(0)
    for k in range(one.shape[1]):
        opposite |= (one[0, k] & other[1, k]) | (one[1, k] & other[0, k])
    return opposite != 0
