"""Annealed importance sampling: chains from independent variables to a log-linear model."""

import numpy as np

from mnlearn.kernels.arithmetic.splitmix import chain_seed
from mnlearn.kernels.jit import kernel
from mnlearn.kernels.sampling.blocks import set_board, sweep_blocks
from mnlearn.kernels.sampling.conditioning import condition, holding_terms, room_for
from mnlearn.kernels.sampling.effects import collapse_pairs


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
