"""The rows that violate few literals of a feature, and the derivatives of its generalisations.

A feature is a pair of bit masks: the variables it asks about, and the values. Its literals that a
row violates are (row ^ value) & asked, and their number is the distance. A literal that is dropped
lowers it by at most 1, so a row that is far away waits until it may have come near.

The derivatives by the weight, at 0, are sums over the rows that violate none or one of the literals
that are kept. A row that violates at most two literals of the feature is summed once, literal by
literal, with all rows that violate the same ones: enough where one literal is dropped.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.bits import lowest_bit, popcount
from mnlearn.kernels.jit import inlined, kernel


class NearRows(NamedTuple):
    """Rows that came near one feature, in the order in which they did, and those that wait.

    row, violated, distance : of those that came near. number_at : how many of them there are at
    every distance. until, ordered : after `order_rows`, the first until[d] numbers in `ordered` are
    the places in `row` of all rows at most as distant as d. first, after : lists of rows that wait,
    one for every sum of the distance when last seen and the literals dropped before; -1 ends a
    list. size : how many rows came near, literals were dropped, and lists are empty for good.
    """

    row: NDArray[np.int64]
    violated: NDArray[np.uint64]
    distance: NDArray[np.int64]
    number_at: NDArray[np.int64]
    until: NDArray[np.int64]
    ordered: NDArray[np.int64]
    first: NDArray[np.int64]
    after: NDArray[np.int64]
    size: NDArray[np.int64]


@kernel
def room_for_rows(n_rows, n_words, n_vars):
    """Return a `NearRows` to begin with any feature."""
    return NearRows(
        np.empty(n_rows, np.int64),
        np.empty((n_rows, n_words), np.uint64),
        np.empty(n_rows, np.int64),
        np.empty(n_vars + 1, np.int64),
        np.empty(n_vars + 1, np.int64),
        np.empty(n_rows, np.int64),
        np.empty(n_vars + 1, np.int64),
        np.empty(n_rows, np.int64),
        np.empty(3, np.int64),
    )


@kernel
def begin(near, rows, asked, value):
    """Let all rows wait, at their distances from a feature."""
    near.size[:] = 0
    near.number_at[:] = 0
    near.first[:] = -1
    # Backwards, so that every list is in the order of the rows.
    for i in range(len(rows) - 1, -1, -1):
        distance = np.uint64(0)
        for t in range(len(asked)):
            distance += popcount((rows[i, t] ^ value[t]) & asked[t])
        near.after[i] = near.first[distance]
        near.first[distance] = i


@kernel
def admit(near, rows, asked, value, limit):
    """Let all rows come near that are at most as distant as `limit`."""
    n, dropped, n_empty = near.size
    end = min(limit + dropped + 1, len(near.first))
    for waits in range(n_empty, end):
        i = near.first[waits]
        near.first[waits] = -1
        while i >= 0:
            following = near.after[i]
            total = np.uint64(0)
            for t in range(len(asked)):
                near.violated[n, t] = (rows[i, t] ^ value[t]) & asked[t]
                total += popcount(near.violated[n, t])
            distance = np.int64(total)
            if distance <= limit:
                near.row[n] = i
                near.distance[n] = distance
                near.number_at[distance] += 1
                n += 1
            else:
                # A later list than this one: it is not seen again here.
                near.after[i] = near.first[distance + dropped]
                near.first[distance + dropped] = i
            i = following
    near.size[0] = n
    near.size[2] = max(n_empty, end)


@kernel
def drop(near, literals):
    """Drop the literals of a mask from the feature."""
    near.number_at[:] = 0
    for n in range(near.size[0]):
        total = np.uint64(0)
        for t in range(len(literals)):
            near.violated[n, t] &= ~literals[t]
            total += popcount(near.violated[n, t])
        near.distance[n] = np.int64(total)
        near.number_at[near.distance[n]] += 1
    for word in literals:
        near.size[1] += np.int64(popcount(word))


@kernel
def order_rows(near):
    """Order the rows that came near by distance, those of one distance as they came."""
    total = 0
    for d in range(len(near.number_at)):
        near.until[d] = total
        total += near.number_at[d]
    for n in range(near.size[0]):
        d = near.distance[n]
        near.ordered[near.until[d]] = n
        near.until[d] += 1


@kernel
def find_nearest(near, rows, asked, value, k, out):
    """Write the places in `near.row` of the `k` rows of least distance above 0; return how many.

    Of equally distant rows the first come first. All rows at most one further away than the last
    of them have come near after this, and are in order.
    """
    farthest = len(near.number_at) - 1
    limit = total = 0
    while total < k and limit < farthest:
        limit += 1
        admit(near, rows, asked, value, limit + 1)
        total += near.number_at[limit]
    order_rows(near)
    n = 0
    for place in near.ordered[near.until[0] : near.until[limit]]:
        i, distance = near.row[place], near.distance[place]
        at = n
        while at > 0 and near.distance[out[at - 1]] == distance and near.row[out[at - 1]] > i:
            at -= 1
        if at == k:
            continue
        n = min(n + 1, k)
        for j in range(n - 1, at, -1):
            out[j] = out[j - 1]
        out[at] = place
    return n


class LiteralSums(NamedTuple):
    """Sums over the rows that violate at most two literals of a feature, for each of its literals.

    A sum is a pair: of the probability that the row violates the literal, given the rest of the
    row, and of its variance, each times the weight of the row. none : over the rows that violate no
    literal. one[u], amount[u] : over those that violate only the literal of u, and their weight.
    two[u, v] : for the literal of v, over those that violate just these two; the first of the pair
    less their weight. summed : the sums that each near row is in, by its place.
    """

    none: NDArray[np.float64]
    one: NDArray[np.float64]
    amount: NDArray[np.float64]
    two: NDArray[np.float64]
    summed: NDArray[np.uint8]


_NOWHERE, _IN_TWO, _IN_ONE = 0, 1, 2


@kernel
def room_for_sums(n_rows, n_vars):
    """Return `LiteralSums` to begin with any feature."""
    return LiteralSums(
        np.empty((n_vars, 2)),
        np.empty((n_vars, n_vars, 2)),
        np.empty(n_vars),
        np.empty((n_vars, n_vars, 2)),
        np.empty(n_rows, np.uint8),
    )


@kernel
def begin_sums(sums, asked):
    """Let the sums be those over no rows."""
    sums.none[:] = 0.0
    sums.amount[:] = 0.0
    sums.summed[:] = _NOWHERE
    for t in range(len(asked)):
        word = asked[t]
        while word:
            u = np.int64(64 * t) + np.int64(lowest_bit(word))
            sums.one[u] = 0.0
            sums.two[u] = 0.0
            word &= word - np.uint64(1)


@kernel
def add_rows(sums, near, weight, p, asked, value):
    """Add the near rows, in order, that violate at most two literals and are in no sums yet."""
    two = near.until[min(2, len(near.until) - 1)]
    for place in near.ordered[near.until[1] : two]:
        if sums.summed[place] == _NOWHERE:
            sums.summed[place] = _IN_TWO
            _add_to_two(sums.two, near, place, weight, p, value)
    for place in near.ordered[: near.until[1]]:
        if sums.summed[place] == _IN_ONE:
            continue
        sums.summed[place] = _IN_ONE
        i = near.row[place]
        if near.distance[place] == 0:
            _add_row(sums.none, weight[i], p, i, asked, value)
        else:
            u = _first_violated(near, place, asked)
            sums.amount[u] += weight[i]
            _add_row(sums.one[u], weight[i], p, i, asked, value)


@kernel
def _add_to_two(two, near, place, weight, p, value):
    """Add a near row that violates two literals of the feature."""
    i, n = near.row[place], 0
    first = 0
    for t in range(len(value)):
        word = near.violated[place, t]
        while word:
            v = np.int64(64 * t) + np.int64(lowest_bit(word))
            if n == 1:
                _add_literal(two[first, v], weight[i], p, i, v, value)
                _add_literal(two[v, first], weight[i], p, i, first, value)
            first = v
            n += 1
            word &= word - np.uint64(1)


@kernel
def _add_literal(total, weight, p, i, v, value):
    """Add what row `i` has at the literal of `v`, which it violates, to a sum of `two`."""
    others, spread = _literal(p, i, v, value)
    total[0] += weight * (others - 1.0)
    total[1] += weight * spread


@inlined
def _add(total, part):
    for v in range(len(part)):
        for k in range(part.shape[1]):
            total[v, k] += part[v, k]


@kernel
def drop_from_sums(sums, dropped):
    """Drop the literals of a mask from the feature."""
    for t in range(len(dropped)):
        word = dropped[t]
        while word:
            u = np.int64(64 * t) + np.int64(lowest_bit(word))
            _add(sums.none, sums.one[u])
            word &= word - np.uint64(1)


@kernel
def find_slope_and_curvature(sums, near, n_near, weight, p, asked, value, dropped):
    """Return the first and minus the second derivative by a candidate's weight, at weight 0.

    asked, value : the candidate; dropped : the literals that it lacks of the feature that the sums
    are of. n_near : the number of rows in order that may violate fewer than two of its literals.
    """
    slope, curvature = _sum_literals(sums.none, asked)
    n_dropped = 0
    last = 0
    for t in range(len(asked)):
        word = asked[t] | dropped[t]
        while word:
            bit = lowest_bit(word)
            u = np.int64(64 * t) + np.int64(bit)
            if (asked[t] >> bit) & np.uint64(1):
                slope += sums.one[u, u, 0] - sums.amount[u]
                curvature += sums.one[u, u, 1]
            else:
                n_dropped += 1
                last = u
                if sums.amount[u] > 0.0:
                    others, spread = _sum_literals(sums.one[u], asked)
                    slope += others
                    curvature += spread
            word &= word - np.uint64(1)
    if n_dropped == 1:
        others, spread = _sum_literals(sums.two[last], asked)
    else:
        near_rows = near.ordered[near.until[1] : n_near]
        others, spread = sum_rows(near, near_rows, weight, p, asked, value)
    return slope + others, curvature + spread


@kernel
def sum_rows(near, places, weight, p, asked, value):
    """Return the derivatives of `find_slope_and_curvature` over some of the near rows alone."""
    slope, curvature = 0.0, 0.0
    for place in places:
        violated = count_violated(near, place, asked)
        if violated == 1:
            i = near.row[place]
            others, spread = _literal(p, i, _first_violated(near, place, asked), value)
            slope += weight[i] * (others - 1.0)
            curvature += weight[i] * spread
        elif violated == 0:
            i = near.row[place]
            others, spread = _sum_row(p, i, asked, value)
            slope += weight[i] * others
            curvature += weight[i] * spread
    return slope, curvature


@kernel
def count_violated(near, place, asked):
    """Return how many of the literals `asked` a near row violates."""
    total = np.uint64(0)
    for t in range(len(asked)):
        total += popcount(near.violated[place, t] & asked[t])
    return total


@kernel
def _first_violated(near, place, asked):
    """Return the variable of the first of the literals `asked` that a near row violates."""
    for t in range(len(asked)):
        word = near.violated[place, t] & asked[t]
        if word:
            return np.int64(64 * t) + np.int64(lowest_bit(word))
    return -1


@kernel
def _literal(p, i, v, value):
    """Return the probability that row `i` violates the literal of `v`, and the variance of it."""
    q = p[v, i]
    one = (value[v >> 6] >> np.uint64(v & 63)) & np.uint64(1)
    return 1.0 - q if one else q, q * (1.0 - q)


@kernel
def _add_row(total, weight, p, i, asked, value):
    """Add what row `i` has at the literals `asked` to sums of shape (n_vars, 2)."""
    for t in range(len(asked)):
        word = asked[t]
        while word:
            v = np.int64(64 * t) + np.int64(lowest_bit(word))
            others, spread = _literal(p, i, v, value)
            total[v, 0] += weight * others
            total[v, 1] += weight * spread
            word &= word - np.uint64(1)


@kernel
def _sum_row(p, i, asked, value):
    """Return the sums of what row `i` has at the literals `asked`."""
    others, spread = 0.0, 0.0
    for t in range(len(asked)):
        word = asked[t]
        while word:
            v = np.int64(64 * t) + np.int64(lowest_bit(word))
            o, s = _literal(p, i, v, value)
            others += o
            spread += s
            word &= word - np.uint64(1)
    return others, spread


@kernel
def _sum_literals(total, asked):
    """Return the sums of sums of shape (n_vars, 2) over the literals `asked`."""
    others, spread = 0.0, 0.0
    for t in range(len(asked)):
        word = asked[t]
        while word:
            v = np.int64(64 * t) + np.int64(lowest_bit(word))
            others += total[v, 0]
            spread += total[v, 1]
            word &= word - np.uint64(1)
    return others, spread
