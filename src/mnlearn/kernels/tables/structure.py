"""The tree of buckets of an order of elimination, in flat arrays.

Bucket b sums variable `variable[b]` out of the product of its inputs. These are the factors whose
first variable in the order it is, and the messages of the buckets below. The result, its message,
is a table over the other variables, the separator. The last bucket has no variable of its own: its
table is over the variables that are kept, or a single number.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.jit import kernel
from mnlearn.kernels.tables.order import members_of

LAST = -1


class Buckets(NamedTuple):
    """A tree of buckets.

    variable : int64, (n_buckets,), LAST for the last bucket. arity : its number of states, 1.
    axis_start, axis, axis_size : the variables of the separator of bucket b, later eliminated ones
        last, are axis[axis_start[b]:axis_start[b + 1]], and their numbers of states.
    size : number of cells of each message. parent : the bucket that gets it; -1 for the last one.
    input_start : the inputs of bucket b are input_start[b]:input_start[b + 1], factors first.
    first_message : the first input of each bucket that is a message.
    source : the factor, or the bucket below, of each input.
    stride_at, stride : how far apart the cells of input i are along the variable of the bucket and
        along each axis of its separator, from stride[stride_at[i]] on.
    """

    variable: NDArray[np.int64]
    arity: NDArray[np.int64]
    axis_start: NDArray[np.int64]
    axis: NDArray[np.int64]
    axis_size: NDArray[np.int64]
    size: NDArray[np.int64]
    parent: NDArray[np.int64]
    input_start: NDArray[np.int64]
    first_message: NDArray[np.int64]
    source: NDArray[np.int64]
    stride_at: NDArray[np.int64]
    stride: NDArray[np.int64]


@kernel
def place_axes(near, order, rank, kept, arity, axis_start, axis, size, parent):
    """Write the separators of all buckets, sorted by the order; see `Buckets`.

    near : as `eliminate` leaves it. rank : position of each variable in the order, those of `kept`
    after all others. axis_start : (n_buckets + 1,), written. axis : large enough.
    """
    n = len(order)
    members = np.empty(len(near), np.int64)
    at = 0
    for b in range(n + 1):
        axis_start[b] = at
        n_own = members_of(near, order[b], members) if b < n else len(kept)
        for i in range(n_own):
            u = members[i] if b < n else kept[i]
            k = at + i
            while k > at and rank[axis[k - 1]] > rank[u]:
                axis[k] = axis[k - 1]
                k -= 1
            axis[k] = u
        size[b] = 1
        for k in range(at, at + n_own):
            size[b] *= arity[axis[k]]
        parent[b] = min(rank[axis[at]], n) if n_own else n
        at += n_own
    axis_start[n + 1], parent[n] = at, -1


@kernel
def place_strides(buckets, start, scope, arity, own, stride_at, stride):
    """Write the strides of all inputs to `stride`; see `Buckets`.

    start, scope : of factors; the cells of one along its variables are as in `Factors`, known ones,
    of negative numbers, included. `own` : scratch, zeros, a place for each variable; afterwards
    zeros again. arity : of the variables of each member of a scope.
    """
    for b in range(len(buckets.parent)):
        first, last = buckets.axis_start[b], buckets.axis_start[b + 1]
        for i in range(buckets.input_start[b], buckets.input_start[b + 1]):
            is_factor, s, step = i < buckets.first_message[b], buckets.source[i], 1
            members = scope if is_factor else buckets.axis
            sizes = arity if is_factor else buckets.axis_size
            spans = start if is_factor else buckets.axis_start
            for k in range(spans[s + 1] - 1, spans[s] - 1, -1):
                if members[k] >= 0:
                    own[members[k]] = step
                step *= sizes[k]
            at = stride_at[i]
            if buckets.variable[b] != LAST:
                stride[at] = own[buckets.variable[b]]
            for k in range(first, last):
                stride[at + 1 + k - first] = own[buckets.axis[k]]
            for k in range(spans[s], spans[s + 1]):
                if members[k] >= 0:
                    own[members[k]] = 0
