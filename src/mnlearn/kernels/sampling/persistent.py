"""Gibbs chains that go on from the states in which they were left."""

import numpy as np

from mnlearn.kernels.arithmetic.splitmix import chain_seed, fill_logistic
from mnlearn.kernels.jit import kernel
from mnlearn.kernels.sampling.conditioning import condition, holding_terms, room_for
from mnlearn.kernels.sampling.effects import add_effects, collapse_pairs, flip_effects
from mnlearn.kernels.sampling.flips import index_terms, update_terms


@kernel
def advance_states(terms, n_sweeps, seed, first, last, states):
    """Make `n_sweeps` sweeps over all variables in each of the chains `first` to `last`.

    terms : see `condition`, all variables in the query. seed : uint64; what chain i draws depends
    on it and on i. states : uint8, (n_chains, n_vars), overwritten.
    """
    n_vars = states.shape[1]
    left = room_for(terms)
    base = np.zeros(n_vars)
    effect = np.empty((n_vars, n_vars))
    nothing = np.empty((1, 0), np.uint8)
    n_left = condition(terms, holding_terms(terms, nothing)[1], base, left)
    n_left = collapse_pairs(left, n_left, base, effect)
    # One place more than variables; see `update_terms`.
    log_odds = np.zeros(n_vars + 1)
    x = np.zeros(n_vars + 1, np.uint8)
    thresholds = np.empty(n_vars)
    stale = np.empty(n_vars + 1, np.bool_)
    for i in range(first, last):
        x[:n_vars], log_odds[:n_vars] = states[i], base
        by_literal, violated = index_terms(left, n_left, n_vars, x, log_odds)
        add_effects(effect, x[:n_vars], log_odds)
        stream = chain_seed(seed + np.uint64(i), nothing[0])
        for _ in range(n_sweeps):
            stream = fill_logistic(stream, thresholds)
            for v in range(n_vars):
                drawn = thresholds[v] < log_odds[v]
                if drawn != x[v]:
                    x[v] = drawn
                    flip_effects(effect, v, drawn, log_odds)
                    update_terms(v, x, left, by_literal, violated, log_odds, stale)
        states[i] = x[:n_vars]
