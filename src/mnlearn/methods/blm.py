"""BLM: features by bottom-up search, generalising examples to match their neighbours."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

from mnlearn.inference.score import Scorer
from mnlearn.learning.features.bottom_up import BottomUpSearch, search_bottom_up, search_exactly
from mnlearn.learning.features.generation import INITIAL
from mnlearn.learning.grid_order import Latest, Path
from mnlearn.learning.learner import Fitted, Learner, Stage, Start, Task
from mnlearn.learning.parameters import parameter
from mnlearn.learning.weights.arrangement import (
    ArrangedFeatures,
    arrange_features,
    iterations,
    l1_penalty,
    standard_deviation,
)
from mnlearn.learning.weights.descent import Penalty
from mnlearn.models.io import suffixes
from mnlearn.scoring import networks

RELEARN = ("pass", "candidate")


class Workspace:
    """The searches made so far, and the features that were arranged most recently."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self._searches: dict[tuple[Any, ...], tuple[BottomUpSearch, float]] = {}
        self._arranged: Latest[ArrangedFeatures] = Latest()

    def search(self, learner: "BLM") -> tuple[BottomUpSearch, float]:
        """Return the outcome of a search, and its seconds."""
        key = learner.values_but("sd", "l1")
        if key not in self._searches:
            began = time.process_time()
            found = learner.search(self.task)
            self._searches[key] = found, time.process_time() - began
        return self._searches[key]

    def arranged(self, learner: "BLM") -> ArrangedFeatures:
        """Return the features of one search."""
        features = self.search(learner)[0].features
        key = learner.values_but("sd", "l1")
        return self._arranged.get(
            key, lambda: arrange_features(self.task, features, time.process_time())
        )


@dataclass(eq=False, kw_only=True)
class BLM(Learner):
    """Markov network of features found bottom-up (Davis & Domingos 2010)."""

    initial: str = parameter("positive", "what examples become at first", choices=INITIAL)
    price: float = parameter(
        1.0, "nats that each literal of a feature must gain in the search", low=0, high=1e9
    )
    neighbours: int = parameter(
        10, "nearest examples that a feature is generalised to match", low=1, high=1e6
    )
    search_sd: float = parameter(
        1.0, "standard deviation of the weight prior in the search", above=0
    )
    search_l1: float = parameter(5.0, "L1 penalty on the weights in the search", low=0, high=1e15)
    max_passes: int = parameter(20, "passes over the features in the search", low=1, high=1e6)
    sd: float | None = standard_deviation(1.0)
    l1: float = l1_penalty(1.0)
    max_iterations: int = iterations()
    relearn: str = parameter(
        "pass", "when all weights are learned anew, candidate is slow", choices=RELEARN
    )
    search_seed: int = parameter(
        20, "seed of the order in which the search takes features", low=0, high=2**63
    )

    def search(self, task: Task) -> BottomUpSearch:
        """Search features."""
        penalty = Penalty(self.search_sd, self.search_l1)
        search: Callable[..., BottomUpSearch] = search_exactly
        if self.relearn == "pass":
            search = partial(search_bottom_up, threads=task.threads)
        return search(
            task.train,
            penalty,
            self.initial,
            self.neighbours,
            price=self.price,
            max_passes=self.max_passes,
            seed=self.search_seed,
        )

    def learn(self, workspace: Workspace, start: Start) -> Fitted:
        """Return the network of one search and weight prior."""
        search, seconds = workspace.search(self)
        penalty = Penalty(self.sd, self.l1)
        arranged = workspace.arranged(self)
        fitted = arranged.fit(penalty, self.max_iterations, start, seconds_structure=seconds)
        details = {"n_passes": len(search.replaced), "n_replaced": sum(search.replaced)}
        return replace(fitted, details={**details, **fitted.details})

    prepare = staticmethod(Workspace)
    title = "BLM"
    citation = "Davis & Domingos 2010"
    stages = (Stage(("initial", "price", "l1", "sd"), learn, Path(), split=("initial", "price")),)
    scorer: ClassVar[Scorer] = networks
    formats = suffixes.NETWORK
    variant = ("initial",)
