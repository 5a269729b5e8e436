"""Mean field: independent query variables that fit a log-linear model, given evidence.

Each variable's log-odds, or the scores of its states, are set to their expectation under the
distributions of the others; that of a conjunction is the product over its literals.
"""

import numpy as np

from mnlearn.kernels.arithmetic.logistic import sigmoid
from mnlearn.kernels.jit import inlined, kernel
from mnlearn.kernels.sampling.blocks import fill_scores, fill_softmax
from mnlearn.kernels.sampling.conditioning import (
    BATCH,
    SYMMETRIC,
    condition,
    entries_by_variable,
    holding_terms,
    room_for,
)


@kernel
def fit_mean_field(
    terms, evidence, blocks, max_iterations, tolerance, first, last, log_odds, report
):
    """Fill in the log-odds of all query variables for the evidence rows `first` to `last`.

    The variables start at equal probabilities and are updated in order. log_odds : (n_evidence,
    n_columns), of states of variables of several, log-probabilities. report : overwritten: the
    iterations, the largest change in the last one, and the lower bound of log Z of the query
    variables, which means nothing if terms are owned.
    """
    n_query = len(blocks.block_of)
    left = room_for(terms)
    base, odds = np.empty(n_query), np.empty(n_query)
    q = np.empty((n_query, 2))
    for i in range(first, last):
        j = (i - first) % BATCH
        if j == 0:
            start, held = holding_terms(terms, evidence[i : min(i + BATCH, last)])
        base[:] = 0.0
        holding = held[start[j] : start[j + 1]]
        n_left = condition(terms, holding, base, left)
        entries = entries_by_variable(left, n_left, n_query)
        _start_evenly(blocks, q, log_odds[i])
        change = np.inf
        iteration = 0
        while iteration < max_iterations and change > tolerance:
            change = _update_all(blocks, base, left, entries, odds, q, log_odds[i])
            iteration += 1
        report[i, 0], report[i, 1] = iteration, change
        bound = _lower_bound(left, n_left, blocks, base, log_odds[i], q)
        report[i, 2] = _constant(terms, holding) + bound


@inlined
def _update_all(blocks, base, left, entries, odds, q, log_odds):
    """Update all variables in order; return the largest change of log-odds or a log-probability."""
    entry_start, term, literal = entries
    change = 0.0
    for b in range(len(blocks.start) - 1):
        v = blocks.start[b]
        if blocks.start[b + 1] - v == 1:
            new = _expected_odds(v, base, left, entry_start, term, literal, q)
            change = max(change, abs(new - log_odds[v]))
            log_odds[v], q[v, 1], q[v, 0] = new, sigmoid(new), sigmoid(-new)
        else:
            own = _fit_block(b, blocks, base, left, entries, odds, q, log_odds)
            change = max(change, own)
    return change


@kernel
def _start_evenly(blocks, q, log_odds):
    """Give the states of each variable equal probabilities."""
    q[:] = 0.5
    log_odds[:] = 0.0
    for b in range(len(blocks.start) - 1):
        first, last = blocks.start[b], blocks.start[b + 1]
        if last - first > 1:
            log_odds[first:last] = -np.log(last - first)
            _fill_indicators(b, blocks, np.full(last - first, 1.0 / (last - first)), q)


@kernel
def _fill_indicators(b, blocks, p, q):
    """Write the probabilities of the indicators of block b, from those of its states, to `q`."""
    first, n_columns = blocks.start[b], blocks.start[-1]
    for a in range(len(p)):
        q[first + a, 1] = p[a]
        # The sum of the others where 1 minus a probability near 1 would have no digits.
        q[first + a, 0] = 1.0 - p[a] if p[a] < 0.5 else p[:a].sum() + p[a + 1 :].sum()
    for s in range(blocks.set_start[b], blocks.set_start[b + 1]):
        inside, outside = 0.0, 0.0
        for a in range(len(p)):
            if blocks.member[s, a]:
                inside += p[a]
            else:
                outside += p[a]
        q[n_columns + s, 1], q[n_columns + s, 0] = inside, outside


@kernel
def _fit_block(b, blocks, base, left, entries, odds, q, log_p):
    """Update a variable of several states; return the largest change of a log-probability."""
    first, last, n_columns = blocks.start[b], blocks.start[b + 1], blocks.start[-1]
    start, term, literal = entries
    for c in range(first, last):
        odds[c] = _expected_odds(c, base, left, start, term, literal, q)
    for s in range(n_columns + blocks.set_start[b], n_columns + blocks.set_start[b + 1]):
        odds[s] = _expected_odds(s, base, left, start, term, literal, q)
    score, p = np.empty(n_columns), np.empty(last - first)
    fill_scores(b, blocks, odds, score)
    log_total = fill_softmax(score[first:last], p)
    change = 0.0
    for c in range(first, last):
        new = score[c] - log_total
        change = max(change, abs(new - log_p[c]))
        log_p[c] = new
    _fill_indicators(b, blocks, p, q)
    return change


@inlined
def _expected_odds(v, base, left, start, term, literal, q):
    """Return the expected log-odds of an indicator."""
    odds = base[v]
    for e in range(start[v], start[v + 1]):
        odds += _expected_effect(left, term[e], literal[e], q)
    return odds


@kernel
def _expected_effect(left, t, own, q):
    """Return what term `t`, of literal `own` or OWNED, adds to a variable's log-odds on average."""
    start, var, value, weight = left.start, left.var, left.value, left.weight
    product = weight[t]
    for k in range(start[t], start[t + 1]):
        if k != own:
            product *= q[var[k], value[k]]
        elif value[k] == 0:
            product = -product
    return product


@kernel
def _constant(terms, holding):
    """Return what `condition` leaves out: the weights of terms with one literal, on the value 0."""
    q_start, q_value = terms.query_start, terms.query_value
    total = 0.0
    for t in holding:
        alone = terms.owner[t] == SYMMETRIC and q_start[t + 1] - q_start[t] == 1
        if alone and q_value[q_start[t]] == 0:
            total += terms.weight[t]
    return total


@kernel
def _lower_bound(left, n_left, blocks, base, log_odds, q):
    """Return the expected log-potential plus the entropy of independent variables."""
    start, var, value, weight = left.start, left.var, left.value, left.weight
    total = 0.0
    for v in range(len(base)):
        b = blocks.block_of[v]
        if blocks.start[b + 1] - blocks.start[b] == 1:
            # The entropy is log(1 + exp(odds)) - q odds, written for odds of either sign.
            size = abs(log_odds[v])
            unlikely = min(q[v, 0], q[v, 1])
            total += base[v] * q[v, 1] + np.log1p(np.exp(-size)) + unlikely * size
        else:
            total += base[v] * q[v, 1]
            if v < len(log_odds) and q[v, 1] > 0.0:
                total -= q[v, 1] * log_odds[v]
    for t in range(n_left):
        product = weight[t]
        for k in range(start[t], start[t + 1]):
            product *= q[var[k], value[k]]
        total += product
    return total
