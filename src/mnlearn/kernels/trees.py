"""Probability trees: kernels that grow one tree, and score examples with many.

A split counts the ones of the smaller child and subtracts them from the parent's (Lowd & Davis
2010, Section III).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.bits import count_both
from mnlearn.kernels.arithmetic.ties import EQUAL, first_greatest
from mnlearn.kernels.jit import copy_into, inlined, kernel


class Smoothing(NamedTuple):
    """How the counts at a leaf become probabilities.

    The pseudocounts are added to the count of each state, and to that of all. The logarithms of 0,
    1, 2, … plus these are tables if all weights are whole numbers, else of length 0.
    """

    pseudocount: float
    all_pseudocounts: float
    state_log: NDArray[np.float64]
    total_log: NDArray[np.float64]


@kernel
def _log_sum(count, added, log_table):
    """Return log(count + added), looked up in `log_table` unless that is empty."""
    return log_table[np.int64(count)] if len(log_table) else np.log(count + added)


@kernel
def _score(count, smoothing):
    """Return the log-likelihood of a leaf's own examples under its smoothed distribution."""
    pseudocount, all_pseudocounts, state_log, total_log = smoothing
    score, total = 0.0, 0.0
    for x in range(len(count)):
        score += count[x] * _log_sum(count[x], pseudocount, state_log)
        total += count[x]
    return score - total * _log_sum(total, all_pseudocounts, total_log)


@kernel
def largest_gain(count, smoothing):
    """Return an upper bound on the gain of any split: each state of the target in a pure leaf.

    The score of a pure leaf of c examples is convex in c and 0 at 0, so two of them never beat one.
    """
    pseudocount, all_pseudocounts, state_log, total_log = smoothing
    pure = 0.0
    for c in count:
        own = _log_sum(c, pseudocount, state_log)
        pure += c * (own - _log_sum(c, all_pseudocounts, total_log))
    return pure - _score(count, smoothing)


@kernel
def _gains(ones, active, count, smoothing, gain):
    """Write what a node gains by each split."""
    here = _score(count, smoothing)
    inside, outside = np.empty_like(count), np.empty_like(count)
    for k in range(len(active)):
        for x in range(len(count)):
            inside[x] = ones[x, active[k]]
            outside[x] = count[x] - inside[x]
        gain[k] = _score(inside, smoothing) + _score(outside, smoothing) - here


@kernel
def best_split(ones, active, gain, count, smoothing):
    """Return the active column of the largest gain (the first of equals), and its gain.

    The gain is less what rounding may have added; -1 and -inf if no column is active.
    """
    if len(active) == 0:
        return -1, -np.inf
    gains = gain[: len(active)]
    _gains(ones, active, count, smoothing, gains)
    tolerance = EQUAL * count.sum()
    best = first_greatest(gains, tolerance)
    return active[best], gains[best] - tolerance


LEAF = -1


class TreeData(NamedTuple):
    """The data that trees are grown on: columns, (n_columns, n_rows), and rows as lists of their
    ones.

    packed : the columns as bits, (n_columns, n_words). n_bits : of the weights, if these are whole
    numbers; else 0.
    """

    columns: NDArray[np.uint8]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weight: NDArray[np.float64]
    packed: NDArray[np.uint64]
    n_bits: int


class Target(NamedTuple):
    """The variable of a tree: its own columns, its state in each row, and weights by state.

    ones : (n_states, n_columns), weight of the ones of each column. total : weight of the rows.
    """

    first: int
    end: int
    state: NDArray[np.uint8]
    ones: NDArray[np.float64]
    total: NDArray[np.float64]


class SplitRule(NamedTuple):
    """A split gains more than `min_gain` nats and leaves the weight `min_examples` on each side."""

    min_gain: float
    min_examples: float
    smoothing: Smoothing


class TreeRoom(NamedTuple):
    """Scratch of `grow_tree`; n_levels must exceed 2 + log2(n_rows).

    counts : (n_levels, n_states, n_columns), weight of the ones. active : the columns that a node
    can still be split on. stack : (n_levels, 4), nodes still to be split: node, first and last
    place in `order`, number of active columns. A node's place is the level of its counts.
    """

    counts: NDArray[np.float64]
    active: NDArray[np.int32]
    gain: NDArray[np.float64]
    order: NDArray[np.int32]
    spare: NDArray[np.int32]
    stack: NDArray[np.int64]


