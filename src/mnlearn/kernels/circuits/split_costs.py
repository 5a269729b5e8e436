"""The number of edges that splits of parameters on a column add; only nodes that change are
visited.

Circuits are laid out as in `evaluation`, splits made as in `splitting`. Sets of columns are rows of
64-bit words.
"""

import heapq

import numpy as np

from mnlearn.kernels.arithmetic.bits import lowest_bit
from mnlearn.kernels.circuits.splitting import EITHER, ONE, SAME, ZERO
from mnlearn.kernels.circuits.structure import fill_literals
from mnlearn.kernels.jit import kernel

_PLANES = 32
# The part of a node in a split: above one of its parameters, or copied for each value.
_ABOVE = 1
_COPIED = 2


@kernel
def parents_of(start, child, n_leaves, parent_start, parent):
    """List the parents of node n in parent[parent_start[n] : parent_start[n + 1]]."""
    parent_start[:] = 0
    for e in range(len(child)):
        parent_start[child[e]] += 1
    total = 0
    for n in range(len(parent_start)):
        total += parent_start[n]
        parent_start[n] = total
    for i in range(len(start) - 1):
        for e in range(start[i], start[i + 1]):
            c = child[e]
            parent_start[c] -= 1
            parent[parent_start[c]] = n_leaves + i


@kernel
def literals_below(start, child, n_leaves, first, below):
    """Find the columns whose literals, of value 0 and 1, are below each node."""
    below[:n_leaves] = 0
    fill_literals(first, below)
    for i in range(len(start) - 1):
        n = n_leaves + i
        below[n] = 0
        for e in range(start[i], start[i + 1]):
            c = child[e]
            for x in range(2):
                for k in range(below.shape[2]):
                    below[n, x, k] |= below[c, x, k]


@kernel
def _mark_above(parent_start, parent, parameters, mark, stack, order):
    """Mark some leaves and all nodes above; list these in `order`, each after its parents."""
    n_order = 0
    nodes, edges = stack
    for p in parameters:
        if mark[p]:
            continue
        mark[p] = _ABOVE
        depth = 0
        nodes[0] = p
        edges[0] = parent_start[p]
        while depth >= 0:
            n = nodes[depth]
            if edges[depth] == parent_start[n + 1]:
                order[n_order] = n
                n_order += 1
                depth -= 1
                continue
            above = parent[edges[depth]]
            edges[depth] += 1
            if not mark[above]:
                mark[above] = _ABOVE
                depth += 1
                nodes[depth] = above
                edges[depth] = parent_start[above]
    return n_order


