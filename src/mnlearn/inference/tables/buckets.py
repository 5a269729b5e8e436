"""Trees of buckets of factors, and what they cost."""

import itertools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.inference.tables.factors import NO_CHILD, Factors
from mnlearn.inference.tables.orders import KEPT, Order, find_order
from mnlearn.kernels.tables.rows import Entry
from mnlearn.kernels.tables.structure import (
    LAST,
    Buckets,
    place_axes,
    place_strides,
)
from mnlearn.runtime.errors import InputError

# Most cells of the messages of a tree.
MAX_CELLS = 1 << 27
# Log2 of the cells of tables that are an estimate of the cost themselves, because they are too many
# for whole numbers.
COUNTED = 50.0


class Cost(NamedTuple):
    """What a tree takes: cells of its messages, 8 bytes each, and multiplications of a pass."""

    cells: float
    operations: float


class Part(NamedTuple):
    """The variables of factors that a tree is over, numbered anew.

    free : their numbers in the factors. scope : of the factors, in the new numbers, -1 for others.
    arity : their numbers of states.
    """

    free: NDArray[np.int64]
    scope: NDArray[np.int64]
    arity: NDArray[np.int64]


def part_of(factors: Factors, known: NDArray[np.bool_]) -> Part:
    """Return the variables that are not known and have several states."""
    free = np.flatnonzero(~known & (factors.arity > 1))
    local = np.full(len(factors.arity), -1)
    local[free] = np.arange(len(free))
    return Part(free, local[factors.scope], factors.arity[free])


def order_of(
    factors: Factors, part: Part, kept: Sequence[int], later: Sequence[int]
) -> tuple[Order, NDArray[np.int64]]:
    """Return an order in which `later` variables follow the others, and the kept ones' numbers."""
    rank = np.zeros(len(part.free), np.int64)
    rank[np.searchsorted(part.free, later)] = 1
    inside = np.searchsorted(part.free, [v for v in kept if factors.arity[v] > 1])
    rank[inside] = KEPT
    return find_order(factors.start, part.scope, part.arity, rank, inside.tolist()), inside


def cost_of(
    factors: Factors,
    known: NDArray[np.bool_] | None = None,
    query: Sequence[int] = (),
    later: Sequence[int] = (),
) -> Cost:
    """Return what a tree takes.

    query : variables whose joint distribution is asked for, of none for single marginals. later :
    variables that are summed out after all others.
    """
    known = np.zeros(len(factors.arity), bool) if known is None else known
    part = part_of(factors, known)
    order, inside = order_of(factors, part, query, later)
    if order.log2_cells > COUNTED:
        return Cost(2.0**order.log2_cells, 2.0**order.log2_cells)
    buckets, _ = buckets_of(factors, part, order, inside)
    return cost_of_buckets(buckets)


def cost_of_buckets(buckets: Buckets) -> Cost:
    """Return what a tree takes; see `Cost`."""
    return Cost(float(buckets.size.sum()), float(products_of(buckets).sum()))


def products_of(buckets: Buckets) -> NDArray[np.int64]:
    """Return the number of multiplications of each bucket."""
    return buckets.size * buckets.arity * (1 + np.diff(buckets.input_start))


def buckets_of(
    factors: Factors, part: Part, order: Order, kept: NDArray[np.int64]
) -> tuple[Buckets, NDArray[np.int64]]:
    """Return the tree of an order, and the bucket of each factor, -1 where all is known."""
    n, n_free = len(order.order), len(part.free)
    rank = np.empty(n_free, np.int64)
    rank[order.order], rank[kept] = np.arange(n), n + np.arange(len(kept))
    n_axes = int(np.bitwise_count(order.near[order.order]).sum()) + len(kept)
    axis_start, axis = np.empty(n + 2, np.int64), np.empty(n_axes, np.int64)
    size, parent = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
    place_axes(order.near, order.order, rank, kept, part.arity, axis_start, axis, size, parent)
    # The first of the variables of each factor that are not known; n for a kept one, -1 for none.
    places = np.where(part.scope < 0, n + 1, np.minimum(rank, n)[part.scope] if n_free else n + 1)
    home = np.full(len(factors), n + 1)
    np.minimum.at(home, np.repeat(np.arange(len(factors)), np.diff(factors.start)), places)
    home[home > n] = -1
    used = np.flatnonzero(home >= 0)
    # Factors stand before messages.
    of_bucket, source = np.append(home[used], parent[:-1]), np.append(used, np.arange(n))
    by_bucket = np.argsort(of_bucket, kind="stable")
    input_start = np.searchsorted(of_bucket[by_bucket], np.arange(n + 2))
    first_message = input_start[:-1] + np.bincount(home[used], minlength=n + 1)
    source = source[by_bucket]
    n_strides = np.repeat(1 + np.diff(axis_start), np.diff(input_start))
    stride_at = np.concatenate([[0], np.cumsum(n_strides)])
    stride = np.zeros(stride_at[-1], np.int64)
    variable = np.append(order.order, LAST)
    buckets = Buckets(
        variable, np.append(part.arity[order.order], 1), axis_start, axis, part.arity[axis], size,
        parent, input_start, first_message, source, stride_at[:-1], stride,
    )  # fmt: skip
    sizes = factors.arity[factors.scope]
    own = np.zeros(n_free, np.int64)
    place_strides(buckets, factors.start, part.scope, sizes, own, stride_at, stride)
    numbers = np.append(part.free, LAST)
    return buckets._replace(variable=numbers[variable], axis=part.free[axis]), home


