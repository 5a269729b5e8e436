"""The structure of a circuit: scopes, faults in them, determinism, and conditioning.

Variable v has the columns first[v]:first[v + 1], and column c has the leaves 2 c and 2 c + 1; of
several columns of one variable only the second leaf is used. Scopes are bit sets of variables.
"""

import numpy as np

from mnlearn.kernels.jit import kernel

SOUND, NOT_SMOOTH, NOT_DECOMPOSABLE = 0, 1, 2


@kernel
def scopes(start, child, first, n_leaves, scope):
    """Fill in the variables below each node; scope : uint64, (n_nodes, n_words), zero on entry."""
    for v in range(len(first) - 1):
        bit = np.uint64(1) << np.uint64(v % 64)
        for leaf in range(2 * first[v], 2 * first[v + 1]):
            scope[leaf, v // 64] = bit
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
def fill_literals(first, below):
    """Fill in the columns that are 0, and 1, by each leaf; a state says that all others are 0."""
    for v in range(len(first) - 1):
        for c in range(first[v], first[v + 1]):
            bit = np.uint64(1) << np.uint64(c % 64)
            for x in range(2):
                below[2 * c + x, x, c // 64] = bit
            for d in range(first[v], first[v + 1]):
                if d != c:
                    below[2 * c + 1, 0, d // 64] |= np.uint64(1) << np.uint64(d % 64)


@kernel
def find_overlap(is_sum, start, child, n_leaves, first, fixed):
    """Return the first sum of which two terms do not exclude each other by a variable, or -1."""
    n_words = fixed.shape[2]
    fixed[:n_leaves] = 0
    fill_literals(first, fixed)
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
                if not _exclude(fixed[child[e]], fixed[child[f]], first):
                    return i
    return -1


@kernel
def _exclude(one, other, first):
    """Tell whether no state agrees with two nodes, by the columns that these fix."""
    opposite = np.uint64(0)
    for k in range(one.shape[1]):
        opposite |= (one[0, k] & other[1, k]) | (one[1, k] & other[0, k])
    if opposite != 0:
        return True
    for v in range(len(first) - 1):
        left = first[v + 1] > first[v] + 1
        for c in range(first[v], first[v + 1] if left else first[v]):
            zero = (one[0, c // 64] | other[0, c // 64]) >> np.uint64(c % 64)
            if not zero & np.uint64(1):
                left = False
                break
        if left:
            return True
    return False


@kernel
def depth_first(start, child, n_leaves, order):
    """List the sums and products below the root, children before parents; return how many."""
    n = len(start) - 1
    seen = np.zeros(n, np.bool_)
    stack, edge = np.empty(n, np.int64), start[:-1].copy()
    depth, n_listed = 0, 0
    stack[0] = n - 1
    while depth >= 0:
        i = stack[depth]
        if edge[i] == start[i + 1]:
            order[n_listed] = i
            n_listed += 1
            depth -= 1
            continue
        below = child[edge[i]] - n_leaves
        edge[i] += 1
        if below >= 0 and not seen[below]:
            seen[below] = True
            depth += 1
            stack[depth] = below
    return n_listed


@kernel
def share_rows(circuit, order, weight, row, log_factor, new_start, new_child):
    """Give each node a row, which others take over once it is used; return the numbers of rows and
    of edges.

    row : of each node, those of the literals given, -1 for others. Parameters of a product have
    none: they are added to its `log_factor`. new_start, new_child : the rows of children, in order.
    """
    is_sum, start, child, n_leaves = circuit
    n_literals = n_leaves - len(weight)
    uses = np.zeros(len(row), np.int64)
    for i in order:
        for e in range(start[i], start[i + 1]):
            uses[child[e]] += 1
    free = np.empty(len(order), np.int64)
    n_free, n_rows, n_edges = 0, n_literals, 0
    for k in range(len(order)):
        i = order[k]
        if n_free:
            n_free -= 1
            row[n_leaves + i] = free[n_free]
        else:
            row[n_leaves + i] = n_rows
            n_rows += 1
        for e in range(start[i], start[i + 1]):
            c = child[e]
            if n_literals <= c < n_leaves and not is_sum[i]:
                log_factor[k] += weight[c - n_literals]
                continue
            if row[c] < 0:
                row[c] = n_rows
                n_rows += 1
            new_child[n_edges] = row[c]
            n_edges += 1
            uses[c] -= 1
            if c >= n_leaves and uses[c] == 0:
                free[n_free] = row[c]
                n_free += 1
        new_start[k + 1] = n_edges
    return n_rows, n_edges


@kernel
def settle(is_sum, start, child, n_leaves, alias):
    """Find nodes that are 0, of alias -1, and nodes that equal a node below them, their alias."""
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
    """Mark the nodes that the root depends on, given a mark at the node that it equals."""
    for i in range(len(start) - 2, -1, -1):
        if marked[n_leaves + i]:
            for e in range(start[i], start[i + 1]):
                below = alias[child[e]]
                if below >= 0:
                    marked[below] = 1


@kernel
def rewrite(start, child, n_leaves, alias, place, new_start, new_child):
    """Write the nodes that remain, those with a `place`; return how many, and the edges."""
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
