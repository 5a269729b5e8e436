"""Splitting a conjunction in an arithmetic circuit on a column V (Lowd & Domingos 2008, Table 2).

Some parameters come to depend on V; literals of other columns of its variable are those of V = 0.
Where a product has a factor a above a parameter and a factor b above V, the sum over the values x
of V of (a with the parameters for V = x) * (b with V = x) replaces it. The kernels write a new
circuit. Before that, one pass up and one down find the wanted versions of each node.
"""

import numpy as np

from mnlearn.kernels.jit import kernel

# What is below a node: a parameter to be split, the literals of V.
PARAMETER = 1
ZERO = 2
ONE = 4
EITHER = ZERO | ONE
# The wanted versions of a node: the node as it is, or that of V = 0 or V = 1 (the bits above).
SAME = 1


@kernel
def mark_below(start, child, n_leaves, below):
    """Fill in what is below each sum and product; below : uint8, (n_nodes,), leaves given."""
    for i in range(len(start) - 1):
        m = np.uint8(0)
        for e in range(start[i], start[i + 1]):
            m |= below[child[e]]
        below[n_leaves + i] = m


@kernel
def plan_split(is_sum, start, child, n_leaves, below, wanted):
    """Find the wanted versions of each node; return the change in edges without the parameters'."""
    wanted[:] = 0
    change = 0
    for i in range(len(start) - 2, -1, -1):
        n = n_leaves + i
        m = below[n]
        degree = start[i + 1] - start[i]
        if m == 0:
            continue
        if m == PARAMETER:
            versions = wanted[n]
            change += degree * ((versions == EITHER) + 0) if versions else -degree
            for e in range(start[i], start[i + 1]):
                if below[child[e]]:
                    wanted[child[e]] |= versions
        elif m & PARAMETER:
            if is_sum[i]:
                for e in range(start[i], start[i + 1]):
                    if not below[child[e]] & PARAMETER:
                        wanted[child[e]] |= SAME
                continue
            part, other = _parting(start, child, below, i)
            if part < 0:
                continue
            values = below[other] & EITHER
            wanted[part] |= values
            if values == EITHER:
                wanted[other] |= EITHER
                change += 6 + (degree - 1 if degree > 2 else 0) - degree
            else:
                wanted[other] |= SAME
        elif m != EITHER:
            # Only one value of V is left: this is already the version of that value.
            for e in range(start[i], start[i + 1]):
                if below[child[e]]:
                    wanted[child[e]] |= SAME
        else:
            same = wanted[n] & SAME
            versions = wanted[n] & EITHER
            if not same:
                change -= degree
            for e in range(start[i], start[i + 1]):
                c = child[e]
                if below[c]:
                    wanted[c] |= same
                    if versions:
                        wanted[c] |= EITHER if below[c] == EITHER else SAME
            if versions and is_sum[i]:
                for bit in (ZERO, ONE):
                    count = 0
                    for e in range(start[i], start[i + 1]):
                        count += (below[child[e]] & bit) != 0
                    change += count if count > 1 else 0
            elif versions:
                change += 2 * degree
    return change


@kernel
def _parting(start, child, below, i):
    """Return the factors above the parameter and above V if these part here, else -1 twice."""
    part = -1
    other = -1
    for e in range(start[i], start[i + 1]):
        m = below[child[e]]
        if m == PARAMETER:
            part = child[e]
        elif m and not m & PARAMETER:
            other = child[e]
    if part < 0 or other < 0:
        return -1, -1
    return part, other


@kernel
def _version(c, below, same, versions, x):
    """Return the new node for child c in the version of V = x."""
    return versions[c, x] if below[c] else same[c]


@kernel
def write_split(is_sum, start, child, n_leaves, below, wanted, n_new, pairs, same, versions, out):
    """Write the circuit in which the parameters depend on V; return the numbers of nodes and of
    edges.

    n_new : number of added leaves, which come after the old ones. pairs : products of two leaves
    that are to be the first inner nodes. same, versions : the new nodes that are versions of each
    node; those of leaves are given. out : is_sum, start and child of the new circuit.
    """
    to_sum, to_start, to_child = out
    shift = n_leaves + n_new
    node = 0
    edge = 0
    to_start[0] = 0
    for k in range(len(pairs)):
        to_child[edge] = pairs[k, 0]
        to_child[edge + 1] = pairs[k, 1]
        edge += 2
        to_sum[node] = 0
        node += 1
        to_start[node] = edge
    for i in range(len(start) - 1):
        n = n_leaves + i
        m = below[n]
        if m == PARAMETER:
            for x in range(2):
                if wanted[n] & (ZERO << x):
                    for e in range(start[i], start[i + 1]):
                        to_child[edge] = _version(child[e], below, same, versions, x)
                        edge += 1
                    versions[n, x] = shift + node
                    to_sum[node] = is_sum[i]
                    node += 1
                    to_start[node] = edge
            continue
        if m == EITHER and wanted[n] & EITHER:
            for x in range(2):
                first = edge
                for e in range(start[i], start[i + 1]):
                    c = child[e]
                    if not is_sum[i] or below[c] & (ZERO << x):
                        to_child[edge] = versions[c, x] if below[c] == EITHER else same[c]
                        edge += 1
                if is_sum[i] and edge == first + 1:
                    versions[n, x] = to_child[first]
                    edge = first
                else:
                    versions[n, x] = shift + node
                    to_sum[node] = is_sum[i]
                    node += 1
                    to_start[node] = edge
        if m == EITHER and not wanted[n] & SAME:
            continue
        part = -1
        other = -1
        if m & PARAMETER and not is_sum[i]:
            part, other = _parting(start, child, below, i)
        if part < 0:
            for e in range(start[i], start[i + 1]):
                to_child[edge] = same[child[e]]
                edge += 1
            same[n] = shift + node
            to_sum[node] = is_sum[i]
            node += 1
            to_start[node] = edge
            continue
        values = below[other] & EITHER
        joined = -1
        if values == EITHER:
            for x in range(2):
                to_child[edge] = versions[part, x]
                to_child[edge + 1] = versions[other, x]
                edge += 2
                to_sum[node] = 0
                node += 1
                to_start[node] = edge
            to_child[edge] = shift + node - 2
            to_child[edge + 1] = shift + node - 1
            edge += 2
            to_sum[node] = 1
            joined = shift + node
            node += 1
            to_start[node] = edge
            same[n] = joined
            if start[i + 1] - start[i] == 2:
                continue
        for e in range(start[i], start[i + 1]):
            c = child[e]
            if c in (part, other):
                continue
            to_child[edge] = same[c]
            edge += 1
        if joined >= 0:
            to_child[edge] = joined
            edge += 1
        else:
            to_child[edge] = versions[part, 0 if values == ZERO else 1]
            to_child[edge + 1] = same[other]
            edge += 2
        same[n] = shift + node
        to_sum[node] = 0
        node += 1
        to_start[node] = edge
    return node, edge
