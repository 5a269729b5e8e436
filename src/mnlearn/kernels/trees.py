"""Probability trees: kernels that grow one tree, score examples with many, and draw examples.

A split counts the ones of the smaller child from its rows and subtracts them from the parent's, so
that it costs the ones of the smaller side (Lowd & Davis 2010, Section III).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.splitmix import advance, mix, uniform
from mnlearn.kernels.arithmetic.ties import EQUAL, first_greatest
from mnlearn.kernels.jit import copy_into, inlined, kernel

LEAF = -1


class TreeData(NamedTuple):
    """The data that a tree is grown on.

    columns : uint8, (n_vars, n_rows).
    indptr : int64, (n_rows + 1,), and indices : int32: the rows as ascending lists of their ones.
    weight : float64, (n_rows,), weight of each row.
    pair_weight : float64, (n_vars, n_vars), from `cooccurrence`.
    """

    columns: NDArray[np.uint8]
    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    weight: NDArray[np.float64]
    pair_weight: NDArray[np.float64]


class Smoothing(NamedTuple):
    """How the counts at a leaf become probabilities.

    pseudocount : float64, added to the count of each value of the target.
    value_log, total_log : float64, the logarithms of 0, 1, 2, … plus the pseudocount, and plus
        twice the pseudocount, if all weights are whole numbers; else of length 0.
    """

    pseudocount: float
    value_log: NDArray[np.float64]
    total_log: NDArray[np.float64]


class SplitRule(NamedTuple):
    """When a node is split.

    min_gain : float64, nats. A split must gain more than this in log-likelihood.
    min_examples : float64, least weight of the rows on each side.
    smoothing : Smoothing.
    """

    min_gain: float
    min_examples: float
    smoothing: Smoothing


class TreeRoom(NamedTuple):
    """Scratch of `grow_tree`; n_levels must exceed 2 + log2(n_rows).

    counts : float64, (n_levels, 2, n_vars). Weight of the ones of each variable, by value of the
        target.
    active : int32, (n_levels, n_vars). The variables that a node can still be split on.
    gain : float64, (n_vars,). What a node gains by a split on each of its active variables.
    order, spare : int32, (n_rows,). Rows, those of one node together.
    stack : int64, (n_levels, 4). Nodes still to be split: node, first and last place in `order`,
        and number of active variables. A node's place is the level of its counts.
    """

    counts: NDArray[np.float64]
    active: NDArray[np.int32]
    gain: NDArray[np.float64]
    order: NDArray[np.int32]
    spare: NDArray[np.int32]
    stack: NDArray[np.int64]


class TreeNodes(NamedTuple):
    """The nodes of a tree, the root first, with room for 2 n_rows of them.

    split_var : int32, LEAF for a leaf. child : int32, (·, 2).
    gain : float64, of the best split, also of a leaf, less what rounding may have added; -inf if no
        split was evaluated.
    value_weight : float64, (·, 2), weight of the rows with either value of the target.
    """

    split_var: NDArray[np.int32]
    child: NDArray[np.int32]
    gain: NDArray[np.float64]
    value_weight: NDArray[np.float64]


@kernel
def cooccurrence(indptr, indices, weight, out):
    """Add the weight of the rows in which two variables are both 1 to `out`.

    indptr, indices, weight : as in `TreeData`.
    out : float64, (n_vars, n_vars), zero on entry; symmetric on return.
    """
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
def _log_sum(count, added, log_table):
    """Return log(count + added), looked up in `log_table` unless that is empty."""
    return log_table[np.int64(count)] if len(log_table) else np.log(count + added)


@kernel
def _leaf_score(c0, c1, smoothing):
    """Return the log-likelihood of a leaf's own examples under its smoothed distribution."""
    pseudocount, value_log, total_log = smoothing
    return (
        c0 * _log_sum(c0, pseudocount, value_log)
        + c1 * _log_sum(c1, pseudocount, value_log)
        - (c0 + c1) * _log_sum(c0 + c1, 2.0 * pseudocount, total_log)
    )


@kernel
def _largest_gain(c0, c1, smoothing):
    """Return an upper bound on the gain of any split: each value of the target in a pure leaf.

    Let g(c) be the score of a pure leaf of c examples. A leaf's score is at most g(c0) + g(c1),
    and g is convex with g(0) = 0, so two pure leaves of one value never beat a single one.
    """
    pure = _leaf_score(c0, 0.0, smoothing) + _leaf_score(0.0, c1, smoothing)
    return pure - _leaf_score(c0, c1, smoothing)


