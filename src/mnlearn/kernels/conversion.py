"""Conversion of the CPD features of a dependency network to subfeatures (Lowd 2012).

Tests of a feature are put in an order of the variables. For each part that is kept there is the
chance that the removed tests hold; then the subfeatures are merged and counted.
"""

import numpy as np

from mnlearn.kernels.arithmetic.bits import lowest_bit, popcount
from mnlearn.kernels.jit import copy_into, kernel

FORWARD, BACKWARD, SUBSET = 0, 1, 2


@kernel
def sort_tests(start, var, target, place, n_vars, order, distance, target_at):
    """Arrange the tests of every CPD feature by their distance from its target in a cyclic order.

    For every rotation of the order, the tests that are kept, those after the target, are then a
    first or last part. order[start[f]:start[f + 1] - 1] are the literals of feature f but its
    target's.
    """
    for f in range(len(start) - 1):
        n = 0
        for k in range(start[f], start[f + 1]):
            if var[k] == target[f]:
                target_at[f] = k
                continue
            d = (place[var[k]] - place[target[f]]) % n_vars
            at = start[f] + n
            while at > start[f] and distance[at - 1] > d:
                distance[at] = distance[at - 1]
                order[at] = order[at - 1]
                at -= 1
            distance[at] = d
            order[at] = k
            n += 1


@kernel
def product_shares(start, order, target_at, probability, removed, with_target):
    """Fill in the probability that removed tests hold if the base is a product of marginals.

    removed[0, start[f] + j] is that of all tests of feature f but the first j, removed[1, start[f]
    + j] that of the first j. with_target : that the target's literal holds, too.
    """
    for f in range(len(start) - 1):
        begin, n = start[f], start[f + 1] - start[f] - 1
        of_target = probability[target_at[f]]
        removed[0, begin + n] = 1.0
        removed[1, begin] = 1.0
        for j in range(n - 1, -1, -1):
            removed[0, begin + j] = removed[0, begin + j + 1] * probability[order[begin + j]]
        for j in range(n):
            removed[1, begin + j + 1] = removed[1, begin + j] * probability[order[begin + j]]
        for j in range(n + 1):
            with_target[0, begin + j] = removed[0, begin + j] * of_target
            with_target[1, begin + j] = removed[1, begin + j] * of_target


@kernel
def _share(words, row_weight):
    """Return the weight of the rows whose bits are set."""
    total = 0.0
    for b in range(len(words)):
        word = words[b]
        while word != np.uint64(0):
            total += row_weight[64 * b + np.int64(lowest_bit(word))]
            word &= word - np.uint64(1)
    return total


@kernel
def _intersect(words, column, value, ends):
    """Keep the rows in which a variable, given by its packed column, has the value."""
    if value:
        for b in range(len(words)):
            words[b] &= column[b]
    else:
        for b in range(len(words)):
            words[b] &= ~column[b]
        words[len(words) - 1] &= ends


@kernel
def data_shares(start, var, value, order, target_at, columns, ends, weight, removed, with_target):
    """Fill in what `product_shares` does if the base is every example; the weights sum to 1."""
    every = np.full(columns.shape[1], ~np.uint64(0))
    every[len(every) - 1] = ends
    holding, whole = np.empty_like(every), weight.sum()
    of_target = np.empty_like(every)
    for f in range(len(start) - 1):
        begin, n = start[f], start[f + 1] - start[f] - 1
        at = target_at[f]
        copy_into(of_target, every)
        _intersect(of_target, columns[var[at]], value[at], ends)
        target_share = _share(of_target, weight)
        for direction in range(2):
            for starts_with_target in range(2):
                out = with_target[direction] if starts_with_target else removed[direction]
                copy_into(holding, of_target if starts_with_target else every)
                share = target_share if starts_with_target else whole
                for step in range(n + 1):
                    if step:
                        k = order[begin + (n - step if direction == 0 else step - 1)]
                        _intersect(holding, columns[var[k]], value[k], ends)
                        share = _share(holding, weight)
                    out[begin + (n - step if direction == 0 else step)] = share


