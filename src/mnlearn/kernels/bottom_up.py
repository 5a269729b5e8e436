"""Bottom-up search for features: drop the literals that the nearest examples violate.

A feature is a pair of bit masks over the variables: those it asks about, and the values it asks
for. Its literals that a row violates are (row ^ value) & asked; the rows that violate none or
exactly one are all that its pseudo-likelihood depends on.
"""

import numpy as np

from mnlearn.jit import kernel
from mnlearn.kernels.bits import lowest_bit, popcount
from mnlearn.kernels.logistic import log_sigmoid, sigmoid
from mnlearn.kernels.random import mix

_NEWTON_STEPS = 20


@kernel
def _distances(rows, asked, value, out):
    """Write how many literals of a feature each row violates."""
    for i in range(len(rows)):
        total = np.uint64(0)
        for t in range(rows.shape[1]):
            total += popcount((rows[i, t] ^ value[t]) & asked[t])
        out[i] = np.int32(total)


@kernel
def _nearest(distance, k, counts, out):
    """Write the `k` rows of least distance above 0, nearest first; return how many there are.

    Of equally distant rows the first come first. counts : int64, scratch.
    """
    counts[:] = 0
    for d in distance:
        counts[d] += 1
    counts[0] = 0
    limit = total = 0
    for d in range(1, len(counts)):
        total += counts[d]
        limit = d
        if total >= k:
            break
    n = 0
    for d in range(1, limit + 1):
        if counts[d] == 0:
            continue
        for i in range(len(distance)):
            if distance[i] == d:
                out[n] = i
                n += 1
                if n == k:
                    return n
    return n


@kernel
def _cells(rows, weight, theta, distance, asked, value, odds, amount, holds):
    """List the log-odds that the weight of a feature moves; return how many.

    For each row that violates at most one literal: `odds` of the value asked for, the `amount`
    of examples, and whether the row `holds` that value. A row that violates one literal has one
    cell, that of the literal; one that violates none has all.
    """
    n = 0
    for i in range(len(rows)):
        if distance[i] > 1:
            continue
        for t in range(rows.shape[1]):
            word = asked[t]
            if distance[i] == 1:
                word &= rows[i, t] ^ value[t]
            while word:
                bit = lowest_bit(word)
                v = np.int64(64 * t) + np.int64(bit)
                one = (value[t] >> bit) & np.uint64(1)
                odds[n] = theta[i, v] if one else -theta[i, v]
                amount[n] = weight[i]
                holds[n] = distance[i] == 0
                n += 1
                word &= word - np.uint64(1)
    return n


@kernel
def _slope(odds, amount, holds, n):
    """Return the derivative of the log-pseudo-likelihood by the weight of a feature, at 0."""
    total = 0.0
    for j in range(n):
        p = sigmoid(odds[j])
        total += amount[j] * (1.0 - p if holds[j] else -p)
    return total


@kernel
def best_weight(odds, amount, holds, n, l1, precision):
    """Return the best weight of a feature with all others fixed, and what it gains, in nats.

    Newton's method with halved steps on the concave objective, which is 0 at the weight 0.
    """
    slope = _slope(odds, amount, holds, n)
    if abs(slope) <= l1:
        return 0.0, 0.0
    sign = 1.0 if slope > 0 else -1.0
    w, gain = 0.0, 0.0
    for _ in range(_NEWTON_STEPS):
        first, second = -precision * w - sign * l1, precision
        for j in range(n):
            p = sigmoid(odds[j] + w)
            first += amount[j] * (1.0 - p if holds[j] else -p)
            second += amount[j] * p * (1.0 - p)
        step = first / second if second > 0 else sign
        new_gain = -1.0
        for _ in range(_NEWTON_STEPS):
            new = w + step
            if sign * new > 0:
                new_gain = weight_gain(odds, amount, holds, n, l1, precision, new)
                if new_gain >= gain:
                    break
            step *= 0.5
        if new_gain < gain:
            break
        improved = new_gain - gain
        w, gain = w + step, new_gain
        if improved <= 1e-6 * gain:
            break
    return w, gain


