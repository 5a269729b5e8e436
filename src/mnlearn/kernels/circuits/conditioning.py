"""The part of a circuit that remains when some literals are 0."""

from mnlearn.kernels.jit import kernel


@kernel
def settle(is_sum, start, child, n_leaves, alias):
    """Find nodes that are 0, and nodes that equal a node below them.

    alias : int32, (n_nodes,). On entry, each leaf has its own number, or -1 if it is 0. On return,
        each node has the number of the node that it equals, which may be its own, or -1.
    """
    for i in range(len(is_sum)):
        n_left, last, zero = 0, -1, False
        for e in range(start[i], start[i + 1]):
            below = alias[child[e]]
            if below < 0:
                zero = True
            else:
                n_left += 1
                last = below
        if n_left == 0 or (zero and not is_sum[i]):
            alias[n_leaves + i] = -1
        else:
            alias[n_leaves + i] = last if n_left == 1 else n_leaves + i


@kernel
def mark_below(start, child, n_leaves, alias, marked):
    """Mark the nodes that the root depends on.

    marked : uint8, (n_nodes,). 1 for the node that the root equals, on entry.
    """
    for i in range(len(start) - 2, -1, -1):
        if marked[n_leaves + i]:
            for e in range(start[i], start[i + 1]):
                below = alias[child[e]]
                if below >= 0:
                    marked[below] = 1


@kernel
def rewrite(start, child, n_leaves, alias, place, new_start, new_child):
    """Write the nodes that remain; return the number of inner nodes and of edges.

    place : int32, (n_nodes,). The new number of each node that remains, else -1.
    """
    n_nodes, n_edges = 0, 0
    for i in range(len(start) - 1):
        if place[n_leaves + i] < 0:
            continue
        for e in range(start[i], start[i + 1]):
            below = alias[child[e]]
            if below >= 0:
                new_child[n_edges] = place[below]
                n_edges += 1
        n_nodes += 1
        new_start[n_nodes] = n_edges
    return n_nodes, n_edges