@kernel
def product_subset_shares(start, order, target_at, probability, subset_start, removed, with_target):
    """Fill in the probability that the tests outside a subset hold, for a product of marginals.

    The subsets of the n tests of feature f are subset_start[f]:subset_start[f + 1] in the order of
    their bits; or none. with_target : that the target's literal holds, too.
    """
    for f in range(len(start) - 1):
        first, end = subset_start[f], subset_start[f + 1]
        for s in range(end - first - 1, -1, -1):
            share = 1.0
            for j in range(start[f + 1] - start[f] - 1):
                if not s >> j & 1:
                    share *= probability[order[start[f] + j]]
            removed[first + s] = share
            with_target[first + s] = share * probability[target_at[f]]


@kernel
def data_subset_shares(
    start, var, value, order, target_at, rows, weight, subset_start, removed, with_target
):
    """Fill in what `product_subset_shares` does if the base is every example, of weight 1."""
    for f in range(len(start) - 1):
        first, end = subset_start[f], subset_start[f + 1]
        if first == end:
            continue
        n, at = start[f + 1] - start[f] - 1, target_at[f]
        removed[first:end] = 0.0
        with_target[first:end] = 0.0
        for i in range(len(rows)):
            violated = 0
            for j in range(n):
                k = order[start[f] + j]
                violated |= (rows[i, var[k]] != value[k]) << j
            removed[first + violated] += weight[i]
            if rows[i, var[at]] == value[at]:
                with_target[first + violated] += weight[i]
        # A subset is kept if it contains the violated tests: sums over all that it contains.
        for j in range(n):
            for s in range(end - first):
                if s >> j & 1:
                    removed[first + s] += removed[first + (s ^ 1 << j)]
                    with_target[first + s] += with_target[first + (s ^ 1 << j)]


@kernel
def _slot_of(key, keys, slots):
    """Return the slot in which the subfeature `key` is, or where it would be put."""
    last = len(slots) - 1
    s = np.int64(key & np.uint64(last))
    while slots[s] >= 0 and keys[slots[s]] != key:
        s = (s + 1) & last
    return s


@kernel
def _with_room(found, n_found, needed):
    """Return the table of subfeatures with room for `needed` more."""
    keys, total, source, _ = found
    if n_found + needed <= len(keys):
        return found
    size = len(keys)
    while size < n_found + needed:
        size *= 2
    new_keys, new_total = np.empty(size, np.uint64), np.empty(size)
    new_source = np.empty((size, 4), np.int64)
    copy_into(new_keys, keys[:n_found])
    copy_into(new_total, total[:n_found])
    for i in range(n_found):
        copy_into(new_source[i], source[i])
    new_slots = np.full(4 * size, -1, np.int64)
    for i in range(n_found):
        new_slots[_slot_of(new_keys[i], new_keys, new_slots)] = i
    return new_keys, new_total, new_source, new_slots


@kernel
def _add(found, n_found, key, change, feature, n_kept, which, has_target):
    """Add to the weight of the subfeature `key`; return the number of subfeatures."""
    keys, total, source, slots = found
    s = _slot_of(key, keys, slots)
    if slots[s] < 0:
        slots[s] = n_found
        keys[n_found] = key
        total[n_found] = 0.0
        source[n_found, 0] = feature
        source[n_found, 1] = n_kept
        source[n_found, 2] = which
        source[n_found, 3] = has_target
        n_found += 1
    total[slots[s]] += change
    return n_found