@kernel
def weight_gain(odds, amount, holds, n, l1, precision, w):
    """Return what a weight of a feature gains over none, less its penalties, in nats."""
    total = -l1 * abs(w) - 0.5 * precision * w * w
    for j in range(n):
        if holds[j]:
            total += amount[j] * (log_sigmoid(odds[j] + w) - log_sigmoid(odds[j]))
        else:
            total += amount[j] * (log_sigmoid(-odds[j] - w) - log_sigmoid(-odds[j]))
    return total


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
    """Return the slot of a table (a power of two of them) that holds a key, or is free for it."""
    last = np.int64(len(table) - 1)
    place = np.int64(key & np.uint64(last))
    while table[place] and table[place] != key:
        place = (place + 1) & last
    return place


@kernel
def generalise_pass(
    rows, weight, theta, order, asked, value, feature_weight, k, l1, precision, price, table
):  # fmt: skip
    """Replace each feature by its best generalisation, if that improves the score.

    rows : uint64, (n_rows, n_words), the distinct examples. weight : float64, (n_rows,).
    theta : float64, (n_rows, n_vars), log-odds of every variable given the rest; kept up to date.
    order : int64, the features to treat. asked, value : uint64, (n_features, n_words), and
    feature_weight : float64, (n_features,). Replaced.
    price : what a feature must gain to be kept, in nats.
    table : uint64, hashes of the features that there are or were, with room for all to come.
    Returns how many features were replaced, and the nats gained.
    """
    n_rows, n_words = rows.shape
    n_vars = theta.shape[1]
    distance, other_distance = np.empty(n_rows, np.int32), np.empty(n_rows, np.int32)
    counts = np.empty(n_vars + 1, np.int64)
    near = np.empty(k, np.int64)
    room = n_rows * n_vars
    odds, amount = np.empty(room), np.empty(room)
    holds = np.empty(room, np.bool_)
    candidate, best = np.empty(n_words, np.uint64), np.empty(n_words, np.uint64)
    n_replaced, gained = 0, 0.0
    for f in order:
        _distances(rows, asked[f], value[f], distance)
        own = 0.0
        if feature_weight[f] != 0.0:
            _shift(rows, theta, distance, asked[f], value[f], -feature_weight[f])
            n = _cells(rows, weight, theta, distance, asked[f], value[f], odds, amount, holds)
            own = weight_gain(odds, amount, holds, n, l1, precision, feature_weight[f]) - price
        improved = True
        while improved:
            improved = False
            best_gain = max(own, 0.0)
            n_near = _nearest(distance, k, counts, near)
            for j in range(n_near):
                length = np.uint64(0)
                for t in range(n_words):
                    candidate[t] = asked[f, t] & ~(rows[near[j], t] ^ value[f, t])
                    length += popcount(candidate[t])
                key = _key(candidate, value[f])
                if length < 2 or table[_slot(key, table)]:
                    continue
                _distances(rows, candidate, value[f], other_distance)
                n = _cells(
                    rows, weight, theta, other_distance, candidate, value[f], odds, amount, holds
                )
                w, gain = best_weight(odds, amount, holds, n, l1, precision)
                if gain - price > best_gain:
                    improved = True
                    best_gain, feature_weight[f] = gain - price, w
                    best[:] = candidate
            if improved:
                asked[f] = best
                key = _key(best, value[f])
                table[_slot(key, table)] = key
                _distances(rows, asked[f], value[f], distance)
                n_replaced += 1
                gained += best_gain - own
                own = best_gain
        if feature_weight[f] != 0.0:
            _shift(rows, theta, distance, asked[f], value[f], feature_weight[f])
    return n_replaced, gained


@kernel
def _shift(rows, theta, distance, asked, value, w):
    """Add the weight of a feature to the log-odds that it touches."""
    for i in range(len(rows)):
        if distance[i] > 1:
            continue
        for t in range(rows.shape[1]):
            word = asked[t]
            if distance[i] == 1:
                word &= rows[i, t] ^ value[t]
            while word:
                bit = lowest_bit(word)
                one = (value[t] >> bit) & np.uint64(1)
                theta[i, np.int64(64 * t) + np.int64(bit)] += w if one else -w
                word &= word - np.uint64(1)


@kernel
def remember_all(asked, value, table):
    """Add all features to the table; return which were new, bool of (n_features,)."""
    new = np.empty(len(asked), np.bool_)
    for f in range(len(asked)):
        key = _key(asked[f], value[f])
        place = _slot(key, table)
        new[f] = table[place] == np.uint64(0)
        table[place] = key
    return new
