"""Loopy belief propagation among the query variables of a log-linear model, given evidence.

Each conjunction that the evidence satisfies is a factor: its value is exp(w) where its literals of
query variables all hold, else 1. So its message to a variable depends only on the probability p
that its other literals hold: log(1 + p (exp(w) - 1)) in favour of the variable's literal. The work
for a factor is proportional to its length. All messages and beliefs are log-odds of the value 1.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.logistic import log_normal, log_sigmoid, sigmoid
from mnlearn.kernels.inlining import inlined
from mnlearn.kernels.jit import kernel

# Beyond this weight exp(w) + 1 is exp(w).
_LARGE = 30.0
_TINY = 1e-300


class PropagationPlan(NamedTuple):
    """How messages are renewed, and when that ends.

    max_iterations : int. tolerance : float64, largest change of a belief, as a probability, in an
        iteration that ends the propagation. damping : float64, share of the old message in the new
        one.
    parallel : bool, whether all messages of an iteration are computed from the beliefs before it.
        If not, factors send their messages in order, each time from the newest beliefs.
    """

    max_iterations: int
    tolerance: float
    damping: float
    parallel: bool


class Factors(NamedTuple):
    """Room for the terms that are factors given some evidence; their number is kept beside it.

    start : int64, (n_terms + 1,). Factor f has the literals start[f]:start[f + 1].
    var : int64, value : uint8, (n_literals,), variable of each literal and the value it asks for.
    constants : float64, (3, n_terms). A message of factor f is a + log(b + p c) with the constants
        a, b, c = constants[:, f]; a is 0 unless exp(w) could overflow.
    message : float64, (n_literals,). own, others : float64, (n_literals,), scratch.
    """

    start: NDArray[np.int64]
    var: NDArray[np.int64]
    value: NDArray[np.uint8]
    constants: NDArray[np.float64]
    message: NDArray[np.float64]
    own: NDArray[np.float64]
    others: NDArray[np.float64]


@kernel
def propagate_beliefs(terms, evidence, plan, first, last, log_odds, report):
    """Fill in the beliefs of all query variables for the evidence rows `first` to `last`.

    terms : QueryTerms, all symmetric. evidence : uint8, (n_evidence, n_evidence_vars).
    plan : PropagationPlan. log_odds : float64, (n_evidence, n_query), overwritten.
    report : float64, (n_evidence, 3), overwritten: the iterations, the largest change in the last
        one, and the Bethe estimate of log Z of the query variables.
    """
    factors = _room_for_factors(terms)
    before = np.empty(log_odds.shape[1])
    for i in range(first, last):
        n_factors = _collect_factors(terms, evidence[i], factors)
        factors.message[:] = 0.0
        belief = log_odds[i]
        belief[:] = 0.0
        change = np.inf
        iteration = 0
        while iteration < plan.max_iterations and change > plan.tolerance:
            before[:] = belief
            if plan.parallel:
                _send_together(factors, n_factors, plan.damping, belief)
            else:
                _send_in_order(factors, n_factors, plan.damping, belief)
            change = _largest_change(before, belief)
            iteration += 1
        report[i, 0], report[i, 1] = iteration, change
        report[i, 2] = _bethe_log_partition(factors, n_factors, belief)


@kernel
def _room_for_factors(terms):
    """Return `Factors` with room for all terms."""
    n_terms, n_literals = len(terms.weight), len(terms.query_var)
    return Factors(
        np.empty(n_terms + 1, np.int64),
        np.empty(n_literals, np.int64),
        np.empty(n_literals, np.uint8),
        np.empty((3, n_terms)),
        np.empty(n_literals),
        np.empty(n_literals),
        np.empty(n_literals),
    )


@kernel
def _collect_factors(terms, evidence, factors):
    """Fill in the terms of weight other than 0 that the evidence satisfies; return how many."""
    e_start, e_var, e_value = terms.evidence_start, terms.evidence_var, terms.evidence_value
    q_start = terms.query_start
    constants = factors.constants
    n_factors, end = 0, 0
    factors.start[0] = 0
    for t in range(len(terms.weight)):
        w = terms.weight[t]
        holds = w != 0.0
        for e in range(e_start[t], e_start[t + 1]):
            if evidence[e_var[e]] != e_value[e]:
                holds = False
                break
        if not holds:
            continue
        for e in range(q_start[t], q_start[t + 1]):
            factors.var[end], factors.value[end] = terms.query_var[e], terms.query_value[e]
            end += 1
        large = w >= _LARGE
        constants[0, n_factors] = w if large else 0.0
        constants[1, n_factors] = np.exp(-w) if large else 1.0
        constants[2, n_factors] = 1.0 if large else np.expm1(w)
        n_factors += 1
        factors.start[n_factors] = end
    return n_factors


@kernel
def _largest_change(before, after):
    """Return the largest change of a belief, as a probability."""
    change = 0.0
    for v in range(len(after)):
        change = max(change, abs(sigmoid(after[v]) - sigmoid(before[v])))
    return change


@inlined
def _multiply_others(own, others, begin, end):
    """Write to others[begin:end] the product of the other entries of own; return that of all.

    No division, which a probability of 0 would not allow.
    """
    product = 1.0
    for k in range(begin, end):
        others[k] = product
        product *= own[k]
    after = 1.0
    for k in range(end - 1, begin - 1, -1):
        others[k] *= after
        after *= own[k]
    return product


@kernel
def _send_in_order(factors, n_factors, damping, belief):
    """Renew the messages of one factor after the other, and the beliefs with each message."""
    start, var, value, constants, message, own, others = factors
    for f in range(n_factors):
        a, b, c = constants[0, f], constants[1, f], constants[2, f]
        begin, end = start[f], start[f + 1]
        if end - begin == 1:
            others[begin] = 1.0
        else:
            for e in range(begin, end):
                cavity = belief[var[e]] - message[e]
                own[e] = sigmoid(cavity if value[e] else -cavity)
            _multiply_others(own, others, begin, end)
        for e in range(begin, end):
            p = others[e]
            new = a + np.log(max(b + p * c, _TINY)) if a == 0.0 or p > 0.0 else 0.0
            change = (1.0 - damping) * ((new if value[e] else -new) - message[e])
            message[e] += change
            belief[var[e]] += change


@kernel
def _send_together(factors, n_factors, damping, belief):
    """Renew all messages from the same beliefs, then the beliefs."""
    start, var, value, constants, message, own, others = factors
    n_literals = start[n_factors]
    _fill_own(var[:n_literals], value, message, belief, own)
    for f in range(n_factors):
        begin, end = start[f], start[f + 1]
        _multiply_others(own, others, begin, end)
        a, b, c = constants[0, f], constants[1, f], constants[2, f]
        for e in range(begin, end):
            # Now `own` has the argument of the logarithm, and `others` what is added to it.
            known = a == 0.0 or others[e] > 0.0
            own[e] = max(b + others[e] * c, _TINY) if known else 1.0
            others[e] = a if known else 0.0
    for e in range(n_literals):
        new = others[e] + log_normal(own[e])
        message[e] += (1.0 - damping) * ((new if value[e] else -new) - message[e])
    belief[:] = 0.0
    for e in range(n_literals):
        belief[var[e]] += message[e]


@kernel
def _fill_own(var, value, message, belief, own):
    """Write to `own` the probability that each literal holds without its factor's message."""
    for e in range(len(var)):
        cavity = belief[var[e]] - message[e]
        own[e] = sigmoid(cavity if value[e] else -cavity)


@kernel
def _bethe_log_partition(factors, n_factors, belief):
    """Return the Bethe estimate of log Z that belongs to the messages."""
    start, var, value, constants, message, own, others = factors
    total = 0.0
    for v in range(len(belief)):
        total -= log_sigmoid(-belief[v])
    n_literals = start[n_factors]
    _fill_own(var[:n_literals], value, message, belief, own)
    for f in range(n_factors):
        begin, end = start[f], start[f + 1]
        all_hold = _multiply_others(own, others, begin, end)
        a, b, c = constants[0, f], constants[1, f], constants[2, f]
        if a == 0.0 or all_hold > 0.0:
            total += a + np.log(max(b + all_hold * c, _TINY))
        for e in range(begin, end):
            b_v = belief[var[e]]
            total += log_sigmoid(-b_v) - log_sigmoid(message[e] - b_v)
    return total