class TreeNodes(NamedTuple):
    """The nodes of a tree, the root first, with room for 2 n_rows of them.

    The gain is that of the best split, also of a leaf; -inf if no split was evaluated.
    """

    split_var: NDArray[np.int32]
    child: NDArray[np.int32]
    gain: NDArray[np.float64]
    state_weight: NDArray[np.float64]


@kernel
def cooccurrence(indptr, indices, weight, out):
    """Add the weight of the rows in which two columns are both 1 to `out`, zero on entry."""
    for i in range(len(indptr) - 1):
        w = weight[i]
        for a in range(indptr[i], indptr[i + 1]):
            u = indices[a]
            for b in range(a, indptr[i + 1]):
                out[u, indices[b]] += w
    for u in range(len(out)):
        for v in range(u):
            out[u, v] = out[v, u]


@kernel
def _keep_splittable(ones, active, n_active, count, min_examples):
    """Drop the columns that do not leave enough on both sides; return how many are left."""
    n_kept, total = 0, count.sum()
    # Differences of sums of weights that are no whole numbers need not be 0 where no row is left.
    tolerance = EQUAL * total
    for k in range(n_active):
        u = active[k]
        inside = 0.0
        for x in range(len(ones)):
            inside += ones[x, u]
        smaller = min(inside, total - inside)
        if smaller > tolerance and smaller + tolerance >= min_examples:
            active[n_kept] = u
            n_kept += 1
    return n_kept


@kernel
def _partition(order, begin, end, column, spare):
    """Stably move the rows of order[begin:end] with a one to the back; return their first place."""
    n_ones = 0
    middle = begin
    for k in range(begin, end):
        i = order[k]
        if column[i]:
            spare[n_ones] = i
            n_ones += 1
        else:
            order[middle] = i
            middle += 1
    copy_into(order[middle:end], spare[:n_ones])
    return middle


@kernel
def grow_tree(target, data, rule, room, nodes):
    """Grow the probability tree of a variable depth first and return its number of nodes."""
    min_gain, least, smoothing = rule
    counts, active, gain_of, order, spare, stack = room
    gain, count = nodes.gain, nodes.state_weight
    height, n_nodes = _start_root(target, rule, room, nodes), 1
    # The smaller child is handled first, so levels in use never exceed log2(n_rows) + 1.
    while height > 0:
        height -= 1
        node, begin, end, n_active = stack[height]
        own = active[height, :n_active]
        u, gain[node] = best_split(counts[height], own, gain_of, count[node], smoothing)
        if not gain[node] > min_gain:
            continue
        _add_children(node, u, n_nodes, counts[height, :, u], nodes)
        middle = _partition(order, begin, end, data.columns[u], spare)
        small, large = (n_nodes, begin, middle), (n_nodes + 1, middle, end)
        if middle - begin >= end - middle:
            small, large = large, small
        n_nodes += 2
        small_grows = largest_gain(count[small[0]], smoothing) > min_gain
        large_grows = largest_gain(count[large[0]], smoothing) > min_gain
        if small_grows or large_grows:
            below = counts[height + 1]
            _count_ones(target.state, data, order, small, active[height, :n_active], below)
            _hand_down(counts, active, height, n_active, large_grows)
        for grows, part in ((large_grows, large), (small_grows, small)):
            if grows:
                at = count[part[0]]
                n_kept = _keep_splittable(counts[height], active[height], n_active, at, least)
                _push(stack, height, part, n_kept)
                height += 1
    return n_nodes


@kernel
def _start_root(target, rule, room, nodes):
    """Write the root, and put it on the stack if it may grow; return the height of the stack."""
    n_rows, n_columns = len(room.order), target.ones.shape[1]
    active, total = room.active[0], nodes.state_weight[0]
    for i in range(n_rows):
        room.order[i] = i
    for x in range(len(total)):
        total[x] = target.total[x]
        copy_into(room.counts[0, x], target.ones[x])
    n_active = 0
    for u in range(n_columns):
        if not target.first <= u < target.end:
            active[n_active] = u
            n_active += 1
    nodes.split_var[0], nodes.gain[0] = LEAF, -np.inf
    n_active = _keep_splittable(room.counts[0], active, n_active, total, rule.min_examples)
    _push(room.stack, 0, (0, 0, n_rows), n_active)
    return 1 if largest_gain(total, rule.smoothing) > rule.min_gain else 0


