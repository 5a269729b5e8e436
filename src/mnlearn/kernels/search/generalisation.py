"""Bottom-up search for features: drop the literals that the nearest examples violate.

A feature is a pair of bit masks, as in `near_rows`. The rows that violate none of its literals or
exactly one are all that its pseudo-likelihood depends on.
"""

import numpy as np

from mnlearn.kernels.arithmetic.bits import lowest_bit, popcount
from mnlearn.kernels.arithmetic.logistic import exp_nonpositive, log1p_unit, sigmoid
from mnlearn.kernels.arithmetic.splitmix import mix
from mnlearn.kernels.jit import kernel, sum_kernel
from mnlearn.kernels.search.near_rows import (
    admit,
    begin,
    drop,
    find_nearest,
    order_rows,
    room_for_rows,
)

_NEWTON_STEPS = 20
_LARGE_WEIGHT = 100.0


@kernel
def _cells(near, n_near, weight, theta, asked, value, odds, amount):
    """List the log-odds that the weight of a feature moves, of the first rows in order.

    For each row that violates at most one literal: `odds` of the value asked for, and the `amount`
    of examples. A row that violates one literal has one cell, that of the literal; one that
    violates none has all. Returns how many there are, and the amount in cells whose row has the
    value asked for.

    asked : the feature, some of the literals or all of those that `near` is about.
    """
    n = 0
    held = 0.0
    for place in near.ordered[:n_near]:
        violated = _number(near.violated[place], asked)
        if violated > 1:
            continue
        i = near.row[place]
        for t in range(len(asked)):
            word = asked[t]
            if violated == 1:
                word &= near.violated[place, t]
            while word:
                bit = lowest_bit(word)
                one = (value[t] >> bit) & np.uint64(1)
                v = np.int64(64 * t) + np.int64(bit)
                odds[n] = theta[i, v] if one else -theta[i, v]
                amount[n] = weight[i]
                held += weight[i] if violated == 0 else 0.0
                n += 1
                word &= word - np.uint64(1)
    return n, held


@kernel
def _number(violated, asked):
    """Return how many literals of a mask are violated."""
    total = np.uint64(0)
    for t in range(len(asked)):
        total += popcount(violated[t] & asked[t])
    return total


@kernel
def _length(asked):
    """Return how many literals a feature has."""
    total = np.uint64(0)
    for word in asked:
        total += popcount(word)
    return np.int64(total)


@kernel
def _sums(p, mask, value, also):
    """Return the sums over the variables in two masks of the probability that the value is another
    one, and of p (1 - p).

    p : float64, (n_vars,), probability of the value 1 of every variable given the rest of the row.
    """
    others, spread = 0.0, 0.0
    for t in range(len(mask)):
        word = mask[t] & also[t]
        while word:
            bit = lowest_bit(word)
            q = p[np.int64(64 * t) + np.int64(bit)]
            others += 1.0 - q if (value[t] >> bit) & np.uint64(1) else q
            spread += q * (1.0 - q)
            word &= word - np.uint64(1)
    return others, spread


@kernel
def _slope_and_curvature(near, n_near, weight, p, sums, asked, value, dropped):
    """Return the derivative of the log-pseudo-likelihood by a candidate's weight at 0, and minus
    the second one.

    n_near : so many rows in order as may violate less than two literals of the candidate.
    sums : float64, (n_rows, 2), of the feature that it is made from, as by `_sums`.
    asked : its literals. dropped : uint64, (n_words,), those of the feature that it lacks.
    """
    slope, curvature = 0.0, 0.0
    for place in near.ordered[:n_near]:
        violated = _number(near.violated[place], asked)
        i = near.row[place]
        if violated == 0:
            others, spread = _sums(p[i], dropped, value, dropped)
            slope += weight[i] * (sums[place, 0] - others)
            curvature += weight[i] * (sums[place, 1] - spread)
        elif violated == 1:
            others, spread = _sums(p[i], asked, value, near.violated[place])
            slope += weight[i] * (others - 1.0)
            curvature += weight[i] * spread
    return slope, curvature


