"""Gibbs sampling on tables by replicas at several temperatures, which exchange their places.

Rung r of a ladder draws from the distribution whose log-potential is multiplied by share[r], on the
last rung 1. The even pairs of neighbours exchange after one sweep and the odd pairs after the next
(Syed et al., "Non-reversible parallel tempering", 2022).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.logistic import sigmoid
from mnlearn.kernels.arithmetic.splitmix import advance, fill_logistic, uniform
from mnlearn.kernels.jit import copy_into, inlined, kernel
from mnlearn.kernels.sampling.blocks import fill_softmax
from mnlearn.kernels.sampling.chains import store_means


class Clauses(NamedTuple):
    """Conjunctions with finite weights, and where each variable stands in them.

    Variable v is in clause[var_start[v]:var_start[v + 1]], each of them once; a bit of the mask is
    set for each state that the clause allows.
    """

    weight: NDArray[np.float64]
    var_start: NDArray[np.int64]
    clause: NDArray[np.int64]
    mask: NDArray[np.uint64]


class FactorGraph(NamedTuple):
    """Tables and clauses, and where each variable stands in them.

    state_start : places of the states of variables. Factor f begins at table[offset[f]]. Variable v
    is in factor[var_start[v]:var_start[v + 1]]; there its next state is `stride` cells further.
    """

    arity: NDArray[np.int64]
    state_start: NDArray[np.int64]
    offset: NDArray[np.int64]
    table: NDArray[np.float64]
    var_start: NDArray[np.int64]
    factor: NDArray[np.int64]
    stride: NDArray[np.int64]
    clauses: Clauses


class Ladder(NamedTuple):
    """The replicas of one chain; a slot is a row of `state`, which wanders over the rungs.

    at : the slot on each rung. cell : the cell of each table. violated : in how many variables each
    clause does not hold. potential : of each slot. from_top : whether a slot was on rung 0 after it
    was last on the last rung. refused : the summed probabilities that pairs did not exchange.
    """

    share: NDArray[np.float64]
    at: NDArray[np.int64]
    state: NDArray[np.uint8]
    cell: NDArray[np.int64]
    violated: NDArray[np.int64]
    potential: NDArray[np.float64]
    from_top: NDArray[np.bool_]
    refused: NDArray[np.float64]


@kernel
def place_replicas(graph, ladder):
    """Fill in the cells, the clauses and the log-potentials of the states of a ladder."""
    clauses, nothing = graph.clauses, np.uint64(0)
    for k in range(len(ladder.at)):
        cell, violated, x = ladder.cell[k], ladder.violated[k], ladder.state[k]
        violated[:] = 0
        copy_into(cell, graph.offset)
        for v in range(len(graph.arity)):
            for j in range(graph.var_start[v], graph.var_start[v + 1]):
                cell[graph.factor[j]] += graph.stride[j] * np.int64(x[v])
            for j in range(clauses.var_start[v], clauses.var_start[v + 1]):
                violated[clauses.clause[j]] += _has(clauses.mask[j], x[v]) == nothing
        ladder.potential[k] = 0.0
        for f in range(len(cell)):
            ladder.potential[k] += graph.table[cell[f]]
        for t in range(len(violated)):
            ladder.potential[k] += clauses.weight[t] * (violated[t] == 0)


@inlined
def _has(mask, state):
    """Return 1 if a mask has the bit of a state, else 0; uint64."""
    return mask >> np.uint64(state) & np.uint64(1)


@kernel
def _add_clauses(v, before, clauses, violated, score):
    """Add the weights of the clauses in which only variable v may be violated to its scores."""
    for j in range(clauses.var_start[v], clauses.var_start[v + 1]):
        t, mask = clauses.clause[j], clauses.mask[j]
        if violated[t] + np.int64(_has(mask, before)) == 1:
            for a in range(len(score)):
                if _has(mask, a) == np.uint64(1):
                    score[a] += clauses.weight[t]


@kernel
def _move_clauses(v, before, after, clauses, violated):
    """Bring `violated` up to date after a change of variable v."""
    for j in range(clauses.var_start[v], clauses.var_start[v + 1]):
        mask = clauses.mask[j]
        violated[clauses.clause[j]] += np.int64(_has(mask, before)) - np.int64(_has(mask, after))


@kernel
def draw_uniform_states(arity, free, stream, states):
    """Draw the free variables of each row of states uniformly; return the stream."""
    for k in range(len(states)):
        for v in free:
            stream = advance(stream)
            states[k, v] = np.uint8(uniform(stream) * arity[v])
    return stream


@kernel
def draw_scored(score, share, u, p):
    """Return the state that u draws with probabilities proportional to exp(share * score)."""
    most, total = np.max(score), 0.0
    for a in range(len(score)):
        p[a] = np.exp(share * (score[a] - most))
        total += p[a]
    left = u * total
    for a in range(len(score)):
        left -= p[a]
        if left < 0.0:
            return a
    return np.argmax(score)


@kernel
def sweep_variables(graph, free, share, x, cell, violated, stream, room, p):
    """Draw each free variable given all others; return the stream and the rise of the potential.

    x, cell, violated : rows of `Ladder`, overwritten. p : written, unless it has no place: the
    distributions from which the variables were drawn.
    """
    thresholds, score, scratch = room
    stream, rise, n_clauses = fill_logistic(stream, thresholds), 0.0, len(violated)
    for i in range(len(free)):
        v = free[i]
        k, before = graph.arity[v], np.int64(x[v])
        score[:k] = 0.0
        _add_cells(v, before, graph, cell, score[:k])
        if n_clauses:
            _add_clauses(v, before, graph.clauses, violated, score[:k])
        if k == 2:
            after = np.int64(thresholds[i] < share * (score[1] - score[0]))
        else:
            after = draw_scored(score[:k], share, sigmoid(thresholds[i]), scratch)
        if len(p):
            first = graph.state_start[v]
            fill_softmax(share * score[:k], p[first : first + k])
        if after != before:
            rise += score[after] - score[before]
            x[v] = after
            for j in range(graph.var_start[v], graph.var_start[v + 1]):
                cell[graph.factor[j]] += graph.stride[j] * (after - before)
            if n_clauses:
                _move_clauses(v, before, after, graph.clauses, violated)
    return stream, rise


@inlined
def _add_cells(v, before, graph, cell, score):
    """Add the cells of all tables for each state of variable v to its scores."""
    table, factor, stride = graph.table, graph.factor, graph.stride
    if len(score) == 2:
        odds = 0.0
        for j in range(graph.var_start[v], graph.var_start[v + 1]):
            begin = cell[factor[j]] - stride[j] * before
            odds += table[begin + stride[j]] - table[begin]
        score[1] = odds
    else:
        for j in range(graph.var_start[v], graph.var_start[v + 1]):
            begin = cell[factor[j]] - stride[j] * before
            for a in range(len(score)):
                score[a] += table[begin + stride[j] * a]


@kernel
def exchange_rungs(ladder, parity, stream):
    """Let every second pair of neighbouring rungs exchange states; return the stream."""
    share, at, potential = ladder.share, ladder.at, ladder.potential
    for r in range(parity, len(at) - 1, 2):
        rise = (share[r + 1] - share[r]) * (potential[at[r]] - potential[at[r + 1]])
        accepted = np.exp(min(rise, 0.0))
        ladder.refused[r] += 1.0 - accepted
        stream = advance(stream)
        if uniform(stream) < accepted:
            at[r], at[r + 1] = at[r + 1], at[r]
    return stream


@kernel
def climb(graph, free, ladder, stream, n_before, n_sweeps, out):
    """Run a ladder; return the stream and how often a state came from the first rung to the last.

    free : the variables that are not known. n_before : sweeps that were made before. out :
    (n_batches, n_states), the mean over each batch of `n_sweeps` of the distributions of the last
    rung.
    """
    n_rungs, n_states, most = len(ladder.at), graph.state_start[-1], np.max(graph.arity)
    room = (np.empty(len(free)), np.empty(most), np.empty(most))
    p, nothing = np.zeros(n_states), np.empty(0)
    total, n_trips, sweep = np.empty(n_states), 0, n_before
    for b in range(len(out)):
        total[:] = 0.0
        for _ in range(n_sweeps):
            for r in range(n_rungs):
                k = ladder.at[r]
                own = (ladder.state[k], ladder.cell[k], ladder.violated[k])
                shown = p if r == n_rungs - 1 else nothing
                stream, rise = sweep_variables(
                    graph, free, ladder.share[r], *own, stream, room, shown
                )
                ladder.potential[k] += rise
            total += p
            stream = exchange_rungs(ladder, sweep % 2, stream)
            ladder.from_top[ladder.at[0]] = True
            if ladder.from_top[ladder.at[n_rungs - 1]]:
                n_trips += 1
                ladder.from_top[ladder.at[n_rungs - 1]] = False
            sweep += 1
        store_means(total, n_sweeps, out[b])
    return stream, n_trips
