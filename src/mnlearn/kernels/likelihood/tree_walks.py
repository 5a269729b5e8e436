"""Pseudo-likelihood of the features of probability trees, found by walking the trees.

The features of a tree are paths to its nodes, each with a value of the tree's target. All features
of one path and target value hold together or not at all, so a row sees a tree as the sum of the
weights on the path to its leaf. Flipping a variable that the path tests leads to one other leaf.
The difference of the two sums is what the tree adds to the log-odds of the value that the variable
has. A *walk* is the leaf of a row in one tree, followed by the leaves that the flips of the tests
on its path lead to, from the root down. A *code* is twice a leaf, numbered within its tree, plus
the value of the tree's target in the row.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.logistic import exp_nonpositive, log1p_unit
from mnlearn.kernels.jit import fused_kernel, kernel

_U0, _U1 = np.uint64(0), np.uint64(1)


class Forest(NamedTuple):
    """The trees of all variables; inner nodes and leaves are numbered apart, tree by tree.

    A place is the number of an inner node, or ~number of a leaf.

    root : int32, (n_vars,), place of the root of each tree.
    test : int32, (n_inner,), variable that an inner node tests.
    child : int32, (n_inner, 2), place for each value of the tested variable.
    first_leaf : int64, (n_vars + 1,). Tree v has the leaves first_leaf[v]:first_leaf[v + 1].
    path_start : int64, (n_leaves + 1,), and path : uint32. The variables tested above leaf k are
        path[path_start[k]:path_start[k + 1]], from the root down.
    """

    root: NDArray[np.int32]
    test: NDArray[np.int32]
    child: NDArray[np.int32]
    first_leaf: NDArray[np.int64]
    path_start: NDArray[np.int64]
    path: NDArray[np.uint32]


class Walks(NamedTuple):
    """The rows in blocks, and the walks of the first blocks.

    rows : uint8, (n_rows, n_vars). weight : float64, (n_rows,).
    block_rows : int, rows of a block.
    offset : int64, (n_blocks + 1,), codes of all walks before each block.
    n_stored : int, number of blocks whose walks are stored. stored : uint16 or uint32, their
        codes: tree by tree, and in it row by row.
    """

    rows: NDArray[np.uint8]
    weight: NDArray[np.float64]
    block_rows: int
    offset: NDArray[np.int64]
    n_stored: int
    stored: NDArray[np.unsignedinteger]


@kernel
def count_codes(forest, rows, block_rows, first, last, out):
    """Write the number of codes of the walks of blocks `first` to `last` to out[first:last]."""
    root, test, child = forest.root, forest.test, forest.child
    for b in range(first, last):
        total = 0
        for i in range(b * block_rows, min((b + 1) * block_rows, len(rows))):
            row = rows[i]
            for v in range(len(root)):
                place = root[v]
                while place >= 0:
                    place = child[place, row[test[place]]]
                    total += 1
                total += 1
        out[b] = total


@kernel
def write_walks(forest, walks, b, out):
    """Write the walks of the rows of block `b` to `out`, as `Walks.stored` has them."""
    root, test, child, first_leaf, _, _ = forest
    rows = walks.rows
    begin, end = b * walks.block_rows, min((b + 1) * walks.block_rows, len(rows))
    k = 0
    for v in range(len(root)):
        base = first_leaf[v]
        for i in range(begin, end):
            row, own = rows[i], k
            place, y = root[v], row[v]
            k += 1
            while place >= 0:
                x = row[test[place]]
                other = child[place, 1 - x]
                while other >= 0:
                    other = child[other, row[test[other]]]
                out[k] = 2 * (~other - base) + y
                k += 1
                place = child[place, x]
            out[own] = 2 * (~place - base) + y


@kernel
def store_walks(forest, walks, first, last):
    """Write the walks of blocks `first` to `last` to their places in `walks.stored`."""
    for b in range(first, last):
        write_walks(forest, walks, b, walks.stored[walks.offset[b] : walks.offset[b + 1]])


@kernel
def _walks_of(forest, walks, b, room):
    """Return the walks of a block: the stored ones, or written to `room`."""
    if b < walks.n_stored:
        return walks.stored[walks.offset[b] : walks.offset[b + 1]]
    write_walks(forest, walks, b, room)
    return room


@kernel
def _room(walks):
    """Return room for the walks of any one block."""
    largest = 0
    for b in range(len(walks.offset) - 1):
        largest = max(largest, walks.offset[b + 1] - walks.offset[b])
    return np.empty(largest, walks.stored.dtype)


@kernel
def weigh_walks(forest, walks, part_start, first, last, own, near):
    """Sum the weights of the rows of each code, and of the flips of rows that lead to it.

    part_start : int64, (n_parts + 1,). Part p is the blocks part_start[p]:part_start[p + 1].
    own, near : float64, (n_parts, 2 n_leaves), leaf by leaf, zero on entry; written for parts
        `first` to `last`.
    """
    first_leaf, path_start = forest.first_leaf, forest.path_start
    rows, weight, block_rows = walks.rows, walks.weight, walks.block_rows
    room = _room(walks)
    for p in range(first, last):
        for b in range(part_start[p], part_start[p + 1]):
            codes = _walks_of(forest, walks, b, room)
            k = 0
            for v in range(rows.shape[1]):
                base = first_leaf[v]
                for i in range(b * block_rows, min((b + 1) * block_rows, len(rows))):
                    leaf, w = base + (codes[k] >> 1), weight[i]
                    own[p, 2 * base + codes[k]] += w
                    end = k + 1 + path_start[leaf + 1] - path_start[leaf]
                    for j in range(k + 1, end):
                        near[p, 2 * base + codes[j]] += w
                    k = end


@kernel
def value_and_gradient(forest, walks, total, part_start, first, last, loss, gradient):
    """Negative log-pseudo-likelihood of the rows of parts `first` to `last`, and its derivatives.

    total : float64, (2 n_leaves,), leaf by leaf. Sum of the weights of the features that hold at a
        leaf with each value of the tree's target.
    part_start : as in `weigh_walks`.
    loss : float64, (n_parts,), written. gradient : float64, (n_parts, 2 n_leaves), by `total`,
        zero on entry; written.
    """
    rows, weight, block_rows = walks.rows, walks.weight, walks.block_rows
    room = _room(walks)
    odds = np.empty((block_rows, rows.shape[1]))
    lost = np.empty(rows.shape[1])
    for p in range(first, last):
        loss[p] = 0.0
        for b in range(part_start[p], part_start[p + 1]):
            begin, end = b * block_rows, min((b + 1) * block_rows, len(rows))
            block = odds[: end - begin]
            codes = _walks_of(forest, walks, b, room)
            block[:] = 0.0
            _add_trees(forest, codes, total, block)
            for i in range(len(block)):
                _losses(weight[begin + i], block[i], lost)
                loss[p] += lost.sum()
            _sum_trees(forest, codes, block, gradient[p])


@kernel
def _add_trees(forest, codes, total, odds):
    """Add what the trees add to the log-odds of the values that some rows have.

    odds : float64, (number of rows, n_vars), added to.
    """
    _, _, _, first_leaf, path_start, path = forest
    k = _U0  # Unsigned indices need no test for negative ones.
    for v in range(odds.shape[1]):
        base = first_leaf[v]
        at = total[2 * base : 2 * first_leaf[v + 1]]
        for i in range(len(odds)):
            own = codes[k]
            k += _U1
            here = at[own]
            odds[i, v] += here - at[own ^ 1]
            leaf = base + (own >> 1)
            j = np.uint64(path_start[leaf])
            for _ in range(path_start[leaf + 1] - path_start[leaf]):
                odds[i, path[j]] += here - at[codes[k]]
                k += _U1
                j += _U1


@kernel
def _sum_trees(forest, codes, slope, gradient):
    """Add to `gradient` the derivatives by the sums of leaves, given those by the log-odds."""
    _, _, _, first_leaf, path_start, path = forest
    k = _U0
    for v in range(slope.shape[1]):
        base = first_leaf[v]
        at = gradient[2 * base : 2 * first_leaf[v + 1]]
        for i in range(len(slope)):
            own = codes[k]
            k += _U1
            here = slope[i, v]
            at[own ^ 1] -= here
            leaf = base + (own >> 1)
            j = np.uint64(path_start[leaf])
            for _ in range(path_start[leaf + 1] - path_start[leaf]):
                one = slope[i, path[j]]
                here += one
                at[codes[k]] -= one
                k += _U1
                j += _U1
            at[own] += here


@fused_kernel
def _losses(weight, odds, lost):
    """Write the loss of each variable of a row to `lost`; make `odds` its derivative."""
    for v in range(len(odds)):
        s = odds[v]
        e = exp_nonpositive(-abs(s))
        lost[v] = weight * (log1p_unit(e) - (s if s < 0.0 else 0.0))
        odds[v] = -weight * ((e if s >= 0.0 else 1.0) / (1.0 + e))


@kernel
def sum_down(parent, leaf, weight, out):
    """Sum weights of nodes from the root of each tree to each of its leaves.

    parent : int64, (n_nodes,), -1 at a root; parents stand before their children.
    leaf : int64, (n_nodes,), number of the leaf that a node is, or -1.
    weight : float64, (n_nodes, 2), replaced by the sums. out : float64, (2 n_leaves,), written,
        leaf by leaf.
    """
    for m in range(len(parent)):
        for y in range(2):
            if parent[m] >= 0:
                weight[m, y] += weight[parent[m], y]
            if leaf[m] >= 0:
                out[2 * leaf[m] + y] = weight[m, y]


@kernel
def sum_up(parent, leaf, value, out):
    """Sum values of leaves over the leaves below each node; arguments as in `sum_down`.

    value : float64, (2 n_leaves,), leaf by leaf. out : float64, (n_nodes, 2), written; 0 below the
        leaves.
    """
    out[:] = 0.0
    for m in range(len(parent) - 1, -1, -1):
        for y in range(2):
            if leaf[m] >= 0:
                out[m, y] += value[2 * leaf[m] + y]
            if parent[m] >= 0:
                out[parent[m], y] += out[m, y]


@kernel
def count_touches(counted, depth, start, split_var, child, rows):
    """Count the (row, feature, literal) triples where the other literals of the feature hold.

    The features are those of the nodes `counted`, each with both values of the target, which share
    the target's literal.

    counted : bool, and depth : int64, (n_nodes,). start, split_var, child : as in `Trees`.
    rows : uint8, (n_rows, n_vars).
    """
    total = 0
    for i in range(len(rows)):
        row = rows[i]
        for v in range(len(start) - 1):
            node = start[v]
            total += counted[node]
            while split_var[node] >= 0:
                other = child[node, 1 - row[split_var[node]]]
                total += counted[other]
                while split_var[other] >= 0:
                    other = child[other, row[split_var[other]]]
                    total += counted[other]
                node = child[node, row[split_var[node]]]
                total += counted[node] * (depth[node] + 1)
    return total
