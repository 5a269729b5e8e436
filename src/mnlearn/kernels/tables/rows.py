"""Evidence of one row after another in a tree of buckets."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.jit import kernel
from mnlearn.kernels.tables.messages import FREE, find_units, send_down, send_up

NO_STATE = 255
# What a step does: it sends messages up or down, or sets a range of cells of `down` to nothing.
UP, DOWN, CLEAR = 0, 1, 2


class Entry(NamedTuple):
    """How the states of known variables come into a tree of buckets.

    offset, shift : float64, where the cells of each factor begin, and what was taken off their
        logarithms in linear space.
    factor, variable, stride : each place of a variable that the tree takes as known: its factor and
        how far apart the cells are.
    home : the bucket of each factor, -1 where all its variables are known.
    child : the bucket of the variable that a factor is the distribution of, negative if none.
    of_bucket : the input that the message of each bucket is, -1 for the last one.
    log_table : as in `Factors`.
    """

    offset: NDArray[np.int64]
    shift: NDArray[np.float64]
    factor: NDArray[np.int64]
    variable: NDArray[np.int64]
    stride: NDArray[np.int64]
    home: NDArray[np.int64]
    child: NDArray[np.int64]
    of_bucket: NDArray[np.int64]
    log_table: NDArray[np.float64]


@kernel
def enter_row(buckets, state, entry, values):
    """Enter the states of a row; return the logarithm of what is in no message.

    values : uint8, (n_vars,), NO_STATE where nothing is known.
    """
    at = entry.offset[:-1].copy()
    for k in range(len(entry.factor)):
        at[entry.factor[k]] += entry.stride[k] * values[entry.variable[k]]
    for b in range(len(buckets.parent)):
        v = buckets.variable[b]
        state.fixed[b] = FREE if v < 0 or values[v] == NO_STATE else values[v]
        state.log_scale[b] = 0.0
        for i in range(buckets.input_start[b], buckets.first_message[b]):
            state.input_at[i] = at[buckets.source[i]]
    find_units(buckets, entry.child, state)
    constant = 0.0
    for f in range(len(entry.home)):
        if entry.home[f] < 0:
            constant += entry.log_table[at[f]]
        elif not state.log and not state.is_unit[entry.home[f]]:
            constant += entry.shift[f]
    return constant


@kernel
def log_sum(buckets, state, constant):
    """Return the logarithm of the sum of the table of the last bucket, in which messages are."""
    last = len(buckets.parent) - 1
    at, most = state.message_at[last], -np.inf
    for j in range(at, at + buckets.size[last]):
        most = max(most, state.value[j])
    if most == (-np.inf if state.log else 0.0):
        return -np.inf
    whole = 0.0
    for j in range(at, at + buckets.size[last]):
        whole += np.exp(state.value[j] - most) if state.log else state.value[j]
    return constant + state.log_scale.sum() + np.log(whole) + (most if state.log else 0.0)


@kernel
def begin_down(buckets, state):
    """Set the messages down to nothing, but that of the last bucket to 1."""
    last = len(buckets.parent) - 1
    at = state.message_at[last] - state.origin
    state.down[:] = -np.inf if state.log else 0.0
    state.down[at : at + buckets.size[last]] = 0.0 if state.log else 1.0
    state.marginal[:] = -np.inf if state.log else 0.0
    state.low_down[last] = 0.0


@kernel
def take_step(buckets, state, entry, step):
    """Send the messages of a step; return False where linear space is too small for it."""
    first, last, first_block, last_block = step[0], step[1], step[2], step[3]
    if step[4] == CLEAR:
        state.down[first:last] = -np.inf if state.log else 0.0
        return True
    if step[4] == UP:
        return send_up(buckets, state, first, last, first_block, last_block, entry.of_bucket)
    return send_down(buckets, state, first, last, first_block, last_block)


@kernel
def answer_rows(
    buckets,
    state,
    entry,
    values,
    steps,
    n_up,
    first_step,
    last_step,
    first,
    last,
    log_value,
    marginal,
):
    """Take steps first_step:last_step of the answers to rows first:last of evidence.

    Return how many rows are answered, up to one that linear space is too small for. Steps one by
    one are for a single row.

    steps : int64, (n_steps, 5), ranges of buckets and of blocks, see `send_up`, and UP, DOWN or
        CLEAR. The first `n_up` go up. Of the others, those down are of later buckets first.
    log_value : float64, (n_rows,), written: the logarithm of the sum over the other variables.
    marginal : (n_rows, n_states), written in the last step down, not normalised.
    """  # fmt: skip
    for row in range(first, last):
        if first_step == 0:
            log_value[row] = enter_row(buckets, state, entry, values[row])
        for k in range(first_step, last_step):
            if k == n_up:
                begin_down(buckets, state)
            if not take_step(buckets, state, entry, steps[k]):
                return row - first
            if k == n_up - 1:
                log_value[row] = log_sum(buckets, state, log_value[row])
        if last_step == len(steps) and n_up < last_step:
            for k in range(len(state.marginal)):
                marginal[row, k] = state.marginal[k]
    return last - first


@kernel
def bound(buckets, state, entry, constant, path):
    """Return the log of the value of a tree, of which the buckets on a path have changed."""
    for b in path:
        send_up(buckets, state, b, b + 1, 0, -1, entry.of_bucket)
    return log_sum(buckets, state, constant)
