"""Products of tables in blocks: runs of cells of a table over the last variables of its scope.

Seen along a block, an input is one number, a run of cells, or cells that a list of offsets finds.
"""

import numpy as np

from mnlearn.kernels.arithmetic.sums import sum_of
from mnlearn.kernels.jit import kernel

# How the states of a variable are combined: sums of probabilities, sums of probabilities that are
# given by their logarithms, the greatest of logarithms.
SUM, LOG_SUM, MAX = 0, 1, 2
# A block has up to so many cells, or more where it would have less than the least number.
_BLOCK, _LEAST = 1024, 64
NUMBER, RUN, OFFSETS = 0, 1, 2


@kernel
def block_axes(buckets, b):
    """Return the first axis of the separator that is inside a block, and the length of a block."""
    k, length = buckets.axis_start[b + 1], 1
    while k > buckets.axis_start[b]:
        longer = length * buckets.axis_size[k - 1]
        if longer > _BLOCK and length >= _LEAST:
            break
        k, length = k - 1, longer
    return k, length


@kernel
def room_for(buckets, first, last):
    """Return the most inputs of some buckets, and the greatest length of a block."""
    most, longest = 1, 1
    for b in range(first, last):
        most = max(most, buckets.input_start[b + 1] - buckets.input_start[b])
        longest = max(longest, block_axes(buckets, b)[1])
    return most, longest


@kernel
def find_offsets(buckets, b, axis, kind, offset):
    """Write for each input of a bucket its kind and, where they are needed, its offsets."""
    start = buckets.axis_start[b]
    for i in range(buckets.input_start[b], buckets.input_start[b + 1]):
        k = i - buckets.input_start[b]
        at = buckets.stride_at[i] + 1 - start
        is_number, is_run, length = True, True, 1
        for a in range(buckets.axis_start[b + 1] - 1, axis - 1, -1):
            is_number &= buckets.stride[at + a] == 0
            is_run &= buckets.stride[at + a] == length
            length *= buckets.axis_size[a]
        kind[k] = NUMBER if is_number else RUN if is_run else OFFSETS
        if kind[k] != OFFSETS:
            continue
        own, length = offset[k], 1
        own[0] = 0
        for a in range(buckets.axis_start[b + 1] - 1, axis - 1, -1):
            for x in range(1, buckets.axis_size[a]):
                step = x * buckets.stride[at + a]
                for j in range(length):
                    own[x * length + j] = own[j] + step
            length *= buckets.axis_size[a]


@kernel
def find_bases(buckets, b, axis, block, input_at, base):
    """Write where the cells of each input of a bucket begin in a block."""
    first, last = buckets.input_start[b], buckets.input_start[b + 1]
    start = buckets.axis_start[b]
    for i in range(first, last):
        base[i - first] = input_at[i]
    for a in range(axis - 1, start - 1, -1):
        x = block % buckets.axis_size[a]
        block //= buckets.axis_size[a]
        if x:
            for i in range(first, last):
                base[i - first] += x * buckets.stride[buckets.stride_at[i] + 1 + a - start]


@kernel
def times(log, kind, value, at, offset, length, block):
    """Multiply a block by an input that is not a number; add where both are logarithms."""
    if kind == RUN and log:
        for j in range(length):
            block[j] += value[at + j]
    elif kind == RUN:
        for j in range(length):
            block[j] *= value[at + j]
    elif log:
        for j in range(length):
            block[j] += value[at + offset[j]]
    else:
        for j in range(length):
            block[j] *= value[at + offset[j]]


@kernel
def combine(mode, a, b):
    """Return the logarithm of a sum, or the greater of two logarithms."""
    if mode == MAX or a == -np.inf or b == -np.inf:
        return max(a, b)
    return max(a, b) + np.log1p(np.exp(-abs(a - b)))


@kernel
def reduce(mode, block, length):
    """Return the sum of a block, or its logarithm, or the greatest of its cells."""
    if mode == SUM:
        return sum_of(block[:length])
    most = -np.inf
    for j in range(length):
        most = max(most, block[j])
    if mode == MAX or most == -np.inf:
        return most
    s = 0.0
    for j in range(length):
        s += np.exp(block[j] - most)
    return most + np.log(s)


@kernel
def gather_into(mode, kind, block, length, out, at, offset):
    """Combine the cells of a block into the cells of a table that they belong to."""
    if kind == NUMBER:
        whole = reduce(mode, block, length)
        out[at] = out[at] + whole if mode == SUM else combine(mode, out[at], whole)
    elif mode == SUM:
        if kind == RUN:
            for j in range(length):
                out[at + j] += block[j]
        else:
            for j in range(length):
                out[at + offset[j]] += block[j]
    else:
        for j in range(length):
            k = at + (j if kind == RUN else np.int64(offset[j]))
            out[k] = combine(mode, out[k], block[j])
