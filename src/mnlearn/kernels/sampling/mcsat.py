"""MC-SAT: slice sampling of a log-linear model, one uniform draw of a satisfying state at a time.

A conjunction of positive weight that holds must go on to hold with probability 1 - exp(-w). One of
negative weight that does not hold must go on not to with probability 1 - exp(-|w|): that is a
clause. Some variables that clauses tie are drawn together, uniformly from all their states that
meet the clauses, given the other variables, which leaves the uniform distribution as it is.

Constraints are on indicators; see `blocks`. An indicator that must keep its value leaves its
variable the states that agree with it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.splitmix import advance, chain_seed, uniform
from mnlearn.kernels.jit import kernel
from mnlearn.kernels.sampling.blocks import (
    draw_first_states,
    every_state,
    has_state,
    satisfying_states,
    set_board,
    sweep_blocks,
)
from mnlearn.kernels.sampling.chains import store_means
from mnlearn.kernels.sampling.conditioning import BATCH, condition, holding_terms, room_for

_WAITING, _FIXED, _DONE = -1, -2, -3
# Variables that are drawn together have no more joint states than this.
_MOST_JOINT = 256


class SliceRoom(NamedTuple):
    """Scratch of `draw_satisfying`.

    The clauses of indicator k are clause[clause_start[k]:clause_start[k + 1]]. own : the clauses of
    the group. place : position of each variable in the group, or what it is otherwise. group : the
    variables of the group. allowed, n_allowed : the states that each variable may have. meets :
    whether a joint state of the group meets the clauses. found : see `satisfying_states`.
    """

    clause_start: NDArray[np.int64]
    clause: NDArray[np.int64]
    own: NDArray[np.int64]
    place: NDArray[np.int64]
    group: NDArray[np.int64]
    allowed: NDArray[np.int64]
    n_allowed: NDArray[np.int64]
    meets: NDArray[np.bool_]
    found: NDArray[np.int64]


@kernel
def room_for_slices(blocks, n_literals, group_size):
    """Return `SliceRoom` for groups of at most `group_size` variables."""
    _, allowed, width = every_state(blocks)
    most = max(allowed.shape[1], _MOST_JOINT)
    return SliceRoom(
        np.empty(len(blocks.block_of) + 1, np.int64), np.empty(n_literals, np.int64),
        np.empty(n_literals, np.int64), np.empty(len(width), np.int64),
        np.empty(group_size, np.int64), allowed, width, np.empty(most, np.bool_),
        np.empty(2 * most + 1, np.int64),
    )  # fmt: skip


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
def sample_slices(terms, evidence, blocks, seed, plan, first, last, out):
    """Estimate the probability that each query column is 1, for evidence rows `first` to `last`.

    A counted sample adds the probability from which a value is drawn, not the value. out :
    (n_evidence, n_batches, n_columns), the mean over each batch; the first n_samples % n_batches
    have one sample more.
    """
    n = len(blocks.block_of)
    left = room_for(terms)
    log_odds, no_effect, base = np.empty(n), np.zeros((n, n)), np.zeros(blocks.start[-1])
    state = np.empty(len(blocks.start) - 1, np.int64)
    for i in range(first, last):
        j = (i - first) % BATCH
        if j == 0:
            start, held = holding_terms(terms, evidence[i : min(i + BATCH, last)])
        log_odds[:] = 0.0
        n_left = condition(terms, held[start[j] : start[j + 1]], log_odds, left)
        stream = draw_first_states(chain_seed(seed, evidence[i]), blocks, state)
        board = set_board(state, blocks, log_odds, no_effect, left, n_left)
        for _ in range(plan.start_sweeps):
            stream, _ = sweep_blocks(stream, blocks, board, 1.0, base)
        _run_chain(log_odds, left, n_left, blocks, board.x[:n].copy(), stream, plan, out[i])


@kernel
def _run_chain(single, left, n_left, blocks, x, stream, plan, out):
    """Run a chain from the indicators `x`; write the means of its batches to `out`."""
    n_batches, n_columns = out.shape
    keep = (-np.expm1(-np.abs(single)), -np.expm1(-np.abs(left.weight[:n_left])))
    kept = np.empty(n_left, np.int64)
    fixed = np.empty(len(x), np.bool_)
    total = np.empty(n_columns)
    room = room_for_slices(blocks, left.start[n_left], plan.block_size)
    size, longer = plan.n_samples // n_batches, plan.n_samples % n_batches
    for b in range(-1, n_batches):
        n_samples = plan.burn_in if b < 0 else size + (b < longer)
        total[:] = 0.0
        for _ in range(n_samples):
            n_kept, stream = draw_constraints(single, left, keep, x, stream, fixed, kept)
            n_kept = propagate_units(left, kept[:n_kept], x, fixed)
            stream = draw_satisfying(left, kept[:n_kept], fixed, blocks, room, stream, x, total)
        if b >= 0:
            store_means(total, n_samples, out[b])


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


@kernel
def draw_satisfying(left, kept, fixed, blocks, room, stream, x, total):
    """Draw the variables that are not fixed, so that no term of `kept` holds; return the stream.

    None holds where the indicators are `x`, which is overwritten. The probability from which each
    column is drawn is added to `total`.
    """
    index_clauses(left, kept, fixed, room)
    place, clause_start, n_blocks = room.place, room.clause_start, len(room.place)
    _find_allowed(blocks, fixed, x, room)
    stream = advance(stream)
    shift = np.int64(uniform(stream) * n_blocks)
    for offset in range(n_blocks):
        b = (shift + offset) % n_blocks
        first, last = blocks.start[b], blocks.start[b + 1]
        if place[b] == _FIXED:
            for c in range(first, last):
                total[c] += x[c]
        elif last - first == 1 and clause_start[first] == clause_start[last]:
            total[first] += 0.5
            stream = advance(stream)
            x[first] = uniform(stream) < 0.5
        elif place[b] == _WAITING:
            n, n_joint, n_own = _grow_group(b, left, blocks, room)
            n_meeting = _find_meeting(n, n_joint, n_own, left, blocks, room, x)
            stream = advance(stream)
            rank = np.int64(uniform(stream) * n_meeting)
            _take(n, n_joint, rank, n_meeting, blocks, room, x, total)
    return stream


@kernel
def index_clauses(left, kept, fixed, room):
    """Fill in the clauses of each variable that is not fixed."""
    start, var = left.start, left.var
    clause_start, clause = room.clause_start, room.clause
    n = len(fixed)
    clause_start[:] = 0
    for t in kept:
        for k in range(start[t], start[t + 1]):
            if not fixed[var[k]]:
                clause_start[var[k]] += 1
    total = 0
    for v in range(n + 1):
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
def _find_allowed(blocks, fixed, x, room):
    """List the states of each block that leave its fixed indicators as they are."""
    n_columns = blocks.start[-1]
    for b in range(len(room.place)):
        first, last = blocks.start[b], blocks.start[b + 1]
        n = 1 if fixed[first] else 2  # of a single column, as listed by `room_for_slices`
        if last - first > 1:
            n = 0
            for a in range(last - first):
                agrees = True
                for c in range(first, last):
                    agrees &= not fixed[c] or has_state(blocks, c, a) == x[c]
                for k in range(blocks.set_start[b], blocks.set_start[b + 1]):
                    s = n_columns + k
                    agrees &= not fixed[s] or has_state(blocks, s, a) == x[s]
                if agrees:
                    room.allowed[b, n] = a
                    n += 1
        room.n_allowed[b] = n
        room.place[b] = _FIXED if n == 1 else _WAITING


@kernel
def _grow_group(b, left, blocks, room):
    """Fill the group with variables that clauses tie to b; return n, n_joint, n_own."""
    place, group, n_columns = room.place, room.group, blocks.start[-1]
    group[0] = b
    place[b] = 0
    n, head, n_joint, n_own = 1, 0, room.n_allowed[b], 0
    while head < n:
        v, begin = group[head], n_own
        head += 1
        n_own = _list_clauses(blocks.start[v], blocks.start[v + 1], n_own, room)
        first, last = n_columns + blocks.set_start[v], n_columns + blocks.set_start[v + 1]
        n_own = _list_clauses(first, last, n_own, room)
        for t in room.own[begin:n_own]:
            for j in range(left.start[t], left.start[t + 1]):
                u = blocks.block_of[left.var[j]]
                larger = n_joint * room.n_allowed[u]
                if place[u] == _WAITING and n < len(group) and larger <= _MOST_JOINT:
                    group[n], place[u], n_joint = u, n, larger
                    n += 1
    return n, n_joint, n_own


@kernel
def _list_clauses(first, last, n_own, room):
    """Add the clauses of some indicators to `own`; return how many it has."""
    for c in range(room.clause_start[first], room.clause_start[last]):
        room.own[n_own] = room.clause[c]
        n_own += 1
    return n_own


@kernel
def _find_meeting(n, n_joint, n_own, left, blocks, room, x):
    """Mark the joint states of the group that meet its clauses; return how many."""
    meets, where = room.meets, (room.group[:n], room.allowed, room.n_allowed)
    meets[:n_joint] = True
    for t in room.own[:n_own]:
        may_hold = True
        for j in range(left.start[t], left.start[t + 1]):
            k = left.var[j]
            may_hold &= room.place[blocks.block_of[k]] >= 0 or x[k] == left.value[j]
        if may_hold:
            for j in range(satisfying_states(left, t, where, blocks, room.found)):
                meets[room.found[j]] = False
    n_meeting = 0
    for number in range(n_joint):
        n_meeting += meets[number]
    return n_meeting


@kernel
def _take(n, n_joint, rank, n_meeting, blocks, room, x, total):
    """Take the joint state of a rank among those that meet the clauses; add the means of all."""
    number = -1
    while rank >= 0:
        number += 1
        rank -= np.int64(room.meets[number])
    stride = 1
    for b in room.group[:n]:
        width = room.n_allowed[b]
        for a in range(width):
            count = 0
            for begin in range(a * stride, n_joint, width * stride):
                for s in range(begin, begin + stride):
                    count += room.meets[s]
            for c in range(blocks.start[b], blocks.start[b + 1]):
                total[c] += count / n_meeting * has_state(blocks, c, room.allowed[b, a])
        stride *= width
        _enter(b, room.allowed[b, number % width], blocks, x)
        number //= width
        room.place[b] = _DONE


@kernel
def _enter(b, state, blocks, x):
    """Write the indicators of block b in a state."""
    n_columns = blocks.start[-1]
    for k in range(blocks.start[b], blocks.start[b + 1]):
        x[k] = has_state(blocks, k, state)
    for k in range(n_columns + blocks.set_start[b], n_columns + blocks.set_start[b + 1]):
        x[k] = has_state(blocks, k, state)