@kernel
def _push(stack, level, part, n_active):
    """Put a node, and its first and last place in the order, at a level of the stack."""
    stack[level, 0], stack[level, 1], stack[level, 2] = part
    stack[level, 3] = n_active


@kernel
def _add_children(node, u, first, inside, nodes):
    """Write the split of a node on `u` and its two children, leaves so far, from `first` on."""
    split_var, child, gain, count = nodes
    split_var[node] = u
    child[node, 0], child[node, 1] = first, first + 1
    for x in range(len(inside)):
        count[first + 1, x] = inside[x]
        count[first, x] = count[node, x] - inside[x]
    split_var[first], split_var[first + 1] = LEAF, LEAF
    gain[first], gain[first + 1] = -np.inf, -np.inf


@kernel
def _count_ones(state, data, order, part, active, out):
    """Count the ones of the active columns, and of others arbitrarily, by state of the target.

    Many rows are counted as bits, 64 at once, and few by the lists of their ones.
    """
    n_rows, n_words, n_bits = part[2] - part[1], data.packed.shape[1], data.n_bits
    ones_of_row = data.indptr[-1] / (len(data.indptr) - 1)
    of_bits = n_words * len(active) * len(out) * n_bits
    if n_bits > 0 and of_bits < n_rows * ones_of_row:
        _count_bits(state, data, order, part, active, out)
        return
    for x in range(len(out)):
        for u in active:
            out[x, u] = 0.0
    for k in range(part[1], part[2]):
        i = order[k]
        w = data.weight[i]
        ones = out[state[i]]
        for a in range(data.indptr[i], data.indptr[i + 1]):
            ones[data.indices[a]] += w


@kernel
def _count_bits(state, data, order, part, active, out):
    """Do as `_count_ones` with the rows of each state as bits, once for each bit of the weights."""
    rows = np.zeros((len(out), data.n_bits, data.packed.shape[1]), np.uint64)
    for k in range(part[1], part[2]):
        i = order[k]
        w, bit = np.int64(data.weight[i]), np.uint64(1) << np.uint64(i & 63)
        for b in range(data.n_bits):
            if (w >> b) & 1:
                rows[state[i], b, i >> 6] |= bit
    for u in active:
        for x in range(len(out)):
            total = 0
            for b in range(data.n_bits):
                total += count_both(data.packed[u], rows[x, b]) << b
            out[x, u] = total


@inlined
def _hand_down(counts, active, level, n_active, large_grows):
    """Give the larger child the parent's level and the smaller child the next one.

    Where the larger child does not grow, the smaller child gets the parent's level instead.
    """
    if large_grows:
        for k in range(n_active):
            active[level + 1, k] = active[level, k]
        for x in range(counts.shape[1]):
            for k in range(n_active):
                v = active[level, k]
                counts[level, x, v] -= counts[level + 1, x, v]
    else:
        for x in range(counts.shape[1]):
            for k in range(n_active):
                v = active[level, k]
                counts[level, x, v] = counts[level + 1, x, v]


@kernel
def tree_scores(rows, start, split_var, child, log_prob, columns, out):
    """Write what the tree of each variable says of its columns to `out`, (n_rows, n_columns).

    Variable v has the columns columns[v]:columns[v + 1]: a single one gets its log-odds, else each
    its log-probability.
    """
    for i in range(len(rows)):
        row = rows[i]
        for v in range(len(start) - 1):
            first, last = columns[v], columns[v + 1]
            node = start[v]
            while split_var[node] != LEAF:
                node = child[node, row[split_var[node]]]
            if last - first == 1:
                out[i, first] = log_prob[node, 1] - log_prob[node, 0]
            else:
                for c in range(first, last):
                    out[i, c] = log_prob[node, c - first]
