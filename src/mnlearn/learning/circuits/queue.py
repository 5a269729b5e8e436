"""The best split of a circuit, found by scoring again only what may be best."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.kernels.arithmetic.ties import EQUAL
from mnlearn.kernels.circuits.candidates import (
    COUNT_CANDIDATE,
    COUNT_GROUP,
    COUNTED,
    FOUND,
    FRESH,
    RENEW_GAINS,
    STALE,
    push,
    rank,
    set_key,
    settle,
    take_stale,
)
from mnlearn.learning.circuits.splitting import ExtensionCounts, SplitEdges
from mnlearn.models.circuit import ArithmeticCircuit

# Edges that a split adds at least, before they are counted (lab note 0022).
_FEWEST = 4
# The least numbers of edges of a group are counted again when the circuit has grown by this share.
# They may have fallen: an old number counts at the share `_KEPT` of its value (lab note 0024).
_GROWTH = 0.05
_KEPT = 0.5
# Stop counting the edges of a split at this multiple of their known number, but not before, so that
# the same split is not counted again and again (lab note 0024).
_AHEAD = 4.0
# The best score of a group counts at this share once another split was made. Most scores fall, and
# groups would be brought up to date only to be found worse (decision 0052).
_REMEMBERED = 0.9
# A candidate that gains less than this share of the best of its group is dropped.
_MIN_SHARE = 0.01
# Groups for which there is room at first.
_ROWS = 64


@dataclass(frozen=True, eq=False)
class Split:
    """A candidate chosen: `group` on column `var`, its gain, and how many edges it adds."""

    group: int
    var: int
    gain: float
    n_new_edges: int


class Growing(ABC):
    """A model whose circuit can be split, in groups that have one candidate for each column.

    Bounds and gains are in nats of log-likelihood; they are -inf where there is no candidate.
    """

    # How many groups to update together; 0 if the bounds are the gains and never change, and a
    # group is gone once it is split.
    batch = 0

    def __init__(self, train: Dataset, circuit: ArithmeticCircuit) -> None:
        self.counts = ExtensionCounts(train)
        # Gains that differ by less are equal within rounding; see `kernels.arithmetic.ties`.
        self.tolerance = EQUAL * train.n_examples
        self.circuit = circuit
        self._split_edges: tuple[NDArray[np.int32], SplitEdges] | None = None

    def split_edges(self) -> SplitEdges:
        """Return what counts the edges of splits of the circuit as it is."""
        if self._split_edges is None or self._split_edges[0] is not self.circuit.child:
            self._split_edges = self.circuit.child, SplitEdges(self.circuit)
        return self._split_edges[1]

    @abstractmethod
    def first(self) -> Sequence[tuple[int, NDArray[np.float64]]]:
        """Return the groups at the start, with the bounds of their gains by column."""

    @abstractmethod
    def bounds(self, groups: Sequence[int]) -> Sequence[NDArray[np.float64]]:
        """Return bounds of the gains of splitting each group, by column."""

    # Bounds that are the gains, as those of Bayesian networks, are never renewed.
    def renew(self, groups: Sequence[int], gain: NDArray[np.float64]) -> None:  # noqa: B027
        """Replace rows of `gain` by bounds, where they are not minus infinity."""

    def terms(self) -> Any:
        """Return what `kernels.circuits.candidates.settle` needs to find gains from bounds."""
        none, table = np.empty(0), np.empty((0, 0))
        return 0.0, 0.0, 0.0, table, none, table, none, np.empty(0, np.int64)

    @abstractmethod
    def edges(self, group: int) -> NDArray[np.int64]:
        """Return how many edges splitting a group adds at least, by column."""

    @abstractmethod
    def new_edges(self, group: int, var: int, limit: int) -> int | None:
        """Return how many edges a split adds, or some number above `limit`; None: not allowed."""

    @abstractmethod
    def accept(self, split: Split) -> Sequence[tuple[int, NDArray[np.float64]]]:
        """Make a split; return the groups that it adds, as `first` does."""

    @abstractmethod
    def model(self) -> ArithmeticCircuit:
        """Return the model learned so far; this has no effect on further growth."""

    @abstractmethod
    def details(self) -> dict[str, float]:
        """Return the objective, summed over examples, in nats, for the record."""

    @abstractmethod
    def state(self) -> dict[str, NDArray]:
        """Return everything that was learned so far, as arrays."""

    @abstractmethod
    def restore(self, state: Mapping[str, NDArray]) -> None:
        """Replace the start of the growth by a state."""


class SplitQueue:
    """Candidate splits in groups, one group for all columns that a feature or leaf may take.

    The score of a split is its gain, less `split_cost`, less the price of each edge that it adds.
    The quick search updates a group only when it is the best by its last known score, first the
    numbers of edges and then the bounds of gains (Lowd & Rooshenas 2013, Section 3.1); the other
    search updates all groups before each choice.
    """

    def __init__(
        self, candidates: Growing, price: float, split_cost: float, quick: bool = True
    ) -> None:
        self._candidates = candidates
        self._price, self._split_cost = float(price), float(split_cost)
        self._quick = quick
        # The row in which groups wait whose gains were found before the last split.
        self._later = STALE if quick and candidates.batch else FRESH
        self._n_rows = 0
        self._one = np.empty(1, np.int64)
        self._row: dict[int, int] = {}
        self._make_room(_ROWS, np.empty(0, np.int64), candidates.circuit.n_columns)

    def _make_room(self, n_rows: int, kept: NDArray[np.int64], n_columns: int) -> None:
        """Make arrays of `n_rows` rows, a power of two, and keep some rows in their order."""
        n_kept = len(kept)
        old = vars(self).copy()
        self._group = np.full(n_rows, -1)
        self._gain = np.empty((n_rows, n_columns))
        self._edges = np.empty((n_rows, n_columns), np.int64)
        self._state = np.zeros((n_rows, n_columns), np.uint8)
        # Edges of the circuit when the least numbers of edges of a group were last found.
        self._counted = np.zeros(n_rows, np.int64)
        self._key = np.full((2, n_rows), np.inf)
        self._winner = np.empty((2, 2 * n_rows), np.int64)
        if n_kept:
            for name in ("_group", "_gain", "_edges", "_counted"):
                getattr(self, name)[:n_kept] = old[name][kept]
            self._key[:, :n_kept] = old["_key"][:, kept]
        self._n_rows = n_kept
        self._row = {int(group): row for row, group in enumerate(self._group[:n_kept])}
        rank(self._key, self._winner)

    def add(self, group: int, bound: NDArray[np.float64]) -> None:
        """Add a group, in the order of their numbers; -inf: no candidate."""
        if self._n_rows == len(self._group):
            kept = np.flatnonzero(self._group >= 0)
            n_rows = len(self._group) * (2 if 2 * len(kept) > self._n_rows else 1)
            self._make_room(n_rows, kept, len(bound))
        row = self._n_rows
        self._n_rows += 1
        self._row[group] = row
        best = float(bound.max(initial=0.0))
        self._group[row] = group
        self._gain[row] = np.where(bound >= _MIN_SHARE * best, bound, -np.inf)
        self._edges[row] = _FEWEST
        self._counted[row] = 0
        if best > self._candidates.tolerance:
            self._push(row, self._later)

    def remove(self, group: int, var: int) -> None:
        self._gain[self._row[group], var] = -np.inf

    def remove_group(self, group: int) -> None:
        row = self._row.pop(group)
        self._group[row] = -1
        for kind in (STALE, FRESH):
            set_key(self._key, self._winner, kind, row, np.inf)

    def gains(self) -> dict[int, NDArray[np.float64]]:
        """Return the known gains or bounds of all groups, by column."""
        return {group: self._gain[row] for group, row in self._row.items()}

    def lower_price(self, price: float) -> None:
        self._price = float(price)
        self._rank_anew(self._waiting())

    def is_empty(self) -> bool:
        """Tell whether no candidates are left."""
        return not np.isfinite(self._key).any()

    def state(self) -> dict[str, NDArray]:
        """Return everything that the next choice depends on, as arrays."""
        rows = np.flatnonzero(self._group[: self._n_rows] >= 0)
        waiting = self._waiting()
        return {
            "group": self._group[rows],
            "gain": self._gain[rows],
            "edges": self._edges[rows],
            "counted": self._counted[rows],
            "heap_score": self._remembered()[waiting],
            "heap_group": self._group[waiting],
            "price": np.array(self._price),
        }

    def restore(self, state: Mapping[str, NDArray]) -> None:
        """Replace the queue by a state."""
        n_kept = len(state["group"])
        n_rows = max(_ROWS, 1 << n_kept.bit_length())
        self._make_room(n_rows, np.empty(0, np.int64), state["gain"].shape[1])
        self._n_rows = n_kept
        for name in ("group", "gain", "edges", "counted"):
            getattr(self, f"_{name}")[:n_kept] = state[name]
        self._row = {int(group): row for row, group in enumerate(state["group"])}
        rows = [self._row[int(group)] for group in state["heap_group"]]
        self._key[self._later, rows] = state["heap_score"]
        rank(self._key, self._winner)
        self._price = float(state["price"])

    def best(self, room: int) -> Split | None:
        """Return the best candidate that adds at most `room` edges, or None if none scores."""
        n_edges = self._candidates.circuit.n_edges
        self._begin()
        out, next_key = np.empty(2, np.int64), np.empty(1)
        known = self._gain, self._edges, self._state, self._counted
        sizes = n_edges, room, 1.0 + _GROWTH
        terms = self._candidates.terms()
        while True:
            queue = self._key, self._winner
            wanted = settle(queue, known, self._prices(), terms, sizes, out, next_key)
            row, var = out.tolist()
            if wanted == COUNT_GROUP:
                self._count(row, n_edges)
            elif wanted == RENEW_GAINS:
                self._refresh()
                terms = self._candidates.terms()
            elif wanted == COUNT_CANDIDATE:
                self._count_candidate(row, var, room, float(next_key[0]))
            else:
                return self._split(row, var) if wanted == FOUND else None

    def _begin(self) -> None:
        """Forget what was exact before the last split."""
        self._state[: self._n_rows] = 0
        if not self._quick:
            self._renew()
        elif self._later == STALE:
            self._key[STALE] = self._remembered()
            self._key[FRESH] = np.inf
            rank(self._key, self._winner)

    def _remembered(self) -> NDArray[np.float64]:
        """Return the keys of all groups as the search after the next split takes them."""
        fresh = self._key[FRESH]
        if self._later == STALE:
            fresh = np.where(fresh < 0.0, _REMEMBERED * fresh, fresh)
        return np.minimum(self._key[STALE], fresh)

    def _split(self, row: int, var: int) -> Split:
        gain, n_new = float(self._gain[row, var]), int(self._edges[row, var])
        return Split(int(self._group[row]), var, gain, n_new)

    def _count_candidate(self, row: int, var: int, room: int, next_key: float) -> None:
        """Count the edges of a candidate, up to the number that shows that it is not the best."""
        limit = self._limit(row, var, room, -next_key)
        n_new_edges = self._candidates.new_edges(int(self._group[row]), var, limit)
        if n_new_edges is None or n_new_edges > room:
            self._gain[row, var] = -np.inf
        else:
            self._edges[row, var] = n_new_edges
            self._state[row, var] |= COUNTED if n_new_edges <= limit else 0
        self._push(row, FRESH)

    def _limit(self, row: int, var: int, room: int, next_best: float) -> int:
        """Return the number of edges beyond which a split cannot be the best."""
        if not self._quick or self._price == 0.0:
            return room
        most = float(self._gain[row, var]) + self._candidates.tolerance
        spare = most - self._split_cost - max(next_best, 0.0)
        return int(min(room, max(spare / self._price, _AHEAD * self._edges[row, var])))

    def _renew(self) -> None:
        """Update the numbers of edges and the bounds of all groups."""
        rows = self._waiting()
        for row in rows:
            self._edges[row] = self._candidates.edges(int(self._group[row]))
            self._counted[row] = self._candidates.circuit.n_edges
        if batch := self._candidates.batch:
            for begin in range(0, len(rows), batch):
                self._bound(rows[begin : begin + batch])
        self._rank_anew(rows)

    def _count(self, row: int, n_edges: int) -> None:
        """Count the least numbers of edges of a group again; they may have fallen."""
        known = (_KEPT * self._edges[row]).astype(np.int64)
        np.maximum(self._candidates.edges(int(self._group[row])), known, out=self._edges[row])
        self._counted[row] = n_edges
        kind = FRESH if np.isfinite(self._key[FRESH, row]) else STALE
        self._push(row, kind)

    def _refresh(self) -> None:
        """Update the bounds of the first groups that are out of date."""
        rows = np.empty(self._candidates.batch, np.int64)
        rows = rows[: take_stale(self._key, self._winner, rows)]
        self._bound(rows)
        self._push_all(rows, FRESH)

    def _bound(self, rows: NDArray[np.int64]) -> None:
        """Update the bounds of groups, for candidates that were not dropped."""
        # Groups with bounds are never removed, so that the row of a group is its number.
        self._candidates.renew(self._group[rows].tolist(), self._gain)

    def _waiting(self) -> NDArray[np.int64]:
        return np.flatnonzero(np.isfinite(self._key).any(axis=0))

    def _rank_anew(self, rows: NDArray[np.int64]) -> None:
        """Rank rows by new scores; no other rows are in the queue."""
        self._key[:] = np.inf
        rank(self._key, self._winner)
        self._push_all(rows, FRESH)

    def _push(self, row: int, kind: int) -> None:
        """Rank a row by its best score; minus infinity takes the row out."""
        self._one[0] = row
        self._push_all(self._one, kind)

    def _push_all(self, rows: NDArray[np.int64], kind: int) -> None:
        queue = self._key, self._winner
        push(queue, kind, rows, self._gain, self._edges, self._prices())

    def _prices(self) -> tuple[float, float, float]:
        return self._price, self._split_cost, self._candidates.tolerance
