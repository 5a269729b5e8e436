"""The best split of a circuit, found by scoring again only what may be best."""

import heapq
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.circuit_splits import SplitPlan

# Edges that a split is assumed to add before they are counted.
_UNCOUNTED = 4
# Candidates that gain less than this share of the best of their group are not kept.
_MIN_SHARE = 0.01


Gains = Callable[[Sequence[int], Sequence[NDArray[np.float64]]], Sequence[NDArray[np.float64]]]


@dataclass(frozen=True, eq=False)
class Split:
    """A candidate chosen: `group` on variable `var`, its gain, and how the circuit changes."""

    group: int
    var: int
    gain: float
    planned: SplitPlan


class SplitQueue:
    """Candidate splits in groups, one group for all variables that a feature or leaf may take.

    The score of a split is its gain in log-likelihood less its price, price times the number of
    edges that it adds plus `split_cost`. Gains and numbers of edges go out of date with every
    split; those of a group are found again when it comes up as the best by what was last known
    (Lowd & Rooshenas 2013, Section 4.3). A candidate within the share `tolerance` of the best
    known score is taken.

    gains : called with groups, and for each the gains by variable up to which a candidate is of
        no use now, infinity where there is none; returns the gains of each by variable, which
        may be too high where they are of no use, and minus infinity where there is no candidate.
    plan : called with a group and a variable; None if the split is not allowed, now or ever.
    batch : how many groups to bring up to date together.
    """

    def __init__(
        self,
        gains: Gains | None,
        plan: Callable[[int, int], SplitPlan | None],
        price: float,
        split_cost: float,
        batch: int = 1,
        tolerance: float = 0.01,
    ) -> None:
        self._gains, self._plan = gains, plan
        self._price, self._split_cost = price, split_cost
        self._batch, self._tolerance = batch, tolerance
        self._gain: dict[int, NDArray[np.float64]] = {}
        self._edges: dict[int, NDArray[np.int64]] = {}
        self._heap: list[tuple[float, int]] = []

    def add(self, group: int, gain: NDArray[np.float64]) -> None:
        """Add a group; candidates of gain minus infinity are no candidates."""
        best = float(gain.max(initial=0.0))
        self._gain[group] = np.where(gain >= _MIN_SHARE * best, gain, -np.inf)
        self._edges[group] = np.full(len(gain), _UNCOUNTED)
        if best > 0.0:
            self._push(group)

    def remove(self, group: int, var: int) -> None:
        """Take a candidate out."""
        self._gain[group][var] = -np.inf

    def remove_group(self, group: int) -> None:
        """Take all candidates of a group out."""
        del self._gain[group], self._edges[group]
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
            "heap_score": np.array([score for score, _ in self._heap], np.float64),
            "heap_group": np.array([group for _, group in self._heap], np.int64),
            "price": np.array(self._price),
        }

    def restore(self, state: Mapping[str, NDArray]) -> None:
        """Go back to a state."""
        groups = state["group"].tolist()
        self._gain = dict(zip(groups, state["gain"].copy(), strict=True))
        self._edges = dict(zip(groups, state["edges"].copy(), strict=True))
        scores, members = state["heap_score"].tolist(), state["heap_group"].tolist()
        self._heap = list(zip(scores, members, strict=True))
        self._price = float(state["price"])

    def best(self, room: int) -> Split | None:
        """Return the best candidate that adds at most `room` edges, or None if none scores.

        Candidates that add more are dropped for good.
        """
        fresh: set[int] = set()
        planned: dict[tuple[int, int], SplitPlan] = {}
        while self._heap and self._heap[0][0] < 0.0:
            group = self._heap[0][1]
            if self._gains is not None and group not in fresh:
                fresh.update(self._refresh(fresh))
                continue
            heapq.heappop(self._heap)
            var = int(np.argmax(self._scores(group)))
            if (group, var) not in planned:
                plan = self._plan(group, var)
                if plan is None or plan.n_new_edges > room:
                    self.remove(group, var)
                    self._push(group)
                    continue
                planned[group, var] = plan
                self._edges[group][var] = plan.n_new_edges
                self._push(group)
                score = self._scores(group)[var]
                if score < (1.0 - self._tolerance) * -self._heap[0][0] or score <= 0.0:
                    continue
                # Within the tolerance of whatever is first.
            else:
                self._push(group)
            return Split(group, var, float(self._gain[group][var]), planned[group, var])
        return None

    def _refresh(self, fresh: set[int]) -> list[int]:
        """Find the gains of the first groups that are out of date again; return these groups."""
        assert self._gains is not None
        kept: list[tuple[float, int]] = []
        stale: list[tuple[float, int]] = []
        while self._heap and len(stale) < self._batch:
            entry = heapq.heappop(self._heap)
            (kept if entry[1] in fresh else stale).append(entry)
        groups = [group for _, group in stale]
        for entry in kept:
            heapq.heappush(self._heap, entry)
        least = [
            np.where(np.isfinite(self._gain[group]), self._cost(group), np.inf) for group in groups
        ]
        for group, gain in zip(groups, self._gains(groups, least), strict=True):
            self._gain[group] = gain
            self._push(group)
        return groups

    def _scores(self, group: int) -> NDArray[np.float64]:
        return self._gain[group] - self._cost(group)

    def _cost(self, group: int) -> NDArray[np.float64]:
        return np.asarray(self._price * self._edges[group] + self._split_cost)

    def _push(self, group: int) -> None:
        best = float(self._scores(group).max())
        if best > -np.inf:
            heapq.heappush(self._heap, (-best, group))
