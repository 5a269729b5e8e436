"""The strongest pairs of a node: a spanning forest of greatest mutual information."""

import numpy as np

from mnlearn.kernels.jit import kernel
from mnlearn.kernels.lem.columns import count_bits
from mnlearn.kernels.lem.entropies import pair_entropy, single_entropies


@kernel
def spanning_forest(slot, variables, columns, both, n, c_log_c):
    """Return the pairs, int64 of shape (n_pairs, 2), each with the lower number first.

    variables : those that may be joined. columns, both : as in `layout.Node`. n : examples.
    """
    ones = np.empty(len(columns), np.int32)
    for c in range(len(columns)):
        ones[c] = count_bits(columns[c])
    entropy, seen = np.empty(len(slot) - 1), np.empty(len(slot) - 1, np.int64)
    single_entropies(slot, ones, n, c_log_c, entropy, seen)
    links = np.empty((max(len(variables) - 1, 0), 2), np.int64)
    best = np.full(len(variables), -np.inf)
    nearest = np.zeros(len(variables), np.int64)
    outside = np.ones(len(variables), np.bool_)
    last = 0
    for k in range(len(links)):
        outside[last] = False
        following = -1
        for m in range(len(variables)):
            if not outside[m]:
                continue
            a, b = min(variables[last], variables[m]), max(variables[last], variables[m])
            shared = entropy[a] + entropy[b]
            shared -= pair_entropy(slot, a, b, ones, both, n, c_log_c)
            if shared > best[m]:
                best[m], nearest[m] = shared, variables[last]
            if following < 0 or best[m] > best[following]:
                following = m
        last = following
        links[k, 0] = min(variables[last], nearest[last])
        links[k, 1] = max(variables[last], nearest[last])
    return links
