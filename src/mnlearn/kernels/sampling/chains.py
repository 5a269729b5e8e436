"""What chains of samples keep up to date: only a changed value costs work."""

import numpy as np

from mnlearn.kernels.jit import kernel
from mnlearn.kernels.sampling.conditioning import SYMMETRIC


@kernel
def store_means(total, n, out):
    """Write the mean of `n` values, given by their sum, for each variable."""
    for v in range(len(total)):
        out[v] = total[v] / n


# See `_violation`.
_COUNT = 32
_TWO_VIOLATED = 2 << _COUNT


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
