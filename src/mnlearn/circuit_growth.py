"""Greedy growth of a circuit, split by split, under a price of edges."""

import time
from collections.abc import Callable, Sequence
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from mnlearn.circuit_splits import SplitPlan
from mnlearn.method import Fitted, Task
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

    def model(self) -> ArithmeticCircuit:
        """Return the model learned so far; what is grown further does not depend on it."""

    def details(self) -> dict[str, float]:
        """Return what a record says of the model."""


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
    """Models of growing budgets of edges, all from one growth.

    Where the task has a criterion, growth ends when two budgets in a row score below the best.
    """

    def __init__(self, task: Task) -> None:
        self._task = task
        self._max_edges = max(task.grid["max_edges"])
        self._key: tuple[Any, ...] = ()
        self._model: M | None = None
        self._growth: CircuitGrowth | None = None
        self._seconds = 0.0
        self._scores: list[float] = []

    def fitted(self, start: Callable[[], M], prices: Prices, *others: Any) -> Fitted:
        """Return the model grown to a budget of edges.

        start : makes the model that is to grow. others : the parameters that it depends on.
        """
        key = (prices.edge_cost, prices.split_cost, *others)
        began = time.monotonic()
        model, growth = self._model, self._growth
        passed = model is not None and model.circuit.n_edges > prices.max_edges
        if model is None or growth is None or self._key != key or passed:
            self._model = self._growth = None  # Two of them could be more than memory holds.
            model = start()
            growth = CircuitGrowth(model, prices.edge_cost, prices.split_cost, self._max_edges)
            self._key, self._model, self._growth = key, model, growth
            self._seconds, self._scores = 0.0, []
        left = np.inf if prices.max_seconds is None else prices.max_seconds - self._seconds
        growth.grow(prices.max_edges, began + left)
        grown = time.monotonic()
        self._seconds += grown - began
        circuit = model.model()
        seconds = {"structure": self._seconds, "weights": time.monotonic() - grown}
        if self._task.criterion is not None and not growth.ended:
            self._scores.append(self._task.criterion(circuit))
            growth.ended = _past_best(self._scores)
        details = {
            "n_edges": circuit.n_edges,
            "n_splits": growth.n_splits,
            "last_edge_cost": growth.edge_cost,
            **model.details(),
        }
        return Fitted(circuit, seconds, details)


def _past_best(scores: list[float]) -> bool:
    return len(scores) > 2 and max(scores[-2:]) < max(scores[:-2])
