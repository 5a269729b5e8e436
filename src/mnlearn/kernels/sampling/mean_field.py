"""Mean field: independent query variables that fit a log-linear model, given evidence.

Each variable's log-odds are set to their expectation under the distributions of the others. The
expectation of a conjunction is the product of the probabilities of its literals.
"""

import numpy as np

from mnlearn.kernels.arithmetic.logistic import sigmoid
from mnlearn.kernels.jit import kernel
from mnlearn.kernels.sampling.conditioning import (
    BATCH,
    SYMMETRIC,
    condition,
    entries_by_variable,
    holding_terms,
    room_for,
)


@kernel
def fit_mean_field(terms, evidence, max_iterations, tolerance, first, last, log_odds, report):
    """Fill in the log-odds of all query variables for the evidence rows `first` to `last`.

    The variables start at probability 1/2 and are updated in order, each from the newest values of
    the others.

    terms : QueryTerms, symmetric or owned. evidence : uint8, (n_evidence, n_evidence_vars).
    tolerance : largest change of log-odds in an iteration that ends the updates.
    log_odds : float64, (n_evidence, n_query), overwritten. report : float64, (n_evidence, 3),
        overwritten: the iterations, the largest change in the last one, and the lower bound of
        log Z of the query variables, which means nothing if terms are owned.
    """
    n_query = log_odds.shape[1]
    left = room_for(terms)
    base = np.empty(n_query)
    q = np.empty((n_query, 2))
    for i in range(first, last):
        j = (i - first) % BATCH
        if j == 0:
            start, held = holding_terms(terms, evidence[i : min(i + BATCH, last)])
        base[:] = 0.0
        holding = held[start[j] : start[j + 1]]
        n_left = condition(terms, holding, base, left)
        entry_start, term, literal = entries_by_variable(left, n_left, n_query)
        q[:] = 0.5
        log_odds[i] = 0.0
        change = np.inf
        iteration = 0
        while iteration < max_iterations and change > tolerance:
            change = 0.0
            for v in range(n_query):
                odds = base[v]
                for e in range(entry_start[v], entry_start[v + 1]):
                    odds += _expected_effect(left, term[e], literal[e], q)
                change = max(change, abs(odds - log_odds[i, v]))
                log_odds[i, v], q[v, 1], q[v, 0] = odds, sigmoid(odds), sigmoid(-odds)
            iteration += 1
        report[i, 0], report[i, 1] = iteration, change
        report[i, 2] = _constant(terms, holding) + _lower_bound(left, n_left, base, log_odds[i], q)


@kernel
def _expected_effect(left, t, own, q):
    """Return what term `t` is expected to add to the log-odds of a variable.

    own : the term's literal on the variable, or OWNED.
    """
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
def _lower_bound(left, n_left, base, log_odds, q):
    """Return the expected log-potential plus the entropy of independent variables."""
    start, var, value, weight = left.start, left.var, left.value, left.weight
    total = 0.0
    for v in range(len(base)):
        # The entropy is log(1 + exp(odds)) - q odds, written for odds of either sign.
        size = abs(log_odds[v])
        unlikely = min(q[v, 0], q[v, 1])
        total += base[v] * q[v, 1] + np.log1p(np.exp(-size)) + unlikely * size
    for t in range(n_left):
        product = weight[t]
        for k in range(start[t], start[t + 1]):
            product *= q[var[k], value[k]]
        total += product
    return total
