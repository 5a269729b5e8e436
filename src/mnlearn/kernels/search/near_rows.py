"""The rows that violate the fewest literals of a feature, while it loses literals.

A feature is a pair of bit masks: the variables it asks about, and the values. Its literals that a
row violates are (row ^ value) & asked, and their number is the distance. A literal that is dropped
lowers it by at most 1, so a row that is far away waits until it may have come near.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.bits import popcount
from mnlearn.kernels.jit import kernel


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
