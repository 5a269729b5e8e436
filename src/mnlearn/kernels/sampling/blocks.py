"""Variables of several states as blocks of columns, of which exactly one is 1.

A literal speaks of an indicator: of a column, or of a set of columns of one variable, which is 1
where one of them is. A term has at most one literal on a variable, so the log-odds of an indicator
do not depend on the variable's own state. The score of a state is the sum of the log-odds of the
indicators that have it; a variable given all others has the softmax of the scores.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.logistic import sigmoid
from mnlearn.kernels.arithmetic.splitmix import advance, chain_seed, uniform
from mnlearn.kernels.jit import copy_into, kernel
from mnlearn.kernels.sampling.chains import index_terms, store_means, update_terms
from mnlearn.kernels.sampling.conditioning import (
    BATCH,
    LeftTerms,
    add_effects,
    collapse_pairs,
    condition,
    flip_effects,
    holding_terms,
    mark_affected,
    room_for,
)


class Blocks(NamedTuple):
    """The query variables as blocks of columns. Indicators are numbered columns first, then sets.

    Block b has the columns start[b]:start[b + 1], and one column if its variable has two states;
    and the sets set_start[b]:set_start[b + 1]. member[s, a] : whether set s has state a of its
    variable. block_of : the block of each indicator.
    """

    start: NDArray[np.int64]
    set_start: NDArray[np.int64]
    member: NDArray[np.uint8]
    block_of: NDArray[np.int64]


class Board(NamedTuple):
    """A state and what is kept up to date of it; see `chains`.

    state : the number of the state of each block. x, odds, stale : of indicators and a spare place.
    score, p : the scores and probabilities of the states of each block when it was last drawn; of a
    single column its log-odds, and the probability of a 1.
    """

    state: NDArray[np.int64]
    x: NDArray[np.uint8]
    odds: NDArray[np.float64]
    stale: NDArray[np.bool_]
    effect: NDArray[np.float64]
    left: LeftTerms
    by_literal: tuple[NDArray[np.int64], NDArray[np.int32]]
    violated: NDArray[np.int64]
    score: NDArray[np.float64]
    p: NDArray[np.float64]


@kernel
def has_state(blocks, indicator, state):
    """Return 1 if an indicator is 1 where its block is in a state, else 0."""
    b = blocks.block_of[indicator]
    first, n_columns = blocks.start[b], blocks.start[-1]
    if indicator >= n_columns:
        return np.int64(blocks.member[indicator - n_columns, state])
    if blocks.start[b + 1] - first == 1:
        return state
    return np.int64(indicator - first == state)


@kernel
def fill_scores(b, blocks, odds, score):
    """Write the scores of the states of block b to its columns of `score`, from log-odds."""
    first, last, n_columns = blocks.start[b], blocks.start[b + 1], blocks.start[-1]
    copy_into(score[first:last], odds[first:last])
    for s in range(blocks.set_start[b], blocks.set_start[b + 1]):
        for a in range(last - first):
            if blocks.member[s, a]:
                score[first + a] += odds[n_columns + s]


@kernel
def fill_softmax(score, p):
    """Write the softmax of scores to `p`; return the logarithm of what it is divided by."""
    largest = score.max()
    total = 0.0
    for a in range(len(p)):
        p[a] = np.exp(score[a] - largest)
        total += p[a]
    p /= total
    return largest + np.log(total)


@kernel
def draw_by(p, u):
    """Return the state that a number `u` in [0, 1) draws with the probabilities `p`."""
    drawn = 0
    for a in range(len(p)):
        if p[a] > 0.0:
            drawn = a
            u -= p[a]
            if u < 0.0:
                break
    return drawn


@kernel
def every_state(blocks):
    """Return the numbers of all blocks, of the states of each, and how many states it has."""
    width = np.empty(len(blocks.start) - 1, np.int64)
    most = 2
    for b in range(len(width)):
        width[b] = max(blocks.start[b + 1] - blocks.start[b], 2)
        most = max(most, width[b])
    states = np.empty((len(width), most), np.int64)
    for b in range(len(width)):
        copy_into(states[b], np.arange(most))
    return np.arange(len(width)), states, width


@kernel
def satisfying_states(left, t, where, blocks, out):
    """List the joint states of some blocks that satisfy term `t`; return how many.

    where : the blocks; allowed[b, :n_allowed[b]], the states that block b may have; and n_allowed,
    as `every_state` returns them.
    The place of the state of a block in these is a digit of the number of a joint state, that of
    the first block the fastest. out : of twice as many places as joint states, and one more.
    """
    group, allowed, n_allowed = where
    out[0] = 0
    n, stride = 1, 1
    for b in group:
        own = -1
        for k in range(left.start[t], left.start[t + 1]):
            if blocks.block_of[left.var[k]] == b:
                own = k
        n_found = 0
        for a in range(n_allowed[b] - 1, -1, -1):
            if own >= 0 and has_state(blocks, left.var[own], allowed[b, a]) != left.value[own]:
                continue
            n_found += 1
            for j in range(n):
                out[n_found * n + j] = out[j] + a * stride
        # What was found takes the places of the joint states of the blocks before.
        for j in range(n_found * n):
            out[j] = out[n + j]
        n *= n_found
        stride *= n_allowed[b]
    return n


@kernel
def enter_states(state, blocks, x):
    """Write the indicators of the states of all blocks to `x`."""
    for k in range(len(blocks.block_of)):
        x[k] = has_state(blocks, k, state[blocks.block_of[k]])


@kernel
def draw_first_states(stream, blocks, state):
    """Fill `state` with independent uniform draws; return the next state of the stream."""
    for b in range(len(state)):
        stream = advance(stream)
        last = max(blocks.start[b + 1] - blocks.start[b], 2) - 1
        state[b] = last - np.int64(uniform(stream) * (last + 1))
    return stream


@kernel
def set_board(state, blocks, log_odds, effect, left, n_left):
    """Return the board of a state, given the log-odds that `collapse_pairs` leaves."""
    n, n_columns = len(log_odds), blocks.start[-1]
    # One place more than indicators; see `update_terms`.
    x, odds = np.zeros(n + 1, np.uint8), np.zeros(n + 1)
    enter_states(state, blocks, x)
    copy_into(odds, log_odds)
    by_literal, violated = index_terms(left, n_left, n, x, odds)
    add_effects(effect, x[:n], odds)
    stale = np.ones(n + 1, np.bool_)
    score, p = np.empty(n_columns), np.empty(n_columns)
    return Board(state, x, odds, stale, effect, left, by_literal, violated, score, p)


@kernel
def sweep_blocks(stream, blocks, board, share, base):
    """Draw each block by `share` times its scores plus `base`; return the stream and the rise."""
    rise = 0.0
    state, stale, score, p = board.state, board.stale, board.score, board.p
    for b in range(len(state)):
        first, last = blocks.start[b], blocks.start[b + 1]
        single = last - first == 1
        if single and stale[first]:
            score[first], stale[first] = board.odds[first], False
            p[first] = sigmoid(share * score[first] + base[first])
        elif not single and _is_stale(b, blocks, stale):
            fill_scores(b, blocks, board.odds, score)
            fill_softmax(share * score[first:last] + base[first:last], p[first:last])
        stream = advance(stream)
        u, before = uniform(stream), state[b]
        after = np.int64(u < p[first]) if single else draw_by(p[first:last], u)
        if after != before:
            if single:
                rise += score[first] if after else -score[first]
            else:
                rise += score[first + after] - score[first + before]
            _change_state(b, before, after, blocks, board)
    return stream, rise


@kernel
def _is_stale(b, blocks, stale):
    """Tell whether log-odds of a block have changed since it was last asked, and forget it."""
    n_columns = blocks.start[-1]
    found = False
    for c in range(blocks.start[b], blocks.start[b + 1]):
        found |= stale[c]
        stale[c] = False
    for s in range(blocks.set_start[b], blocks.set_start[b + 1]):
        found |= stale[n_columns + s]
        stale[n_columns + s] = False
    return found


@kernel
def _change_state(b, before, after, blocks, board):
    """Move block b from one state to another: its indicators that differ are flipped."""
    first, n_columns = blocks.start[b], blocks.start[-1]
    board.state[b] = after
    if blocks.start[b + 1] - first == 1:
        _flip(first, board)
        return
    _flip(first + before, board)
    _flip(first + after, board)
    for s in range(blocks.set_start[b], blocks.set_start[b + 1]):
        if blocks.member[s, before] != blocks.member[s, after]:
            _flip(n_columns + s, board)


@kernel
def _flip(k, board):
    """Flip an indicator and bring the log-odds up to date."""
    _, x, odds, stale, effect, left, by_literal, violated, _, _ = board
    x[k] = 1 - x[k]
    flip_effects(effect, k, x[k] == 1, odds)
    mark_affected(effect, k, stale)
    update_terms(k, x, left, by_literal, violated, odds, stale)


@kernel
def sample_block_marginals(terms, evidence, blocks, seed, burn_in, batch_end, first, last, out):
    """Estimate the probability that each query column is 1, for evidence rows `first` to `last`.

    Counted sweeps add the probabilities from which states are drawn. batch_end : number of counted
    sweeps at the end of each batch. out : (n_evidence, n_batches, n_columns), means over each
    batch.
    """
    n, n_columns = len(blocks.block_of), blocks.start[-1]
    left = room_for(terms)
    log_odds, effect = np.empty(n), np.empty((n, n))
    state, total = np.empty(len(blocks.start) - 1, np.int64), np.empty(n_columns)
    nothing = np.zeros(n_columns)
    for i in range(first, last):
        j = (i - first) % BATCH
        if j == 0:
            start, held = holding_terms(terms, evidence[i : min(i + BATCH, last)])
        log_odds[:] = 0.0
        n_left = condition(terms, held[start[j] : start[j + 1]], log_odds, left)
        n_left = collapse_pairs(left, n_left, log_odds, effect)
        stream = draw_first_states(chain_seed(seed, evidence[i]), blocks, state)
        board = set_board(state, blocks, log_odds, effect, left, n_left)
        for _ in range(burn_in):
            stream, _ = sweep_blocks(stream, blocks, board, 1.0, nothing)
        counted = 0
        for b in range(len(batch_end)):
            total[:] = 0.0
            for _ in range(counted, batch_end[b]):
                stream, _ = sweep_blocks(stream, blocks, board, 1.0, nothing)
                total += board.p
            store_means(total, batch_end[b] - counted, out[i, b])
            counted = batch_end[b]


@kernel
def advance_states(terms, blocks, n_sweeps, seed, from_random, first, last, states):
    """Make `n_sweeps` sweeps in the chains `first` to `last`; chain i depends on the seed and i."""
    n = len(blocks.block_of)
    left = room_for(terms)
    log_odds, effect = np.zeros(n), np.empty((n, n))
    nothing = np.empty((1, 0), np.uint8)
    n_left = condition(terms, holding_terms(terms, nothing)[1], log_odds, left)
    n_left = collapse_pairs(left, n_left, log_odds, effect)
    base = np.zeros(blocks.start[-1])
    for i in range(first, last):
        stream = chain_seed(seed + np.uint64(i), nothing[0])
        state = states[i].astype(np.int64)
        if from_random:
            stream = draw_first_states(stream, blocks, state)
        board = set_board(state, blocks, log_odds, effect, left, n_left)
        for _ in range(n_sweeps):
            stream, _ = sweep_blocks(stream, blocks, board, 1.0, base)
        for b in range(len(state)):
            states[i, b] = state[b]


@kernel
def anneal(terms, blocks, log_p, state, energy, n_steps, seed, first, last, log_weight):
    """Run chains from the start distribution to the model; sum their log-weights.

    In step k of `n_steps` the distribution is start^(1 - k / n_steps) * model^(k / n_steps), both
    unnormalised. The weight grows by the change of the distribution; then one sweep follows.

    log_p : (n_columns,), the log-probability of each state at the start, of single columns the
    log-odds. state : (n_chains, n_blocks), drawn from the start. energy : its log-potential.
    """
    n = len(blocks.block_of)
    left = room_for(terms)
    nothing = np.empty((1, 0), np.uint8)
    log_odds, effect = np.zeros(n), np.empty((n, n))
    n_left = condition(terms, holding_terms(terms, nothing)[1], log_odds, left)
    n_left = collapse_pairs(left, n_left, log_odds, effect)
    for i in range(first, last):
        stream = chain_seed(seed + np.uint64(i), nothing[0])
        board = set_board(state[i].astype(np.int64), blocks, log_odds, effect, left, n_left)
        model = energy[i]
        log_weight[i] = 0.0
        for k in range(1, n_steps + 1):
            log_weight[i] += (model - _log_start(blocks, log_p, board.state)) / n_steps
            if k < n_steps:
                share = k / n_steps
                board.stale[:] = True
                stream, rise = sweep_blocks(stream, blocks, board, share, (1.0 - share) * log_p)
                model += rise


@kernel
def _log_start(blocks, log_p, state):
    """Return the unnormalised log-probability of a state at the start."""
    total = 0.0
    for b in range(len(state)):
        first = blocks.start[b]
        if blocks.start[b + 1] - first > 1:
            total += log_p[first + state[b]]
        elif state[b]:
            total += log_p[first]
    return total
