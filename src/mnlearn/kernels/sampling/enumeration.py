"""Exact conditional marginals by enumeration of the query states."""

import numpy as np

from mnlearn.kernels.arithmetic.logistic import sigmoid
from mnlearn.kernels.jit import copy_into, kernel
from mnlearn.kernels.sampling.conditioning import (
    BATCH,
    condition,
    holding_terms,
    log_odds_table,
    log_potential_table,
    room_for,
)

# Of probabilities below this, which lose their digits, changes are no share.
_LEAST = 1e-290


@kernel
def enumerate_marginals(terms, evidence, base, n_query, owned, tolerance, first, last, out):
    """Write P(query variable = x | evidence) of evidence rows `first` to `last` to `out`.

    owned : bool, whether the terms are CPDs. Then the distribution is the one to which Gibbs
        sampling in the order of the variables converges. The kernel applies sweeps to the whole
        distribution until no probability moves by more than the share `tolerance` of itself.
    terms, evidence, base : as in `sample_marginals`. n_query : int.
    out : float64, (2, n_evidence, n_query), by x. Both values are summed, because 1 minus a
        probability near 1 has no digits.
    """
    left = room_for(terms)
    probability = np.empty(1 << n_query)
    log_odds = np.empty(n_query)
    for i in range(first, last):
        j = (i - first) % BATCH
        if j == 0:
            start, held = holding_terms(terms, evidence[i : min(i + BATCH, last)])
        copy_into(log_odds, base)
        n_left = condition(terms, held[start[j] : start[j + 1]], log_odds, left)
        if owned:
            _stationary(log_odds, left, n_left, tolerance, probability)
        else:
            log_potential_table(log_odds, left, n_left, probability)
            largest = probability.max()
            for s in range(len(probability)):
                probability[s] = np.exp(probability[s] - largest)
            probability /= probability.sum()
        for v in range(n_query):
            out[0, i, v] = out[1, i, v] = 0.0
            for s in range(len(probability)):
                out[s >> v & 1, i, v] += probability[s]


@kernel
def _stationary(log_odds, left, n_left, tolerance, probability):
    """Apply Gibbs sweeps to a distribution over query states until it converges.

    tolerance : as in `enumerate_marginals`. probability : float64, (2^n_query,), written.
    """
    n_query = len(log_odds)
    table = np.empty((n_query, 1 << n_query))
    log_odds_table(log_odds, left, n_left, np.empty(1 << n_query), table)
    for v in range(n_query):
        for s in range(1 << n_query):
            # The probability of the value that v has in the state.
            table[v, s] = sigmoid(table[v, s] if s >> v & 1 else -table[v, s])
    probability[:] = 1.0 / (1 << n_query)
    change = np.inf
    while change > tolerance:
        before = probability.copy()
        for v in range(n_query):
            bit = 1 << v
            for s in range(1 << n_query):
                if not s & bit:
                    both = probability[s] + probability[s | bit]
                    probability[s | bit] = both * table[v, s | bit]
                    probability[s] = both * table[v, s]
        change = (np.abs(probability - before) / np.maximum(before, _LEAST)).max()


@kernel
def enumerate_log_likelihood(terms, evidence, n_query, start, order, state, first, last, out):
    """Write log P(query state | evidence) to `out` for the rows of some distinct evidence.

    start, order : rows order[start[e]:start[e + 1]] have evidence e. state : int64, (n_rows,),
    query state of each row. out : float64, (n_rows,). The terms are all symmetric.
    """
    left = room_for(terms)
    potential = np.empty(1 << n_query)
    log_odds = np.empty(n_query)
    for e in range(first, last):
        j = (e - first) % BATCH
        if j == 0:
            held_start, held = holding_terms(terms, evidence[e : min(e + BATCH, last)])
        log_odds[:] = 0.0
        n_left = condition(terms, held[held_start[j] : held_start[j + 1]], log_odds, left)
        log_potential_table(log_odds, left, n_left, potential)
        largest = potential.max()
        total = 0.0
        for s in range(len(potential)):
            total += np.exp(potential[s] - largest)
        log_total = largest + np.log(total)
        for k in range(start[e], start[e + 1]):
            out[order[k]] = potential[state[order[k]]] - log_total
