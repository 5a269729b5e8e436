"""Beliefs of indicators from the scores of the states of variables; see `blocks`."""

import numpy as np

from mnlearn.kernels.jit import kernel
from mnlearn.kernels.sampling.blocks import fill_softmax

_TINY = 1e-300


@kernel
def start_beliefs(blocks, scores, belief):
    """Write the beliefs that belong to the scores of all blocks."""
    for b in range(len(blocks.start) - 1):
        believe(b, blocks, scores, belief)


@kernel
def believe(b, blocks, scores, belief):
    """Write the log-odds of the indicators of block b, from the scores of its states."""
    first, last, n_columns = blocks.start[b], blocks.start[b + 1], blocks.start[-1]
    if last - first == 1:
        belief[first] = scores[first]
        return
    p = np.empty(last - first)
    fill_softmax(scores[first:last], p)
    for a in range(len(p)):
        # The sum of the others where 1 minus a probability near 1 would have no digits.
        rest = 1.0 - p[a] if p[a] < 0.5 else p[:a].sum() + p[a + 1 :].sum()
        belief[first + a] = np.log(max(p[a], _TINY)) - np.log(max(rest, _TINY))
    for s in range(blocks.set_start[b], blocks.set_start[b + 1]):
        inside, outside = 0.0, 0.0
        for a in range(len(p)):
            if blocks.member[s, a]:
                inside += p[a]
            else:
                outside += p[a]
        belief[n_columns + s] = np.log(max(inside, _TINY)) - np.log(max(outside, _TINY))


@kernel
def add_to_scores(k, change, blocks, scores):
    """Add to the scores of the states that have indicator `k`."""
    n_columns = blocks.start[-1]
    if k < n_columns:
        scores[k] += change
        return
    first = blocks.start[blocks.block_of[k]]
    for a in range(blocks.start[blocks.block_of[k] + 1] - first):
        if blocks.member[k - n_columns, a]:
            scores[first + a] += change
