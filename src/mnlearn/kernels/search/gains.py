"""The gain of a feature over the features that a network has, and bounds on it.

A feature is a pair of bit masks, as in `near_rows`; a conjunction of variables that are all 1 is
one. Rows are packed columns; bits beyond the last row are 0.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.bits import count_bits, lowest_bit
from mnlearn.kernels.arithmetic.logistic import exp_nonpositive, log1p_unit
from mnlearn.kernels.arithmetic.sums import sum_of
from mnlearn.kernels.jit import kernel
from mnlearn.kernels.search.near_rows import count_violated

_NEWTON_STEPS = 20
_LARGE_WEIGHT = 100.0


@kernel
def list_cells(near, n_near, weight, theta, asked, value, odds, amount):
    """List the cells of a feature: log-odds, of the value asked for, that its weight moves; count
    them.

    A row that violates no literal has one cell for each literal; a row that violates one literal
    has one cell, of that literal. Returned is also the amount in the cells whose row has the value
    that is asked for. The first `n_near` of the near rows in order are looked at.
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

    At the distance w the curvature without the precision, its constant part, is at least e^-w times
    this value, because the logarithm of p (1 - p) has a slope of at most 1.
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


@kernel
def _moments(odds, amount, n, w, terms):
    """Return the sums over cells of log p, p and p (1 - p), p the probability at the weight w.

    terms : float64, (3, at least n), scratch.
    """
    log_p, one, spread = terms[0, :n], terms[1, :n], terms[2, :n]
    for j in range(n):
        x = odds[j] + w
        e = exp_nonpositive(-abs(x))
        larger = 1.0 / (1.0 + e)
        log_p[j] = amount[j] * (min(x, 0.0) - log1p_unit(e))
        one[j] = amount[j] * (larger if x > 0.0 else e * larger)
        spread[j] = amount[j] * e * larger * larger
    return sum_of(log_p), sum_of(one), sum_of(spread)


@kernel
def best_weight(odds, amount, n, held, l1, precision, start, needed):
    """Return the best weight of a feature with all others fixed, and what it gains, in nats.

    Newton's method with halved steps on the concave objective, which is 0 at the weight 0. start :
    the first weight tried, with the sign of the best one. Once the gain cannot exceed `needed`, the
    search ends.
    """
    terms = np.empty((3, n))
    before = _moments(odds, amount, n, 0.0, terms)[0]
    missed = sum_of(amount[:n]) - held
    sign = 1.0 if start > 0.0 else -1.0
    w, gain = 0.0, 0.0
    step = start
    for _ in range(_NEWTON_STEPS):
        for _ in range(_NEWTON_STEPS):
            new = w + step
            new_gain = -1.0
            if sign * new > 0:
                log_p, one, spread = _moments(odds, amount, n, new, terms)
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
    terms = np.empty((3, n))
    gain = _moments(odds, amount, n, w, terms)[0] - _moments(odds, amount, n, 0.0, terms)[0]
    return gain - (sum_of(amount[:n]) - held) * w - l1 * abs(w) - 0.5 * precision * w * w


_ALL = ~np.uint64(0)
_NONE = np.uint64(0)
_SMALLEST_SHARE = 1e-300
_LARGEST_SHARE = 1.0 - 2.0**-53


class PackedRows(NamedTuple):
    """Rows with the conditional log-odds, (n_vars, n_rows), of a network."""

    columns: NDArray[np.uint64]
    last_word: np.uint64
    weight: NDArray[np.float64]
    theta: NDArray[np.float64]


class GainPrices(NamedTuple):
    """What a weight costs; gains of at most `needed` nats may be replaced by a bound of at most
    that.
    """

    l1: float
    precision: float
    needed: float


@kernel
def find_rows(columns, masks, first, last, out):
    """Write the rows where conjunctions `first` to `last`, not empty, hold, as bits."""
    for c in range(first, last):
        out[c] = _ALL
        for k in range(masks.shape[1]):
            word = masks[c, k]
            while word != _NONE:
                v = np.int64(64 * k) + np.int64(lowest_bit(word))
                for t in range(out.shape[1]):
                    out[c, t] &= columns[v, t]
                word &= word - np.uint64(1)


@kernel
def weigh_pairs(bits, one, other, weight, first, last, out):
    """Write the total weight of the rows where both features of a pair hold to `out`."""
    for c in range(first, last):
        a, b = bits[one[c]], bits[other[c]]
        total = 0.0
        for t in range(bits.shape[1]):
            word = a[t] & b[t]
            while word != _NONE:
                total += weight[np.int64(64 * t) + np.int64(lowest_bit(word))]
                word &= word - np.uint64(1)
        out[c] = total