@kernel
def _best_split(ones0, ones1, active, gain, c0, c1, smoothing):
    """Return the active variable of the largest gain (the first of equals), and `TreeNodes.gain`.

    ones0, ones1 : float64, (n_vars,). active, gain : (n_active,), see `TreeRoom`; gain is written.
    c0, c1 : float64, of the whole node.
    """
    if len(active) == 0:
        return -1, -np.inf
    here = _leaf_score(c0, c1, smoothing)
    for k in range(len(active)):
        a0, a1 = ones0[active[k]], ones1[active[k]]
        score = _leaf_score(a0, a1, smoothing) + _leaf_score(c0 - a0, c1 - a1, smoothing)
        gain[k] = score - here
    tolerance = EQUAL * (c0 + c1)
    best = first_greatest(gain[: len(active)], tolerance)
    return active[best], gain[best] - tolerance


@kernel
def _keep_splittable(ones0, ones1, active, n_active, total, min_examples):
    """Drop the variables that no longer leave enough on both sides; return how many are left."""
    n_kept = 0
    # Differences of sums of weights that are no whole numbers need not be 0 where no row is left.
    tolerance = EQUAL * total
    for k in range(n_active):
        u = active[k]
        ones = ones0[u] + ones1[u]
        smaller = min(ones, total - ones)
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
    """Grow the probability tree of `target` depth first and return its number of nodes.

    target : int. data : TreeData. rule : SplitRule. room : TreeRoom. nodes : TreeNodes, written.
    """
    min_gain, least, smoothing = rule
    counts, active, gain_of, order, spare, stack = room
    split_var, child, gain, count = nodes
    height, n_nodes = _start_root(target, data, rule, room, nodes), 1
    # The smaller child is handled first, so levels in use never exceed log2(n_rows) + 1.
    while height > 0:
        height -= 1
        node, begin, end, n_active = stack[height]
        ones0, ones1 = counts[height]
        c0, c1 = count[node, 0], count[node, 1]
        own = active[height, :n_active]
        u, gain[node] = _best_split(ones0, ones1, own, gain_of, c0, c1, smoothing)
        if not gain[node] > min_gain:
            continue
        _add_children(node, u, n_nodes, ones0[u], ones1[u], split_var, child, gain, count)
        middle = _partition(order, begin, end, data.columns[u], spare)
        small, large = (n_nodes, begin, middle), (n_nodes + 1, middle, end)
        if middle - begin >= end - middle:
            small, large = large, small
        n_nodes += 2
        small_grows = _may_grow(count, small[0], smoothing, min_gain)
        large_grows = _may_grow(count, large[0], smoothing, min_gain)
        if small_grows or large_grows:
            _count_ones(target, data, order, small, active[height], n_active, counts[height + 1])
            _hand_down(counts, active, height, n_active, large_grows)
        if large_grows:
            n_kept = _keep_active(ones0, ones1, active[height], n_active, count, large[0], least)
            _push(stack, height, large, n_kept)
            height += 1
        if small_grows:
            ones0, ones1 = counts[height]
            n_kept = _keep_active(ones0, ones1, active[height], n_active, count, small[0], least)
            _push(stack, height, small, n_kept)
            height += 1
    return n_nodes


@kernel
def _start_root(target, data, rule, room, nodes):
    """Write the root, and put it on the stack if it may grow; return the height of the stack."""
    n_vars, n_rows = data.columns.shape
    counts, active, pair_weight = room.counts[0], room.active[0], data.pair_weight
    for i in range(n_rows):
        room.order[i] = i
    copy_into(counts[1], pair_weight[target])
    total = data.weight.sum()
    n_active = 0
    for u in range(n_vars):
        counts[0, u] = pair_weight[u, u] - pair_weight[target, u]
        if u != target:
            active[n_active] = u
            n_active += 1
    nodes.value_weight[0, 1] = pair_weight[target, target]
    nodes.value_weight[0, 0] = total - pair_weight[target, target]
    nodes.split_var[0], nodes.gain[0] = LEAF, -np.inf
    least = rule.min_examples
    n_active = _keep_splittable(counts[0], counts[1], active, n_active, total, least)
    _push(room.stack, 0, (0, 0, n_rows), n_active)
    return 1 if _may_grow(nodes.value_weight, 0, rule.smoothing, rule.min_gain) else 0


@kernel
def _keep_active(ones0, ones1, active, n_active, count, node, min_examples):
    """Drop the variables that a node cannot be split on; return how many are left."""
    total = count[node, 0] + count[node, 1]
    return _keep_splittable(ones0, ones1, active, n_active, total, min_examples)


