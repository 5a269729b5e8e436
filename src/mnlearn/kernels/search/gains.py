"""The gain of a feature over the features that a network has, and bounds on it.

A feature is a pair of bit masks, as in `near_rows`. Its pseudo-likelihood depends only on the rows
that violate none of its literals or exactly one.
"""

import numpy as np

from mnlearn.kernels.arithmetic.bits import lowest_bit
from mnlearn.kernels.arithmetic.logistic import exp_nonpositive, log1p_unit
from mnlearn.kernels.jit import kernel, sum_kernel
from mnlearn.kernels.search.derivatives import count_violated

_NEWTON_STEPS = 20
_LARGE_WEIGHT = 100.0


@kernel
def list_cells(near, n_near, weight, theta, asked, value, odds, amount):
    """List the cells of a feature: the log-odds that its weight moves.

    A row that violates no literal has one cell for each literal; a row that violates one literal
    has one cell, of that literal. Returns the number of cells, and the total amount in the cells
    whose row has the value that the feature asks for.

    near : NearRows, in order; its first `n_near` rows are looked at.
    weight : float64, (n_rows,). theta : float64, (n_vars, n_rows), log-odds given the rest.
    asked, value : uint64, (n_words,), the feature: some of the literals that `near` is about.
    odds, amount : float64, written: log-odds of the value asked for, and weight of the row.
    """
    n = 0
    held = 0.0
    for place in near.ordered[:n_near]:
        violated = count_violated(near, place, asked)
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
                odds[n] = theta[v, i] if one else -theta[v, i]
                amount[n] = weight[i]
                held += weight[i] if violated == 0 else 0.0
                n += 1
                word &= word - np.uint64(1)
    return n, held


@kernel
def gain_bound(slope, curvature, precision):
    """Return an upper bound on the gain of moving a weight, in nats, and a weight near the best.

    slope : float64, of the objective, at least 0. precision : float64, the constant part of the
    curvature. curvature : float64, the rest. At the distance w it is at least e^-w times this
    value, because the logarithm of p (1 - p) has a slope of at most 1.
    """
    if slope <= 0.0:
        return 0.0, 0.0
    if curvature + precision <= 0.0:
        return np.inf, 1.0
    w = slope / (curvature + precision)
    for _ in range(_NEWTON_STEPS):
        # The slope at w is positive and convex in w, so steps never go too far.
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
    # The objective is concave. Beyond w it gains less than a parabola with half of the curvature at
    # w, because the curvature falls by less than half up to the top of that parabola.
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

    odds, amount, n, held : see `list_cells`. l1, precision : float64, the penalties.
    start : float64, the first weight tried, with the sign of the best one.
    needed : float64, nats. Once the gain cannot exceed this, the search ends early.
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