@kernel
def gain_bound(slope, curvature, precision):
    """Return what moving a weight cannot gain more than, in nats, and a weight close to that.

    slope : of the objective, at least 0; precision : the curvature that stays as it is.
    curvature : the rest; at the distance w it is at least e^-w times what it is here, as the
    logarithm of p (1 - p) has a slope of at most 1.
    """
    if slope <= 0.0:
        return 0.0, 0.0
    if curvature + precision <= 0.0:
        return np.inf, 1.0
    w = slope / (curvature + precision)
    for _ in range(_NEWTON_STEPS):
        # The slope that is left at w is positive and convex in w: steps never go too far.
        fall = np.exp(-w)
        left = slope - curvature * (1.0 - fall) - precision * w
        if left <= 1e-6 * slope:
            break
        w += left / max(curvature * fall + precision, 1e-300)
        if w > _LARGE_WEIGHT:
            return np.inf, slope / (curvature + precision)
    fall = np.exp(-w)
    left = max(slope - curvature * (1.0 - fall) - precision * w, 0.0)
    if left > 1e-3 * slope:
        return np.inf, w
    value = slope * w - curvature * (fall - 1.0 + w) - 0.5 * precision * w * w
    # It is concave; beyond w it gains less than by a parabola of the curvature that is left there,
    # which falls by less than half up to its top.
    return value + left * left / max(0.5 * curvature * fall + precision, 1e-300), w


@sum_kernel
def _moments(odds, amount, n, w):
    """Return the sums over cells of log p, p and p (1 - p), p the probability at the weight w."""
    log_p, one, spread = 0.0, 0.0, 0.0
    for j in range(n):
        x = odds[j] + w
        e = exp_nonpositive(-abs(x))
        larger = 1.0 / (1.0 + e)
        p = larger if x > 0.0 else e * larger
        log_p += amount[j] * (min(x, 0.0) - log1p_unit(e))
        one += amount[j] * p
        spread += amount[j] * e * larger * larger
    return log_p, one, spread


@kernel
def best_weight(odds, amount, n, held, l1, precision, start, needed):
    """Return the best weight of a feature with all others fixed, and what it gains, in nats.

    Newton's method with halved steps on the concave objective, which is 0 at the weight 0.

    odds, amount, n, held : as by `_cells`.
    start : a weight of the sign of the best one, to begin with.
    needed : where it is clear that no more is gained, what was found so far is returned.
    """
    before = _moments(odds, amount, n, 0.0)[0]
    missed = amount[:n].sum() - held
    sign = 1.0 if start > 0.0 else -1.0
    w, gain = 0.0, 0.0
    step = start
    for _ in range(_NEWTON_STEPS):
        for _ in range(_NEWTON_STEPS):
            new = w + step
            new_gain = -1.0
            if sign * new > 0:
                log_p, one, spread = _moments(odds, amount, n, new)
                new_gain = log_p - before - missed * new - l1 * abs(new) - precision * new * new / 2
                if new_gain >= gain:
                    break
            step *= 0.5
        if new_gain < gain:
            break
        improved = new_gain - gain
        w, gain = w + step, new_gain
        if improved <= 1e-6 * gain:
            break
        slope = held - one - precision * w - sign * l1
        if gain + gain_bound(abs(slope), spread, precision)[0] <= needed:
            break
        step = slope / max(spread + precision, 1e-300)
    return w, gain


