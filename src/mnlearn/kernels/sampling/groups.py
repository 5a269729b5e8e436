"""Gibbs sampling of groups of columns, of which in most states one is 1, or none.

A change of one column at a time leaves the value of such a variable only by a state in which no
column is 1, or two. If the model excludes these states, it never does. Here all columns of a group
are drawn together.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.logistic import sigmoid
from mnlearn.kernels.arithmetic.splitmix import advance, chain_seed, uniform
from mnlearn.kernels.jit import copy_into, kernel
from mnlearn.kernels.sampling.chains import draw_first_state, index_terms, store_means, update_terms
from mnlearn.kernels.sampling.conditioning import condition, holding_terms, room_for


class ColumnGroups(NamedTuple):
    """Groups of query variables; no variable is in two.

    start : int64, (n_groups + 1,). column : int64, those of group g are
    column[start[g]:start[g + 1]]. is_single : bool, (n_query,), whether a variable is in none.
    """

    start: NDArray[np.int64]
    column: NDArray[np.int64]
    is_single: NDArray[np.bool_]


@kernel
def sample_grouped_marginals(terms, evidence, groups, seed, burn_in, batch_end, first, last, out):
    """Estimate P(query variable = 1 | evidence) for evidence rows `first` to `last`.

    terms : QueryTerms, all symmetric. evidence : uint8, (n_evidence, n_evidence_vars).
    groups : ColumnGroups. seed : uint64. burn_in : int, sweeps that are not counted.
    batch_end : int64, (n_batches,), number of counted sweeps at the end of each batch.
    out : float32, (n_evidence, n_batches, n_query), written: the mean over each batch.
    """
    n_query = out.shape[2]
    x = np.zeros(n_query, np.uint8)
    for i in range(first, last):
        stream = draw_first_state(chain_seed(seed, evidence[i]), x)
        run_grouped_chain(terms, evidence[i : i + 1], groups, stream, burn_in, batch_end, x, out[i])


@kernel
def advance_grouped_states(terms, groups, n_sweeps, seed, first, last, states):
    """Make `n_sweeps` sweeps from a random state in each of the chains `first` to `last`.

    terms, groups : all variables are in the query. seed : uint64; what chain i draws depends on it
    and on i. states : uint8, (n_chains, n_vars), written.
    """
    nothing = np.empty((1, 0), np.uint8)
    batch_end = np.full(1, n_sweeps)
    unused = np.empty((1, states.shape[1]), np.float32)
    for i in range(first, last):
        stream = draw_first_state(chain_seed(seed + np.uint64(i), nothing[0]), states[i])
        run_grouped_chain(terms, nothing, groups, stream, 0, batch_end, states[i], unused)


@kernel
def run_grouped_chain(terms, evidence, groups, stream, burn_in, batch_end, x, out):
    """Run one chain from state `x`, uint8, (n_query,), which is overwritten by its last state.

    evidence : one row. Other arguments are those of `sample_grouped_marginals`.
    out : float32, (n_batches, n_query), written.
    """
    n_query = len(x)
    left = room_for(terms)
    # One place more than variables; see `update_terms`.
    odds, state = np.zeros(n_query + 1), np.zeros(n_query + 1, np.uint8)
    n_left = condition(terms, holding_terms(terms, evidence)[1], odds, left)
    copy_into(state, x)
    by_literal, violated = index_terms(left, n_left, n_query, state, odds)
    board = (state, left, by_literal, violated, odds, np.empty(n_query + 1, np.bool_))
    chance = np.empty(n_query)
    total = np.zeros(n_query)
    counted, batch = -burn_in, 0
    while batch < len(batch_end):
        if counted == 0:
            total[:] = 0.0
        while batch < len(batch_end) and counted == batch_end[batch]:
            before = batch_end[batch - 1] if batch else 0
            store_means(total, batch_end[batch] - before, out[batch])
            total[:] = 0.0
            batch += 1
        if batch < len(batch_end):
            stream = _sweep(groups, stream, board, chance)
            total += chance
            counted += 1
    copy_into(x, state[:n_query])


@kernel
def _sweep(groups, stream, board, chance):
    """Draw each group, and then each variable; return the stream.

    board : the state and what `update_terms` keeps of it.
    chance : float64, (n_query,), written: what a sweep says of P(variable = 1).
    """
    state, left, by_literal, violated, odds, stale = board
    for g in range(len(groups.start) - 1):
        own = groups.column[groups.start[g] : groups.start[g + 1]]
        stream = _draw_group(own, stream, board, chance)
    for v in range(len(chance)):
        p = sigmoid(odds[v])
        if groups.is_single[v]:
            chance[v] = p
        stream = advance(stream)
        drawn = uniform(stream) < p
        if drawn != state[v]:
            state[v] = drawn
            update_terms(v, state, left, by_literal, violated, odds, stale)
    return stream


@kernel
def _draw_group(own, stream, board, chance):
    """Draw which column of a group is 1, or none, unless several are; return the stream.

    The choice of this step depends on whether several columns are 1, which the step does not
    change: so it leaves the distribution of the model as it is.
    """
    state, left, by_literal, violated, odds, stale = board
    n_ones, one = 0, -1
    for c in own:
        chance[c] = state[c]
        if state[c]:
            n_ones, one = n_ones + 1, c
    if n_ones > 1:
        return stream
    if one >= 0:
        state[one] = 0
        update_terms(one, state, left, by_literal, violated, odds, stale)
    # Now the log-odds of each column compare the state in which it alone is 1 with that of none.
    largest = 0.0
    for c in own:
        largest = max(largest, odds[c])
    none = np.exp(-largest)
    whole = none
    for c in own:
        chance[c] = np.exp(odds[c] - largest)
        whole += chance[c]
    stream = advance(stream)
    rest = uniform(stream) * whole - none
    drawn = -1
    for c in own:
        if rest >= 0.0 and chance[c] > 0.0:
            drawn = c
            rest -= chance[c]
        chance[c] /= whole
    if drawn >= 0:
        state[drawn] = 1
        update_terms(drawn, state, left, by_literal, violated, odds, stale)
    return stream
