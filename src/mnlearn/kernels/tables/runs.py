"""The order in which factors send messages.

Factors that share no variable are in one run. Their messages do not depend on each other, so loops
over all of them use vector instructions.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.bits import lowest_bit
from mnlearn.kernels.jit import kernel
from mnlearn.kernels.tables.graphs import longest

# Kinds of factors; a pair is a table of two variables of two states.
PAIR, FEATURE, TABLE = range(3)
# Beyond this weight exp(w) + 1 is exp(w).
LARGE = 30.0
# Loops of vector instructions make so many steps at once, or a divisor of it.
STEP = 8
# Words of bits for the runs that have a variable.
_MOST_WORDS = 64


class Runs(NamedTuple):
    """Factors in the order in which they send, what is known of them, and scratch.

    factor : int64, (n,), by place in the order. place, kind : of each factor.
    run_start : run r, of one kind, has the places run_start[r]:run_start[r + 1].
    start, at, slot, width : place k has the members start[k]:start[k + 1]; where scores and message
        of a member begin, and its number of states.
    linear : the cells of all tables, each table divided by its greatest cell.
    odds : float64, (3, n). A message of a feature whose other literals hold with probability p is
        a + log(b (1 - p) + c p) with a, b, c = odds[:, k]; a is 0 unless exp(w) could overflow.
    own, others : float64, (2, most members of a run), for pairs and features: the probability that
        a literal fails, and holds; the same of all other literals of its factor together.
    logs, weights : of the cells of a table. chance, change : by slot, of states and messages.
    """

    factor: NDArray[np.int64]
    place: NDArray[np.int64]
    kind: NDArray[np.int64]
    run_start: NDArray[np.int64]
    start: NDArray[np.int64]
    at: NDArray[np.int64]
    slot: NDArray[np.int64]
    width: NDArray[np.int64]
    linear: NDArray[np.float64]
    odds: NDArray[np.float64]
    own: NDArray[np.float64]
    others: NDArray[np.float64]
    logs: NDArray[np.float64]
    weights: NDArray[np.float64]
    chance: NDArray[np.float64]
    change: NDArray[np.float64]


@kernel
def runs_of(graph):
    """Return the factors of a graph in runs; those of a forest one by one, from roots on."""
    n_factors, n = len(graph.start) - 1, len(graph.order)
    kind, place = np.full(n_factors, TABLE), np.zeros(n_factors, np.int64)
    for f in range(n_factors):
        begin, n_cells = graph.start[f], graph.offset[f + 1] - graph.offset[f]
        if n_cells == 0:
            kind[f] = FEATURE
        elif n_cells == 4 and graph.start[f + 1] == begin + 2:
            # Not one of four states beside one of a single state.
            kind[f] = PAIR if graph.slot[begin + 1] == graph.slot[begin] + 2 else TABLE
    factor, run_start = _in_runs(graph, kind)
    start = np.zeros(n + 1, np.int64)
    for k in range(n):
        place[factor[k]] = k
        start[k + 1] = start[k] + graph.start[factor[k] + 1] - graph.start[factor[k]]
    at, slot, width = _members_of(graph, factor, start)
    most, cells = 0, longest(graph.offset)
    for r in range(len(run_start) - 1):
        most = max(most, start[run_start[r + 1]] - start[run_start[r]] + STEP)
    linear, odds = _values_of(graph, factor)
    n_slots = graph.slot[-1]
    return Runs(
        factor, place, kind, run_start, start, at, slot, width, linear,
        odds, np.zeros((2, most)), np.zeros((2, most)), np.empty(cells), np.empty(cells),
        np.empty(n_slots), np.zeros(n_slots),
    )  # fmt: skip


@kernel
def _in_runs(graph, kind):
    """Return the factors of the order by run and kind, and where each run of a kind begins."""
    n = len(graph.order)
    if graph.is_forest:
        return graph.order.copy(), np.arange(n + 1)
    key, most = _find_runs(graph), 0
    for k in range(n):
        key[k] = 3 * key[k] + kind[graph.order[k]]
        most = max(most, key[k])
    place, n_runs = np.zeros(most + 2, np.int64), 0
    for k in range(n):
        place[key[k] + 1] += 1
    run_start, factor = np.zeros(n + 1, np.int64), np.empty(n, np.int64)
    for r in range(most + 1):
        if place[r + 1] and n:
            n_runs += 1
            run_start[n_runs] = run_start[n_runs - 1] + place[r + 1]
        place[r + 1] += place[r]
    for k in range(n):
        factor[place[key[k]]] = graph.order[k]
        place[key[k]] += 1
    return factor, run_start[: n_runs + 1]


@kernel
def _members_of(graph, factor, start):
    """Return `at`, `slot` and `width` of the members of factors; see `Runs`."""
    at, slot = np.empty(start[-1], np.int64), np.empty(start[-1], np.int64)
    width = np.empty(start[-1], np.int64)
    for k in range(len(factor)):
        for j in range(start[k + 1] - start[k]):
            e, m = graph.start[factor[k]] + j, start[k] + j
            at[m], slot[m] = graph.first[graph.scope[e]], graph.slot[e]
            width[m] = graph.slot[e + 1] - graph.slot[e]
    return at, slot, width


@kernel
def _values_of(graph, factor):
    """Return `linear` and `odds` of factors; see `Runs`."""
    linear, odds = np.empty(len(graph.log_table)), np.zeros((3, len(factor)))
    for k in range(len(factor)):
        f = factor[k]
        begin, end, w = graph.offset[f], graph.offset[f + 1], graph.weight[f]
        if begin < end:
            top = graph.log_table[begin]
            for c in range(begin, end):
                top = max(top, graph.log_table[c])
            for c in range(begin, end):
                linear[c] = np.exp(graph.log_table[c] - top)
        large = w >= LARGE
        odds[0, k] = w if large else 0.0
        odds[1, k] = np.exp(-w) if large else 1.0
        odds[2, k] = 1.0 if large else np.exp(w)
    return linear, odds


@kernel
def _find_runs(graph):
    """Return the run of each factor of the order: the first that has none of its variables.

    A factor that finds none among the runs with bits goes behind the last run of its variables.
    """
    n_words, n_vars = min(len(graph.order) // 64 + 1, _MOST_WORDS), len(graph.first) - 1
    used, free = np.zeros((n_vars, n_words), np.uint64), np.full(n_vars, 64 * n_words)
    run = np.empty(len(graph.order), np.int64)
    for k in range(len(run)):
        f = graph.order[k]
        own = graph.scope[graph.start[f] : graph.start[f + 1]]
        run[k] = -1
        for w in range(n_words):
            taken = np.uint64(0)
            for v in own:
                taken |= used[v, w]
            if taken != ~np.uint64(0):
                bit = lowest_bit(~taken)
                run[k] = 64 * w + np.int64(bit)
                for v in own:
                    used[v, w] |= np.uint64(1) << bit
                break
        if run[k] < 0:
            for v in own:
                run[k] = max(run[k], free[v])
            for v in own:
                free[v] = run[k] + 1
    return run
