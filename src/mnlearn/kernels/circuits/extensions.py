"""Extending a feature by a literal of each other variable: counts in the data, and gains."""

import numpy as np

from mnlearn.kernels.arithmetic.bits import lowest_bit
from mnlearn.kernels.jit import kernel

_ITERATIONS = 50
_TOLERANCE = 1e-9
_MAX_STEP = 2.0
_NO_PROBABILITY = 1e-12


@kernel
def count_ones(satisfied, ones_start, ones_var, weight, count):
    """Add up the weight of the ones of each variable in some rows; return the rows' weight.

    satisfied : uint64, (n_words,). Bit i % 64 of word i // 64 tells whether row i counts.
    ones_start, ones_var : int64, (n_rows + 1,) and int32: the variables that are 1 in each row.
    weight : float64, (n_rows,). count : float64, (n_vars,), overwritten.
    """
    count[:] = 0.0
    total = 0.0
    for word in range(len(satisfied)):
        left = satisfied[word]
        while left:
            i = word * 64 + np.int64(lowest_bit(left))
            left &= left - np.uint64(1)
            total += weight[i]
            for k in range(ones_start[i], ones_start[i + 1]):
                count[ones_var[k]] += weight[i]
    return total


@kernel
def _best_weight(a, q, rest, n, l1, precision, w):
    """Maximise a w - n log(rest + q e^w) - l1 |w| - precision w^2 / 2 by Newton steps from w."""
    for _ in range(_ITERATIONS):
        r = q * np.exp(w)
        share = r / (rest + r)
        slope = a - n * share - precision * w
        if w == 0.0:
            if abs(slope) <= l1:
                return 0.0
            side = 1.0 if slope > 0.0 else -1.0
        else:
            side = 1.0 if w > 0.0 else -1.0
        slope -= l1 * side
        curvature = n * share * (1.0 - share) + precision
        step = slope / max(curvature, 1e-300)
        step = min(max(step, -_MAX_STEP), _MAX_STEP)
        new = w + step
        # Crossing 0 changes the penalty's slope: stop there and look again.
        if new * side <= 0.0:
            new = 0.0
        if abs(new - w) <= _TOLERANCE * (1.0 + abs(w)):
            return new
        w = new
    return w


@kernel
def extension_gain(n, l1, precision, count, count_of, prob, prob_of):
    """Return the gain in the penalised log-likelihood of f & X_v and f & not X_v, and its weights.

    The two are exclusive, so with all other weights fixed the gain is, at the best weights
    w0 and w1, c0 w0 + c1 w1 - n log(1 + q0 (e^w0 - 1) + q1 (e^w1 - 1)) less the penalties
    (Lowd & Rooshenas 2013, Section 3), which is concave in both.

    n : number of examples. l1 : penalty. precision : 1 / sd^2.
    count, count_of : examples with f and X_v = 1; number with f.
    prob, prob_of : the same as probabilities under the model.
    Returns the gain, w0 and w1; all 0 where f with one value of X_v has no probability.
    """
    q1 = prob
    q0 = prob_of - q1
    if not _possible(q0, q1, prob_of):
        return 0.0, 0.0, 0.0
    c1 = count
    c0 = count_of - c1
    w0 = 0.0
    w1 = 0.0
    rest = max(1.0 - prob_of, 0.0)
    for _ in range(_ITERATIONS):
        before0 = w0
        before1 = w1
        w0 = _best_weight(c0, q0, rest + q1 * np.exp(w1), n, l1, precision, w0)
        w1 = _best_weight(c1, q1, rest + q0 * np.exp(w0), n, l1, precision, w1)
        if abs(w0 - before0) + abs(w1 - before1) <= 1e-7 * (1.0 + abs(w0) + abs(w1)):
            break
    total = rest + q0 * np.exp(w0) + q1 * np.exp(w1)
    gain = (
        c0 * w0
        + c1 * w1
        - n * np.log(total / (rest + q0 + q1))
        - l1 * (abs(w0) + abs(w1))
        - 0.5 * precision * (w0 * w0 + w1 * w1)
    )
    return gain, w0, w1


@kernel
def extension_bounds(n, l1, precision, count, count_of, prob, prob_of, bound):
    """Find upper bounds of the gains of f & X_v and f & not X_v; see `extension_gain`.

    By duality, the L1 penalty lets c0 and c1 each move by at most l1 before the likelihood is
    maximised. Every such move bounds the gain. This kernel moves both counts towards the counts
    that the model expects. It leaves out the Gaussian prior.

    count, prob, bound : float64, (n_vars,), the last overwritten.
    """
    for v in range(len(bound)):
        bound[v] = extension_bound(n, l1, precision, count[v], count_of, prob[v], prob_of)


@kernel
def extension_bound(n, l1, precision, count, count_of, prob, prob_of):
    """Return an upper bound of the gain of one variable; see `extension_bounds`."""
    rest = max(1.0 - prob_of, 0.0)
    q1 = prob
    q0 = prob_of - q1
    if not _possible(q0, q1, prob_of):
        return 0.0
    if rest <= _NO_PROBABILITY:
        return extension_gain(n, l1, precision, count, count_of, q1, prob_of)[0]
    a1 = _moved(count, n * q1, l1)
    a0 = _moved(count_of - count, n * q0, l1)
    return (
        _likelihood_gain(a0, n * q0)
        + _likelihood_gain(a1, n * q1)
        + _likelihood_gain(n - a0 - a1, n * rest)
    )


@kernel
def _possible(q0, q1, prob_of):
    return min(q0, q1) > _NO_PROBABILITY * prob_of


@kernel
def _moved(count, expected, most):
    """Return a count moved towards the expected count, by at most `most`."""
    return max(count - most, expected) if count > expected else min(count + most, expected)


@kernel
def _likelihood_gain(count, expected):
    """Return count log(count / expected), the part of one outcome in a Kullback-Leibler sum."""
    if count <= 0.0 or count == expected:
        return 0.0
    return count * np.log(count / expected)