@kernel
def _push(stack, level, part, n_active):
    """Put a node, and its first and last place in the order, at a level of the stack."""
    stack[level, 0], stack[level, 1], stack[level, 2] = part
    stack[level, 3] = n_active


@kernel
def _add_children(node, u, first, a0, a1, split_var, child, gain, count):
    """Write the split of a node on `u` and its two children, leaves so far, from `first` on."""
    split_var[node] = u
    child[node, 0], child[node, 1] = first, first + 1
    count[first + 1, 0], count[first + 1, 1] = a0, a1
    count[first, 0], count[first, 1] = count[node, 0] - a0, count[node, 1] - a1
    split_var[first], split_var[first + 1] = LEAF, LEAF
    gain[first], gain[first + 1] = -np.inf, -np.inf


@kernel
def _may_grow(count, node, smoothing, min_gain):
    """Tell whether some split of a node may gain enough."""
    return _largest_gain(count[node, 0], count[node, 1], smoothing) > min_gain


@kernel
def _count_ones(target, data, order, part, active, n_active, out):
    """Count the ones of the active variables in some rows, by value of the target.

    The counts of other variables are left with arbitrary values.
    """
    indptr, indices, target_column = data.indptr, data.indices, data.columns[target]
    for k in range(n_active):
        out[0, active[k]] = 0.0
        out[1, active[k]] = 0.0
    for k in range(part[1], part[2]):
        i = order[k]
        w = data.weight[i]
        ones = out[target_column[i]]
        for a in range(indptr[i], indptr[i + 1]):
            ones[indices[a]] += w


@inlined
def _hand_down(counts, active, level, n_active, large_grows):
    """Give the larger child the parent's level and the smaller child the next one.

    Where the larger child does not grow, the smaller child gets the parent's level instead.
    """
    if large_grows:
        for k in range(n_active):
            v = active[level, k]
            active[level + 1, k] = v
            counts[level, 0, v] -= counts[level + 1, 0, v]
            counts[level, 1, v] -= counts[level + 1, 1, v]
    else:
        for k in range(n_active):
            v = active[level, k]
            counts[level, 0, v] = counts[level + 1, 0, v]
            counts[level, 1, v] = counts[level + 1, 1, v]


@kernel
def tree_log_odds(rows, start, split_var, child, leaf_log_odds, out):
    """Write the log-odds of every variable under its tree to `out`.

    rows : uint8, (n_rows, n_vars). start, split_var, child : as in `Trees`.
    leaf_log_odds : float64, (n_nodes,). out : float64, (n_rows, n_vars).
    """
    for i in range(len(rows)):
        row = rows[i]
        for v in range(len(start) - 1):
            node = start[v]
            while split_var[node] != LEAF:
                node = child[node, row[split_var[node]]]
            out[i, v] = leaf_log_odds[node]


@kernel
def tree_leaves(rows, start, split_var, child, leaf):
    """Write the leaf of every row in the tree of every variable to `leaf`, (n_rows, n_vars)."""
    for i in range(len(rows)):
        row = rows[i]
        for v in range(len(start) - 1):
            node = start[v]
            while split_var[node] != LEAF:
                node = child[node, row[split_var[node]]]
            leaf[i, v] = node


@kernel
def tree_scores(rows, start, split_var, child, log_prob, columns, out):
    """Write what the tree of each variable says of its columns to `out`.

    rows, start, split_var, child : as in `tree_log_odds`. log_prob : float64, (n_nodes, n_states),
    finite. columns : int64, (n_vars + 1,). Variable v has the columns columns[v]:columns[v + 1].
    out : float64, (n_rows, n_columns), the log-odds of a single column, else log-probabilities.
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


@kernel
def draw_ancestral(order, start, split_var, child, p_one, seed, first, last, out):
    """Draw the examples `first` to `last`; example i depends on the seed and on i.

    order : int64, (n_vars,), parents before children. start, split_var, child : as in `Trees`.
    p_one : float64, (n_nodes,). Probability of a 1 at each leaf. seed : uint64.
    out : uint8, (n_rows, n_vars).
    """
    for i in range(first, last):
        stream = mix(mix(advance(seed)) + advance(np.uint64(i)))
        row = out[i]
        for v in order:
            node = start[v]
            while split_var[node] != LEAF:
                node = child[node, row[split_var[node]]]
            stream = advance(stream)
            row[v] = uniform(stream) < p_one[node]
