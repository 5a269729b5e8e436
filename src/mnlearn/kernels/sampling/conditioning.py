"""What is left of a model's terms once the evidence is known.

A term is a conjunction with a weight. A symmetric term adds it to the log-probability of the states
that satisfy it; an owned term (part of a CPD) to the log-odds of its owner alone. Conditioning
removes the literals on evidence variables that hold, and the terms with one that does not; then
terms of one kind, equal wherever the evidence holds, become one.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.bits import lowest_bit
from mnlearn.kernels.jit import kernel

SYMMETRIC = -1
BATCH = 64
# In place of a literal, for a term that its owner does not appear in.
OWNED = -1

_NONE = np.uint64(0)


class QueryTerms(NamedTuple):
    """Terms whose literals are split into those on evidence and those on query variables.

    Term t has the evidence literals evidence_start[t]:evidence_start[t + 1], and likewise its query
    literals; variables are numbered within the evidence and within the query. owner : the query
    variable whose log-odds the term adds to, or SYMMETRIC. kind : the same for terms with the same
    query literals and owner.
    """

    evidence_start: NDArray[np.int64]
    evidence_var: NDArray[np.int64]
    evidence_value: NDArray[np.uint8]
    query_start: NDArray[np.int64]
    query_var: NDArray[np.int64]
    query_value: NDArray[np.uint8]
    weight: NDArray[np.float64]
    owner: NDArray[np.int64]
    kind: NDArray[np.int64]


class LeftTerms(NamedTuple):
    """Room for the terms that are left given some evidence; the number in use is kept beside it.

    place_of : the term of a kind that is left has this place, if that term has the kind; else no
    term of the kind is left.
    """

    start: NDArray[np.int64]
    var: NDArray[np.int64]
    value: NDArray[np.int64]
    weight: NDArray[np.float64]
    owner: NDArray[np.int64]
    kind: NDArray[np.int64]
    place_of: NDArray[np.int64]


@kernel
def room_for(terms):
    """Return `LeftTerms` with room for all terms, for `condition` to fill."""
    n_terms, n_literals = len(terms.weight), len(terms.query_var)
    return LeftTerms(
        np.empty(n_terms + 1, np.int64),
        np.empty(n_literals, np.int64),
        np.empty(n_literals, np.int64),
        np.empty(n_terms),
        np.empty(n_terms, np.int64),
        np.empty(n_terms, np.int64),
        np.zeros(n_terms, np.int64),
    )


@kernel
def holding_terms(terms, evidence):
    """Return (start, held): terms held[start[i]:start[i + 1]] are those that evidence i allows.

    These are the terms whose evidence literals all hold, in ascending order. One word holds a bit
    of each of at most BATCH rows, so that a term costs little where it fails in all.
    """
    e_start, e_var, e_value = terms.evidence_start, terms.evidence_var, terms.evidence_value
    n_rows, n_vars = evidence.shape
    all_rows = ~_NONE >> np.uint64(BATCH - n_rows)
    ones = np.zeros(n_vars, np.uint64)
    for i in range(n_rows):
        for v in range(n_vars):
            ones[v] |= np.uint64(evidence[i, v]) << np.uint64(i)
    n_terms = len(e_start) - 1
    allowing = np.empty(n_terms, np.uint64)
    start = np.zeros(n_rows + 1, np.int64)
    for t in range(n_terms):
        rows = all_rows
        for k in range(e_start[t], e_start[t + 1]):
            rows &= ones[e_var[k]] if e_value[k] else ~ones[e_var[k]]
            if rows == _NONE:
                break
        allowing[t] = rows
        while rows != _NONE:
            start[lowest_bit(rows) + 1] += 1
            rows &= rows - np.uint64(1)
    for i in range(n_rows):
        start[i + 1] += start[i]
    held = np.empty(start[n_rows], np.int64)
    place = start[:-1].copy()
    for t in range(n_terms):
        rows = allowing[t]
        while rows != _NONE:
            i = lowest_bit(rows)
            held[place[i]] = t
            place[i] += 1
            rows &= rows - np.uint64(1)
    return start, held


@kernel
def condition(terms, held, log_odds, left):
    """Keep the query literals of the terms `held`, one term of a kind; return how many are left.

    Terms without other query variables are added to `log_odds`, (n_query,).
    """
    q_start, q_var, q_value = terms.query_start, terms.query_var, terms.query_value
    weight, owner, kind = terms.weight, terms.owner, terms.kind
    start, var, value, left_weight, left_owner, left_kind, place_of = left
    n_left = 0
    start[0] = 0
    for t in held:
        n_literals = q_start[t + 1] - q_start[t]
        if n_literals == 0:
            log_odds[owner[t]] += weight[t]
        elif n_literals == 1 and owner[t] == SYMMETRIC:
            k = q_start[t]
            log_odds[q_var[k]] += weight[t] if q_value[k] else -weight[t]
        else:
            place = place_of[kind[t]]
            if place < n_left and left_kind[place] == kind[t]:
                left_weight[place] += weight[t]
                continue
            place_of[kind[t]], left_kind[n_left] = n_left, kind[t]
            end = start[n_left]
            for k in range(q_start[t], q_start[t + 1]):
                var[end] = q_var[k]
                value[end] = q_value[k]
                end += 1
            left_weight[n_left] = weight[t]
            left_owner[n_left] = owner[t]
            n_left += 1
            start[n_left] = end
    return n_left


@kernel
def entries_by_variable(left, n_left, n_query):
    """Return (start, term, literal): the terms that add to the log-odds of each variable.

    Those of variable v are term[start[v]:start[v + 1]], in ascending order, each with its literal
    on v, or OWNED.
    """
    t_start, var, owner = left.start, left.var, left.owner
    start = np.zeros(n_query + 1, np.int64)
    for t in range(n_left):
        if owner[t] != SYMMETRIC:
            start[owner[t] + 1] += 1
        else:
            for k in range(t_start[t], t_start[t + 1]):
                start[var[k] + 1] += 1
    for v in range(n_query):
        start[v + 1] += start[v]
    place = start[:-1].copy()
    term, literal = np.empty(start[n_query], np.int64), np.empty(start[n_query], np.int64)
    for t in range(n_left):
        if owner[t] != SYMMETRIC:
            e = place[owner[t]]
            term[e], literal[e] = t, OWNED
            place[owner[t]] += 1
        else:
            for k in range(t_start[t], t_start[t + 1]):
                e = place[var[k]]
                term[e], literal[e] = t, k
                place[var[k]] += 1
    return start, term, literal


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
