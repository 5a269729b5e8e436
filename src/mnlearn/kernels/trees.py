"""Probability trees: growing one, and scoring examples with many."""

import numpy as np

from mnlearn.kernels.jit import kernel

LEAF = -1


@kernel
def cooccurrence(indptr, indices, weight, out):
    """Add the weight of the rows in which two variables are both 1 to `out`.

    indptr, indices : int64 and int32, rows of the data as ascending lists of their ones.
    weight : float64, shape (n_rows,).
    out : float64, shape (n_vars, n_vars), zero on entry; symmetric on return.
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
    """Return log(count + added), from the table of it if there is one."""
    return log_table[np.int64(count)] if len(log_table) else np.log(count + added)


@kernel
def _leaf_score(c0, c1, smoothing):
    """Log-likelihood of a leaf's own examples under its smoothed distribution."""
    pseudocount, value_log, total_log = smoothing
    return (
        c0 * _log_sum(c0, pseudocount, value_log)
        + c1 * _log_sum(c1, pseudocount, value_log)
        - (c0 + c1) * _log_sum(c0 + c1, 2.0 * pseudocount, total_log)
    )


@kernel
def _largest_gain(c0, c1, smoothing):
    """Bound the gain of any split: each value of the target alone in a pure leaf.

    With g(c) the score of a pure leaf of c examples, a leaf's score is at most g(c0) + g(c1),
    and g is convex with g(0) = 0, so that dividing a value over two leaves never beats one.
    """
    pure = _leaf_score(c0, 0.0, smoothing) + _leaf_score(0.0, c1, smoothing)
    return pure - _leaf_score(c0, c1, smoothing)


@kernel
def _best_split(active, n_active, ones0, ones1, c0, c1, smoothing):
    """Return the active variable of the largest gain (the first of equals) and its gain."""
    here = _leaf_score(c0, c1, smoothing)
    best_gain = -np.inf
    best = -1
    for k in range(n_active):
        u = active[k]
        a0, a1 = ones0[u], ones1[u]
        score = _leaf_score(a0, a1, smoothing) + _leaf_score(c0 - a0, c1 - a1, smoothing)
        if score - here > best_gain:
            best_gain = score - here
            best = u
    return best, best_gain


@kernel
def _keep_splittable(active, n_active, ones0, ones1, total, min_examples):
    """Drop from `active` the variables that no longer leave enough on both sides."""
    n_kept = 0
    for k in range(n_active):
        u = active[k]
        ones = ones0[u] + ones1[u]
        if ones > 0 and ones < total and min(ones, total - ones) >= min_examples:
            active[n_kept] = u
            n_kept += 1
    return n_kept


@kernel
def _partition(order, begin, end, column, spare):
    """Stably move the rows of order[begin:end] with a one to the back; return their begin."""
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
    order[middle:end] = spare[:n_ones]
    return middle


