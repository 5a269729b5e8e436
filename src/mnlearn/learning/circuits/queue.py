"""The best split of a circuit, found by scoring again only what may be best."""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.circuit import ArithmeticCircuit

# Edges that a split adds at least, before they are counted (decision 0022).
_FEWEST = 4
# The least numbers of edges of a group are counted again when the circuit has grown by this share.
# They may have fallen: an old number counts at the share `_KEPT` of its value (decision 0024).
_GROWTH = 0.05
_KEPT = 0.5
# Stop counting the edges of a split at this multiple of their known number, but not before, so that
# the same split is not counted again and again (decision 0024).
_AHEAD = 4.0
# A candidate that gains less than this share of the best of its group is dropped.
_MIN_SHARE = 0.01


class Candidates(Protocol):
    """Candidate splits, in groups that have one candidate for each variable."""

    circuit: ArithmeticCircuit
    # How many groups to update together; 0 if the bounds are the gains and never change.
    batch: int

    def bounds(self, groups: Sequence[int]) -> Sequence[NDArray[np.float64]]:
        """Return bounds of the gains in log-likelihood of splitting each group, by variable."""

    def gain(self, group: int, var: int) -> float:
        """Return the gain itself, of a group whose bounds were asked for since the last split."""

    def edges(self, group: int) -> NDArray[np.int64]:
        """Return how many edges splitting a group adds at least, by variable."""

    def new_edges(self, group: int, var: int, limit: int) -> int | None:
        """Return how many edges a split adds, or some number above `limit` if it is that many.

        None if the split is not allowed, now or ever.
        """


@dataclass(frozen=True, eq=False)
class Split:
    """A candidate chosen: `group` on variable `var`, its gain, and how many edges it adds."""

    group: int
    var: int
    gain: float
    n_new_edges: int


