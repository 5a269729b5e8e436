"""Chains of Gibbs sampling of any number of variables: only a changed value costs work."""

import numpy as np

from mnlearn.kernels.arithmetic.logistic import sigmoid
from mnlearn.kernels.arithmetic.splitmix import advance, fill_logistic, uniform
from mnlearn.kernels.jit import copy_into, kernel
from mnlearn.kernels.sampling.conditioning import (
    SYMMETRIC,
    add_effects,
    flip_effects,
    mark_affected,
)


@kernel
def draw_first_state(stream, x):
    """Fill `x` with independent values of probability 1/2; return the next state of the stream."""
    for v in range(len(x)):
        stream = advance(stream)
        x[v] = uniform(stream) < 0.5
    return stream


@kernel
def store_means(total, n, out):
    """Write the mean of `n` values, given by their sum, for each variable."""
    for v in range(len(total)):
        out[v] = total[v] / n


# See `_violation`.
_COUNT = 32
_TWO_VIOLATED = 2 << _COUNT


@kernel
def sample_by_flips(log_odds, effect, left, n_left, x, stream, burn_in, batch_end, out):
    """Run a chain that keeps every log-odds up to date; only a changed value costs work."""
    n_query = len(x)
    # One place more than variables; see `update_terms`.
    state, odds = np.zeros(n_query + 1, np.uint8), np.zeros(n_query + 1)
    copy_into(state, x)
    copy_into(odds, log_odds)
    by_literal, violated = index_terms(left, n_left, n_query, state, odds)
    add_effects(effect, x, odds)
    probability = np.empty(n_query)
    stale = np.ones(n_query + 1, np.bool_)
    total = np.empty(n_query)
    sweep = -burn_in
    for b in range(len(batch_end)):
        total[:] = 0.0
        n_sweeps = batch_end[b] - max(sweep, 0)
        while sweep < batch_end[b]:
            if sweep == 0:
                total[:] = 0.0
            for v in range(n_query):
                if stale[v]:
                    probability[v] = sigmoid(odds[v])
                    stale[v] = False
                p = probability[v]
                total[v] += p
                stream = advance(stream)
                drawn = uniform(stream) < p
                if drawn != state[v]:
                    state[v] = drawn
                    flip_effects(effect, v, drawn, odds)
                    mark_affected(effect, v, stale)
                    update_terms(v, state, left, by_literal, violated, odds, stale)
            sweep += 1
        store_means(total, n_sweeps, out[b])


@kernel
def make_sweeps(n_sweeps, stream, x, log_odds, effect, left, by_literal, violated):
    """Draw every variable `n_sweeps` times in order; return the state of the stream after it."""
    n_query = len(x) - 1
    thresholds, stale = np.empty(n_query), np.empty(n_query + 1, np.bool_)
    for _ in range(n_sweeps):
        stream = fill_logistic(stream, thresholds)
        for v in range(n_query):
            drawn = thresholds[v] < log_odds[v]
            if drawn != x[v]:
                x[v] = drawn
                flip_effects(effect, v, drawn, log_odds)
                update_terms(v, x, left, by_literal, violated, log_odds, stale)
    return stream


@kernel
def _violation(v):
    """Return what a violated literal on variable v adds to the word kept for its term.

    From bit _COUNT on, the word has the number of violated literals, and below it the sum of their
    variables: if one literal is violated, its variable.
    """
    return (np.int64(1) << _COUNT) + np.int64(v)


@kernel
def index_terms(left, n_left, n_query, x, log_odds):
    """Return the terms of each variable and a word on the violated literals of each term.

    term[start[2 * v + a]:start[2 * v + a + 1]] are the terms that ask variable v for value a. What
    the terms add to log-odds in the state `x` is added. The words are those of `_violation`.
    """
    start, var, value, weight, owner, _, _ = left
    n_literals = start[n_left]
    literal_start = np.zeros(2 * n_query + 1, np.int64)
    for k in range(n_literals):
        literal_start[2 * var[k] + value[k] + 1] += 1
    for v in range(2 * n_query):
        literal_start[v + 1] += literal_start[v]
    place = literal_start[:-1].copy()
    term = np.empty(n_literals, np.int32)
    violated = np.zeros(n_left, np.int64)
    for t in range(n_left):
        for k in range(start[t], start[t + 1]):
            v = var[k]
            term[place[2 * v + value[k]]] = t
            place[2 * v + value[k]] += 1
            if x[v] != value[k]:
                violated[t] += _violation(v)
        count = violated[t] >> _COUNT
        if owner[t] != SYMMETRIC:
            if count == 0:
                log_odds[owner[t]] += weight[t]
        elif count == 0:
            for k in range(start[t], start[t + 1]):
                log_odds[var[k]] += weight[t] if x[var[k]] else -weight[t]
        elif count == 1:
            # The violated literal asks for the value its variable does not have.
            v = violated[t] - _violation(0)
            log_odds[v] += -weight[t] if x[v] else weight[t]
    return (literal_start, term), violated


@kernel
def update_terms(v, x, left, by_literal, violated, log_odds, stale):
    """Bring log-odds up to date after x[v] has changed, and mark those that change as stale.

    A symmetric term matters to all its variables if no literal is violated, and to the variable of
    a single violated literal. If more are violated it matters to none, and the change goes to a
    spare place at the end of `x`, `log_odds` and `stale`: the processor cannot foresee that number,
    and a wrong guess costs more than the addition.
    """
    start, var, weight, owner = left.start, left.var, left.weight, left.owner
    literal_start, term = by_literal
    own = _violation(v)
    spare = len(x) - 1
    for asked in range(2):
        holds = x[v] == asked
        before = own if holds else 0
        after = 0 if holds else own
        for k in range(literal_start[2 * v + asked], literal_start[2 * v + asked + 1]):
            t = term[k]
            others = violated[t] - before  # without the literal on v
            violated[t] = others + after
            change = weight[t] if holds else -weight[t]
            if others == 0:
                if owner[t] != SYMMETRIC:
                    log_odds[owner[t]] += change
                    stale[owner[t]] = True
                    continue
                for j in range(start[t], start[t + 1]):
                    u = var[j]
                    if u != v:
                        log_odds[u] += change if x[u] else -change
                        stale[u] = True
            else:
                one = (others < _TWO_VIOLATED) & (owner[t] == SYMMETRIC)
                u = others - _violation(0) if one else spare
                log_odds[u] += -change if x[u] else change
                stale[u] = True