@kernel
def merge_subfeatures(
    start, order, distance, target_at, mark, weight, shares, subsets, n_vars, boundary, rotations,
    forward_share, backward_share,
):  # fmt: skip
    """Return the weights of the distinct subfeatures of all CPD features, and where they come from.

    A CPD feature of weight w adds, for every order of the variables, a feature of its target's
    literal and of the tests after it, and takes away the same without the target's (Lowd 2012,
    Section 4). The removed tests multiply w by their probability under the base, `shares` or, over
    all orders, `subsets`. Equal features are known by the sums of the random `mark`s of their
    literals.

    boundary : number of steps from the target to the end of the order. rotations : whether all
    rotations are averaged. A source is a feature, the number of tests kept, which of them (FORWARD
    the first, BACKWARD the last, SUBSET + their bits) and whether the target's literal is kept.
    """
    removed, with_target = shares
    subset_start = subsets[0]
    found = (
        np.empty(64, np.uint64), np.empty(64), np.empty((64, 4), np.int64),
        np.full(256, -1, np.int64),
    )  # fmt: skip
    n_found = 0
    for f in range(len(start) - 1):
        begin, n = start[f], start[f + 1] - start[f] - 1
        target_mark = mark[target_at[f]]
        n_subsets = subset_start[f + 1] - subset_start[f]
        found = _with_room(found, n_found, max(4 * (n + 1), 2 * n_subsets))
        if n_subsets:
            marks = mark[order[begin : begin + n]]
            n_found = _add_subsets(found, n_found, f, marks, target_mark, weight[f], subsets)
            continue
        for direction in range(2):
            share_of_order = backward_share if direction else forward_share
            if share_of_order == 0.0:
                continue
            key = np.uint64(0)
            for step in range(n + 1):
                # Forward the first `step` tests are kept, backward the last.
                j = n - step if direction else step
                if step:
                    key += mark[order[begin + (j if direction else j - 1)]]
                here = distance[begin + j - 1] if j > 0 else np.int64(0)
                there = distance[begin + j] if j < n else np.int64(n_vars)
                share = share_of_order
                if rotations:
                    share *= (there - here) / n_vars
                elif not here < boundary[f] <= there:
                    continue
                w = share * weight[f]
                if step:
                    change = -w * with_target[direction, begin + j]
                    n_found = _add(found, n_found, key, change, f, step, direction, 0)
                change = w * removed[direction, begin + j]
                n_found = _add(found, n_found, key + target_mark, change, f, step, direction, 1)
    return found[1][:n_found], found[2][:n_found]


@kernel
def _add_subsets(found, n_found, f, marks, target_mark, weight, subsets):
    """Add the subfeatures of one CPD feature, averaged over all orders of the variables.

    Of the orders of a target and its k tests, l! (k - l)! / (k + 1)! put just a given l of the
    tests after the target (Lowd 2012, Section 5.2, where lengths count the target).
    """
    subset_start, removed, with_target = subsets
    first, k = subset_start[f], len(marks)
    share = np.empty(k + 1)
    share[0] = 1.0 / (k + 1)
    for kept in range(1, k + 1):
        share[kept] = share[kept - 1] * kept / (k + 1 - kept)
    keys = np.zeros(1 << k, np.uint64)
    for s in range(1 << k):
        if s:
            lowest = s & -s
            j = 0
            while lowest >> j != 1:
                j += 1
            keys[s] = keys[s ^ lowest] + marks[j]
        kept = np.int64(popcount(np.uint64(s)))
        w = share[kept] * weight
        if s:
            change = -w * with_target[first + s]
            n_found = _add(found, n_found, keys[s], change, f, kept, SUBSET + s, 0)
        change = w * removed[first + s]
        n_found = _add(found, n_found, keys[s] + target_mark, change, f, kept, SUBSET + s, 1)
    return n_found


@kernel
def _insert(literal, var, value, out_var, out_value, begin, end):
    """Insert a literal into those of a subfeature, ascending by variable."""
    at = end
    while at > begin and out_var[at - 1] > var[literal]:
        out_var[at], out_value[at] = out_var[at - 1], out_value[at - 1]
        at -= 1
    out_var[at], out_value[at] = var[literal], value[literal]


@kernel
def write_subfeatures(start, var, value, order, target_at, source, out_start, out_var, out_value):
    """Write the literals of subfeatures, given their sources and places, ascending by variable."""
    for i in range(len(source)):
        f, n_kept, which, has_target = source[i]
        n = start[f + 1] - start[f] - 1
        begin = end = out_start[i]
        for j in range(n):
            if which == FORWARD:
                kept = j < n_kept
            elif which == BACKWARD:
                kept = j >= n - n_kept
            else:
                kept = bool((which - SUBSET) >> j & 1)
            if kept:
                _insert(order[start[f] + j], var, value, out_var, out_value, begin, end)
                end += 1
        if has_target:
            _insert(target_at[f], var, value, out_var, out_value, begin, end)
