"""Parts of a feature tree that are still to be learned, and how a feature divides them."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.lem.node import Clauses, propagate

Literal = tuple[int, int]
Values = Mapping[int, AbstractSet[int]]


def has_state(allowed: Values, clauses: Sequence[Sequence[Literal]]) -> bool:
    """Return whether variables have values with which no clause holds, by the DLL procedure.

    Unit propagation alone does not find out.
    """
    open_clauses = _undecided(allowed, clauses)
    if not open_clauses:
        return True
    shortest = min(open_clauses, key=len)
    if not shortest:
        return False
    v, value = shortest[0]
    if has_state({**allowed, v: allowed[v] - {value}}, open_clauses):
        return True
    return len(shortest) > 1 and has_state({**allowed, v: {value}}, open_clauses)


def _undecided(allowed: Values, clauses: Sequence[Sequence[Literal]]) -> list[list[Literal]]:
    """Return the clauses that can hold, without the literals that hold anyway.

    A variable with a value that is in no clause can be given this value; its clauses are left out.
    """
    found = [
        [(v, value) for v, value in clause if len(allowed[v]) > 1]
        for clause in clauses
        if all(value in allowed[v] for v, value in clause)
    ]
    while True:
        named: dict[int, set[int]] = {}
        for clause in found:
            for v, value in clause:
                named.setdefault(v, set()).add(value)
        free = {v for v, values in named.items() if allowed[v] - values}
        if not free:
            return found
        found = [clause for clause in found if not any(v in free for v, _ in clause)]


Conjunction = tuple[Literal, ...]


@dataclass(frozen=True, eq=False)
class Part:
    """Variables whose tree is still to be learned, below the A-node `above`.

    slot, slot_value : the allowed values of each variable, see `kernels.lem.node`.
    clauses : conjunctions that are known not to hold.
    """

    above: int
    examples: NDArray[np.int32]
    variable: NDArray[np.int32]
    slot: NDArray[np.int32]
    slot_value: NDArray[np.uint8]
    clauses: tuple[Conjunction, ...] = ()

    @cached_property
    def owner(self) -> NDArray[np.int32]:
        """Position of the variable of each slot."""
        return np.repeat(np.arange(len(self.variable), dtype=np.int32), np.diff(self.slot))

    def literal(self, slot: int) -> Literal:
        """Return the (variable, value) pair of a slot."""
        return int(self.variable[self.owner[slot]]), int(self.slot_value[slot])

    def slots_of(self, literals: Conjunction) -> list[int]:
        """Return the slots of (variable, value) pairs."""
        number = {self.literal(s): s for s in range(len(self.slot_value))}
        return [number[literal] for literal in literals]

    def clause_arrays(self, room: int) -> Clauses:
        """Return the clauses for kernels, with room for one more of length `room`."""
        start = np.zeros(len(self.clauses) + 2, np.int32)
        np.cumsum([len(clause) for clause in self.clauses], out=start[1:-1])
        slots = np.zeros(start[-2] + room, np.int32)
        if self.clauses:
            slots[: start[-2]] = self.slots_of(tuple(itertools.chain(*self.clauses)))
        return Clauses(start, slots, len(self.clauses))


@dataclass(frozen=True, eq=False)
class Side:
    """What is left of a part where a feature holds, or where it does not.

    label : block of each variable. alive, size : the slots left, and values that each variable has.
    """

    examples: NDArray[np.int32]
    label: NDArray[np.int32]
    alive: NDArray[np.uint8]
    size: NDArray[np.int32]
    clauses: tuple[Conjunction, ...]


def fixed_literals(part: Part, side: Side) -> list[Literal]:
    """Return the (variable, value) pairs that a side fixes."""
    slots = np.flatnonzero((side.alive == 1) & (side.size[part.owner] == 1))
    return [part.literal(s) for s in slots.tolist()]


def blocks_of(part: Part, side: Side, above: int) -> Iterator[Part]:
    """Yield the part of each block of a side, in the order of their least variables."""
    free = np.flatnonzero(side.size > 1)
    order = free[np.argsort(side.label[free], kind="stable")]
    rank = np.full(len(side.size), -1)
    rank[order] = np.arange(len(order))
    kept = np.flatnonzero((side.alive == 1) & (rank[part.owner] >= 0))
    kept = kept[np.argsort(rank[part.owner[kept]], kind="stable")]
    variable, slot_value = part.variable[order], part.slot_value[kept]
    slot = np.concatenate([[0], np.cumsum(side.size[order])]).astype(np.int32)
    clauses = _open_clauses(part, side)
    ends = [*np.flatnonzero(np.diff(side.label[order])) + 1, len(order)]
    first = 0
    for last in ends if len(order) else ():
        inside = set(variable[first:last].tolist()) if clauses else set()
        yield Part(
            above,
            side.examples,
            variable[first:last],
            slot[first : last + 1] - slot[first],
            slot_value[slot[first] : slot[last]],
            tuple(clause for clause in clauses if clause[0][0] in inside),
        )
        first = last


def _open_clauses(part: Part, side: Side) -> list[Conjunction]:
    """Return the clauses of a side without the literals that hold there anyway."""
    if not side.clauses:
        return []
    alive = {part.literal(s) for s in np.flatnonzero(side.alive).tolist()}
    size = dict(zip(part.variable.tolist(), side.size.tolist(), strict=True))
    return [
        tuple(literal for literal in clause if size[literal[0]] > 1)
        for clause in side.clauses
        if alive.issuperset(clause)
    ]


def tied_by_clauses(part: Part) -> NDArray[np.int32]:
    """Return a label for each variable, the same for those that clauses tie together."""
    label = np.arange(len(part.variable), dtype=np.int32)
    place = {v: j for j, v in enumerate(part.variable.tolist())}
    for clause in part.clauses:
        members = [label[place[v]] for v, _ in clause]
        label[np.isin(label, members)] = min(members)
    return label


def everything(part: Part, label: NDArray[np.int32]) -> Side:
    """Return all of a part as a side, with the given blocks."""
    alive = np.ones(len(part.slot_value), np.uint8)
    return Side(part.examples, label, alive, np.diff(part.slot), part.clauses)


def divided(part: Part, literal: Literal, examples: Sequence[NDArray[np.int32]]) -> list[Side]:
    """Return the sides that have states, where a literal does not hold and where it does."""
    (slot,) = part.slots_of((literal,))
    sides: list[Side] = []
    for holds in (False, True):
        alive, size = np.ones(len(part.slot_value), np.uint8), np.diff(part.slot).astype(np.int32)
        own = slice(part.slot[part.owner[slot]], part.slot[part.owner[slot] + 1])
        if holds:
            alive[own] = 0
        alive[slot] = holds
        size[part.owner[slot]] = alive[own].sum()
        clauses = part.clause_arrays(0)
        if propagate(part.owner, clauses, clauses.n, alive, size):
            label = np.zeros(len(size), np.int32)
            side = Side(examples[holds], label, alive, size, part.clauses)
            if len(side.examples) or has_state(_values_left(part, side), part.clauses):
                sides.append(side)
    return sides


def _values_left(part: Part, side: Side) -> dict[int, set[int]]:
    """Return the values that each variable of a part has left on a side."""
    left: dict[int, set[int]] = {}
    for slot in np.flatnonzero(side.alive).tolist():
        v, value = part.literal(slot)
        left.setdefault(v, set()).add(value)
    return left
