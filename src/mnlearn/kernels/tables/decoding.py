"""States of variables chosen one after another, against the order of elimination."""

import numpy as np

from mnlearn.kernels.arithmetic.splitmix import advance, uniform
from mnlearn.kernels.jit import kernel
from mnlearn.kernels.tables.blocks import MAX
from mnlearn.kernels.tables.messages import FREE
from mnlearn.kernels.tables.rows import NO_STATE


@kernel
def _fill_scores(buckets, state, b, values, score):
    """Write the product of the inputs of a bucket for each state of its variable to `score`.

    values : the states of the variables of its separator, at least.
    """
    first, start = buckets.input_start[b], buckets.axis_start[b]
    score[: buckets.arity[b]] = 0.0 if state.log else 1.0
    for i in range(first, buckets.input_start[b + 1]):
        if i >= buckets.first_message[b] and state.is_unit[buckets.source[i]]:
            continue
        stride_at, at = buckets.stride_at[i], state.input_at[i]
        for a in range(start, buckets.axis_start[b + 1]):
            at += values[buckets.axis[a]] * buckets.stride[stride_at + 1 + a - start]
        for x in range(buckets.arity[b]):
            cell = state.value[at + x * buckets.stride[stride_at]]
            score[x] = score[x] + cell if state.log else score[x] * cell


@kernel
def _choose(score, n, log, greatest, u):
    """Return the state of the greatest score, the first of equals, or one drawn by the scores."""
    best, most = 0, score[0]
    for x in range(1, n):
        if score[x] > most:
            best, most = x, score[x]
    if greatest:
        return best
    whole = 0.0
    for x in range(n):
        if log:
            score[x] = np.exp(score[x] - most)
        whole += score[x]
    rest = u * whole
    for x in range(n):
        if score[x] > 0.0:
            best = x
            if rest < score[x]:
                return x
            rest -= score[x]
    return best


@kernel
def choose_states(buckets, state, begin, end, first, last, streams, values):
    """Choose the states of the variables of buckets begin:end in rows first:last of `values`.

    A bucket of the mode MAX takes the best state, another one draws its state. Variables that are
    kept, fixed, or of later buckets have their states already.
    streams : uint64, of each row, changed; see `row_streams`.
    """
    score = np.empty(NO_STATE)
    for row in range(first, last):
        stream = streams[row]
        for b in range(min(end, len(buckets.parent) - 1) - 1, begin - 1, -1):
            v = buckets.variable[b]
            if state.fixed[b] != FREE:
                values[row, v] = state.fixed[b]
                continue
            _fill_scores(buckets, state, b, values[row], score)
            stream = advance(stream)
            greatest, u = state.mode[b] == MAX, uniform(stream)
            values[row, v] = _choose(score, buckets.arity[b], state.log, greatest, u)
        streams[row] = stream


@kernel
def row_streams(n_rows, seed):
    """Return where the random numbers of each row begin."""
    out = np.empty(n_rows, np.uint64)
    for row in range(n_rows):
        out[row] = advance(seed + np.uint64(row) * np.uint64(0xD1342543DE82EF95))
    return out
