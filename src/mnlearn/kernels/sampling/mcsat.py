"""MC-SAT: slice sampling of a log-linear model, one uniform draw of a satisfying state at a time.

A conjunction of positive weight that holds must go on to hold with probability 1 - exp(-w). One of
negative weight that does not hold must go on not to with probability 1 - exp(-|w|): that is a
clause. A block of up to 12 variables that clauses tie is drawn uniformly from all its states that
meet the clauses, given the other variables, which leaves the uniform distribution as it is.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.bits import lowest_bit, popcount
from mnlearn.kernels.arithmetic.splitmix import advance, chain_seed, uniform
from mnlearn.kernels.jit import kernel
from mnlearn.kernels.sampling.chains import draw_first_state, index_terms, make_sweeps, store_means
from mnlearn.kernels.sampling.conditioning import BATCH, condition, holding_terms, room_for

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

    The clauses of variable v are clause[clause_start[v]:clause_start[v + 1]]. place : position of
    each variable in the block, or what it is otherwise. block : the variables of the block. allowed
    : a bit for each state of the block; bit j of a state is variable block[j].
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

    None holds in the state `x`, which is overwritten. The probability of the value 1 from which
    each variable is drawn is added to `total`.
    """
    n_query = len(x)
    index_clauses(left, kept, fixed, room)
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
def index_clauses(left, kept, fixed, room):
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


class SlicePlan(NamedTuple):
    """How long chains are, and how they are run.

    burn_in, n_samples : samples that are not counted, and that are. start_sweeps : Gibbs sweeps
    from a random state to the first one. block_size : so many variables are drawn together.
    """

    burn_in: int
    n_samples: int
    start_sweeps: int
    block_size: int


@kernel
def sample_slices(terms, evidence, seed, plan, first, last, out):
    """Estimate P(query variable = 1 | evidence) for evidence rows `first` to `last`.

    A counted sample adds the probability from which a value is drawn, not the value. out :
    (n_evidence, n_batches, n_query), the mean over each batch; the first n_samples % n_batches have
    one sample more.
    """
    n_query = out.shape[2]
    left = room_for(terms)
    log_odds = np.empty(n_query + 1)
    for i in range(first, last):
        j = (i - first) % BATCH
        if j == 0:
            start, held = holding_terms(terms, evidence[i : min(i + BATCH, last)])
        log_odds[:] = 0.0
        n_left = condition(terms, held[start[j] : start[j + 1]], log_odds[:n_query], left)
        single = log_odds[:n_query].copy()
        stream = chain_seed(seed, evidence[i])
        x, stream = _first_state(log_odds, left, n_left, stream, plan.start_sweeps)
        _run_chain(single, left, n_left, x, stream, plan, out[i])


@kernel
def _run_chain(single, left, n_left, x, stream, plan, out):
    """Run a chain from state `x`; write the means of its batches to `out`, (n_batches, n_query)."""
    n_batches, n_query = out.shape
    keep = (-np.expm1(-np.abs(single)), -np.expm1(-np.abs(left.weight[:n_left])))
    kept = np.empty(n_left, np.int64)
    fixed = np.empty(n_query, np.bool_)
    total = np.empty(n_query)
    room = room_for_blocks(n_query, left.start[n_left], plan.block_size)
    size, longer = plan.n_samples // n_batches, plan.n_samples % n_batches
    for b in range(-1, n_batches):
        n_samples = plan.burn_in if b < 0 else size + (b < longer)
        total[:] = 0.0
        for _ in range(n_samples):
            n_kept, stream = draw_constraints(single, left, keep, x, stream, fixed, kept)
            n_kept = propagate_units(left, kept[:n_kept], x, fixed)
            stream = draw_satisfying(left, kept[:n_kept], fixed, room, stream, x, total)
        if b >= 0:
            store_means(total, n_samples, out[b])


@kernel
def _first_state(log_odds, left, n_left, stream, n_sweeps):
    """Return a state near the typical ones, by Gibbs sampling, and the stream after it."""
    n_query = len(log_odds) - 1
    # One place more than variables; see `update_terms`.
    x = np.zeros(n_query + 1, np.uint8)
    stream = draw_first_state(stream, x[:n_query])
    by_literal, violated = index_terms(left, n_left, n_query, x, log_odds)
    no_effect = np.empty((0, 0))
    stream = make_sweeps(n_sweeps, stream, x, log_odds, no_effect, left, by_literal, violated)
    return x[:n_query].copy(), stream


@kernel
def draw_constraints(single, left, keep, x, stream, fixed, kept):
    """Draw the constraints that state `x` meets; return the number of clauses, and the stream.

    single : weights of the value 1 of single variables. keep : probabilities that the constraints
    of single variables and of terms are kept. fixed, kept : overwritten: variables that must keep
    their values, and terms that must go on not to hold.
    """
    start, var, value, weight = left.start, left.var, left.value, left.weight
    for v in range(len(single)):
        stream = advance(stream)
        fixed[v] = (single[v] > 0.0) == (x[v] == 1) and uniform(stream) < keep[0][v]
    n_kept = 0
    for t in range(len(kept)):
        k, end = start[t], start[t + 1]
        while k < end and x[var[k]] == value[k]:
            k += 1
        holds = k == end
        if holds != (weight[t] > 0.0):
            continue
        stream = advance(stream)
        if uniform(stream) < keep[1][t]:
            if holds:
                for k in range(start[t], end):
                    fixed[var[k]] = True
            else:
                kept[n_kept] = t
                n_kept += 1
    return n_kept, stream


@kernel
def propagate_units(left, kept, x, fixed):
    """Fix the variables that the clauses force; return how many clauses still constrain.

    State `x` meets all clauses. A clause with one variable that is not fixed, and no other literal
    that meets it, forces the value which that variable has.
    """
    start, var, value = left.start, left.var, left.value
    n_kept = len(kept)
    changed = True
    while changed:
        changed = False
        n_open = 0
        for c in range(n_kept):
            t = kept[c]
            n_free, free, met = 0, 0, False
            for k in range(start[t], start[t + 1]):
                v = var[k]
                if not fixed[v]:
                    n_free += 1
                    free = v
                elif x[v] != value[k]:
                    met = True
                    break
            if met:
                continue
            if n_free == 1:
                fixed[free] = True
                changed = True
            else:
                kept[n_open] = t
                n_open += 1
        n_kept = n_open
    return n_kept
