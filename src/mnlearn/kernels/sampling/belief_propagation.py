"""Loopy belief propagation among the query variables of a log-linear model, given evidence.

Each conjunction that the evidence satisfies is a factor: its value is exp(w) where its literals
hold, else 1. So its message to a variable depends only on the probability p that its other literals
hold: log(1 - p + p exp(w)) in favour of the variable's literal. Messages and beliefs are log-odds.

Factors of one run share no variable, so that loops over a run use vector instructions.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.bits import lowest_bit
from mnlearn.kernels.arithmetic.logistic import log_normal, log_sigmoid, sigmoid
from mnlearn.kernels.jit import copy_into, inlined, kernel

# Beyond this weight exp(w) + 1 is exp(w).
_LARGE = 30.0
_TINY = 1e-300
# Loops of vector instructions make so many steps at once, or a divisor of it.
_STEP = 8
# Words of bits for the runs that have a variable.
_MOST_WORDS = 64


class PropagationPlan(NamedTuple):
    """How messages are renewed, and when that ends.

    tolerance : largest change of a belief in an iteration that ends the propagation. damping :
    share of the old message in the new one. parallel : whether all messages of an iteration are
    computed from the beliefs before it; if not, one run of factors after the other sends its
    messages.
    """

    max_iterations: int
    tolerance: float
    damping: float
    parallel: bool


class Factors(NamedTuple):
    """Room for the terms that are factors given some evidence; their number is kept beside it.

    constants : a, b, c of each factor, whose messages are a + log(b (1 - p) + c p); a is 0 unless
    exp(w) could overflow. own, others : scratch: the probability that a literal does not hold, and
    that it does; the same of all other literals of its factor together. Run r has the factors
    run_start[r]:run_start[r + 1].
    """

    start: NDArray[np.int64]
    var: NDArray[np.int64]
    value: NDArray[np.uint8]
    constants: NDArray[np.float64]
    message: NDArray[np.float64]
    own: NDArray[np.float64]
    others: NDArray[np.float64]
    term: NDArray[np.int64]
    run_start: NDArray[np.int64]


@kernel
def propagate_beliefs(terms, evidence, plan, first, last, beliefs, report):
    """Fill in the beliefs of all query variables for the evidence rows `first` to `last`.

    report : overwritten: the iterations, the largest change in the last one, and the Bethe estimate
    of log Z of the query variables.
    """
    factors = _room_for_factors(terms)
    before = np.empty(beliefs.shape[1])
    for i in range(first, last):
        n_runs = _collect_factors(terms, evidence[i], len(before), factors)
        n_factors = factors.run_start[n_runs]
        factors.message[:] = 0.0
        belief = beliefs[i]
        belief[:] = 0.0
        change = np.inf
        iteration = 0
        while iteration < plan.max_iterations and change > plan.tolerance:
            copy_into(before, belief)
            if plan.parallel:
                _send_together(factors, n_factors, plan.damping, belief)
            else:
                _send_in_order(factors, n_runs, plan.damping, belief)
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
        np.zeros((2, n_literals + _STEP)),
        np.zeros((2, n_literals + _STEP)),
        np.empty(n_terms, np.int64),
        np.empty(n_terms + 1, np.int64),
    )


@kernel
def _collect_factors(terms, evidence, n_query, factors):
    """Fill in the terms, of weight not 0, that the evidence satisfies; return how many runs."""
    run = np.empty(len(terms.weight), np.int64)
    n_runs = _find_runs(terms, evidence, n_query, run)
    _sort_by_run(run, n_runs, factors)
    start, var, value, constants = factors.start, factors.var, factors.value, factors.constants
    end = 0
    start[0] = 0
    for f in range(factors.run_start[n_runs]):
        t = factors.term[f]
        for k in range(terms.query_start[t], terms.query_start[t + 1]):
            var[end], value[end] = terms.query_var[k], terms.query_value[k]
            end += 1
        start[f + 1] = end
        w = terms.weight[t]
        large = w >= _LARGE
        constants[0, f] = w if large else 0.0
        constants[1, f] = np.exp(-w) if large else 1.0
        constants[2, f] = 1.0 if large else np.exp(w)
    return n_runs


@kernel
def _sort_by_run(run, n_runs, factors):
    """Fill in the term of each factor, and where each run begins."""
    run_start, term = factors.run_start, factors.term
    run_start[: n_runs + 1] = 0
    for t in range(len(run)):
        if run[t] >= 0:
            run_start[run[t] + 1] += 1
    for r in range(n_runs):
        run_start[r + 1] += run_start[r]
    place = run_start[:n_runs].copy()
    for t in range(len(run)):
        if run[t] >= 0:
            term[place[run[t]]] = t
            place[run[t]] += 1


@kernel
def _find_runs(terms, evidence, n_query, run):
    """Fill in the run of each term, -1 for those that are no factors; return how many runs.

    A factor goes to the first run that has none of its variables, a bit of `used`; behind the runs
    with bits, to the first run after those that have one of its variables.
    """
    e_start, e_var, e_value = terms.evidence_start, terms.evidence_var, terms.evidence_value
    n_words = min(len(run) // 64 + 1, _MOST_WORDS)
    used = np.zeros((n_query, n_words), np.uint64)
    free = np.full(n_query, 64 * n_words)
    n_runs = 0
    for t in range(len(run)):
        holds = terms.weight[t] != 0.0
        for e in range(e_start[t], e_start[t + 1]):
            if evidence[e_var[e]] != e_value[e]:
                holds = False
                break
        run[t] = -1
        if holds:
            variables = terms.query_var[terms.query_start[t] : terms.query_start[t + 1]]
            run[t] = _take_run(variables, used, free)
            n_runs = max(n_runs, run[t] + 1)
    return n_runs


@kernel
def _take_run(variables, used, free):
    """Return the run of a factor, and mark that it has the factor's variables."""
    for w in range(used.shape[1]):
        taken = np.uint64(0)
        for v in variables:
            taken |= used[v, w]
        if taken != ~np.uint64(0):
            bit = lowest_bit(~taken)
            for v in variables:
                used[v, w] |= np.uint64(1) << bit
            return 64 * w + np.int64(bit)
    run = free[variables].max()
    free[variables] = run + 1
    return run


