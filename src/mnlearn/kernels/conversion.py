"""Closed-form conversion of CPD features into features of a Markov network (Lowd 2012)."""

import numpy as np

from mnlearn.jit import kernel

FORWARD, BACKWARD = 0, 1


@kernel
def sort_tests(start, var, target, place, n_vars, order, distance, target_at):
    """Arrange the tests of every CPD feature by how far they come after its target.

    The distance from the target to another variable is the number of steps from the one to the
    other in a cyclic order of the variables. A test that an order puts before the target is
    removed; whatever rotation of the order is taken, the tests that are kept are then a first
    or last part of this arrangement.

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
def _share_holding(rows, weight, var, value, k, alive, n_alive):
    """Drop the rows that violate literal `k` from `alive`; return their number and weight."""
    n = 0
    total = 0.0
    for a in range(n_alive):
        i = alive[a]
        if rows[i, var[k]] == value[k]:
            alive[n] = i
            n += 1
            total += weight[i]
    return n, total


@kernel
def data_shares(start, var, value, order, target_at, rows, weight, removed, with_target):
    """Fill in the share of the examples in which removed tests hold: the base is every example.

    rows : uint8, (n_rows, n_vars). weight : float64, (n_rows,), of sum 1.
    Written: as in `product_shares`.
    """
    every = np.arange(len(rows))
    alive, of_target = np.empty(len(rows), np.int64), np.empty(len(rows), np.int64)
    whole = weight.sum()
    for f in range(len(start) - 1):
        begin, n = start[f], start[f + 1] - start[f] - 1
        of_target[:] = every
        n_target, target_share = _share_holding(
            rows, weight, var, value, target_at[f], of_target, len(rows)
        )
        for direction in range(2):
            for starts_with_target in range(2):
                if starts_with_target:
                    alive[:n_target] = of_target[:n_target]
                    n_alive, share = n_target, target_share
                    out = with_target[direction]
                else:
                    alive[:] = every
                    n_alive, share = len(rows), whole
                    out = removed[direction]
                for step in range(n + 1):
                    j = n - step if direction == 0 else step
                    out[begin + j] = share
                    if step < n:
                        k = order[begin + (j - 1 if direction == 0 else j)]
                        n_alive, share = _share_holding(rows, weight, var, value, k, alive, n_alive)


@kernel
def _slot_of(key, keys, slots):
    """Return the slot in which the subfeature `key` is, or where it would be put."""
    last = len(slots) - 1
    s = np.int64(key & np.uint64(last))
    while slots[s] >= 0 and keys[slots[s]] != key:
        s = (s + 1) & last
    return s


@kernel
def _grown(array):
    """Return a copy of an array with room for twice as many entries."""
    out = np.empty(2 * len(array), array.dtype)
    out[: len(array)] = array
    return out


@kernel
def _rehashed(keys, n):
    """Return slots for the first n keys with room to double them."""
    slots = np.full(8 * n, -1, np.int64)
    for i in range(n):
        slots[_slot_of(keys[i], keys, slots)] = i
    return slots


@kernel
def merge_subfeatures(
    start,
    order,
    distance,
    target_at,
    mark,
    weight,
    removed,
    with_target,
    n_vars,
    boundary,
    rotations,
    forward_share,
    backward_share,
):
    """Return the distinct subfeatures of all CPD features and their weights.

    A CPD feature of weight w adds, for every order of the variables, a feature of its target's
    literal and of the tests that come after it, and takes away the same without the target's
    (Lowd 2012, Section 4). What is removed multiplies w by the probability that it holds under
    the base distribution. Equal features, known by the sums of the random `mark`s of their
    literals, are merged as they appear, so that time and memory are linear in the number of
    tests and of distinct subfeatures.

    mark : uint64, (n_literals,), equal for equal literals.
    boundary : int64, (n_features,), number of steps from the target to the end of the order.
    rotations : whether all n_vars rotations of the order are averaged: then the first j tests
        are kept by as many rotations as there are variables between test j and test j + 1.
    forward_share, backward_share : weights of the order and of its reverse.
    Returned: total float64, (n_found,); source int64, (n_found, 4), feature, number of tests
    kept, direction and whether the target's literal is kept of one of the equal subfeatures,
    which `write_subfeatures` makes into literals. Those without literals are constants and are
    left out.
    """
    keys = np.empty(64, np.uint64)
    total = np.empty(64)
    source = np.empty((64, 4), np.int64)
    slots = np.full(256, -1, np.int64)
    n_found = 0
    for f in range(len(start) - 1):
        begin, n = start[f], start[f + 1] - start[f] - 1
        target_mark = mark[target_at[f]]
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
                for has_target in range(2):
                    if has_target == 0 and step == 0:
                        continue
                    if has_target:
                        change = share * weight[f] * removed[direction, begin + j]
                        wanted = key + target_mark
                    else:
                        change = -share * weight[f] * with_target[direction, begin + j]
                        wanted = key
                    s = _slot_of(wanted, keys, slots)
                    if slots[s] < 0:
                        if n_found == len(keys):
                            keys, total = _grown(keys), _grown(total)
                            grown = np.empty((2 * n_found, 4), np.int64)
                            grown[:n_found] = source
                            source = grown
                            slots = _rehashed(keys, n_found)
                            s = _slot_of(wanted, keys, slots)
                        slots[s] = n_found
                        keys[n_found] = wanted
                        total[n_found] = 0.0
                        source[n_found] = (f, step, direction, has_target)
                        n_found += 1
                    total[slots[s]] += change
    return total[:n_found], source[:n_found]


@kernel
def write_subfeatures(start, var, value, order, target_at, source, out_start, out_var, out_value):
    """Write the literals of subfeatures, ascending by variable.

    source : as from `merge_subfeatures`. out_start : int64, (n_found + 1,), given.
    """
    for i in range(len(source)):
        f, n_kept, direction, has_target = source[i]
        n = start[f + 1] - start[f] - 1
        first = start[f] + (n - n_kept if direction else 0)
        end = out_start[i]
        for k in range(first, first + n_kept + has_target):
            literal = order[k] if k < first + n_kept else target_at[f]
            at = end
            while at > out_start[i] and out_var[at - 1] > var[literal]:
                out_var[at], out_value[at] = out_var[at - 1], out_value[at - 1]
                at -= 1
            out_var[at], out_value[at] = var[literal], value[literal]
            end += 1
