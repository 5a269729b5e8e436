"""The matrix of the effects of single variables on each other's log-odds.

Given the evidence, most terms tie two variables, and many terms tie the same two. The matrix takes
the place of these terms.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.jit import kernel
from mnlearn.kernels.sampling.conditioning import SYMMETRIC


class LongerFeatures(NamedTuple):
    """Conjunctions that add to the log-odds of their owner where they hold.

    start : int64, (n_features + 1,). Feature f has the literals start[f]:start[f + 1].
    var : int32, and value : uint8, (n_literals,). owner : integers, and weight : float64,
    (n_features,).
    """

    start: NDArray[np.int64]
    var: NDArray[np.int32]
    value: NDArray[np.uint8]
    owner: NDArray[np.integer]
    weight: NDArray[np.float64]


@kernel
def collapse_pairs(left, n_left, log_odds, effect):
    """Move the terms that tie two variables into a matrix; return how many terms are left.

    They add to the log-odds of u a constant, which goes to log_odds[u], and effect[v, u] if v is
    1. These are the symmetric terms of two literals and the owned terms of one.

    left : LeftTerms, of which `n_left` are in use. log_odds : float64, (n_query,), added to.
    effect : float64, (n_query, n_query), overwritten.
    """
    start, var, value, weight, owner, _, _ = left
    effect[:] = 0.0
    n_kept = 0
    for t in range(n_left):
        begin, end = start[t], start[t + 1]
        w = weight[t]
        if owner[t] != SYMMETRIC and end - begin == 1:
            _add_effect(effect, log_odds, var[begin], value[begin], owner[t], w)
        elif owner[t] == SYMMETRIC and end - begin == 2:
            u, v = var[begin], var[begin + 1]
            a, b = value[begin], value[begin + 1]
            _add_effect(effect, log_odds, v, b, u, w if a else -w)
            _add_effect(effect, log_odds, u, a, v, w if b else -w)
        else:
            place = start[n_kept]
            for k in range(begin, end):
                var[place] = var[k]
                value[place] = value[k]
                place += 1
            weight[n_kept] = w
            owner[n_kept] = owner[t]
            n_kept += 1
            start[n_kept] = place
    return n_kept


@kernel
def _add_effect(effect, log_odds, v, value, u, change):
    """Let the log-odds of u change by `change` where variable v has the given value."""
    if value:
        effect[v, u] += change
    else:
        log_odds[u] += change
        effect[v, u] -= change


@kernel
def add_effects(effect, x, log_odds):
    """Add to the log-odds the effects of all variables that are 1.

    effect : float64, (n, n). x : uint8, (n,). log_odds : float64, (n,) or longer.
    """
    for v in range(len(x)):
        if x[v]:
            for u in range(len(x)):
                log_odds[u] += effect[v, u]


@kernel
def add_owned(rows, constant, effect, longer, out):
    """Add to the log-odds of every variable what the features of its CPD add.

    rows : uint8, (n_rows, n_vars). constant : float64, (n_vars,). effect : float64, (n_vars,
    n_vars), added to the log-odds of the second variable where the first is 1.
    longer : LongerFeatures. out : float64, (n_rows, n_vars), added to.
    """
    start, var, value, owner, weight = longer
    for i in range(len(rows)):
        x = rows[i]
        for u in range(len(constant)):
            out[i, u] += constant[u]
        add_effects(effect, x, out[i])
        for f in range(len(owner)):
            k = start[f]
            while k < start[f + 1] and x[var[k]] == value[k]:
                k += 1
            if k == start[f + 1]:
                out[i, owner[f]] += weight[f]


@kernel
def flip_effects(effect, v, now_one, log_odds):
    """Add the effects of a variable that has become 1, or subtract those of one become 0."""
    sign = 1.0 if now_one else -1.0
    for u in range(len(effect)):
        log_odds[u] += sign * effect[v, u]


@kernel
def mark_affected(effect, v, stale):
    """Mark the variables whose log-odds depend on v alone."""
    for u in range(len(effect)):
        stale[u] |= effect[v, u] != 0.0
