"""How the score of a feature's generalisations changes with their weights, at the weight 0.

The derivatives are sums over the rows that violate none or one of the literals that are kept. A row
that violates at most two literals of the feature is summed once, literal by literal, with all rows
that violate the same ones: enough for a generalisation that drops one literal. For others, the rows
that violate two or more are looked at one by one.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.bits import lowest_bit, popcount
from mnlearn.kernels.jit import inlined, kernel


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
