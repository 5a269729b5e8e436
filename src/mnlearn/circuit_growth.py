"""Greedy growth of a circuit, split by split, under a price of edges."""

import time
from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from mnlearn.circuit_splits import SplitPlan
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.progress import say
from mnlearn.split_queue import Split, SplitQueue

# An edge price at which a whole budget costs less than this many nats is as good as none.
_NO_PRICE = 1e-3
_SECONDS_BETWEEN_LINES = 10.0


class Growing(Protocol):
    """A model that can be split: its candidates come in groups, one for all variables."""

    circuit: ArithmeticCircuit
    # How many groups are best scored together; 0 where scores never change.
    batch: int

    def first(self) -> Sequence[tuple[int, NDArray[np.float64]]]:
        """Return the groups at the start, with their gains by variable."""

    def gains(self, groups: Sequence[int]) -> Sequence[NDArray[np.float64]]:
        """Return the gains in log-likelihood of splitting each group on each variable."""

    def plan(self, group: int, var: int) -> SplitPlan | None:
        """Return how the circuit would change; None if the split is not allowed."""

    def accept(self, split: Split) -> Sequence[tuple[int, NDArray[np.float64]]]:
        """Make a split; return the groups that it adds, with their gains."""

    def replaced(self, split: Split) -> bool:
        """Tell whether a group is gone once it is split."""


class CircuitGrowth:
    """Takes the best split again and again; halves the price of an edge where none scores.

    max_edges : a split that would exceed it is never taken.
    """

    def __init__(self, model: Growing, edge_cost: float, split_cost: float, max_edges: int) -> None:
        self.model = model
        self.edge_cost, self.max_edges = edge_cost, max_edges
        self.n_splits = 0
        self.ended = False
        self._pending: Split | None = None
        gains = model.gains if model.batch else None
        self._queue = SplitQueue(gains, model.plan, edge_cost, split_cost, model.batch)
        for group, gain in model.first():
            self._queue.add(group, gain)

    def grow(self, n_edges: int, deadline: float = np.inf) -> None:
        """Split until the next split would give more than `n_edges` edges.

        deadline : value of time.monotonic() at which to stop for good.
        """
        said = time.monotonic()
        while not self.ended:
            if time.monotonic() > deadline:
                self.ended = True
                return
            if self._pending is None:
                self._pending = self._next()
                if self._pending is None:
                    self.ended = True
                    return
            split = self._pending
            if self.model.circuit.n_edges + split.planned.n_new_edges > n_edges:
                return
            self._pending = None
            if self.model.replaced(split):
                self._queue.remove_group(split.group)
            else:
                self._queue.remove(split.group, split.var)
            for group, gain in self.model.accept(split):
                self._queue.add(group, gain)
            self.n_splits += 1
            if time.monotonic() - said > _SECONDS_BETWEEN_LINES:
                said = time.monotonic()
                say(
                    f"{self.n_splits} splits, {self.model.circuit.n_edges} edges, "
                    f"last gain {split.gain:.4g}, price {self.edge_cost:.3g}"
                )

    def details(self) -> dict[str, Any]:
        """Return what a record of the growth so far says."""
        return {
            "n_edges": self.model.circuit.n_edges,
            "n_splits": self.n_splits,
            "last_edge_cost": self.edge_cost,
        }

    def _next(self) -> Split | None:
        while True:
            room = self.max_edges - self.model.circuit.n_edges
            split = self._queue.best(room)
            if split is not None:
                return split
            if self.edge_cost * self.max_edges < _NO_PRICE or self._queue.is_empty():
                return None
            self.edge_cost /= 2
            self._queue.lower_price(self.edge_cost)


class Prices(Protocol):
    """What the parameters of a method say about how its circuit grows."""

    @property
    def edge_cost(self) -> float:
        """Nats that each new edge must gain at first."""

    @property
    def split_cost(self) -> float:
        """Nats that a split must gain."""

    @property
    def max_edges(self) -> int:
        """Edges of the circuit at most."""

    @property
    def max_seconds(self) -> float | None:
        """Seconds to grow it at most."""


M = TypeVar("M", bound=Growing)


class EdgeBudgets(Generic[M]):
    """Circuits of growing budgets of edges, all from one growth.

    max_edges : the largest budget that will be asked for.
    """

    def __init__(self, max_edges: int) -> None:
        self._max_edges = max_edges
        self._key: tuple[Any, ...] = ()
        self._grown: tuple[M, CircuitGrowth, float] | None = None

    def grown(
        self, start: Callable[[], M], prices: Prices, *others: Any
    ) -> tuple[M, CircuitGrowth, float]:
        """Return the model grown to a budget, its growth, and the seconds that took in all.

        start : makes the model that is to grow. others : the parameters that it depends on.
        """
        key = (prices.edge_cost, prices.split_cost, *others)
        began = time.monotonic()
        grown = self._grown
        if grown is None or self._key != key or grown[0].circuit.n_edges > prices.max_edges:
            self._grown = None  # Two of them could be more than memory holds.
            model = start()
            growth = CircuitGrowth(model, prices.edge_cost, prices.split_cost, self._max_edges)
            grown = model, growth, 0.0
        model, growth, seconds = grown
        left = np.inf if prices.max_seconds is None else prices.max_seconds - seconds
        growth.grow(prices.max_edges, began + left)
        self._key, self._grown = key, (model, growth, seconds + time.monotonic() - began)
        return self._grown
