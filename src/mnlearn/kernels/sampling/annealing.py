"""Annealed importance sampling: chains from independent variables to a log-linear model."""

import numpy as np

from mnlearn.kernels.arithmetic.splitmix import chain_seed, fill_logistic
from mnlearn.kernels.jit import copy_into, kernel
from mnlearn.kernels.sampling.blocks import set_board, sweep_blocks
from mnlearn.kernels.sampling.chains import index_terms, update_terms
from mnlearn.kernels.sampling.conditioning import condition, holding_terms, room_for
from mnlearn.kernels.sampling.effects import add_effects, collapse_pairs, flip_effects


@kernel
def anneal(terms, start_odds, state, energy, n_steps, seed, first, last, log_weight):
    """Run chains from the start distribution to the model; sum their log-weights.

    In step k of `n_steps` the distribution is start^(1 - k / n_steps) * model^(k / n_steps), both
    unnormalised. The weight grows by the change of the distribution; then one sweep follows.

    start_odds : log-odds at the start, from which `state`, (n_chains, n_vars), was drawn;
    overwritten. energy : log-potential of these states in the model.
    """
    n_vars = len(start_odds)
    left = room_for(terms)
    # One place more than variables; see `update_terms`.
    log_odds = np.zeros(n_vars + 1)
    x = np.zeros(n_vars + 1, np.uint8)
    nothing = np.empty((1, 0), np.uint8)
    held = holding_terms(terms, nothing)[1]
    effect = np.empty((n_vars, n_vars))
    for i in range(first, last):
        log_odds[:n_vars] = 0.0
        n_left = condition(terms, held, log_odds, left)
        n_left = collapse_pairs(left, n_left, log_odds, effect)
        stream = chain_seed(seed + np.uint64(i), nothing[0])
        copy_into(x, state[i])
        log_weight[i] = _run_steps(
            left, n_left, effect, x, log_odds, start_odds, energy[i], n_steps, stream
        )
        copy_into(state[i], x[:n_vars])


@kernel
def _run_steps(left, n_left, effect, x, log_odds, start_odds, model, n_steps, stream):
    """Run one chain and return its log-weight; model : log-potential of the first state."""
    n_vars = len(start_odds)
    start = 0.0
    for v in range(n_vars):
        if x[v]:
            start += start_odds[v]
    by_literal, violated = index_terms(left, n_left, n_vars, x, log_odds)
    add_effects(effect, x[:n_vars], log_odds)
    thresholds, stale = np.empty(n_vars), np.empty(n_vars + 1, np.bool_)
    total = 0.0
    for k in range(1, n_steps + 1):
        total += (model - start) / n_steps
        if k == n_steps:
            break
        share = k / n_steps
        stream = fill_logistic(stream, thresholds)
        for v in range(n_vars):
            odds = share * log_odds[v] + (1.0 - share) * start_odds[v]
            drawn = thresholds[v] < odds
            if drawn != x[v]:
                sign = 1.0 if drawn else -1.0
                model += sign * log_odds[v]
                start += sign * start_odds[v]
                x[v] = drawn
                flip_effects(effect, v, drawn, log_odds)
                update_terms(v, x, left, by_literal, violated, log_odds, stale)
    return total


@kernel
def anneal_blocks(terms, blocks, log_p, state, energy, n_steps, seed, first, last, log_weight):
    """Do as `anneal` for the states, by number, of variables of several; see `blocks`."""
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