@kernel
def add_where(bits, amount, first, last, out):
    """Add the amount of each feature to the rows where it holds, for words `first` to `last`."""
    for f in range(len(amount)):
        if amount[f] == 0.0:
            continue
        for t in range(first, last):
            word = bits[f, t]
            while word != _NONE:
                out[np.int64(64 * t) + np.int64(lowest_bit(word))] += amount[f]
                word &= word - np.uint64(1)


@kernel
def pseudo_likelihood_gains(rows, masks, chosen, prices, first, last, weight, gain):
    """Write the best weights and gains in pseudo-likelihood of chosen conjunctions, all else fixed.

    The weight is 0 where the gain is only a bound.
    """
    longest = 0
    for j in range(first, last):
        longest = max(longest, count_bits(masks[chosen[j]]))
    room = longest * len(rows.weight)
    odds, amount = np.empty(room), np.empty(room)
    scratch = np.empty((2, rows.columns.shape[1]), np.uint64)
    for j in range(first, last):
        n, held = list_conjunction_cells(rows, masks[chosen[j]], scratch, odds, amount)
        weight[j], gain[j] = _score_cells(odds, amount, n, held, prices)


@kernel
def likelihood_gains(share, expected, n_examples, prices, first, last, weight, gain):
    """Write the best weight and the gain in likelihood of conjunctions `first` to `last`.

    The likelihood with all other weights fixed is that of one Bernoulli variable: the conjunction.
    share, expected : its probability in the data and in the model.
    """
    odds, amount = np.empty(1), np.full(1, n_examples)
    for j in range(first, last):
        p = min(max(expected[j], _SMALLEST_SHARE), _LARGEST_SHARE)
        odds[0] = np.log(p) - np.log1p(-p)
        weight[j], gain[j] = _score_cells(odds, amount, 1, share[j] * n_examples, prices)


@kernel
def list_conjunction_cells(rows, mask, scratch, odds, amount):
    """List the cells of a conjunction; return their number, and the amount in cells with the value
    1.

    A row where it holds has a cell for each variable; a row where one variable is 0 has one cell,
    of that variable. scratch : uint64, (2, n_words).
    """
    none, one = scratch
    none[:], one[:] = _ALL, _NONE
    n_words = len(none)
    none[n_words - 1] = rows.last_word
    for k in range(len(mask)):
        left = mask[k]
        while left != _NONE:
            column = rows.columns[np.int64(64 * k) + np.int64(lowest_bit(left))]
            for t in range(n_words):
                one[t] = (one[t] & column[t]) | (none[t] & ~column[t])
                none[t] &= column[t]
            left &= left - np.uint64(1)
    n, held = 0, 0.0
    for k in range(len(mask)):
        left = mask[k]
        while left != _NONE:
            v = np.int64(64 * k) + np.int64(lowest_bit(left))
            for t in range(n_words):
                word = none[t] | (one[t] & ~rows.columns[v, t])
                while word != _NONE:
                    bit = lowest_bit(word)
                    i = np.int64(64 * t) + np.int64(bit)
                    odds[n] = rows.theta[v, i]
                    amount[n] = rows.weight[i]
                    held += rows.weight[i] * np.float64((none[t] >> bit) & np.uint64(1))
                    n += 1
                    word &= word - np.uint64(1)
            left &= left - np.uint64(1)
    return n, held


@kernel
def _score_cells(odds, amount, n, held, prices):
    """Return the best weight and its gain, or 0 and a bound that is at most `prices.needed`."""
    one, spread = _expected(odds, amount, n)
    slope = held - one
    bound, start = gain_bound(abs(slope) - prices.l1, spread, prices.precision)
    if bound <= prices.needed:
        return 0.0, bound
    sign = 1.0 if slope > 0.0 else -1.0
    start = sign * start
    return best_weight(odds, amount, n, held, prices.l1, prices.precision, start, 0.0)


@kernel
def _expected(odds, amount, n):
    """Return the sums over cells of p and p (1 - p), p the probability of the value 1."""
    one, spread = np.empty(n), np.empty(n)
    for j in range(n):
        e = exp_nonpositive(-abs(odds[j]))
        larger = 1.0 / (1.0 + e)
        one[j] = amount[j] * (larger if odds[j] > 0.0 else e * larger)
        spread[j] = amount[j] * e * larger * larger
    return sum_of(one), sum_of(spread)
