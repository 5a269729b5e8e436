"""Greedy growth of a circuit, split by split, under a price of edges."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.learning import shares
from mnlearn.learning.circuits.queue import Growing, Split, SplitQueue
from mnlearn.learning.learner import Fitted, Learner, Task
from mnlearn.learning.parameters import parameter
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.runtime.progress import pulse

# The price is no longer halved once the largest budget costs less than this, in nats.
_NO_PRICE = 1e-3
# Growth ends when fewer edges are left, which is what a split adds at least (decision 0043).
_LEAST_ROOM = 4
SEARCHES = ("quick", "exact")


class CircuitGrowth:
    """Takes the best split again and again; halves the price of an edge when no split scores.

    Prices are in nats. It resumes from a `state` of a growth of the same model and prices.
    """

    def __init__(
        self,
        model: Growing,
        edge_cost: float,
        split_cost: float,
        max_edges: int,
        *,
        state: Mapping[str, NDArray] | None = None,
        quick: bool = True,
    ) -> None:
        self.model = model
        self.edge_cost, self.max_edges = edge_cost, max_edges
        self.n_splits = 0
        self.ended = False
        self._pending: Split | None = None
        self._queue = SplitQueue(model, edge_cost, split_cost, quick)
        if state is not None:
            self._restore(state)
            return
        for group, bound in model.first():
            self._queue.add(group, bound)

    def grow(
        self,
        n_edges: int,
        deadline: float = np.inf,
        keep: Callable[[], None] = lambda: None,
    ) -> None:
        """Split until the next split would give more than `n_edges` edges.

        `deadline` is a value of time.process_time(); `keep` is called every 45 seconds.
        """
        pace = shares.Pace()
        while not self.ended:
            if time.process_time() > deadline:
                self.ended = True
                return
            if pace.is_due():
                keep()
            if self._pending is None:
                self._pending = self._next()
                if self._pending is None:
                    self.ended = True
                    return
            split = self._pending
            if self.model.circuit.n_edges + split.n_new_edges > n_edges:
                return
            self._take(split)
            pulse(
                f"{self.n_splits} splits, {self.model.circuit.n_edges} edges, "
                f"last gain {split.gain:.4g}, price {self.edge_cost:.3g}"
            )

    def _take(self, split: Split) -> None:
        self._pending = None
        for group, bound in self.model.accept(split):
            self._queue.add(group, bound)
        if self.model.batch:
            self._queue.remove(split.group, split.var)
        else:
            self._queue.remove_group(split.group)
        self.n_splits += 1

    def _next(self) -> Split | None:
        while True:
            room = self.max_edges - self.model.circuit.n_edges
            if room < _LEAST_ROOM:
                return None
            split = self._queue.best(room)
            if split is not None:
                return split
            if self.edge_cost * self.max_edges < _NO_PRICE or self._queue.is_empty():
                return None
            self.edge_cost /= 2
            self._queue.lower_price(self.edge_cost)

    def state(self) -> dict[str, NDArray]:
        pending = self._pending
        split = (-1, -1) if pending is None else (pending.group, pending.var)
        return {
            **{f"model_{name}": array for name, array in self.model.state().items()},
            **{f"queue_{name}": array for name, array in self._queue.state().items()},
            "edge_cost": np.array(self.edge_cost),
            "counts": np.array([self.n_splits, self.ended, *split], np.int64),
            "pending_gain": np.array(0.0 if pending is None else pending.gain),
        }

    def _restore(self, state: Mapping[str, NDArray]) -> None:
        parts: dict[str, dict[str, NDArray]] = {"model": {}, "queue": {}}
        for name, array in state.items():
            part, _, rest = name.partition("_")
            if part in parts:
                parts[part][rest] = array
        self.model.restore(parts["model"])
        self._queue.restore(parts["queue"])
        self.edge_cost = float(state["edge_cost"])
        self.n_splits, ended, group, var = state["counts"].tolist()
        self.ended = bool(ended)
        if group >= 0:
            # The model needs the probabilities that it finds with the bounds to make the split.
            self.model.bounds([group])
            n_new_edges = self.model.new_edges(group, var, self.max_edges)
            assert n_new_edges is not None
            self._pending = Split(group, var, float(state["pending_gain"]), n_new_edges)


@dataclass(eq=False, kw_only=True)
class CircuitLearner(Learner):
    """The hyperparameters of every learner that grows circuits."""

    split_cost: float = parameter(
        2.0, "nats of log-likelihood that a split must gain", low=-1e9, high=1e9
    )
    edge_cost: float = parameter(
        10.0,
        "nats that each new edge must gain at first; halved when nothing gains that much",
        low=0,
        high=1e9,
    )
    max_edges: int = parameter(
        100_000, "edges beyond which the circuit does not grow", low=1, high=2**31 - 1
    )
    search: str = parameter(
        "quick",
        "a split is scored again when it comes up as the best, or every time",
        choices=SEARCHES,
    )
    max_seconds: float | None = parameter(
        None, "processor seconds to grow the circuit at most, or none", low=0, high=1e9
    )


class EdgeBudgets:
    """Models of growing budgets of edges, all from one growth.

    If the task has a criterion, growth ends when two budgets in a row score below the best.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self._max_edges = max(task.grid["max_edges"])
        self._key: tuple[Any, ...] = ()
        self._growth: CircuitGrowth | None = None
        # The circuit of so many splits, and the seconds that its weights took.
        self._learned: tuple[int, ArithmeticCircuit, float] | None = None
        self._seconds = 0.0
        # Of the circuits of the budgets before, which a resumed search does not learn again.
        self._scores: dict[int, float] = {}

    def fit(self, start: Callable[[], Growing], prices: CircuitLearner, *others: Any) -> Fitted:
        """Return the model grown to a budget of edges; it depends on `others`, too."""
        began = time.process_time()
        growth = self._begin(start, prices, others)
        before = self._seconds
        left = np.inf if prices.max_seconds is None else prices.max_seconds - before

        def keep() -> None:
            seconds = np.array(before + time.process_time() - began)
            self.task.store.save(self._name("growth"), {**growth.state(), "seconds": seconds})

        last = _last_budget(self._scores, prices.max_edges)
        growth.grow(prices.max_edges if last is None else last, began + left, keep)
        self._seconds += time.process_time() - began
        if self._seconds > shares.SECONDS_BETWEEN_STATES:
            keep()
        circuit, seconds_weights = self._learn_weights(growth)
        if self.task.criterion is not None and not growth.ended and last is None:
            self._scores[prices.max_edges] = self.task.criterion(circuit)
            scores = {str(budget): np.array(score) for budget, score in self._scores.items()}
            self.task.store.save(self._name("scores"), scores)
        details = {
            "n_edges": circuit.n_edges,
            "n_splits": growth.n_splits,
            "last_edge_cost": growth.edge_cost,
            **growth.model.details(),
        }
        return Fitted(circuit, {"structure": self._seconds, "weights": seconds_weights}, details)

    def _begin(
        self, start: Callable[[], Growing], prices: CircuitLearner, others: tuple[Any, ...]
    ) -> CircuitGrowth:
        """Return the growth as it is, or one from the state that was kept within the budget."""
        key, growth = (prices.edge_cost, prices.split_cost, prices.search, *others), self._growth
        if growth and self._key == key and growth.model.circuit.n_edges <= prices.max_edges:
            return growth
        growth = self._growth = None  # Two of them could be more than memory holds.
        self._key, self._learned = key, None
        state = self.task.store.load(self._name("growth"))
        if state is not None and len(state["model_child"]) > prices.max_edges:
            state = None
        self._seconds = 0.0 if state is None else float(state["seconds"])
        scores = self.task.store.load(self._name("scores")) or {}
        self._scores = {int(budget): float(score) for budget, score in scores.items()}
        costs, quick = (prices.edge_cost, prices.split_cost), prices.search == "quick"
        self._growth = CircuitGrowth(start(), *costs, self._max_edges, state=state, quick=quick)
        return self._growth

    def _learn_weights(self, growth: CircuitGrowth) -> tuple[ArithmeticCircuit, float]:
        """Return the model, its weights learned to the end, and their seconds; once per split."""
        if self._learned is None or self._learned[0] != growth.n_splits:
            began = time.process_time()
            self._learned = growth.n_splits, growth.model.model(), time.process_time() - began
        return self._learned[1:]

    def _name(self, kind: str) -> dict[str, Any]:
        return {kind: [str(part) for part in self._key], "max_edges": self._max_edges}


def _last_budget(scores: Mapping[int, float], n_edges: int) -> int | None:
    """Return the budget below `n_edges` at which growth ends because of scores, None if none."""
    found: list[float] = []
    for budget in sorted(budget for budget in scores if budget < n_edges):
        found.append(scores[budget])
        if len(found) > 2 and max(found[-2:]) < max(found[:-2]):
            return budget
    return None
