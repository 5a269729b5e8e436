"""What a leaf of a probability tree is worth, and what a node gains by a split.

The counts of a target of two states are kept in scalars: a tree of such a target takes most of its
time here.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.ties import EQUAL, first_greatest
from mnlearn.kernels.jit import kernel


class Smoothing(NamedTuple):
    """How the counts at a leaf become probabilities.

    The pseudocounts are added to the count of each state, and to that of all. The logarithms of 0,
    1, 2, … plus these are tables if all weights are whole numbers, else of length 0.
    """

    pseudocount: float
    all_pseudocounts: float
    state_log: NDArray[np.float64]
    total_log: NDArray[np.float64]


@kernel
def _log_sum(count, added, log_table):
    """Return log(count + added), looked up in `log_table` unless that is empty."""
    return log_table[np.int64(count)] if len(log_table) else np.log(count + added)


@kernel
def _score_of_two(c0, c1, smoothing):
    """Return the log-likelihood of a leaf's own examples under its smoothed distribution."""
    pseudocount, all_pseudocounts, state_log, total_log = smoothing
    return (
        c0 * _log_sum(c0, pseudocount, state_log)
        + c1 * _log_sum(c1, pseudocount, state_log)
        - (c0 + c1) * _log_sum(c0 + c1, all_pseudocounts, total_log)
    )


@kernel
def _score(count, smoothing):
    """Return the same for the counts of any number of states, float64 of shape (k,)."""
    pseudocount, all_pseudocounts, state_log, total_log = smoothing
    score, total = 0.0, 0.0
    for x in range(len(count)):
        score += count[x] * _log_sum(count[x], pseudocount, state_log)
        total += count[x]
    return score - total * _log_sum(total, all_pseudocounts, total_log)


@kernel
def largest_gain(count, smoothing):
    """Return an upper bound on the gain of any split: each state of the target in a pure leaf.

    The score of a pure leaf of c examples is convex in c and 0 at 0, so two of them never beat one.
    """
    if len(count) == 2:
        c0, c1 = count[0], count[1]
        pure = _score_of_two(c0, 0.0, smoothing) + _score_of_two(0.0, c1, smoothing)
        return pure - _score_of_two(c0, c1, smoothing)
    pseudocount, all_pseudocounts, state_log, total_log = smoothing
    pure = 0.0
    for c in count:
        own = _log_sum(c, pseudocount, state_log)
        pure += c * (own - _log_sum(c, all_pseudocounts, total_log))
    return pure - _score(count, smoothing)


@kernel
def _gains_of_two(ones, active, count, smoothing, gain):
    """Write what a node gains by each split, for a target of two states."""
    ones0, ones1 = ones[0], ones[1]
    c0, c1 = count[0], count[1]
    here = _score_of_two(c0, c1, smoothing)
    for k in range(len(active)):
        a0, a1 = ones0[active[k]], ones1[active[k]]
        score = _score_of_two(a0, a1, smoothing) + _score_of_two(c0 - a0, c1 - a1, smoothing)
        gain[k] = score - here


@kernel
def _gains_of_many(ones, active, count, smoothing, gain):
    """Write what a node gains by each split, for a target of any number of states."""
    here = _score(count, smoothing)
    inside, outside = np.empty_like(count), np.empty_like(count)
    for k in range(len(active)):
        for x in range(len(count)):
            inside[x] = ones[x, active[k]]
            outside[x] = count[x] - inside[x]
        gain[k] = _score(inside, smoothing) + _score(outside, smoothing) - here


@kernel
def best_split(ones, active, gain, count, smoothing):
    """Return the active column of the largest gain (the first of equals), and its gain.

    The gain is less what rounding may have added; -1 and -inf if no column is active.
    """
    if len(active) == 0:
        return -1, -np.inf
    gains = gain[: len(active)]
    if len(count) == 2:
        _gains_of_two(ones, active, count, smoothing, gains)
    else:
        _gains_of_many(ones, active, count, smoothing, gains)
    tolerance = EQUAL * count.sum()
    best = first_greatest(gains, tolerance)
    return active[best], gains[best] - tolerance
