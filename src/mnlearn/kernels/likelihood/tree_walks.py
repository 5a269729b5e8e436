"""Pseudo-likelihood of the features of probability trees, found by walking the trees.

A row sees a tree as the sum of the weights on the path to its leaf. Putting a variable that the
path tests into another state leads to another leaf, or to the same one; the difference of the two
sums is what the tree adds to the *odds* of the state of that variable against the other state. Odds
stand in the column of the other state, or the one column of a variable of two states.

A *walk* is the leaf of a row in one tree, followed by the leaves that such changes lead to, from
the root down. A *code* is a leaf, numbered within its tree, times 2^bits, plus the state of the
tree's target in the row.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.logistic import exp_nonpositive, log1p_unit
from mnlearn.kernels.arithmetic.sums import sum_of
from mnlearn.kernels.jit import kernel

_U0, _U1 = np.uint64(0), np.uint64(1)


class Forest(NamedTuple):
    """The trees of all variables; a place is the number of an inner node, or ~number of a leaf.

    root, child : places. test, var : column that an inner node tests, and its variable. Tree v has
    the leaves first_leaf[v]:first_leaf[v + 1]. The changes of state, as columns of the odds, that
    leave inner node n by its other side, where a row leaves it by side x, are change[change_start[2
    n + x]:change_start[2 n + x + 1]]; those on the path to leaf k are
    path[path_start[k]:path_start[k + 1]], from the root down.
    """

    start: NDArray[np.int64]
    bits: int
    root: NDArray[np.int32]
    test: NDArray[np.int32]
    var: NDArray[np.int32]
    child: NDArray[np.int32]
    change_start: NDArray[np.int64]
    change: NDArray[np.uint32]
    first_leaf: NDArray[np.int64]
    path_start: NDArray[np.int64]
    path: NDArray[np.uint32]


class Walks(NamedTuple):
    """The rows in blocks of `block_rows`, and the codes of the first `n_stored` blocks.

    offset : codes of all walks before each block. stored : tree by tree, and in it row by row.
    """

    rows: NDArray[np.uint8]
    states: NDArray[np.uint8]
    weight: NDArray[np.float64]
    block_rows: int
    offset: NDArray[np.int64]
    n_stored: int
    stored: NDArray[np.unsignedinteger]


@kernel
def count_codes(forest, rows, block_rows, first, last, out):
    """Write the number of codes of the walks of blocks `first` to `last` to out[first:last]."""
    root, test, child, path_start = forest.root, forest.test, forest.child, forest.path_start
    for b in range(first, last):
        total = 0
        for i in range(b * block_rows, min((b + 1) * block_rows, len(rows))):
            row = rows[i]
            for v in range(len(root)):
                place = root[v]
                while place >= 0:
                    place = child[place, row[test[place]]]
                total += 1 + path_start[~place + 1] - path_start[~place]
        out[b] = total


@kernel
def write_walks(forest, walks, b, out):
    """Write the walks of the rows of block `b` to `out`, as `Walks.stored` has them."""
    start, root, test, child = forest.start, forest.root, forest.test, forest.child
    rows, change_start = walks.rows, forest.change_start
    begin, end = b * walks.block_rows, min((b + 1) * walks.block_rows, len(rows))
    k = 0
    for v in range(len(root)):
        base = forest.first_leaf[v]
        for i in range(begin, end):
            row, own = rows[i], k
            place, y = root[v], walks.states[i, v]
            k += 1
            while place >= 0:
                x, u = row[test[place]], forest.var[place]
                for c in range(change_start[2 * place + x], change_start[2 * place + x + 1]):
                    changed = forest.change[c]
                    other = child[place, 1 - x]
                    while other >= 0:
                        at = test[other]
                        holds = row[at]
                        if start[u] <= at < start[u + 1]:
                            holds = np.uint8(at == changed)
                        other = child[other, holds]
                    out[k] = ((~other - base) << forest.bits) + y
                    k += 1
                place = child[place, x]
            out[own] = ((~place - base) << forest.bits) + y


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

    Part p is the blocks part_start[p]:part_start[p + 1]. own, near : (n_parts, 2^bits n_leaves),
    leaf by leaf, added to for parts `first` to `last`.
    """
    first_leaf, path_start, bits = forest.first_leaf, forest.path_start, forest.bits
    rows, weight, block_rows = walks.rows, walks.weight, walks.block_rows
    room = _room(walks)
    for p in range(first, last):
        for b in range(part_start[p], part_start[p + 1]):
            codes = _walks_of(forest, walks, b, room)
            k = 0
            for v in range(len(forest.root)):
                base = first_leaf[v]
                for i in range(b * block_rows, min((b + 1) * block_rows, len(rows))):
                    leaf, w = base + (codes[k] >> bits), weight[i]
                    own[p, (base << bits) + codes[k]] += w
                    end = k + 1 + path_start[leaf + 1] - path_start[leaf]
                    for j in range(k + 1, end):
                        near[p, (base << bits) + codes[j]] += w
                    k = end


