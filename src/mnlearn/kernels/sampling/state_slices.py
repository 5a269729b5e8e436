"""MC-SAT for variables of several states; see `mcsat` and `blocks`.

The constraints of a sample are those of `mcsat`, on indicators. An indicator that must keep its
value leaves its variable the states that agree with it.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.arithmetic.splitmix import advance, chain_seed, uniform
from mnlearn.kernels.jit import kernel
from mnlearn.kernels.sampling.blocks import (
    draw_first_states,
    has_state,
    set_board,
    sweep_blocks,
)
from mnlearn.kernels.sampling.chains import store_means
from mnlearn.kernels.sampling.conditioning import condition, holding_terms, room_for
from mnlearn.kernels.sampling.mcsat import draw_constraints, index_clauses, propagate_units

_WAITING, _FIXED, _DONE = -1, -2, -3
# Variables that are drawn together have no more joint states than this.
_MOST_JOINT = 256


class StateRoom(NamedTuple):
    """Scratch of `draw_satisfying_states`.

    clause_start, clause : see `mcsat.BlockRoom`, by indicator. own : the clauses of the group.
    place : position of each variable in the group, or what it is otherwise. group, trial : the
    variables of the group, and a state of each. allowed, n_allowed : the states that each variable
    may have. meets : whether a joint state of the group meets the clauses.
    """

    clause_start: NDArray[np.int64]
    clause: NDArray[np.int64]
    own: NDArray[np.int64]
    place: NDArray[np.int64]
    group: NDArray[np.int64]
    trial: NDArray[np.int64]
    allowed: NDArray[np.int64]
    n_allowed: NDArray[np.int64]
    meets: NDArray[np.bool_]


@kernel
def sample_state_slices(terms, evidence, blocks, seed, plan, first, last, out):
    """Estimate the probability that each query column is 1; see `mcsat.sample_slices`."""
    n, n_blocks = len(blocks.block_of), len(blocks.start) - 1
    left = room_for(terms)
    log_odds, no_effect = np.empty(n), np.zeros((n, n))
    base = np.zeros(blocks.start[-1])
    state = np.empty(n_blocks, np.int64)
    for i in range(first, last):
        held = holding_terms(terms, evidence[i : i + 1])[1]
        log_odds[:] = 0.0
        n_left = condition(terms, held, log_odds, left)
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
    room = _room_for_states(blocks, left.start[n_left], plan.block_size)
    size, longer = plan.n_samples // n_batches, plan.n_samples % n_batches
    for b in range(-1, n_batches):
        n_samples = plan.burn_in if b < 0 else size + (b < longer)
        total[:] = 0.0
        for _ in range(n_samples):
            n_kept, stream = draw_constraints(single, left, keep, x, stream, fixed, kept)
            n_kept = propagate_units(left, kept[:n_kept], x, fixed)
            stream = draw_satisfying_states(
                left, kept[:n_kept], fixed, blocks, room, stream, x, total
            )
        if b >= 0:
            store_means(total, n_samples, out[b])


@kernel
def _room_for_states(blocks, n_literals, group_size):
    """Return `StateRoom` for groups of at most `group_size` variables."""
    n, n_blocks = len(blocks.block_of), len(blocks.start) - 1
    most = 2
    for b in range(n_blocks):
        most = max(most, blocks.start[b + 1] - blocks.start[b])
    return StateRoom(
        np.empty(n + 1, np.int64),
        np.empty(n_literals, np.int64),
        np.empty(n_literals, np.int64),
        np.empty(n_blocks, np.int64),
        np.empty(group_size, np.int64),
        np.empty(group_size, np.int64),
        np.empty((n_blocks, most), np.int64),
        np.empty(n_blocks, np.int64),
        np.empty(max(_MOST_JOINT, most), np.bool_),
    )


@kernel
def draw_satisfying_states(left, kept, fixed, blocks, room, stream, x, total):
    """Do as `mcsat.draw_satisfying` for variables of several states."""
    index_clauses(left, kept, fixed, room)
    place, n_blocks = room.place, len(blocks.start) - 1
    for b in range(n_blocks):
        _find_allowed(b, blocks, fixed, x, room)
        place[b] = _FIXED if room.n_allowed[b] == 1 else _WAITING
    stream = advance(stream)
    shift = np.int64(uniform(stream) * n_blocks)
    for offset in range(n_blocks):
        b = (shift + offset) % n_blocks
        if place[b] == _FIXED:
            for c in range(blocks.start[b], blocks.start[b + 1]):
                total[c] += x[c]
        elif place[b] == _WAITING:
            n, n_joint, n_own = _grow_group(b, left, blocks, room)
            n_meeting = _find_meeting(n, n_joint, n_own, left, blocks, room, x)
            stream = advance(stream)
            rank = np.int64(uniform(stream) * n_meeting)
            _take(n, n_joint, rank, 1.0 / n_meeting, blocks, room, x, total)
    return stream


@kernel
def _find_allowed(b, blocks, fixed, x, room):
    """List the states of block b that leave its fixed indicators as they are."""
    first, last, n_columns = blocks.start[b], blocks.start[b + 1], blocks.start[-1]
    n = 0
    for a in range(max(last - first, 2)):
        agrees = True
        for c in range(first, last):
            agrees &= not fixed[c] or has_state(blocks, c, a) == x[c]
        for s in range(n_columns + blocks.set_start[b], n_columns + blocks.set_start[b + 1]):
            agrees &= not fixed[s] or has_state(blocks, s, a) == x[s]
        if agrees:
            room.allowed[b, n] = a
            n += 1
    room.n_allowed[b] = n


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
        for k in range(blocks.start[v], blocks.start[v + 1]):
            n_own = _list_clauses(k, n_own, room)
        for k in range(n_columns + blocks.set_start[v], n_columns + blocks.set_start[v + 1]):
            n_own = _list_clauses(k, n_own, room)
        for t in room.own[begin:n_own]:
            for j in range(left.start[t], left.start[t + 1]):
                u = blocks.block_of[left.var[j]]
                larger = n_joint * room.n_allowed[u]
                if place[u] == _WAITING and n < len(group) and larger <= _MOST_JOINT:
                    group[n], place[u], n_joint = u, n, larger
                    n += 1
    return n, n_joint, n_own


@kernel
def _list_clauses(k, n_own, room):
    """Add the clauses of an indicator to `own`; return how many it has."""
    for c in range(room.clause_start[k], room.clause_start[k + 1]):
        room.own[n_own] = room.clause[c]
        n_own += 1
    return n_own


@kernel
def _fill_trial(n, number, room):
    """Write the states of the variables of the group in a joint state to `trial`."""
    for g in range(n):
        n_allowed = room.n_allowed[room.group[g]]
        room.trial[g] = room.allowed[room.group[g], number % n_allowed]
        number //= n_allowed


@kernel
def _find_meeting(n, n_joint, n_own, left, blocks, room, x):
    """Mark the joint states of the group that meet its clauses; return how many."""
    n_meeting = 0
    for number in range(n_joint):
        _fill_trial(n, number, room)
        meets = True
        for t in room.own[:n_own]:
            meets &= not _holds(t, left, blocks, room, x)
        room.meets[number] = meets
        n_meeting += meets
    return n_meeting


@kernel
def _holds(t, left, blocks, room, x):
    """Tell whether a term holds where the variables of the group have their trial states."""
    for j in range(left.start[t], left.start[t + 1]):
        k = left.var[j]
        g = room.place[blocks.block_of[k]]
        if (has_state(blocks, k, room.trial[g]) if g >= 0 else x[k]) != left.value[j]:
            return False
    return True


@kernel
def _take(n, n_joint, rank, share, blocks, room, x, total):
    """Take the joint state of a rank among those, of probability `share`, that meet the clauses."""
    for number in range(n_joint):
        if not room.meets[number]:
            continue
        _fill_trial(n, number, room)
        for g in range(n):
            b = room.group[g]
            for c in range(blocks.start[b], blocks.start[b + 1]):
                total[c] += share * has_state(blocks, c, room.trial[g])
        if rank == 0:
            for g in range(n):
                _enter(room.group[g], room.trial[g], blocks, x)
        rank -= 1
    for g in range(n):
        room.place[room.group[g]] = _DONE


@kernel
def _enter(b, state, blocks, x):
    """Write the indicators of block b in a state."""
    n_columns = blocks.start[-1]
    for k in range(blocks.start[b], blocks.start[b + 1]):
        x[k] = has_state(blocks, k, state)
    for k in range(n_columns + blocks.set_start[b], n_columns + blocks.set_start[b + 1]):
        x[k] = has_state(blocks, k, state)
