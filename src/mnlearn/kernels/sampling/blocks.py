"""Uniform draws among the states that meet some clauses, a block of variables at a time.

A block of up to 12 variables that clauses tie is drawn uniformly from all its states that meet the
clauses, given the other variables. If the variables that clauses tie are few, the draw is exact.
In any case, the uniform distribution over the states that meet all clauses is left as it is.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.bits import lowest_bit, popcount
from mnlearn.kernels.arithmetic.splitmix import advance, uniform
from mnlearn.kernels.jit import kernel

LARGEST_BLOCK = 12
# Bit s of pattern j is bit j of s: where variable j is 1 among the states of six variables.
_PATTERNS = np.array(
    [
        0xAAAAAAAAAAAAAAAA,
        0xCCCCCCCCCCCCCCCC,
        0xF0F0F0F0F0F0F0F0,
        0xFF00FF00FF00FF00,
        0xFFFF0000FFFF0000,
        0xFFFFFFFF00000000,
    ],
    np.uint64,
)
_NONE = np.uint64(0)
_WAITING, _FIXED = -1, -2


class BlockRoom(NamedTuple):
    """Scratch of `draw_satisfying`.

    clause_start : int64, (n_query + 1,). The clauses of variable v are
        clause[clause_start[v]:clause_start[v + 1]].
    place : int64, (n_query,), position of each variable in the block, or what it is otherwise.
    block : int64, (block_size,), the variables of the block.
    allowed : uint64, a bit for each state of the block; bit j of a state is variable block[j].
    """

    clause_start: NDArray[np.int64]
    clause: NDArray[np.int64]
    place: NDArray[np.int64]
    block: NDArray[np.int64]
    allowed: NDArray[np.uint64]


@kernel
def room_for_blocks(n_query, n_literals, block_size):
    """Return `BlockRoom` for blocks of at most `block_size` variables."""
    return BlockRoom(
        np.empty(n_query + 1, np.int64),
        np.empty(n_literals, np.int64),
        np.empty(n_query, np.int64),
        np.empty(block_size, np.int64),
        np.empty(1 << max(block_size - 6, 0), np.uint64),
    )


@kernel
def draw_satisfying(left, kept, fixed, room, stream, x, total):
    """Draw the variables that are not fixed, so that no term of `kept` holds; return the stream.

    left : LeftTerms. kept : int64, terms that do not hold in state `x`.
    fixed : bool, (n_query,). room : BlockRoom. stream : uint64.
    x : uint8, (n_query,), the state, overwritten. total : float64, (n_query,); the probability of
        the value 1 from which each variable is drawn is added.
    """
    n_query = len(x)
    _index_clauses(left, kept, fixed, room)
    clause_start, _, place, block, allowed = room
    for v in range(n_query):
        place[v] = _FIXED if fixed[v] else _WAITING
    stream = advance(stream)
    shift = np.int64(uniform(stream) * n_query)
    for offset in range(n_query):
        v = (shift + offset) % n_query
        if place[v] == _FIXED:
            total[v] += x[v]
        elif clause_start[v] == clause_start[v + 1]:
            total[v] += 0.5
            stream = advance(stream)
            x[v] = uniform(stream) < 0.5
        elif place[v] == _WAITING:
            n = _grow_block(v, left, room)
            _find_allowed(n, left, room, x)
            stream = advance(stream)
            _draw_block(block[:n], allowed, uniform(stream), x, total)
            for u in block[:n]:
                place[u] = LARGEST_BLOCK
    return stream


@kernel
def _index_clauses(left, kept, fixed, room):
    """Fill in the clauses of each variable that is not fixed."""
    start, var = left.start, left.var
    clause_start, clause = room.clause_start, room.clause
    n_query = len(fixed)
    clause_start[:] = 0
    for t in kept:
        for k in range(start[t], start[t + 1]):
            if not fixed[var[k]]:
                clause_start[var[k]] += 1
    total = 0
    for v in range(n_query + 1):
        total += clause_start[v]
        clause_start[v] = total
    # Filled from the end of each variable's part, so that the ends become the beginnings.
    for t in kept:
        for k in range(start[t], start[t + 1]):
            v = var[k]
            if not fixed[v]:
                clause_start[v] -= 1
                clause[clause_start[v]] = t


@kernel
def _grow_block(v, left, room):
    """Fill the block with variables that clauses tie to v, nearest first; return how many."""
    start, var = left.start, left.var
    clause_start, clause, place, block, _ = room
    block[0] = v
    place[v] = 0
    n, head = 1, 0
    while head < n and n < len(block):
        u = block[head]
        head += 1
        for c in range(clause_start[u], clause_start[u + 1]):
            t = clause[c]
            for k in range(start[t], start[t + 1]):
                if place[var[k]] == _WAITING and n < len(block):
                    block[n] = var[k]
                    place[var[k]] = n
                    n += 1
    return n


@kernel
def _find_allowed(n, left, room, x):
    """Mark the states of the block of `n` variables that meet the clauses, given the others."""
    start, var, value = left.start, left.var, left.value
    clause_start, clause, place, block, allowed = room
    n_words = 1 << max(n - 6, 0)
    allowed[:n_words] = ~_NONE if n >= 6 else (np.uint64(1) << np.uint64(1 << n)) - np.uint64(1)
    for j in range(n):
        for c in range(clause_start[block[j]], clause_start[block[j] + 1]):
            t = clause[c]
            forbidden, high_mask, high_value = ~_NONE, 0, 0
            for k in range(start[t], start[t + 1]):
                at = place[var[k]]
                if at < 0 or at == LARGEST_BLOCK:
                    if x[var[k]] != value[k]:
                        forbidden = _NONE
                        break
                elif at < j:
                    # The clause was looked at with that variable.
                    forbidden = _NONE
                    break
                elif at < 6:
                    forbidden &= _PATTERNS[at] if value[k] else ~_PATTERNS[at]
                else:
                    high_mask |= 1 << (at - 6)
                    high_value |= value[k] << (at - 6)
            if forbidden != _NONE:
                for w in range(n_words):
                    if w & high_mask == high_value:
                        allowed[w] &= ~forbidden


@kernel
def _draw_block(block, allowed, u, x, total):
    """Draw one of the allowed states by a number `u` in [0, 1); add P(value 1) to `total`."""
    n = len(block)
    n_words = 1 << max(n - 6, 0)
    count = 0
    for w in range(n_words):
        count += np.int64(popcount(allowed[w]))
    for j in range(n):
        ones = 0
        for w in range(n_words):
            if j < 6:
                ones += np.int64(popcount(allowed[w] & _PATTERNS[j]))
            elif w >> (j - 6) & 1:
                ones += np.int64(popcount(allowed[w]))
        total[block[j]] += ones / count
    rank = np.int64(u * count)
    w = 0
    while rank >= np.int64(popcount(allowed[w])):
        rank -= np.int64(popcount(allowed[w]))
        w += 1
    rest = allowed[w]
    for _ in range(rank):
        rest &= rest - np.uint64(1)
    state = (w << 6) | np.int64(lowest_bit(rest))
    for j in range(n):
        x[block[j]] = state >> j & 1