@kernel
def _values_below(below, n, var):
    """Return for which values of a column there are literals below a node."""
    shift = np.uint64(var % 64)
    zero = (below[n, 0, var // 64] >> shift) & np.uint64(1)
    one = (below[n, 1, var // 64] >> shift) & np.uint64(1)
    return np.int64(zero) * ZERO + np.int64(one) * ONE


@kernel
def edges_of_split(circuit, parents, below, parameters, var, extend, limit, room):
    """Return by how much the number of edges changes if some parameters depend on a column.

    `splitting.plan_split` visits all nodes and finds the same number. This kernel stops once the
    number must be above `limit`, and returns one above it. That exceeds the change only if copies
    that are not yet counted remove edges: a sum of two literals removes 2 where it is conditioned.

    extend : whether the parameters, no two of which are factors of one term, stay, multiplied with
    new ones. room : mark, wanted, two stacks and order, a place for each node; the first two 0 and
    left so.
    """
    is_sum, start, child, n_leaves = circuit
    parent_start, parent = parents
    mark, wanted, stack, order = room
    change = 0
    n_above = _mark_above(parent_start, parent, parameters, mark, stack, order)
    # Empty, of a type that Numba can tell; negative, so that the largest node comes first.
    copied = [np.int64(0) for _ in range(0)]
    for k in range(n_above):
        n = order[k]
        i = n - n_leaves
        if i < 0:
            continue
        degree = start[i + 1] - start[i]
        if _values_below(below, n, var) == 0:
            versions = wanted[n]
            change += degree * ((versions == EITHER) + 0) if versions else -degree
            for e in range(start[i], start[i + 1]):
                if mark[child[e]]:
                    wanted[child[e]] |= versions
            continue
        if is_sum[i]:
            continue
        part = -1
        other = -1
        for e in range(start[i], start[i + 1]):
            c = child[e]
            if mark[c] == _ABOVE:
                part = c if _values_below(below, c, var) == 0 else part
            elif _values_below(below, c, var):
                other = c
        if part < 0 or other < 0:
            continue
        values = _values_below(below, other, var)
        wanted[part] |= values
        if values == EITHER:
            change += 6 + (degree - 1 if degree > 2 else 0) - degree
            if not mark[other]:
                mark[other] = _COPIED
                heapq.heappush(copied, -other)
    for p in parameters:
        if extend:
            change += 2 * ((wanted[p] & ZERO != 0) + (wanted[p] & ONE != 0))
    n_order = n_above
    while len(copied) and change - 2 * len(copied) <= limit:
        # Parents come before children, since these have smaller numbers.
        n = -heapq.heappop(copied)
        order[n_order] = n
        n_order += 1
        i = n - n_leaves
        degree = start[i + 1] - start[i]
        for e in range(parent_start[n], parent_start[n + 1]):
            p = parent[e]
            if mark[p] == _ABOVE:
                wanted[n] |= SAME if is_sum[p - n_leaves] else 0
            else:
                wanted[n] |= wanted[p] if mark[p] else SAME
        if not wanted[n]:
            change -= degree
        n_zero = 0
        n_one = 0
        for e in range(start[i], start[i + 1]):
            c = child[e]
            values = _values_below(below, c, var)
            n_zero += (values & ZERO) != 0
            n_one += (values & ONE) != 0
            if values == EITHER and not mark[c]:
                mark[c] = _COPIED
                heapq.heappush(copied, -np.int64(c))
        if is_sum[i]:
            change += (n_zero if n_zero > 1 else 0) + (n_one if n_one > 1 else 0)
        else:
            change += 2 * degree
    for k in range(n_order):
        mark[order[k]] = 0
        wanted[order[k]] = 0
    for negative in copied:
        mark[-negative] = 0
    return change - 2 * len(copied)


@kernel
def edges_of_copies(circuit, parents, below, parameters, room, twice, n_edges):
    """Count the edges that are new above some parameters if these depend on each column.

    A node above a parameter and not above the column is copied if both values are wanted of it. A
    product where the two part becomes a sum of two, which adds 4 edges, or 5 if it has more than
    two factors; conditioning its factor above the column may save 2 of them. Other costs are left
    out.
    """
    is_sum, start, child, n_leaves = circuit
    parent_start, parent = parents
    mark, _, stack, order = room
    n_words = below.shape[2]
    n_above = _mark_above(parent_start, parent, parameters, mark, stack, order)
    for k in range(n_above):
        twice[order[k]] = 0
    planes = np.zeros((_PLANES, n_words), np.uint64)
    for j in range(n_above):
        n = order[j]
        i = n - n_leaves
        if i < 0:
            continue
        degree = start[i + 1] - start[i]
        _add(planes, twice[n], degree)
        if is_sum[i]:
            for e in range(start[i], start[i + 1]):
                c = child[e]
                if mark[c]:
                    for k in range(n_words):
                        twice[c, k] |= twice[n, k]
            continue
        part = 0
        for e in range(start[i], start[i + 1]):
            if mark[child[e]]:
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
    for k in range(n_above):
        mark[order[k]] = 0
    n_edges[:] = 0
    for plane in range(_PLANES):
        for k in range(n_words):
            left = planes[plane, k]
            while left:
                n_edges[64 * k + np.int64(lowest_bit(left))] += np.int64(1) << plane
                left &= left - np.uint64(1)


@kernel
def _add(planes, members, amount):
    """Add an amount to the counters of some columns; bit b of a counter is in plane b."""
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
