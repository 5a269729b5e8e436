"""Messages of a tree of buckets: up to the last bucket, and down again."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.jit import copy_into, kernel
from mnlearn.kernels.tables.blocks import (
    MAX,
    NUMBER,
    RUN,
    SUM,
    block_axes,
    combine,
    find_bases,
    find_offsets,
    gather_into,
    reduce,
    room_for,
    times,
)

# In linear space, a product below this would lose digits. In nats.
LEAST = -650.0
# In `State.fixed`: every state of the variable counts.
FREE = -1


class State(NamedTuple):
    """What messages are computed from and written to.

    mode : int64, (n_buckets,): how each bucket combines the states of its variable.
    log : whether all tables are logarithms, which goes with every mode but SUM.
    input_at : int64, (n_inputs,), where the cells of each input begin in `value`.
    value : float64: the factors, and the messages up. low : the logarithm of the least positive
        cell of each input in linear space.
    message_at : int64, (n_buckets,), where the message up begins in `value`; the message down
        begins at message_at[b] - origin in `down`. low_down : as `low`, for each bucket.
    is_unit : uint8, (n_buckets,): all cells of the message up are 1, so that it is not looked at.
    fixed : int64, (n_buckets,): the state of a variable that is known, or FREE.
    log_scale : float64, (n_buckets,): what the message up was divided by, in nats.
    marginal_at, marginal : where the marginal of the variable of each bucket begins, and all.
    """

    mode: NDArray[np.int64]
    log: int
    input_at: NDArray[np.int64]
    value: NDArray[np.float64]
    low: NDArray[np.float64]
    message_at: NDArray[np.int64]
    origin: int
    down: NDArray[np.float64]
    low_down: NDArray[np.float64]
    is_unit: NDArray[np.uint8]
    fixed: NDArray[np.int64]
    log_scale: NDArray[np.float64]
    marginal_at: NDArray[np.int64]
    marginal: NDArray[np.float64]


@kernel
def find_units(buckets, child, state):
    """Write which messages up are 1, because they sum conditional distributions out.

    That is so where each bucket of a subtree has the distribution of its own variable as only
    factor, and no state of these variables is fixed. Nothing is a maximum there.
    child : the bucket of the variable that each factor is the
        distribution of; negative if it is none.
    """
    is_unit = state.is_unit
    for b in range(len(buckets.parent)):
        i = buckets.input_start[b]
        is_unit[b] = state.mode[b] != MAX and state.fixed[b] == FREE and buckets.variable[b] >= 0
        is_unit[b] &= buckets.first_message[b] - i == 1
        if is_unit[b]:
            is_unit[b] = child[buckets.source[i]] == b
        for k in range(buckets.first_message[b], buckets.input_start[b + 1]):
            is_unit[b] &= is_unit[buckets.source[k]]


@kernel
def _product(buckets, b, state, last, x, base, kind, offset, length, block):
    """Multiply a block by the inputs of a bucket before `last`, with its variable in state `x`.

    Messages that are 1 are left out. Return False if all of the product is 0.
    """
    first, log = buckets.input_start[b], state.log
    number = 0.0 if log else 1.0
    for i in range(first, last):
        k = i - first
        if kind[k] == NUMBER and not _is_unit(buckets, b, state, i):
            cell = state.value[base[k] + x * buckets.stride[buckets.stride_at[i]]]
            number = number + cell if log else number * cell
    if number == (-np.inf if log else 0.0):
        return False
    for j in range(length):
        block[j] = block[j] + number if log else block[j] * number
    for i in range(first, last):
        k = i - first
        if kind[k] != NUMBER and not _is_unit(buckets, b, state, i):
            at = base[k] + x * buckets.stride[buckets.stride_at[i]]
            times(log, kind[k], state.value, at, offset[k], length, block)
    return True


@kernel
def _is_unit(buckets, b, state, i):
    return i >= buckets.first_message[b] and state.is_unit[buckets.source[i]] == 1


@kernel
def _is_safe(buckets, b, state, low):
    """Tell whether no product of positive cells of a bucket is too small for linear space."""
    for i in range(buckets.input_start[b], buckets.input_start[b + 1]):
        if not _is_unit(buckets, b, state, i):
            low += state.low[i]
    return state.log or low > LEAST


@kernel
def _range(state, buckets, b):
    """Return the first state of the variable of a bucket that counts, and the one behind."""
    if state.fixed[b] == FREE:
        return 0, buckets.arity[b]
    return state.fixed[b], state.fixed[b] + 1


@kernel
def _scale(values, first, last, log):
    """Divide cells by the greatest; return its logarithm and that of the least positive cell.

    log : whether they are logarithms, which stay as they are.
    """
    if log:
        return 0.0, 0.0
    most = 0.0
    for j in range(first, last):
        most = max(most, values[j])
    if most == 0.0:
        return -np.inf, 0.0
    least = most
    for j in range(first, last):
        if values[j] > 0.0:
            least = min(least, values[j])
        values[j] /= most
    return np.log(most), np.log(least / most)


@kernel
def send_up(buckets, state, first, last, first_block, last_block, of_bucket):
    """Compute the messages up of buckets first:last; return False where linear space is too small.

    first_block, last_block : of a single bucket, which blocks of its message to compute; a negative
        last block stands for all. Its message is done with its last block.
    of_bucket : int64, (n_buckets,), the input that the message of each bucket is.
    """
    n, longest = room_for(buckets, first, last)
    kind, base, offset = (
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty((n, longest), np.int32),
    )
    block, value = np.empty(longest), state.value
    for b in range(first, last):
        if state.is_unit[b]:
            continue
        if not _is_safe(buckets, b, state, 0.0):
            return False
        axis, length = block_axes(buckets, b)
        find_offsets(buckets, b, axis, kind, offset)
        n_blocks = buckets.size[b] // length
        end = n_blocks if last_block < 0 else last_block
        for c in range(first_block, end):
            find_bases(buckets, b, axis, c, state.input_at, base)
            at = state.message_at[b] + c * length
            value[at : at + length] = -np.inf if state.log else 0.0
            low, high = _range(state, buckets, b)
            for x in range(low, high):
                block[:length] = 0.0 if state.log else 1.0
                end_inputs = buckets.input_start[b + 1]
                if _product(buckets, b, state, end_inputs, x, base, kind, offset, length, block):
                    gather_into(state.mode[b], RUN, block, length, value, at, offset[0])
        if end == n_blocks:
            at = state.message_at[b]
            scale, least = _scale(value, at, at + buckets.size[b], state.log)
            state.log_scale[b] = scale
            if of_bucket[b] >= 0:
                state.low[of_bucket[b]] = least
    return True


@kernel
def _share(buckets, b, state, x, work, base, kind, offset, length):
    """Add what a bucket sends down in a block, its variable in state `x`, to the messages below.

    work : float64, rows as long as a block; row 0 is the product of all but the messages up.
    """
    first, last = buckets.first_message[b], buckets.input_start[b + 1]
    mode = state.mode[b]
    for i in range(first, last):
        row, k = i - first, i - buckets.input_start[b]
        copy_into(work[row + 1], work[row, :length])
        if not state.is_unit[buckets.source[i]]:
            _times_input(buckets, state, i, x, base[k], kind[k], offset[k], length, work[row + 1])
    if buckets.variable[b] >= 0:
        at, whole = state.marginal_at[b] + x, reduce(mode, work[last - first], length)
        old = state.marginal[at]
        state.marginal[at] = old + whole if mode == SUM else combine(mode, old, whole)
    after = work[last - first + 1]
    after[:length] = 0.0 if state.log else 1.0
    for i in range(last - 1, first - 1, -1):
        row, k = i - first, i - buckets.input_start[b]
        times(state.log, RUN, after, 0, offset[k], length, work[row])
        at = base[k] + x * buckets.stride[buckets.stride_at[i]] - state.origin
        gather_into(mode, kind[k], work[row], length, state.down, at, offset[k])
        if i > first and not state.is_unit[buckets.source[i]]:
            _times_input(buckets, state, i, x, base[k], kind[k], offset[k], length, after)


@kernel
def _times_input(buckets, state, i, x, base, kind, offset, length, block):
    """Multiply a block by one input, whatever its kind."""
    at = base + x * buckets.stride[buckets.stride_at[i]]
    if kind != NUMBER:
        times(state.log, kind, state.value, at, offset, length, block)
    else:
        number = state.value[at]
        for j in range(length):
            block[j] = block[j] + number if state.log else block[j] * number


@kernel
def send_down(buckets, state, first, last, first_block, last_block):
    """Compute the messages down that buckets first:last send, the last one first.

    Add up the marginals of their variables on the way. `down` is of zeros, or of minus infinities,
    but for the message that the last bucket of all gets. See `send_up`.
    """
    n, longest = room_for(buckets, first, last)
    kind, base, offset = (
        np.empty(n, np.int64),
        np.empty(n, np.int64),
        np.empty((n, longest), np.int32),
    )
    work = np.empty((n + 2, longest))
    for b in range(last - 1, first - 1, -1):
        if not _is_safe(buckets, b, state, state.low_down[b]):
            return False
        axis, length = block_axes(buckets, b)
        find_offsets(buckets, b, axis, kind, offset)
        n_blocks = buckets.size[b] // length
        end = n_blocks if last_block < 0 else last_block
        for c in range(first_block, end):
            find_bases(buckets, b, axis, c, state.input_at, base)
            at = state.message_at[b] - state.origin + c * length
            low, high = _range(state, buckets, b)
            for x in range(low, high):
                copy_into(work[0], state.down[at : at + length])
                factors = buckets.first_message[b]
                if _product(buckets, b, state, factors, x, base, kind, offset, length, work[0]):
                    _share(buckets, b, state, x, work, base, kind, offset, length)
        if first_block == 0:
            _scale_down(buckets, b, state)
    return True


@kernel
def _scale_down(buckets, b, state):
    """Divide the messages that a bucket has sent down by their greatest cells."""
    for i in range(buckets.first_message[b], buckets.input_start[b + 1]):
        below = buckets.source[i]
        at = state.message_at[below] - state.origin
        scale = _scale(state.down, at, at + buckets.size[below], state.log)
        state.low_down[below] = scale[1]
