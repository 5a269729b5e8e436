"""Tests of CPD features in an order of the variables, and the chance that removed ones hold."""

import numpy as np

from mnlearn.kernels.arithmetic.bits import lowest_bit
from mnlearn.kernels.inlining import copy_into
from mnlearn.kernels.jit import kernel

FORWARD, BACKWARD = 0, 1


@kernel
def sort_tests(start, var, target, place, n_vars, order, distance, target_at):
    """Arrange the tests of every CPD feature by how far they come after its target.

    The distance from the target to another variable is the number of steps from the one to the
    other in a cyclic order of the variables. A test that an order puts before the target is
    removed. For every rotation of the order, the tests that are kept are then a first or last
    part of this arrangement.

    start, var : the features. target : int32, (n_features,). place : int64, (n_vars,), position
    of each variable in the order.
    Written: order int64 and distance int64, (n_literals,), the literals of feature f but its
    target's in order[start[f]:start[f + 1] - 1]; target_at int64, (n_features,).
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

    probability : float64, (n_literals,), of each literal under the base distribution.
    Written, float64, (2, n_literals): for direction FORWARD and feature f, removed[0,
    start[f] + j] is the probability that all tests but the first j hold; for BACKWARD,
    removed[1, start[f] + j] that the first j hold. with_target : that the target's does, too.
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
    """Fill in the share of the examples in which removed tests hold: the base is every example.

    columns : uint64, (n_vars, n_words), packed columns; ends : uint64, bits in use of the last
    word. weight : float64, (n_rows,), of sum 1.
    Written: as in `product_shares`.
    """
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

    subset_start : int64, (n_features + 1,). The subsets of the n tests of feature f are
    subset_start[f]:subset_start[f + 1] in the order of their bits; or none.
    Written, float64: removed, that all tests outside the subset hold; with_target : that the
    target's does, too.
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
    """Fill in the share of the examples in which the tests outside a subset hold.

    rows : uint8, (n_rows, n_vars). weight : float64, (n_rows,), of sum 1.
    Others, and written: as in `product_subset_shares`.
    """
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
