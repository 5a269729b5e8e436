"""Exact conditional marginals by enumeration of the joint states of the query variables.

The state of block b is digit b of the number of a joint state, the first block the fastest.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.jit import copy_into, kernel
from mnlearn.kernels.sampling.blocks import (
    every_state,
    fill_scores,
    fill_softmax,
    has_state,
    satisfying_states,
)
from mnlearn.kernels.sampling.conditioning import (
    BATCH,
    SYMMETRIC,
    condition,
    holding_terms,
    room_for,
)

# Of probabilities below this, which lose their digits, changes are no share.
_LEAST = 1e-290


class _Space(NamedTuple):
    """The joint states: `width` of each block, and its `stride` in the number of a joint state.

    where, found : for `satisfying_states`.
    """

    width: NDArray[np.int64]
    stride: NDArray[np.int64]
    where: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
    found: NDArray[np.int64]


@kernel
def _space_of(blocks):
    """Return the joint states of all blocks."""
    where = every_state(blocks)
    width = where[2]
    stride = np.ones(len(width) + 1, np.int64)
    for b in range(len(width)):
        stride[b + 1] = stride[b] * width[b]
    return _Space(width, stride, where, np.empty(2 * stride[-1] + 1, np.int64))


@kernel
def _fill_potentials(log_odds, left, n_left, blocks, space, out):
    """Write the unnormalised log-probability of every joint state to `out`; no owned terms."""
    out[:] = 0.0
    score = np.empty(blocks.start[-1])
    for b in range(len(space.width)):
        first, own = blocks.start[b], space.stride[b]
        fill_scores(b, blocks, log_odds, score)
        for a in range(space.width[b] - 1, -1, -1):
            single = blocks.start[b + 1] - first == 1
            change = (score[first] if a else 0.0) if single else score[first + a]
            for s in range(own):
                out[a * own + s] = out[s] + change
    for t in range(n_left):
        if left.owner[t] == SYMMETRIC:
            for j in range(satisfying_states(left, t, space.where, blocks, space.found)):
                out[space.found[j]] += left.weight[t]


@kernel
def enumerate_marginals(terms, evidence, blocks, owned, tolerance, first, last, out):
    """Write P(query column = x | evidence) of evidence rows `first` to `last` to `out`.

    owned : whether the terms are CPDs. Then the distribution is the one to which Gibbs sampling in
    the order of the blocks converges: sweeps are applied to the whole distribution until no
    probability moves by more than the share `tolerance` of itself. out : (2, n_evidence,
    n_columns), by x. Both values are summed, because 1 minus a probability near 1 has no digits.
    """
    space, left = _space_of(blocks), room_for(terms)
    probability = np.empty(space.stride[-1])
    log_odds = np.empty(len(blocks.block_of))
    for i in range(first, last):
        j = (i - first) % BATCH
        if j == 0:
            start, held = holding_terms(terms, evidence[i : min(i + BATCH, last)])
        log_odds[:] = 0.0
        n_left = condition(terms, held[start[j] : start[j + 1]], log_odds, left)
        if owned:
            _stationary(log_odds, left, n_left, blocks, space, tolerance, probability)
        else:
            _fill_potentials(log_odds, left, n_left, blocks, space, probability)
            fill_softmax(probability.copy(), probability)
        out[:, i] = 0.0
        for b in range(len(space.width)):
            for a in range(space.width[b]):
                p = _sum_digit(probability, a, space.stride[b], space.stride[b + 1])
                for c in range(blocks.start[b], blocks.start[b + 1]):
                    out[has_state(blocks, c, a), i, c] += p


@kernel
def _sum_digit(probability, a, own, following):
    """Return the sum over the joint states with one digit, of stride `own`, equal to a."""
    total = 0.0
    for begin in range(a * own, len(probability), following):
        for s in range(begin, begin + own):
            total += probability[s]
    return total


@kernel
def _stationary(log_odds, left, n_left, blocks, space, tolerance, probability):
    """Apply Gibbs sweeps to a distribution over joint states, written, until it converges."""
    n_states, stride = space.stride[-1], space.stride
    odds = np.empty((n_states, len(log_odds)))
    for s in range(n_states):
        copy_into(odds[s], log_odds)
    for t in range(n_left):
        for j in range(satisfying_states(left, t, space.where, blocks, space.found)):
            odds[space.found[j], left.owner[t]] += left.weight[t]
    probability[:] = 1.0 / n_states
    score, p = np.zeros(blocks.start[-1] + 1), np.empty(blocks.start[-1] + 1)
    change = np.inf
    while change > tolerance:
        before = probability.copy()
        for b in range(len(space.width)):
            for s in range(n_states):
                if s // stride[b] % space.width[b] == 0:
                    same = probability[s : s + stride[b + 1] : stride[b]]
                    _redraw(b, odds[s], blocks, score, p, same)
        change = (np.abs(probability - before) / np.maximum(before, _LEAST)).max()


@kernel
def _redraw(b, odds, blocks, score, p, same):
    """Share out by the CPD of block b what the joint states have that are the `same` elsewhere.

    score, p : scratch, of a place more than columns.
    """
    first, n = blocks.start[b], len(same)
    fill_scores(b, blocks, odds, score)
    if blocks.start[b + 1] - first == 1:
        fill_softmax(np.array([0.0, score[first]]), p[:2])
    else:
        fill_softmax(score[first : first + n], p[:n])
    total = same.sum()
    for a in range(n):
        same[a] = total * p[a]


@kernel
def enumerate_log_likelihood(terms, evidence, blocks, start, order, state, first, last, out):
    """Write log P(query state | evidence) to `out` for the rows of some distinct evidence.

    Rows order[start[e]:start[e + 1]] have evidence e. state : number of the joint state of each
    row; -1 where there is none. The terms are all symmetric.
    """
    space, left = _space_of(blocks), room_for(terms)
    potential, probability = np.empty(space.stride[-1]), np.empty(space.stride[-1])
    log_odds = np.empty(len(blocks.block_of))
    for e in range(first, last):
        j = (e - first) % BATCH
        if j == 0:
            held_start, held = holding_terms(terms, evidence[e : min(e + BATCH, last)])
        log_odds[:] = 0.0
        n_left = condition(terms, held[held_start[j] : held_start[j + 1]], log_odds, left)
        _fill_potentials(log_odds, left, n_left, blocks, space, potential)
        log_total = fill_softmax(potential, probability)
        for k in range(start[e], start[e + 1]):
            s = state[order[k]]
            out[order[k]] = potential[s] - log_total if s >= 0 else -np.inf
