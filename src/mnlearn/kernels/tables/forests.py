"""An upper bound of log Z from forests of factors."""

import numpy as np

from mnlearn.kernels.jit import kernel
from mnlearn.kernels.tables.beliefs import bethe_of_tables, send_messages
from mnlearn.kernels.tables.graphs import breadth_first, fill_logs, graph_given, with_order

# At least so many forests, and as many as it takes for each factor to be in one.
_N_FORESTS = 16
_GOLDEN = 0.6180339887498949


@kernel
def bound_by_forests(factors, values, plan):
    """Return an upper bound of log Z given known values, the iterations and the last change.

    factors : Given, without features. values : see `propagate_tables`.

    Each forest has factors that close no loop, and the share of a factor is the share of the
    forests that have it. Messages move parts of the tables between the forests so that the mean of
    the logarithms of all tables stays as it is. So the mean of the forests' log Z, each exact, is a
    bound for any messages (Hoelder's inequality), and the messages only make it tight.
    """
    graph, constant = graph_given(factors, values)
    scores, message = graph.base.copy(), np.zeros(graph.slot[-1])
    if constant == -np.inf or graph.is_forest:
        if constant > -np.inf:
            send_messages(graph, plan, scores, message)
            constant += bethe_of_tables(graph, scores, message)
        return constant, 0, 0.0
    forests = _choose_forests(graph)
    for f in range(len(graph.share)):
        graph.log_table[graph.offset[f] : graph.offset[f + 1]] /= graph.share[f]
    before = _mean_log_z(graph, plan, forests, scores, message)
    n_done, change = send_messages(graph, plan, scores, message)
    after = _mean_log_z(graph, plan, forests, scores, message)
    return constant + min(before, after), n_done, change


@kernel
def _choose_forests(graph):
    """Return forests, bool of (n_factors,) each, that have all factors about equally often."""
    n = len(graph.share)
    used = np.zeros(n)
    forests = [_grow_forest(graph, np.arange(n))]
    used += forests[0]
    while len(forests) < _N_FORESTS or used.min() == 0.0:
        # Among factors of equal use another order each time.
        order = np.argsort(used + _GOLDEN * len(forests) * np.arange(1, n + 1) % 1.0)
        forests.append(_grow_forest(graph, order))
        used += forests[-1]
    graph.share[:] = used / len(forests)
    return forests


@kernel
def _mean_log_z(graph, plan, forests, scores, message):
    """Return the mean log Z of the forests, whose tables have lost the messages to the scores."""
    table, nothing = np.empty(len(graph.log_table)), np.zeros(len(scores))
    for f in range(len(graph.share)):
        fill_logs(graph, f, nothing, message, table[graph.offset[f] : graph.offset[f + 1]])
    total = 0.0
    for k in range(len(forests)):
        order, _ = breadth_first(graph, forests[k])
        forest = with_order(graph, table, scores, forests[k].astype(np.float64), order, True)
        own, sent = np.empty(len(scores)), np.zeros(len(message))
        send_messages(forest, plan, own, sent)
        total += bethe_of_tables(forest, own, sent)
    return total / len(forests)


@kernel
def _grow_forest(graph, candidates):
    """Return the factors that can be taken in the order of `candidates` without closing a loop."""
    chosen = np.zeros(len(graph.start) - 1, np.bool_)
    above = np.arange(len(graph.first) - 1)
    for f in candidates:
        own = graph.scope[graph.start[f] : graph.start[f + 1]].copy()
        for k in range(len(own)):
            while above[own[k]] != own[k]:
                above[own[k]] = above[above[own[k]]]
                own[k] = above[own[k]]
        own.sort()
        if (own[1:] != own[:-1]).all():
            chosen[f] = True
            above[own[1:]] = own[0]
    return chosen
