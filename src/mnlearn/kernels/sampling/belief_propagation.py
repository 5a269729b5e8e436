"""Loopy belief propagation among the query variables of a log-linear model, given evidence.

Each conjunction that the evidence satisfies is a factor. Its value is exp(w) where all its literals
on query variables hold, else 1. Its message to a variable depends only on the probability p that
its other literals hold: log(1 + p (exp(w) - 1)) in favour of the variable's literal. All messages
and beliefs are log-odds of the value 1.
"""

import numpy as np

from mnlearn.kernels.arithmetic.logistic import sigmoid
from mnlearn.kernels.jit import kernel

# Beyond this weight exp(w) + 1 is exp(w).
_LARGE = 30.0
_TINY = 1e-300


@kernel
def propagate_beliefs(
    terms, evidence, max_iterations, damping, tolerance, factor, message, scratch, log_odds
):
    """Fill in the beliefs of all query variables; return the iterations, -1 without convergence.

    Factors send their messages in order, each time from the newest beliefs.

    terms : QueryTerms, all symmetric. evidence : uint8, (n_evidence_vars,).
    damping : share of the old message in the new one. tolerance : largest change of a belief, as a
        probability, in an iteration that ends the propagation.
    factor : int64, (n_terms,); message : float64, (n_query_literals,); scratch : float64, (3,
        longest term). log_odds : float64, (n_query,), overwritten.
    """
    start, var, value = terms.query_start, terms.query_var, terms.query_value
    n_factors = _holding(terms, evidence, factor)
    message[:] = 0.0
    log_odds[:] = 0.0
    before = np.empty(len(log_odds))
    for iteration in range(max_iterations):
        before[:] = log_odds
        for k in range(n_factors):
            f = factor[k]
            _send(
                start[f],
                start[f + 1],
                var,
                value,
                terms.weight[f],
                damping,
                message,
                scratch,
                log_odds,
            )
        change = 0.0
        for v in range(len(log_odds)):
            change = max(change, abs(sigmoid(log_odds[v]) - sigmoid(before[v])))
        if change <= tolerance:
            return iteration + 1
    return -1


@kernel
def _holding(terms, evidence, factor):
    """Fill in the terms of weight other than 0 that the evidence satisfies; return how many."""
    start, var, value = terms.evidence_start, terms.evidence_var, terms.evidence_value
    weight = terms.weight
    n_factors = 0
    for f in range(len(weight)):
        holds = weight[f] != 0.0
        for e in range(start[f], start[f + 1]):
            if evidence[var[e]] != value[e]:
                holds = False
                break
        if holds:
            factor[n_factors] = f
            n_factors += 1
    return n_factors


@kernel
def _send(first, last, var, value, weight, damping, message, scratch, log_odds):
    """Renew the messages of the factor with literals `first` to `last`, and the beliefs."""
    own, before, after = scratch
    n = last - first
    for k in range(n):
        e = first + k
        cavity = log_odds[var[e]] - message[e]
        own[k] = sigmoid(cavity if value[e] else -cavity)
    # Products of the others without a division, which a probability of 0 would not allow.
    before[0], after[n - 1] = 1.0, 1.0
    for k in range(1, n):
        before[k] = before[k - 1] * own[k - 1]
        after[n - 1 - k] = after[n - k] * own[n - k]
    for k in range(n):
        e = first + k
        p = before[k] * after[k]
        if weight < _LARGE:
            new = np.log(max(1.0 + p * np.expm1(weight), _TINY))
        else:
            new = weight + np.log(p + np.exp(-weight)) if p > 0.0 else 0.0
        change = (1.0 - damping) * ((new if value[e] else -new) - message[e])
        message[e] += change
        log_odds[var[e]] += change
