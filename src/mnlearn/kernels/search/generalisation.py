"""Bottom-up search for features: drop the literals that the nearest examples violate.

A feature is a pair of bit masks, as in `near_rows`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.bits import count_bits, lowest_bit
from mnlearn.kernels.arithmetic.logistic import log_sigmoid, sigmoid
from mnlearn.kernels.arithmetic.splitmix import mix
from mnlearn.kernels.arithmetic.ties import EQUAL_AT_WEIGHTS, first_greatest
from mnlearn.kernels.jit import copy_into, kernel
from mnlearn.kernels.search.gains import (
    best_weight,
    gain_bound,
    list_cells,
    weight_gain,
)
from mnlearn.kernels.search.near_rows import (
    LiteralSums,
    NearRows,
    add_rows,
    admit,
    begin,
    begin_sums,
    drop,
    drop_from_sums,
    find_nearest,
    find_slope_and_curvature,
    order_rows,
    room_for_rows,
    room_for_sums,
    sum_rows,
)


class Examples(NamedTuple):
    """The distinct examples as bits, (n_rows, n_words), and what the network says of them.

    theta : (n_columns, n_rows), log-odds of the value 1 of each column given the other variables;
    short features ask about few columns, which then stay in the cache. own : the columns of the
    variable of column c are own[c, 0]:own[c, 1]; of several, features ask for the value 1 only.
    """

    rows: NDArray[np.uint64]
    weight: NDArray[np.float64]
    theta: NDArray[np.float64]
    own: NDArray[np.int64]


class MaskedFeatures(NamedTuple):
    """Features as bit masks, (n_features, n_words): variables asked about, and values asked for.

    weight : 0 where the feature is not part of the network. final : it has no candidates left.
    """

    asked: NDArray[np.uint64]
    value: NDArray[np.uint64]
    weight: NDArray[np.float64]
    final: NDArray[np.bool_]


class Price(NamedTuple):
    """What a feature costs: the penalties of its weight, precision 1 / sd^2, and nats a literal."""

    l1: float
    precision: float
    literal: float


class _Room(NamedTuple):
    """Scratch of `generalise_pass`.

    p : the probabilities of `Examples.theta`, kept up to date. nearest : see `find_nearest`.
    candidates, keys : generalisations and their hashes; bound, start, cost : most that each can
    gain after its cost, a weight to start from, and the cost. odds, amount : see `list_cells`.
    tolerance : nats by which gains may differ and be equal within rounding.
    """

    p: NDArray[np.float64]
    near: NearRows
    nearest: NDArray[np.int64]
    candidates: NDArray[np.uint64]
    keys: NDArray[np.uint64]
    bound: NDArray[np.float64]
    start: NDArray[np.float64]
    cost: NDArray[np.float64]
    sums: LiteralSums
    dropped: NDArray[np.uint64]
    odds: NDArray[np.float64]
    amount: NDArray[np.float64]
    tolerance: float


@kernel
def generalise_pass(examples, order, features, k, price, table):
    """Replace each feature of `order` by its best generalisation, as long as that improves its
    score.

    The score of a feature is its gain less the cost of its literals. A feature with a score below 0
    is not part of the network: only its literals count. It becomes part of it where it scores above
    0 as it is. Where no candidate scores above 0, the candidate with the best bound replaces the
    feature.

    table : hashes of the present and former features, with room for all to come. Returned are the
    number of replacements, and by how much the scores above 0 rose, in nats.
    """
    room = _room_for_pass(examples, k)
    n_replaced, gained = 0, 0.0
    for f in order:
        n, gain = _generalise(examples, features, f, price, table, room)
        n_replaced += n
        gained += gain
    return n_replaced, gained


@kernel
def _room_for_pass(examples, k):
    """Return the scratch of a pass, with the probabilities filled in."""
    n_rows, n_words = examples.rows.shape
    n_vars = len(examples.theta)
    p = np.empty((n_vars, n_rows))
    for v in range(n_vars):
        for i in range(n_rows):
            p[v, i] = sigmoid(examples.theta[v, i])
    return _Room(
        p, room_for_rows(n_rows, n_words, n_vars), np.empty(k, np.int64),
        np.empty((k, n_words), np.uint64), np.empty(k, np.uint64),
        np.empty(k), np.empty(k), np.empty(k), room_for_sums(n_rows, n_vars),
        np.empty(n_words, np.uint64), np.empty(n_rows * n_vars), np.empty(n_rows * n_vars),
        EQUAL_AT_WEIGHTS * examples.weight.sum(),
    )  # fmt: skip


@kernel
def _generalise(examples, features, f, price, table, room):
    """Generalise one feature; return the number of replacements and by how much its score rose."""
    near, weight = room.near, features.weight
    asked, value = features.asked[f], features.value[f]
    begin(near, examples.rows, asked, value)
    admit(near, examples.rows, asked, value, 1)
    order_rows(near)
    score = before = 0.0
    if weight[f] != 0.0:
        score = before = _take_out(examples, asked, value, weight[f], price, room)
    else:
        score = -price.literal * count_bits(asked)
    if not features.final[f]:
        begin_sums(room.sums, asked)
    if weight[f] == 0.0 and count_bits(asked) > 1:
        weight[f], score = _try_as_it_is(examples, asked, value, price, score, room)
    n_replaced = 0
    while True:
        if score <= 0.0:
            weight[f] = 0.0
            score = -price.literal * count_bits(asked)
        if features.final[f]:
            break
        n_near = find_nearest(near, examples.rows, asked, value, len(room.nearest), room.nearest)
        add_rows(room.sums, near, examples.weight, room.p, asked, value)
        # The table only grows, so that a feature without candidates never has one again.
        if not _bound_candidates(examples, asked, value, n_near, price, table, room):
            features.final[f] = True
            break
        best, score = _choose_candidate(examples, features, f, n_near, price, score, room)
        if best < 0:
            break
        _replace(asked, best, table, room)
        n_replaced += 1
    if weight[f] != 0.0:
        _shift(near, examples, room.p, asked, value, weight[f])
    return n_replaced, max(score, 0.0) - before


@kernel
def _take_out(examples, asked, value, w, price, room):
    """Take a feature of weight `w` out of the log-odds; return its score."""
    near, l1, precision = room.near, price.l1, price.precision
    _shift(near, examples, room.p, asked, value, -w)
    n, held = list_cells(
        near, near.until[1], examples.weight, examples.theta, asked, value, room.odds, room.amount
    )
    gain = weight_gain(room.odds, room.amount, n, held, l1, precision, w)
    return -price.literal * count_bits(asked) + gain


@kernel
def _try_as_it_is(examples, asked, value, price, score, room):
    """Return weight and score of a feature outside the network, 0 and `score` unless it pays."""
    near, l1, precision = room.near, price.l1, price.precision
    weight, theta = examples.weight, examples.theta
    slope, spread = sum_rows(near, near.ordered[: near.until[1]], weight, room.p, asked, value)
    most, likely = gain_bound(abs(slope) - l1, spread, precision)
    if most + score > 0.0:
        n, held = list_cells(
            near, near.until[1], weight, theta, asked, value, room.odds, room.amount
        )
        likely = likely if slope > 0.0 else -likely
        w, gain = best_weight(room.odds, room.amount, n, held, l1, precision, likely, -score)
        if gain + score > 0.0:
            return w, score + gain
    return 0.0, score


@kernel
def _bound_candidates(examples, asked, value, n_near, price, table, room):
    """Write the candidates that drop what one of the nearest rows violates; bound their scores.

    The bound is minus infinity where the candidate has fewer than two literals, is in the table, or
    equals an earlier candidate. Returns how many others there are.
    """
    n_candidates = 0
    near, nearest, dropped = room.near, room.nearest, room.dropped
    bound, start, cost, keys = room.bound, room.start, room.cost, room.keys
    for j in range(n_near):
        bound[j] = -np.inf
        candidate = room.candidates[j]
        for t in range(len(asked)):
            dropped[t] = near.violated[nearest[j], t]
            candidate[t] = asked[t] & ~dropped[t]
        length = count_bits(candidate)
        keys[j] = _key(candidate, value)
        known = table[_slot(keys[j], table)] != 0
        for other in range(j):
            known |= keys[other] == keys[j]
        if length < 2 or known:
            continue
        n_candidates += 1
        n_rows = near.until[near.distance[nearest[j]] + 1]
        slope, spread = find_slope_and_curvature(
            room.sums, near, n_rows, examples.weight, room.p, candidate, value, dropped
        )
        bound[j], start[j] = gain_bound(abs(slope) - price.l1, spread, price.precision)
        if slope < 0.0:
            start[j] = -start[j]
        cost[j] = price.literal * length
        bound[j] -= cost[j]
    return n_candidates


@kernel
def _choose_candidate(examples, features, f, n_near, price, score, room):
    """Return the candidate that replaces feature `f`, or -1, and the score after that."""
    near, bound = room.near, room.bound
    value, w = features.value[f], features.weight[f]
    best = -1
    if n_near and score <= 0.0:
        # The candidate that is taken where none pays.
        likely = first_greatest(bound[:n_near], room.tolerance)
        best = likely if bound[likely] > score else -1
    needed = max(score, 0.0)
    for _ in range(n_near):
        j = first_greatest(bound[:n_near], room.tolerance)
        if bound[j] <= needed:
            break
        bound[j] = -np.inf
        n_rows = near.until[near.distance[room.nearest[j]] + 1]
        n, held = list_cells(
            near, n_rows, examples.weight, examples.theta, room.candidates[j], value,
            room.odds, room.amount,
        )  # fmt: skip
        # Generalisations of one feature have nearly the same best weight.
        start = w if w * room.start[j] > 0.0 else room.start[j]
        w, gain = best_weight(
            room.odds, room.amount, n, held, price.l1, price.precision, start,
            needed + room.cost[j],
        )  # fmt: skip
        if gain - room.cost[j] > needed + room.tolerance:
            needed = score = gain - room.cost[j]
            best, features.weight[f] = j, w
    return best, score


@kernel
def _replace(asked, best, table, room):
    """Replace a feature by a candidate, in the sums and among the near rows too."""
    near, dropped = room.near, room.dropped
    for t in range(len(asked)):
        dropped[t] = near.violated[room.nearest[best], t]
    drop_from_sums(room.sums, dropped)
    drop(near, dropped)
    copy_into(asked, room.candidates[best])
    table[_slot(room.keys[best], table)] = room.keys[best]


@kernel
def _shift(near, examples, p, asked, value, w):
    """Add the weight of a feature to the log-odds that it touches, and renew the probabilities."""
    theta, own = examples.theta, examples.own
    for place in near.ordered[: near.until[1]]:
        i = near.row[place]
        for t in range(len(asked)):
            word = asked[t]
            if near.distance[place] == 1:
                word &= near.violated[place, t]
            while word:
                bit = lowest_bit(word)
                v = np.int64(64 * t) + np.int64(bit)
                if own[v, 1] - own[v, 0] > 1:
                    _shift_state(theta, p, own[v, 0], own[v, 1], i, v, w)
                else:
                    theta[v, i] += w if (value[t] >> bit) & np.uint64(1) else -w
                    p[v, i] = sigmoid(theta[v, i])
                word &= word - np.uint64(1)


@kernel
def _shift_state(theta, p, first, end, i, state, w):
    """Add `w` to the log-odds of a state, by which those of the other states fall."""
    for v in range(first, end):
        theta[v, i] = log_sigmoid(theta[v, i])
    theta[state, i] += w
    for v in range(first, end):
        p[v, i] = 0.0
        for other in range(first, end):
            if other != v:
                p[v, i] += np.exp(min(theta[other, i] - theta[v, i], 700.0))
    for v in range(first, end):
        theta[v, i] = -np.log(max(p[v, i], 1e-300))
        p[v, i] = sigmoid(theta[v, i])


@kernel
def _key(asked, value):
    """Return a 64-bit hash of a feature, never 0."""
    key = np.uint64(0)
    for t in range(len(asked)):
        key = mix(key ^ asked[t])
        key = mix(key ^ (asked[t] & value[t]))
    return key if key else np.uint64(1)


@kernel
def _slot(key, table):
    """Return the slot that holds a key or is free for it; the table's length is a power of two."""
    last = np.int64(len(table) - 1)
    place = np.int64(key & np.uint64(last))
    while table[place] and table[place] != key:
        place = (place + 1) & last
    return place


@kernel
def remember_all(asked, value, table):
    """Add the hashes of all features to the table; return which were new, bool, (n_features,)."""
    new = np.empty(len(asked), np.bool_)
    for f in range(len(asked)):
        key = _key(asked[f], value[f])
        place = _slot(key, table)
        new[f] = table[place] == np.uint64(0)
        table[place] = key
    return new
