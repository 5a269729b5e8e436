"""Gibbs chains of a whole model: each goes on from a state that is given, or from a random one."""

import numpy as np

from mnlearn.kernels.arithmetic.splitmix import chain_seed
from mnlearn.kernels.inlining import copy_into
from mnlearn.kernels.jit import kernel
from mnlearn.kernels.sampling.chains import draw_first_state
from mnlearn.kernels.sampling.conditioning import condition, holding_terms, room_for
from mnlearn.kernels.sampling.effects import add_effects, collapse_pairs
from mnlearn.kernels.sampling.flips import index_terms, make_sweeps


@kernel
def advance_states(terms, n_sweeps, seed, from_random, first, last, states):
    """Make `n_sweeps` sweeps over all variables in each of the chains `first` to `last`.

    terms : see `condition`, all variables in the query. seed : uint64; what chain i draws depends
    on it and on i. from_random : bool, whether chains start from random states and not from those
    given. states : uint8, (n_chains, n_vars), overwritten.
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
    for i in range(first, last):
        stream = chain_seed(seed + np.uint64(i), nothing[0])
        if from_random:
            stream = draw_first_state(stream, states[i])
        copy_into(x, states[i])
        copy_into(log_odds, base)
        by_literal, violated = index_terms(left, n_left, n_vars, x, log_odds)
        add_effects(effect, x[:n_vars], log_odds)
        make_sweeps(n_sweeps, stream, x, log_odds, effect, left, by_literal, violated)
        copy_into(states[i], x[:n_vars])