@kernel
def grow_tree(
    target,
    columns,
    indptr,
    indices,
    weight,
    pair_weight,
    min_gain,
    min_examples,
    smoothing,
    counts,
    active,
    order,
    spare,
    split_var,
    child,
    gain,
    node_count,
):
    """Grow the probability tree of `target` depth first and return its number of nodes.

    A split must gain more than `min_gain` in log-likelihood and leave at least `min_examples`
    on each side; among equal gains the variable of lowest index wins. Counts of the smaller
    child are taken from its rows, those of the larger are the difference to the parent, so each
    split costs the ones of the smaller side (Lowd & Davis 2010, Section III).

    columns : uint8, shape (n_vars, n_rows). indptr, indices : the same data as lists of ones.
    weight : float64, shape (n_rows,). pair_weight : float64, (n_vars, n_vars), `cooccurrence`.
    smoothing : (pseudocount, value_log, total_log). The count added to each value of the target,
        and the logarithms of 0, 1, 2, … plus it and plus twice it if all weights are whole
        numbers, else empty.
    Scratch: counts float64 (n_levels, 2, n_vars) and active int32 (n_levels, n_vars), with
        n_levels > 2 + log2(n_rows); order, spare int32 (n_rows,).
    Written, 2 n_rows entries each: split_var int32 (LEAF for a leaf), child int32 (·, 2), gain
        float64 (of the best split; of a leaf as well, -inf if none was possible), node_count
        float64 (·, 2) weight of either value of the target.
    """
    n_vars, n_rows = columns.shape
    for i in range(n_rows):
        order[i] = i
    counts[0, 1] = pair_weight[target]
    total = weight.sum()
    n_active = 0
    for u in range(n_vars):
        counts[0, 0, u] = pair_weight[u, u] - pair_weight[target, u]
        if u != target:
            active[0, n_active] = u
            n_active += 1
    node_count[0, 1] = pair_weight[target, target]
    node_count[0, 0] = total - pair_weight[target, target]
    n_active = _keep_splittable(
        active[0], n_active, counts[0, 0], counts[0, 1], total, min_examples
    )

    # The stack holds nodes still to be split, each with the level of its counts. The smaller
    # child is handled first, so levels in use never exceed log2(n_rows) + 1.
    n_levels = len(counts)
    stack = np.empty((n_levels, 4), np.int64)
    stack[0] = np.array([0, 0, n_rows, n_active])
    height = 1
    n_nodes = 1
    while height > 0:
        height -= 1
        level = height
        node, begin, end, n_active = stack[height]
        c0, c1 = node_count[node]
        split_var[node] = LEAF
        gain[node] = -np.inf
        if n_active == 0 or _largest_gain(c0, c1, smoothing) <= min_gain:
            continue
        ones0, ones1 = counts[level]
        u, best_gain = _best_split(active[level], n_active, ones0, ones1, c0, c1, smoothing)
        gain[node] = best_gain
        if not best_gain > min_gain:
            continue
        split_var[node] = u
        child[node, 0] = n_nodes
        child[node, 1] = n_nodes + 1
        node_count[n_nodes + 1] = (ones0[u], ones1[u])
        node_count[n_nodes] = (c0 - ones0[u], c1 - ones1[u])
        middle = _partition(order, begin, end, columns[u], spare)
        if middle - begin < end - middle:
            small, small_begin, small_end = n_nodes, begin, middle
            large, large_begin, large_end = n_nodes + 1, middle, end
        else:
            small, small_begin, small_end = n_nodes + 1, middle, end
            large, large_begin, large_end = n_nodes, begin, middle
        n_nodes += 2
        for side in (small, large):
            split_var[side] = LEAF
            gain[side] = -np.inf
        small_grows = (
            _largest_gain(node_count[small, 0], node_count[small, 1], smoothing) > min_gain
        )
        large_grows = (
            _largest_gain(node_count[large, 0], node_count[large, 1], smoothing) > min_gain
        )
        if not (small_grows or large_grows):
            continue
        _count_ones(
            indptr,
            indices,
            weight,
            columns[target],
            order,
            small_begin,
            small_end,
            active[level],
            n_active,
            counts[level + 1],
        )
        for k in range(n_active):
            v = active[level, k]
            active[level + 1, k] = v
            ones0[v] -= counts[level + 1, 0, v]
            ones1[v] -= counts[level + 1, 1, v]
        if not large_grows:
            # The smaller child alone goes on; it takes the parent's level.
            for k in range(n_active):
                v = active[level, k]
                ones0[v] = counts[level + 1, 0, v]
                ones1[v] = counts[level + 1, 1, v]
            n_kept = _keep_splittable(
                active[level], n_active, ones0, ones1, node_count[small].sum(), min_examples
            )
            stack[level] = np.array([small, small_begin, small_end, n_kept])
            height = level + 1
            continue
        n_kept = _keep_splittable(
            active[level], n_active, ones0, ones1, node_count[large].sum(), min_examples
        )
        stack[level] = np.array([large, large_begin, large_end, n_kept])
        height = level + 1
        if small_grows:
            n_kept = _keep_splittable(
                active[level + 1],
                n_active,
                counts[level + 1, 0],
                counts[level + 1, 1],
                node_count[small].sum(),
                min_examples,
            )
            stack[level + 1] = np.array([small, small_begin, small_end, n_kept])
            height = level + 2
    return n_nodes


@kernel
def _count_ones(indptr, indices, weight, target_column, order, begin, end, active, n_active, out):
    """Count the ones of the active variables by value of the target over order[begin:end].

    Entries of other variables are left with arbitrary values.
    """
    for k in range(n_active):
        out[0, active[k]] = 0.0
        out[1, active[k]] = 0.0
    for k in range(begin, end):
        i = order[k]
        w = weight[i]
        ones = out[target_column[i]]
        for a in range(indptr[i], indptr[i + 1]):
            ones[indices[a]] += w


@kernel
def tree_log_odds(rows, start, split_var, child, leaf_log_odds, out):
    """Write the log-odds of every variable under its tree to `out`.

    rows : uint8, shape (n_rows, n_vars). start, split_var, child : as in `Trees`.
    leaf_log_odds : float64, shape (n_nodes,). out : float64, shape (n_rows, n_vars).
    """
    for i in range(len(rows)):
        row = rows[i]
        for v in range(len(start) - 1):
            node = start[v]
            while split_var[node] != LEAF:
                node = child[node, row[split_var[node]]]
            out[i, v] = leaf_log_odds[node]
