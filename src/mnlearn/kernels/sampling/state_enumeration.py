"""Exact conditional marginals by enumeration of the states of blocks; see `blocks`.

The state of block b is digit b of the number of a joint state, the first block the fastest.
"""

import numpy as np

from mnlearn.kernels.jit import kernel
from mnlearn.kernels.sampling.blocks import fill_scores, fill_softmax, has_state
from mnlearn.kernels.sampling.conditioning import SYMMETRIC, condition, holding_terms, room_for

# Of probabilities below this, which lose their digits, changes are no share.
_LEAST = 1e-290


@kernel
def strides_of(blocks):
    """Return what each block's state counts in the number of a joint state, and their number."""
    n_blocks = len(blocks.start) - 1
    stride = np.ones(n_blocks + 1, np.int64)
    for b in range(n_blocks):
        stride[b + 1] = stride[b] * max(blocks.start[b + 1] - blocks.start[b], 2)
    return stride


@kernel
def _satisfying(left, t, blocks, stride, out):
    """Write the numbers of the joint states that satisfy term `t` to `out`; return how many."""
    start, var, value = left.start, left.var, left.value
    out[0] = 0
    n = 1
    for b in range(len(stride) - 1):
        own = -1
        for k in range(start[t], start[t + 1]):
            if blocks.block_of[var[k]] == b:
                own = k
        n_states = stride[b + 1] // stride[b]
        n_allowed = 0
        for a in range(n_states - 1, -1, -1):
            if own >= 0 and has_state(blocks, var[own], a) != value[own]:
                continue
            # The last of the allowed states takes the places of the joint states before.
            n_allowed += 1
            for j in range(n):
                out[n_allowed * n + j] = out[j] + a * stride[b]
        for j in range(n_allowed * n):
            out[j] = out[n + j]
        n *= n_allowed
    return n


@kernel
def fill_potentials(log_odds, left, n_left, blocks, stride, out):
    """Write the unnormalised log-probability of every joint state to `out`; no owned terms."""
    out[:] = 0.0
    score = np.empty(blocks.start[-1])
    for b in range(len(stride) - 1):
        first, own = blocks.start[b], stride[b]
        fill_scores(b, blocks, log_odds, score)
        for a in range(stride[b + 1] // own - 1, -1, -1):
            single = blocks.start[b + 1] - first == 1
            change = (score[first] if a else 0.0) if single else score[first + a]
            for s in range(own):
                out[a * own + s] = out[s] + change
    found = np.empty(2 * len(out) + 1, np.int64)
    for t in range(n_left):
        if left.owner[t] == SYMMETRIC:
            n = _satisfying(left, t, blocks, stride, found)
            for j in range(n):
                out[found[j]] += left.weight[t]


@kernel
def _normalise(out):
    """Replace log-potentials by probabilities; return the logarithm of their sum."""
    return fill_softmax(out.copy(), out)


@kernel
def enumerate_block_marginals(terms, evidence, blocks, owned, tolerance, first, last, out):
    """Write P(query column = x | evidence) of evidence rows `first` to `last` to `out`.

    owned : bool, whether the terms are CPDs. Then the distribution is the one to which Gibbs
        sampling in the order of the blocks converges; see `enumeration.enumerate_marginals`.
    terms, evidence, blocks : as in `sample_block_marginals`.
    out : float64, (2, n_evidence, n_columns), by x.
    """
    stride = strides_of(blocks)
    left = room_for(terms)
    probability = np.empty(stride[-1])
    log_odds = np.empty(len(blocks.block_of))
    for i in range(first, last):
        held = holding_terms(terms, evidence[i : i + 1])[1]
        log_odds[:] = 0.0
        n_left = condition(terms, held, log_odds, left)
        if owned:
            _stationary(log_odds, left, n_left, blocks, stride, tolerance, probability)
        else:
            fill_potentials(log_odds, left, n_left, blocks, stride, probability)
            _normalise(probability)
        out[:, i] = 0.0
        for b in range(len(stride) - 1):
            for s in range(len(probability)):
                a = s // stride[b] % (stride[b + 1] // stride[b])
                for c in range(blocks.start[b], blocks.start[b + 1]):
                    out[has_state(blocks, c, a), i, c] += probability[s]


@kernel
def _stationary(log_odds, left, n_left, blocks, stride, tolerance, probability):
    """Apply Gibbs sweeps to a distribution over joint states until it converges.

    tolerance : as in `enumerate_block_marginals`. probability : float64, written.
    """
    n_states = stride[-1]
    odds = np.empty((n_states, len(log_odds)))
    odds[:] = log_odds
    found = np.empty(2 * n_states + 1, np.int64)
    for t in range(n_left):
        for j in range(_satisfying(left, t, blocks, stride, found)):
            odds[found[j], left.owner[t]] += left.weight[t]
    probability[:] = 1.0 / n_states
    score, p = np.zeros(blocks.start[-1] + 1), np.empty(blocks.start[-1] + 1)
    change = np.inf
    while change > tolerance:
        before = probability.copy()
        for b in range(len(stride) - 1):
            n, own = stride[b + 1] // stride[b], stride[b]
            for s in range(n_states):
                if s // own % n == 0:
                    _redraw(b, s, n, own, odds[s], blocks, score, p, probability)
        change = (np.abs(probability - before) / np.maximum(before, _LEAST)).max()


@kernel
def _redraw(b, s, n, own, odds, blocks, score, p, probability):
    """Share out what the joint states have that differ in block b only, by its CPD.

    s : the first of them, `n` in number and `own` apart. odds : those of all indicators there.
    score, p : scratch, of a place more than columns.
    """
    first = blocks.start[b]
    fill_scores(b, blocks, odds, score)
    total = 0.0
    for a in range(n):
        total += probability[s + a * own]
    if blocks.start[b + 1] - first == 1:
        fill_softmax(np.array([0.0, score[first]]), p[:2])
    else:
        fill_softmax(score[first : first + n], p[:n])
    for a in range(n):
        probability[s + a * own] = total * p[a]


@kernel
def enumerate_block_likelihood(terms, evidence, blocks, start, order, state, first, last, out):
    """Write log P(query state | evidence) to `out` for the rows of some distinct evidence.

    start, order : rows order[start[e]:start[e + 1]] have evidence e. state : int64, (n_rows,),
    number of the joint state of each row; -1 where there is none. out : float64, (n_rows,).
    The terms are all symmetric.
    """
    stride = strides_of(blocks)
    left = room_for(terms)
    potential, probability = np.empty(stride[-1]), np.empty(stride[-1])
    log_odds = np.empty(len(blocks.block_of))
    for e in range(first, last):
        held = holding_terms(terms, evidence[e : e + 1])[1]
        log_odds[:] = 0.0
        n_left = condition(terms, held, log_odds, left)
        fill_potentials(log_odds, left, n_left, blocks, stride, potential)
        log_total = fill_softmax(potential, probability)
        for k in range(start[e], start[e + 1]):
            s = state[order[k]]
            out[order[k]] = potential[s] - log_total if s >= 0 else -np.inf
