"""Messages of factors to variables: belief propagation, plain and reweighted.

A factor has a share. With shares of 1 the messages are those of belief propagation. With the shares
of spanning forests, and tables divided by them, they are tree-reweighted: the message of a factor
counts at its share in the score of a state, and as a whole where it is taken out again. States that
single tables exclude are found before the first message, so each message to another one is finite.
"""

import heapq
from typing import NamedTuple

import numpy as np

from mnlearn.kernels.jit import kernel
from mnlearn.kernels.tables.factor_messages import log_feature, log_total, renew
from mnlearn.kernels.tables.graphs import add_up_to, fill_logs, graph_given, longest
from mnlearn.kernels.tables.runs import runs_of

SEQUENTIAL, PARALLEL, RESIDUAL = range(3)


class MessagePlan(NamedTuple):
    """When the messages are renewed, and when that ends.

    max_iterations : int; an iteration renews as many messages as there are. tolerance : float64,
        largest change of a message, in nats, that counts as none. damping : float64, share of the
        old message in the new one. schedule : SEQUENTIAL (the factors forward and backward in turn,
        with the newest messages), PARALLEL, or RESIDUAL (first the factor to which most has
        changed).
    """

    max_iterations: int
    tolerance: float
    damping: float
    schedule: int


@kernel
def propagate_tables(factors, rows, plan, first, last, scores, report):
    """Fill in the scores of the states of all variables given the evidence of some rows.

    factors : Given. rows : uint8, (n_rows, n_vars), states, and 255
        where they are asked for. scores : float64, (n_rows, n_states), overwritten: log-beliefs
        but for a constant. report : float64, (n_rows, 3), overwritten: the iterations, the largest
        change in the last one, and the Bethe estimate of log Z; minus infinity where the evidence
        is seen to be impossible.
    """
    for i in range(first, last):
        graph, constant = graph_given(factors, rows[i])
        message = np.zeros(graph.slot[-1])
        if constant == -np.inf:
            scores[i], report[i] = 0.0, 0.0
            report[i, 2] = -np.inf
            continue
        report[i, 0], report[i, 1] = send_messages(graph, plan, scores[i], message)
        report[i, 2] = constant + bethe_of_tables(graph, scores[i], message)


@kernel
def send_messages(graph, plan, scores, message):
    """Renew messages until they change no more; return the iterations and the last change.

    Only the factors in `graph.order` count. On a forest one sweep backward and one forward make
    the messages exact.
    """
    runs = runs_of(graph)
    change, n_done, together = np.inf, 0, plan.schedule == PARALLEL
    add_up_to(graph, message, scores)
    if graph.is_forest:
        _sweep(graph, runs, 0.0, True, False, scores, message)
        _sweep(graph, runs, 0.0, False, False, scores, message)
        return 2, 0.0
    if plan.schedule == RESIDUAL:
        n_sent, change = _send_by_residual(graph, plan, scores, message, runs)
        add_up_to(graph, message, scores)
        return -(-n_sent // max(len(graph.order), 1)), change
    while n_done < plan.max_iterations and change > plan.tolerance:
        backward = n_done % 2 == 0
        change = _sweep(graph, runs, plan.damping, backward, together, scores, message)
        if together:
            add_up_to(graph, message, scores)
        n_done += 1
    add_up_to(graph, message, scores)
    return n_done, change


@kernel
def _sweep(graph, runs, damping, backward, together, scores, message):
    """Let each factor send its messages once; return the largest change."""
    change, n = 0.0, len(runs.run_start) - 1
    for k in range(n):
        r = n - 1 - k if backward else k
        first, last = runs.run_start[r], runs.run_start[r + 1]
        own = renew(graph, runs, first, last, damping, together, scores, message)
        change = max(change, own)
    return change


@kernel
def _send_by_residual(graph, plan, scores, message, runs):
    """Let the factor send next to whose variables most has changed; return messages sent, change.

    A factor waits in a heap with what has changed since it sent last. It is put there again when
    that has doubled, and its older places are passed over.
    """
    n = len(graph.order)
    waiting = np.zeros(len(graph.start) - 1)
    placed = np.zeros(len(waiting))
    heap = [(-np.inf, f) for f in graph.order]
    for f in graph.order:
        placed[f] = np.inf
    n_sent = 0
    while len(heap) and n_sent < plan.max_iterations * n:
        place, f = heapq.heappop(heap)
        if placed[f] != -place:
            continue
        placed[f] = 0.0
        k = runs.place[f]
        own = renew(graph, runs, k, k + 1, plan.damping, False, scores, message)
        waiting[f] = plan.damping * own
        n_sent += 1
        if waiting[f] > plan.tolerance:
            placed[f] = waiting[f]
            heapq.heappush(heap, (-placed[f], f))
        for e in range(graph.start[f], graph.start[f + 1]):
            v = graph.scope[e]
            moved = 0.0
            for s in range(graph.slot[e], graph.slot[e + 1]):
                moved = max(moved, abs(runs.change[s]))
            for g in graph.touch[graph.touch_start[v] : graph.touch_start[v + 1]]:
                if g == f or moved == 0.0:
                    continue
                waiting[g] += graph.share[f] * moved
                if waiting[g] > plan.tolerance and waiting[g] > 2.0 * placed[g]:
                    placed[g] = waiting[g]
                    heapq.heappush(heap, (-placed[g], g))
    return n_sent, max(waiting.max(), 0.0 if n_sent >= n else np.inf) if n else 0.0


@kernel
def bethe_of_tables(graph, scores, message):
    """Return the Bethe estimate of log Z that belongs to messages; exact on a forest."""
    total = 0.0
    touched = np.ones(len(graph.first) - 1)
    logs = np.empty(longest(graph.offset))
    for f in graph.order:
        if graph.offset[f] == graph.offset[f + 1]:
            total += log_feature(graph, f, scores, message)
        else:
            total += log_total(logs[: fill_logs(graph, f, scores, message, logs)])
        for v in graph.scope[graph.start[f] : graph.start[f + 1]]:
            touched[v] -= 1.0
    for v in range(len(touched)):
        total += touched[v] * log_total(scores[graph.first[v] : graph.first[v + 1]])
    return total
