"""The spanning tree of greatest weight of a complete graph."""

import numpy as np

from mnlearn.kernels.jit import kernel


@kernel
def fill_spanning_tree(weight, parent):
    """Fill in the parents of the tree of greatest weight that is rooted at node 0 (Prim).

    weight : float64 of shape (n, n), symmetric. parent : int64 of shape (n,), overwritten; -1 for
    the root. Of equal edges the one to the first node is taken, from the node that joined first.
    """
    n = len(parent)
    parent[:] = 0
    parent[0] = -1
    best = weight[0].copy()
    is_outside = np.ones(n, np.bool_)
    is_outside[0] = False
    for _ in range(n - 1):
        chosen = -1
        for u in range(n):
            if is_outside[u] and (chosen < 0 or best[u] > best[chosen]):
                chosen = u
        is_outside[chosen] = False
        own = weight[chosen]
        for u in range(n):
            if is_outside[u] and own[u] > best[u]:
                best[u] = own[u]
                parent[u] = chosen