def entry_of(factors: Factors, part: Part, buckets: Buckets, home: NDArray[np.int64]) -> Entry:
    """Return how the states of known variables come into a tree."""
    n = len(buckets.parent)
    factor = np.repeat(np.arange(len(factors)), np.diff(factors.start))
    known = (part.scope < 0) & (factors.arity[factors.scope] > 1)
    bucket_of = np.full(len(factors.arity), -1)
    bucket_of[buckets.variable[: n - 1]] = np.arange(n - 1)
    child = np.where(factors.child == NO_CHILD, -1, bucket_of[factors.child])
    of_bucket = np.full(n, -1)
    is_message = np.arange(len(buckets.source)) >= np.repeat(
        buckets.first_message, np.diff(buckets.input_start)
    )
    of_bucket[buckets.source[is_message]] = np.flatnonzero(is_message)
    return Entry(
        factors.offset, factors.scaled.shift, factor[known], factors.scope[known].astype(np.int64),
        factors.stride[known], home, child, of_bucket, factors.log_table,
    )  # fmt: skip


class Layout(NamedTuple):
    """Where the message up of each bucket begins, and where that down does in an array of its own.

    parts : ranges of buckets. A message to a later part has cells of its own, `shared` ones in all;
    the others of a part take the cells after those, which all parts use in turn.
    """

    begin: NDArray[np.int64]
    n_cells: int
    parts: list[tuple[int, int]]
    shared: int = 0


def layout_of(buckets: Buckets, max_cells: float, in_parts: bool) -> Layout:
    """Return cells for all messages, or for few, if two passes would take more than `max_cells`.

    Of the divisions into parts of about equal numbers of cells, the one with the fewest is taken.
    """
    size, n = buckets.size, len(buckets.size)
    ends = np.cumsum(size)
    best = Layout(ends - size, int(ends[-1]), [(0, n)])
    most = int(ends[-1])
    while in_parts and 2 * best.n_cells > max_cells and most > size.max():
        most //= 2
        cut = np.flatnonzero(np.diff(ends // most)) + 1
        starts = np.unique(np.concatenate([[0], cut]))
        part = np.searchsorted(starts, np.arange(n), side="right") - 1
        leaves = part[buckets.parent] != part
        leaves[-1] = False
        shared = int(size[leaves].sum())
        inside = np.cumsum(np.where(leaves, 0, size)) - np.where(leaves, 0, size)
        begin = np.where(
            leaves, np.cumsum(size * leaves) - size, shared + inside - inside[starts][part]
        )
        n_cells = int((begin + size).max())
        if n_cells < best.n_cells:
            bounds = [*starts.tolist(), n]
            best = Layout(begin, n_cells, list(itertools.pairwise(bounds)), shared)
    return best


def share_room(size: NDArray[np.int64], parent: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Return where each message up begins if a message is needed until its parent has its own."""
    begin, end = np.zeros(len(size), np.int64), 0
    below: list[list[int]] = [[] for _ in size]
    for b, above in enumerate(parent.tolist()):
        if above >= 0:
            below[above].append(b)
    # Where free cells begin, and how many they are, in the order of their places.
    free: list[tuple[int, int]] = []
    for b, cells in enumerate(size.tolist()):
        fitting = [k for k, (_, n) in enumerate(free) if n >= cells]
        if fitting:
            # The smallest place that is large enough.
            k = min(fitting, key=lambda k: free[k][1])
            begin[b], n = free[k]
            free[k : k + 1] = [(int(begin[b]) + cells, n - cells)] if n > cells else []
        else:
            if free and sum(free[-1]) == end:
                end = free.pop()[0]
            begin[b], end = end, end + cells
        free = _merged(free + [(int(begin[child]), int(size[child])) for child in below[b]])
    return begin, end


def _merged(free: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return free places in order, neighbouring ones as one."""
    out: list[tuple[int, int]] = []
    for at, n in sorted(free):
        if out and sum(out[-1]) == at:
            out[-1] = (out[-1][0], out[-1][1] + n)
        else:
            out.append((at, n))
    return out


def check_cost(cost: Cost, most: float, passes: int = 1) -> None:
    """Refuse a tree whose messages would have more than `most` cells."""
    if cost.cells * passes > most:
        raise InputError(
            f"exact inference would take tables of {cost.cells * passes:.3g} cells, more than "
            f"{most:,.0f}, which are {8 * most / 2**30:.1f} GiB.",
            where="model",
            advice="ask for an estimate by sampling, or give more evidence",
        )
