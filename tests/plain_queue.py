"""The queue of splits in plain Python: a heap of groups, one step at a time."""

import heapq
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mnlearn.learning.circuits import queue
from mnlearn.learning.circuits.queue import Growing, Split


class PlainQueue:
    """The queue with one entry for each group, by the definition of the search."""

    def __init__(
        self, candidates: Growing, price: float, split_cost: float, quick: bool = True
    ) -> None:
        self._candidates = candidates
        self._price, self._split_cost = price, split_cost
        self._quick = quick
        self._gain: dict[int, NDArray[np.float64]] = {}
        self._edges: dict[int, NDArray[np.int64]] = {}
        # Edges of the circuit when the least numbers of edges of a group were last found.
        self._counted: dict[int, int] = {}
        self._heap: list[tuple[float, int]] = []
        # Groups whose scores were found since the last split.
        self._fresh: set[int] = set()

    def add(self, group: int, bound: NDArray[np.float64]) -> None:
        """Add a group; candidates of bound minus infinity are no candidates."""
        best = float(bound.max(initial=0.0))
        self._gain[group] = np.where(bound >= queue._MIN_SHARE * best, bound, -np.inf)
        self._edges[group] = np.full(len(bound), queue._FEWEST)
        self._counted[group] = 0
        if best > self._candidates.tolerance:
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
        self._fresh.update(groups)
        self._heap = []
        for group in sorted(groups):
            self._push(group)

    def is_empty(self) -> bool:
        """Tell whether no candidates are left."""
        return not self._heap

    def best(self, room: int) -> Split | None:
        """Return the best candidate that adds at most `room` edges, or None if none scores.

        Candidates that added more when they were last counted are dropped.
        """
        n_edges = self._candidates.circuit.n_edges
        if not self._quick:
            self._renew()
        remembers = self._quick and self._candidates.batch
        if remembers:
            self._forget()
        fresh = self._fresh if remembers else set(self._gain)
        exact: set[tuple[int, int]] = set()
        counted: set[tuple[int, int]] = set()
        while self._heap and self._heap[0][0] < 0.0:
            group = self._heap[0][1]
            if n_edges > (1.0 + queue._GROWTH) * self._counted[group]:
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
            known = not self._candidates.batch or (group, var) in exact
            if known and (group, var) in counted:
                self._push(group)
                gain, n_new = float(self._gain[group][var]), int(self._edges[group][var])
                return Split(group, var, gain, n_new)
            if not known:
                self._gain[group][var] = self._candidates._best_extension(group, var)[0]
                exact.add((group, var))
            else:
                limit = self._limit(group, var, room)
                n_new_edges = self._candidates.new_edges(group, var, limit)
                if n_new_edges is None or n_new_edges > room:
                    self.remove(group, var)
                else:
                    self._edges[group][var] = n_new_edges
                    if n_new_edges <= limit:
                        counted.add((group, var))
            self._push(group)
        return None

    def _forget(self) -> None:
        """Count the scores that were found after the last split at a share of their value."""
        for place, (key, group) in enumerate(self._heap):
            if group in self._fresh and key < 0.0:
                self._heap[place] = queue._REMEMBERED * key, group
        heapq.heapify(self._heap)
        self._fresh.clear()

    def _limit(self, group: int, var: int, room: int) -> int:
        """Return the number of edges beyond which a split cannot be the best."""
        if not self._quick or self._price == 0.0:
            return room
        next_best = -self._heap[0][0] if self._heap else 0.0
        most = float(self._gain[group][var]) + self._candidates.tolerance
        spare = most - self._split_cost - max(next_best, 0.0)
        return int(min(room, max(spare / self._price, queue._AHEAD * self._edges[group][var])))

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
        known = (queue._KEPT * self._edges[group]).astype(np.int64)
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
        score = self._gain[group] - self._cost(group)
        return np.rint(score / self._candidates.tolerance) * self._candidates.tolerance

    def _cost(self, group: int) -> NDArray[np.float64]:
        return np.asarray(self._price * self._edges[group] + self._split_cost)

    def _push(self, group: int) -> None:
        best = float(self._scores(group).max())
        if best > -np.inf:
            heapq.heappush(self._heap, (-best, group))
