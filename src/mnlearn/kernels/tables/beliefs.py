"""Messages of factors, which are tables, to variables: belief propagation, plain and reweighted.

A factor has a share. With shares of 1 the messages are those of belief propagation. With the shares
of spanning forests, and tables divided by them, they are tree-reweighted: the message of a factor
counts at its share in the score of a state, and as a whole where it is taken out again.

States that no assignment of positive probability has are excluded before the first message, as far
as single factors tell. So each message to a state that is left is finite.
"""

import heapq
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.jit import inlined, kernel
from mnlearn.kernels.tables.graphs import add_up_to, fill_logs, graph_given, greatest

SEQUENTIAL, PARALLEL, RESIDUAL = range(3)
# A sum below this has lost terms that are too small, and is taken again from logarithms.
_SMALL = 1e-200


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


class _Room(NamedTuple):
    """Scratch: logs and weights of the cells of a factor, and how each message changes."""

    logs: NDArray[np.float64]
    weights: NDArray[np.float64]
    change: NDArray[np.float64]


@kernel
def propagate_tables(factors, rows, plan, first, last, scores, report):
    """Fill in the scores of the states of all variables given the evidence of some rows.

    factors : the first five arrays of `Factors`. rows : uint8, (n_rows, n_vars), states, and 255
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
    room = _room_for(graph)
    change, n_done = np.inf, 0
    add_up_to(graph, message, scores)
    if graph.is_forest:
        for backward in (True, False):
            _sweep(graph, 0.0, backward, False, scores, message, room)
        return 2, 0.0
    if plan.schedule == RESIDUAL:
        n_sent, change = _send_by_residual(graph, plan, scores, message, room)
        add_up_to(graph, message, scores)
        return -(-n_sent // max(len(graph.order), 1)), change
    together = plan.schedule == PARALLEL
    while n_done < plan.max_iterations and change > plan.tolerance:
        backward = n_done % 2 == 0
        change = _sweep(graph, plan.damping, backward, together, scores, message, room)
        add_up_to(graph, message, scores)
        n_done += 1
    return n_done, change


@kernel
def _room_for(graph):
    cells = np.diff(graph.offset)
    most = cells.max() if len(cells) else 0
    return _Room(np.empty(most), np.empty(most), np.zeros(graph.slot[-1]))


@kernel
def _sweep(graph, damping, backward, together, scores, message, room):
    """Let each factor send its messages once; return the largest change.

    together : whether all messages are computed from the same scores, which stay as they are.
    """
    change = 0.0
    n = len(graph.order)
    for k in range(n):
        f = graph.order[n - 1 - k if backward else k]
        change = max(change, _renew(graph, f, damping, scores, message, room))
        if not together:
            _add_changes(graph, f, room.change, scores)
    return change


@kernel
def _send_by_residual(graph, plan, scores, message, room):
    """Let the factor send next to whose variables most has changed; return messages sent, change.

    A factor waits in a heap with what has changed since it sent last. It is put there again when
    that has doubled, and its older places are passed over.
    """
    n = len(graph.order)
    waiting = np.zeros(len(graph.start) - 1)
    placed = np.zeros(len(waiting))
    heap = [(-np.inf, f) for f in graph.order]
    placed[graph.order] = np.inf
    n_sent = 0
    while len(heap) and n_sent < plan.max_iterations * n:
        place, f = heapq.heappop(heap)
        if placed[f] != -place:
            continue
        placed[f] = 0.0
        waiting[f] = plan.damping * _renew(graph, f, plan.damping, scores, message, room)
        _add_changes(graph, f, room.change, scores)
        n_sent += 1
        if waiting[f] > plan.tolerance:
            placed[f] = waiting[f]
            heapq.heappush(heap, (-placed[f], f))
        for e in range(graph.start[f], graph.start[f + 1]):
            v = graph.scope[e]
            moved = np.abs(room.change[graph.slot[e] : graph.slot[e + 1]]).max()
            for g in graph.touch[graph.touch_start[v] : graph.touch_start[v + 1]]:
                if g == f or moved == 0.0:
                    continue
                waiting[g] += graph.share[f] * moved
                if waiting[g] > plan.tolerance and waiting[g] > 2.0 * placed[g]:
                    placed[g] = waiting[g]
                    heapq.heappush(heap, (-placed[g], g))
    return n_sent, max(waiting.max() if len(waiting) else 0.0, 0.0 if n_sent >= n else np.inf)


@inlined
def _renew(graph, f, damping, scores, message, room):
    """Renew the messages of a factor, and write how they change; return the largest change.

    That is the one that they would make without damping. The greatest entry of a message is 0.
    """
    n_cells = fill_logs(graph, f, scores, message, room.logs)
    top = greatest(room.logs, n_cells, 1, n_cells, 0)
    for c in range(n_cells):
        room.weights[c] = np.exp(room.logs[c] - top)
    largest, stride = 0.0, n_cells
    for e in range(graph.start[f], graph.start[f + 1]):
        first, last = graph.first[graph.scope[e]], graph.first[graph.scope[e] + 1]
        n_states, slot, highest = last - first, graph.slot[e], -np.inf
        stride //= n_states
        for x in range(n_states):
            other = scores[first + x] - message[slot + x]
            if other > -np.inf:
                new = top + _log_sum(room, top, n_cells, n_states, stride, x) - other
                room.change[slot + x] = new
                highest = max(highest, new)
        for x in range(n_states):
            difference = 0.0
            if scores[first + x] > -np.inf:
                difference = room.change[slot + x] - highest - message[slot + x]
            largest = max(largest, abs(difference))
            room.change[slot + x] = (1.0 - damping) * difference
            message[slot + x] += room.change[slot + x]
    return largest


@inlined
def _log_sum(room, top, n_cells, n_states, stride, x):
    """Return the log of the sum of the weights of cells in which a variable has state x."""
    total = 0.0
    for block in range(x * stride, n_cells, n_states * stride):
        for c in range(block, block + stride):
            total += room.weights[c]
    if total > _SMALL:
        return np.log(total)
    own, total = greatest(room.logs, n_cells, n_states, stride, x), 0.0
    for block in range(x * stride, n_cells, n_states * stride):
        for c in range(block, block + stride):
            total += np.exp(room.logs[c] - own)
    return own - top + np.log(total)


@inlined
def _add_changes(graph, f, change, scores):
    """Add to the scores how the messages of a factor have changed."""
    for e in range(graph.start[f], graph.start[f + 1]):
        first = graph.first[graph.scope[e]]
        for s in range(graph.slot[e], graph.slot[e + 1]):
            scores[first + s - graph.slot[e]] += graph.share[f] * change[s]


@kernel
def bethe_of_tables(graph, scores, message):
    """Return the Bethe estimate of log Z that belongs to messages; exact on a forest."""
    total = 0.0
    touched = np.ones(len(graph.first) - 1)
    logs = np.empty(np.diff(graph.offset).max() if len(graph.order) else 0)
    for f in graph.order:
        total += _log_total(logs[: fill_logs(graph, f, scores, message, logs)])
        for v in graph.scope[graph.start[f] : graph.start[f + 1]]:
            touched[v] -= 1.0
    for v in range(len(touched)):
        total += touched[v] * _log_total(scores[graph.first[v] : graph.first[v + 1]])
    return total


@kernel
def _log_total(logs):
    """Return the logarithm of the sum of exponentials."""
    top, total = logs.max(), 0.0
    for x in logs:
        total += np.exp(x - top)
    return top + np.log(total)