@kernel
def _largest_change(before, after):
    """Return the largest change of a belief, in log-odds."""
    change = 0.0
    for v in range(len(after)):
        change = max(change, abs(after[v] - before[v]))
    return change


@inlined
def _multiply_others(own, others, begin, end):
    """Fill in others[:, begin:end]; return the chances that not all hold, and that all do."""
    fail, hold = 0.0, 1.0
    for k in range(begin, end):
        others[0, k], others[1, k] = fail, hold
        fail += hold * own[0, k]
        hold *= own[1, k]
    fail_after, hold_after = 0.0, 1.0
    for k in range(end - 1, begin - 1, -1):
        others[0, k] += others[1, k] * fail_after
        others[1, k] *= hold_after
        fail_after += hold_after * own[0, k]
        hold_after *= own[1, k]
    return fail, hold


@kernel
def _send_in_order(factors, n_runs, damping, belief):
    """Renew the messages of one run of factors after the other, and the beliefs with them."""
    start, var, run_start = factors.start, factors.var, factors.run_start
    change = factors.own[0]
    for r in range(n_runs):
        first, last = run_start[r], run_start[r + 1]
        _renew_messages(factors, first, last, damping, belief)
        begin = start[first]
        for e in range(begin, start[last]):
            belief[var[e]] += change[e - begin]


@kernel
def _send_together(factors, n_factors, damping, belief):
    """Renew all messages from the same beliefs, then the beliefs."""
    var, message = factors.var, factors.message
    _renew_messages(factors, 0, n_factors, damping, belief)
    belief[:] = 0.0
    for e in range(factors.start[n_factors]):
        belief[var[e]] += message[e]


@inlined
def _renew_messages(factors, first, last, damping, belief):
    """Renew the messages of the factors `first` to `last`; write to own[0] how they change."""
    start, value, constants, message = (
        factors.start, factors.value, factors.constants, factors.message,
    )  # fmt: skip
    own, others = factors.own, factors.others
    zero = start[first]
    n = _fill_own(factors, zero, start[last], belief)
    for f in range(first, last):
        begin, end = start[f] - zero, start[f + 1] - zero
        _multiply_others(own, others, begin, end)
        a, b, c = constants[0, f], constants[1, f], constants[2, f]
        for j in range(begin, end):
            # Now own[0] has the argument of the logarithm, and others[0] what is added to it.
            known = a == 0.0 or others[1, j] > 0.0
            own[0, j] = max(others[0, j] * b + others[1, j] * c, _TINY) if known else 1.0
            others[0, j] = a if known else 0.0
    for j in range(n):
        own[0, j] = others[0, j] + log_normal(own[0, j])
    for e in range(zero, start[last]):
        new = own[0, e - zero]
        change = (1.0 - damping) * ((new if value[e] else -new) - message[e])
        message[e] += change
        own[0, e - zero] = change


@inlined
def _fill_own(factors, begin, end, belief):
    """Write to `own` the probabilities of each literal without its factor's message.

    Returns the number of literals, rounded up: the places after the last one have any numbers, so
    that loops of vector instructions have no rest.
    """
    var, value, message, own = factors.var, factors.value, factors.message, factors.own
    for e in range(begin, end):
        cavity = belief[var[e]] - message[e]
        own[1, e - begin] = cavity if value[e] else -cavity
    n = (end - begin + _STEP - 1) // _STEP * _STEP
    for j in range(n):
        x = own[1, j]
        own[0, j], own[1, j] = sigmoid(-x), sigmoid(x)
    return n


@kernel
def _bethe_log_partition(factors, n_factors, belief):
    """Return the Bethe estimate of log Z that belongs to the messages."""
    start, var, _, constants, message, own, others, _, _ = factors
    total = 0.0
    for v in range(len(belief)):
        total -= log_sigmoid(-belief[v])
    _fill_own(factors, 0, start[n_factors], belief)
    for f in range(n_factors):
        begin, end = start[f], start[f + 1]
        fail, hold = _multiply_others(own, others, begin, end)
        a, b, c = constants[0, f], constants[1, f], constants[2, f]
        if a == 0.0 or hold > 0.0:
            total += a + np.log(max(fail * b + hold * c, _TINY))
        for e in range(begin, end):
            b_v = belief[var[e]]
            total += log_sigmoid(-b_v) - log_sigmoid(message[e] - b_v)
    return total
