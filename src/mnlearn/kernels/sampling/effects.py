"""The matrix of the effects of single variables on each other's log-odds.

Given the evidence, most terms tie two variables; the matrix takes their place.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.jit import kernel
from mnlearn.kernels.sampling.conditioning import SYMMETRIC


class LongerFeatures(NamedTuple):
    """Conjunctions that add to the log-odds of their owner where they hold."""

    start: NDArray[np.int64]
    var: NDArray[np.int32]
    value: NDArray[np.uint8]
    owner: NDArray[np.integer]
    weight: NDArray[np.float64]


@kernel
def collapse_pairs(left, n_left, log_odds, effect):
    """Move the terms that tie two variables into a matrix; return how many terms are left.

    They add to the log-odds of u a constant, which goes to log_odds[u], and effect[v, u] if v is 1.
    These are the symmetric terms of two literals and the owned terms of one.
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
    """Add to the log-odds the effects of all variables that are 1."""
    for v in range(len(x)):
        if x[v]:
            for u in range(len(x)):
                log_odds[u] += effect[v, u]


@kernel
def add_owned(rows, constant, effect, longer, out):
    """Add to the log-odds of every variable, (n_rows, n_vars), what the features of its CPD add."""
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