@kernel
def value_and_gradient(forest, walks, total, part_start, first, last, loss, gradient):
    """Negative log-pseudo-likelihood of the rows of parts `first` to `last`, and its derivatives.

    total : (2^bits n_leaves,), sum of the weights of the features that hold at a leaf with each
    state of the tree's target. gradient : (n_parts, 2^bits n_leaves), by `total`, zero on entry.
    """
    rows, weight, block_rows = walks.rows, walks.weight, walks.block_rows
    room = _room(walks)
    odds = np.empty((block_rows, rows.shape[1]))
    lost = np.zeros(rows.shape[1])
    for p in range(first, last):
        loss[p] = 0.0
        for b in range(part_start[p], part_start[p + 1]):
            begin, end = b * block_rows, min((b + 1) * block_rows, len(rows))
            block = odds[: end - begin]
            codes = _walks_of(forest, walks, b, room)
            block[:] = 0.0
            _add_trees(forest, codes, total, block)
            for i in range(len(block)):
                if forest.bits == 1:
                    _losses(weight[begin + i], block[i], lost)
                else:
                    _losses_of_states(weight[begin + i], block[i], forest.start, lost)
                loss[p] += sum_of(lost)
            _sum_trees(forest, codes, block, gradient[p])


@kernel
def _add_trees(forest, codes, total, odds):
    """Add what the trees add to the odds of the states that some rows have."""
    start, bits, path_start, path = forest.start, forest.bits, forest.path_start, forest.path
    k = _U0  # Unsigned indices need no test for negative ones.
    for v in range(len(forest.root)):
        base, column, width = forest.first_leaf[v], start[v], start[v + 1] - start[v]
        at = total[base << bits : forest.first_leaf[v + 1] << bits]
        for i in range(len(odds)):
            own = codes[k]
            k += _U1
            here = at[own]
            if width == 1:
                odds[i, column] += here - at[own ^ 1]
            elif width > 1:
                _add_states(at[(own >> bits) << bits :], here, odds[i, column : column + width])
            leaf = base + (own >> bits)
            j = np.uint64(path_start[leaf])
            for _ in range(path_start[leaf + 1] - path_start[leaf]):
                odds[i, path[j]] += here - at[codes[k]]
                k += _U1
                j += _U1


@kernel
def _add_states(at_leaf, here, odds):
    """Add what a tree of several states adds to the odds of its target; 0 for its own state."""
    for s in range(len(odds)):
        odds[s] += here - at_leaf[s]


@kernel
def _sum_trees(forest, codes, slope, gradient):
    """Add to `gradient` the derivatives by the sums of leaves, given those by the odds."""
    start, bits, path_start, path = forest.start, forest.bits, forest.path_start, forest.path
    k = _U0
    for v in range(len(forest.root)):
        base, column, width = forest.first_leaf[v], start[v], start[v + 1] - start[v]
        at = gradient[base << bits : forest.first_leaf[v + 1] << bits]
        for i in range(len(slope)):
            own = codes[k]
            k += _U1
            here = 0.0
            if width == 1:
                at[own ^ 1] -= slope[i, column]
                here = slope[i, column]
            elif width > 1:
                of_leaf = at[(own >> bits) << bits :]
                for s in range(width):
                    of_leaf[s] -= slope[i, column + s]
                    here += slope[i, column + s]
            leaf = base + (own >> bits)
            j = np.uint64(path_start[leaf])
            for _ in range(path_start[leaf + 1] - path_start[leaf]):
                one = slope[i, path[j]]
                here += one
                at[codes[k]] -= one
                k += _U1
                j += _U1
            at[own] += here


@kernel
def _losses_of_states(weight, odds, start, lost):
    """Do as `_losses` for any numbers of states; the odds of a variable's own state are 0."""
    for v in range(len(start) - 1):
        first, end = start[v], start[v + 1]
        if end - first == 1:
            _losses(weight, odds[first:end], lost[first:end])
        elif end > first:
            least, total = 0.0, 0.0
            for c in range(first, end):
                least = min(least, odds[c])
            for c in range(first, end):
                odds[c] = np.exp(least - odds[c])
                total += odds[c]
            lost[first] = weight * (np.log(total) - least)
            for c in range(first, end):
                odds[c] *= -weight / total


@kernel
def _losses(weight, odds, lost):
    """Write the loss of each binary variable of a row to `lost`; make `odds` its derivative."""
    for v in range(len(odds)):
        s = odds[v]
        e = exp_nonpositive(-abs(s))
        lost[v] = weight * (log1p_unit(e) - (s if s < 0.0 else 0.0))
        odds[v] = -weight * ((e if s >= 0.0 else 1.0) / (1.0 + e))


@kernel
def sum_down(parent, leaf, weight, out):
    """Sum weights of nodes, parents first, from the root of each tree to each of its leaves."""
    for m in range(len(parent)):
        for y in range(weight.shape[1]):
            if parent[m] >= 0:
                weight[m, y] += weight[parent[m], y]
            if leaf[m] >= 0:
                out[leaf[m], y] = weight[m, y]


@kernel
def sum_up(parent, leaf, value, out):
    """Sum values of leaves over the leaves below each node; arguments as in `sum_down`."""
    out[:] = 0.0
    for m in range(len(parent) - 1, -1, -1):
        for y in range(out.shape[1]):
            if leaf[m] >= 0:
                out[m, y] += value[leaf[m], y]
            if parent[m] >= 0:
                out[parent[m], y] += out[m, y]


@kernel
def count_visits(start, split_var, child, rows):
    """Count the rows that reach each node."""
    out = np.zeros(len(split_var), np.int64)
    for i in range(len(rows)):
        for v in range(len(start) - 1):
            node = start[v]
            out[node] += 1
            while split_var[node] >= 0:
                node = child[node, rows[i, split_var[node]]]
                out[node] += 1
    return out


@kernel
def count_touches(counted, depth, start, split_var, child, rows):
    """Count the (row, feature, literal) triples where the other literals of the feature hold.

    The features are those of the nodes `counted`, each with all states of the target, which share
    the target's literal. Tests of other states of a variable count as tests of other variables.
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