@kernel
def weight_gain(odds, amount, n, held, l1, precision, w):
    """Return what a weight of a feature gains over none, less its penalties, in nats."""
    gain = _moments(odds, amount, n, w)[0] - _moments(odds, amount, n, 0.0)[0]
    return gain - (amount[:n].sum() - held) * w - l1 * abs(w) - 0.5 * precision * w * w


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
    """Replace each feature by its best generalisation, as long as that improves its score.

    The score of a feature is what it gains less what its literals cost. One with a score below 0
    is not part of the network: it has the weight 0, and only its literals count; it becomes part
    of it where it scores above 0 as it is. Where no candidate does that with the best bound is
    taken.

    rows : uint64, (n_rows, n_words), the distinct examples. weight : float64, (n_rows,).
    theta : float64, (n_rows, n_vars), log-odds of every variable given the rest; kept up to date.
    order : int64, the features to treat. asked, value : uint64, (n_features, n_words), and
    feature_weight : float64, (n_features,). Replaced.
    price : what a literal costs, in nats.
    table : uint64, hashes of the features that there are or were, with room for all to come.
    Returns how many replacements there were, and by how much the scores above 0 rose, in nats.
    """
    n_rows, n_words = rows.shape
    n_vars = theta.shape[1]
    p = np.empty((n_rows, n_vars))
    for i in range(n_rows):
        for v in range(n_vars):
            p[i, v] = sigmoid(theta[i, v])
    near = room_for_rows(n_rows, n_words, n_vars)
    nearest = np.empty(k, np.int64)
    candidates, keys = np.empty((k, n_words), np.uint64), np.empty(k, np.uint64)
    bound, start, cost = np.empty(k), np.empty(k), np.empty(k)
    sums = np.empty((n_rows, 2))
    dropped = np.empty(n_words, np.uint64)
    odds, amount = np.empty(n_rows * n_vars), np.empty(n_rows * n_vars)
    n_replaced, gained = 0, 0.0
    for f in order:
        begin(near, rows, asked[f], value[f])
        admit(near, rows, asked[f], value[f], 1)
        order_rows(near)
        score = -price * _length(asked[f])
        before = 0.0
        if feature_weight[f] != 0.0:
            _shift(near, theta, p, asked[f], value[f], -feature_weight[f])
            n, held = _cells(near, near.until[1], weight, theta, asked[f], value[f], odds, amount)
            score += weight_gain(odds, amount, n, held, l1, precision, feature_weight[f])
            before = score
        n_summed = near.size[0]
        for place in range(n_summed):
            sums[place] = _sums(p[near.row[place]], asked[f], value[f], asked[f])
        if feature_weight[f] == 0.0 and _length(asked[f]) > 1:
            dropped[:] = 0
            slope, spread = _slope_and_curvature(
                near, near.until[1], weight, p, sums, asked[f], value[f], dropped
            )
            most, likely = gain_bound(abs(slope) - l1, spread, precision)
            if most + score > 0.0:
                n, held = _cells(
                    near, near.until[1], weight, theta, asked[f], value[f], odds, amount
                )
                likely = likely if slope > 0.0 else -likely
                w, gain = best_weight(odds, amount, n, held, l1, precision, likely, -score)
                if gain + score > 0.0:
                    feature_weight[f] = w
                    score += gain
        improved = True
        while improved:
            improved = False
            if score <= 0.0:
                feature_weight[f] = 0.0
                score = -price * _length(asked[f])
            best = -1
            n_near = find_nearest(near, rows, asked[f], value[f], k, nearest)
            for place in range(n_summed, near.size[0]):
                sums[place] = _sums(p[near.row[place]], asked[f], value[f], asked[f])
            n_summed = near.size[0]
            for j in range(n_near):
                bound[j] = -np.inf
                for t in range(n_words):
                    dropped[t] = near.violated[nearest[j], t]
                    candidates[j, t] = asked[f, t] & ~dropped[t]
                length = _length(candidates[j])
                keys[j] = _key(candidates[j], value[f])
                known = table[_slot(keys[j], table)] != 0
                for other in range(j):
                    known |= keys[other] == keys[j]
                if length < 2 or known:
                    continue
                slope, spread = _slope_and_curvature(
                    near, near.until[near.distance[nearest[j]] + 1], weight, p, sums,
                    candidates[j], value[f], dropped,
                )  # fmt: skip
                bound[j], start[j] = gain_bound(abs(slope) - l1, spread, precision)
                if slope < 0.0:
                    start[j] = -start[j]
                cost[j] = price * length
                bound[j] -= cost[j]
            if n_near and score <= 0.0:
                # What is taken where no candidate pays.
                likely = np.argmax(bound[:n_near])
                best = likely if bound[likely] > score else -1
            needed = max(score, 0.0)
            # Generalisations of one feature have much the same best weight.
            w = feature_weight[f]
            for _ in range(n_near):
                j = np.argmax(bound[:n_near])
                if bound[j] <= needed:
                    break
                bound[j] = -np.inf
                n, held = _cells(
                    near, near.until[near.distance[nearest[j]] + 1], weight, theta,
                    candidates[j], value[f], odds, amount,
                )  # fmt: skip
                likely = w if w * start[j] > 0.0 else start[j]
                w, gain = best_weight(
                    odds, amount, n, held, l1, precision, likely, needed + cost[j]
                )
                if gain - cost[j] > needed:
                    needed = score = gain - cost[j]
                    best, feature_weight[f] = j, w
            if best >= 0:
                improved = True
                for t in range(n_words):
                    dropped[t] = near.violated[nearest[best], t]
                for place in range(n_summed):
                    others, spread = _sums(p[near.row[place]], dropped, value[f], dropped)
                    sums[place, 0] -= others
                    sums[place, 1] -= spread
                drop(near, dropped)
                asked[f] = candidates[best]
                table[_slot(keys[best], table)] = keys[best]
                n_replaced += 1
        gained += max(score, 0.0) - before
        if feature_weight[f] != 0.0:
            _shift(near, theta, p, asked[f], value[f], feature_weight[f])
    return n_replaced, gained


@kernel
def _shift(near, theta, p, asked, value, w):
    """Add the weight of a feature to the log-odds that it touches."""
    for place in near.ordered[: near.until[1]]:
        i = near.row[place]
        for t in range(len(asked)):
            word = asked[t]
            if near.distance[place] == 1:
                word &= near.violated[place, t]
            while word:
                bit = lowest_bit(word)
                v = np.int64(64 * t) + np.int64(bit)
                theta[i, v] += w if (value[t] >> bit) & np.uint64(1) else -w
                p[i, v] = sigmoid(theta[i, v])
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
