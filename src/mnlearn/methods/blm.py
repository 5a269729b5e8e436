"""BLM: features by bottom-up search, generalising examples to match their neighbours."""

from dataclasses import dataclass
from typing import Any

from mnlearn.learning.features.bottom_up import BottomUpSearch, search_bottom_up
from mnlearn.learning.features.literals import INITIAL
from mnlearn.learning.learner import Task, Workspace
from mnlearn.learning.parameters import parameter
from mnlearn.learning.weights.arrangement import (
    WeightedFeatures,
    iterations,
    l1_penalty,
    standard_deviation,
)
from mnlearn.learning.weights.descent import Penalty
from mnlearn.models.features import FeatureSet
from mnlearn.models.io import suffixes


@dataclass(eq=False, kw_only=True)
class BLM(WeightedFeatures):
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
    search_seed: int = parameter(
        20, "seed of the order in which the search takes features", low=0, high=2**63
    )

    def _found(self, workspace: Workspace) -> tuple[BottomUpSearch, float]:
        """Return the outcome of a search, which is made once, and its seconds."""
        return workspace.get(self.structure(), lambda: self._search(workspace.task))

    def _search(self, task: Task) -> BottomUpSearch:
        return search_bottom_up(
            task.train,
            Penalty(self.search_sd, self.search_l1),
            self.initial,
            self.neighbours,
            price=self.price,
            max_passes=self.max_passes,
            seed=self.search_seed,
            threads=task.threads,
        )

    def features(self, workspace: Workspace) -> FeatureSet:
        return self._found(workspace)[0].features

    def record(self, workspace: Workspace) -> tuple[float, dict[str, Any]]:
        search, seconds = self._found(workspace)
        return seconds, {"n_passes": len(search.replaced), "n_replaced": sum(search.replaced)}

    title = "BLM"
    citation = "Davis & Domingos 2010"
    stages = (WeightedFeatures.stage("initial", "price"),)
    formats = suffixes.NETWORK
    variant = ("initial",)