class SplitQueue:
    """Candidate splits in groups, one group for all variables that a feature or leaf may take.

    The score of a split is its gain in log-likelihood, less `split_cost`, less the price of an edge
    for each edge that it adds. Every split makes the known gains and numbers of edges out of date.
    The quick search updates a group only when it is the best by its last known scores. It updates
    the least numbers of edges first, and then the bounds of the gains. It computes exact values
    only for candidates that may be the best by these (Lowd & Rooshenas 2013, Section 3.1). The
    other search updates all groups before each choice, so that no split scores more than the one
    chosen.
    """

    def __init__(
        self, candidates: Candidates, price: float, split_cost: float, quick: bool = True
    ) -> None:
        self._candidates = candidates
        self._price, self._split_cost = price, split_cost
        self._quick = quick
        self._gain: dict[int, NDArray[np.float64]] = {}
        self._edges: dict[int, NDArray[np.int64]] = {}
        # Edges of the circuit when the least numbers of edges of a group were last found.
        self._counted: dict[int, int] = {}
        self._heap: list[tuple[float, int]] = []

    def add(self, group: int, bound: NDArray[np.float64]) -> None:
        """Add a group; candidates of bound minus infinity are no candidates."""
        best = float(bound.max(initial=0.0))
        self._gain[group] = np.where(bound >= _MIN_SHARE * best, bound, -np.inf)
        self._edges[group] = np.full(len(bound), _FEWEST)
        self._counted[group] = 0
        if best > 0.0:
            self._push(group)

    def remove(self, group: int, var: int) -> None:
        """Take a candidate out."""
        self._gain[group][var] = -np.inf

    def remove_group(self, group: int) -> None:
        """Take all candidates of a group out."""
        del self._gain[group], self._edges[group], self._counted[group]
        self._heap = [entry for entry in self._heap if entry[1] != group]
        heapq.heapify(self._heap)

    def lower_price(self, price: float) -> None:
        """Set another price of an edge."""
        self._price = price
        groups = [group for _, group in self._heap]
        self._heap = []
        for group in sorted(groups):
            self._push(group)

    def is_empty(self) -> bool:
        """Tell whether no candidates are left."""
        return not self._heap

    def state(self) -> dict[str, NDArray]:
        """Return everything that the next choice depends on, as arrays."""
        groups = sorted(self._gain)
        width = len(self._gain[groups[0]]) if groups else 0
        return {
            "group": np.array(groups, np.int64),
            "gain": np.array([self._gain[g] for g in groups]).reshape(len(groups), width),
            "edges": np.array([self._edges[g] for g in groups]).reshape(len(groups), width),
            "counted": np.array([self._counted[g] for g in groups], np.int64),
            "heap_score": np.array([score for score, _ in self._heap], np.float64),
            "heap_group": np.array([group for _, group in self._heap], np.int64),
            "price": np.array(self._price),
        }

    def restore(self, state: Mapping[str, NDArray]) -> None:
        """Replace the queue by a state."""
        groups = state["group"].tolist()
        self._gain = dict(zip(groups, state["gain"].copy(), strict=True))
        self._edges = dict(zip(groups, state["edges"].copy(), strict=True))
        self._counted = dict(zip(groups, state["counted"].tolist(), strict=True))
        scores, members = state["heap_score"].tolist(), state["heap_group"].tolist()
        self._heap = list(zip(scores, members, strict=True))
        self._price = float(state["price"])

    def best(self, room: int) -> Split | None:
        """Return the best candidate that adds at most `room` edges, or None if none scores.

        Candidates that added more when they were last counted are dropped.
        """
        n_edges = self._candidates.circuit.n_edges
        if not self._quick:
            self._renew()
        known = not (self._quick and self._candidates.batch)
        fresh: set[int] = set(self._gain) if known else set()
        exact: set[tuple[int, int]] = set()
        counted: set[tuple[int, int]] = set()
        while self._heap and self._heap[0][0] < 0.0:
            group = self._heap[0][1]
            if n_edges > (1.0 + _GROWTH) * self._counted[group]:
                self._count(group)
                self._counted[group] = n_edges
                continue
            if group not in fresh:
                fresh.update(self._refresh(fresh))
                continue
            heapq.heappop(self._heap)
            self._gain[group][self._edges[group] > room] = -np.inf
            var = int(np.argmax(self._scores(group)))
            if self._gain[group][var] == -np.inf:
                continue
            if self._candidates.batch and (group, var) not in exact:
                self._gain[group][var] = self._candidates.gain(group, var)
                exact.add((group, var))
            elif (group, var) not in counted:
                limit = self._limit(group, var, room)
                n_new_edges = self._candidates.new_edges(group, var, limit)
                if n_new_edges is None or n_new_edges > room:
                    self.remove(group, var)
                else:
                    self._edges[group][var] = n_new_edges
                    if n_new_edges <= limit:
                        counted.add((group, var))
            self._push(group)
            if (group, var) in counted:
                score = self._scores(group)[var]
                if score > 0.0 and score >= -self._heap[0][0]:
                    gain, n_new = float(self._gain[group][var]), int(self._edges[group][var])
                    return Split(group, var, gain, n_new)
        return None

    def _limit(self, group: int, var: int, room: int) -> int:
        """Return the number of edges beyond which a split cannot be the best."""
        if not self._quick or self._price == 0.0:
            return room
        next_best = -self._heap[0][0] if self._heap else 0.0
        spare = float(self._gain[group][var]) - self._split_cost - max(next_best, 0.0)
        return int(min(room, max(spare / self._price, _AHEAD * self._edges[group][var])))

    def _renew(self) -> None:
        """Update the numbers of edges and the bounds of all groups."""
        groups = sorted(group for _, group in self._heap)
        for group in groups:
            self._edges[group] = self._candidates.edges(group)
            self._counted[group] = self._candidates.circuit.n_edges
        if batch := self._candidates.batch:
            for begin in range(0, len(groups), batch):
                self._bound(groups[begin : begin + batch])
        self._heap = []
        for group in groups:
            self._push(group)

    def _count(self, group: int) -> None:
        """Count the least numbers of edges of the first group again; they may have fallen."""
        heapq.heappop(self._heap)
        known = (_KEPT * self._edges[group]).astype(np.int64)
        self._edges[group] = np.maximum(self._candidates.edges(group), known)
        self._push(group)

    def _refresh(self, fresh: set[int]) -> list[int]:
        """Update the bounds of the first groups that are out of date; return these groups."""
        kept: list[tuple[float, int]] = []
        stale: list[tuple[float, int]] = []
        while self._heap and len(stale) < self._candidates.batch:
            entry = heapq.heappop(self._heap)
            (kept if entry[1] in fresh else stale).append(entry)
        for entry in kept:
            heapq.heappush(self._heap, entry)
        groups = [group for _, group in stale]
        self._bound(groups)
        for group in groups:
            self._push(group)
        return groups

    def _bound(self, groups: Sequence[int]) -> None:
        """Update the bounds of groups, for candidates that were not dropped."""
        for group, bound in zip(groups, self._candidates.bounds(groups), strict=True):
            self._gain[group] = np.where(np.isneginf(self._gain[group]), -np.inf, bound)

    def _scores(self, group: int) -> NDArray[np.float64]:
        return self._gain[group] - self._cost(group)

    def _cost(self, group: int) -> NDArray[np.float64]:
        return np.asarray(self._price * self._edges[group] + self._split_cost)

    def _push(self, group: int) -> None:
        best = float(self._scores(group).max())
        if best > -np.inf:
            heapq.heappush(self._heap, (-best, group))
