"""The spanning tree of greatest weight of a complete graph."""

import numpy as np

from mnlearn.kernels.jit import kernel


@kernel
def fill_spanning_tree(weight, parent, joined):
    """Fill in the tree of greatest weight with root 0, of parent -1 (Prim), and the order of
    joining.
    """
    n = len(parent)
    parent[:] = 0
    parent[0] = -1
    joined[0] = 0
    best = weight[0].copy()
    is_outside = np.ones(n, np.bool_)
    is_outside[0] = False
    for k in range(1, n):
        chosen = -1
        for u in range(n):
            if is_outside[u] and (chosen < 0 or best[u] > best[chosen]):
                chosen = u
        is_outside[chosen] = False
        joined[k] = chosen
        row = weight[chosen]
        for u in range(n):
            if is_outside[u] and row[u] > best[u]:
                best[u] = row[u]
                parent[u] = chosen
