"""Della Pietra: the best conjunction of two features is added until none gains enough."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from mnlearn.learning.features.della_pietra import InductionSearch
from mnlearn.learning.features.pair_gains import (
    Gains,
    LikelihoodGains,
    PairCandidates,
    PseudoLikelihoodGains,
)
from mnlearn.learning.features.sampled_gains import SampledGains
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

OBJECTIVES = ("pseudo_likelihood", "likelihood")
EXPECTATIONS = ("gibbs", "exact")
SEARCHES = ("quick", "exact")


# The features of one search, its seconds and what its record says.
Induced = tuple[FeatureSet, float, dict[str, Any]]


@dataclass(eq=False, kw_only=True)
class DellaPietra(WeightedFeatures):
    """Markov network of induced features (Della Pietra, Della Pietra & Lafferty 1997)."""

    objective: str = parameter(
        "pseudo_likelihood", "what a feature has to raise", choices=OBJECTIVES
    )
    min_gain: float = parameter(
        10.0, "nats that a feature must gain in the search", low=0, high=1e9
    )
    min_support: float = parameter(
        1.0, "examples that a candidate must match, 0 for any", low=0, high=1e9
    )
    expectations: str = parameter(
        "gibbs", "how the likelihood gets expectations, exact up to 20 variables",
        choices=EXPECTATIONS,
    )  # fmt: skip
    chains: int = parameter(10_000, "Gibbs chains of the search", low=1, high=1e8)
    sweeps: int = parameter(5, "sweeps of each chain when it goes on", low=1, high=1e6)
    search: str = parameter(
        "quick",
        "candidates are scored again when they come up as the best, or every time",
        choices=SEARCHES,
    )
    max_features: int | None = parameter(
        None, "features to add to the atomic ones at most, or none", low=0, high=1e9
    )
    max_seconds: float | None = parameter(
        None, "processor seconds to search features at most, or none", low=0, high=1e9
    )
    search_sd: float | None = parameter(
        1.0, "standard deviation of the weight prior in the search, or none", above=0
    )
    search_l1: float = parameter(0.0, "L1 penalty on the weights in the search", low=0, high=1e15)
    sd: float | None = standard_deviation(1.0)
    l1: float = l1_penalty(0.0)
    max_iterations: int = iterations()
    search_seed: int = parameter(20, "seed of the Gibbs chains of the search", low=0, high=2**63)

    def search_features(self, task: Task) -> Induced:
        """Search features; a search that was killed goes on from the state that was kept."""
        began = time.process_time()
        name = {"search": [str(value) for value in self.structure()]}
        kept = task.store.load(name)
        before = 0.0 if kept is None else float(kept["seconds"])
        search = self.new_search(task)
        if kept is None:
            search.begin()
        else:
            search.restore(kept)

        def keep() -> None:
            seconds = np.array(before + time.process_time() - began)
            task.store.save(name, {**search.state(), "seconds": seconds})

        left = np.inf if self.max_seconds is None else self.max_seconds - before
        stopped_by = search.run(began + left, keep)
        seconds = before + time.process_time() - began
        details = {
            "n_added": len(search.gained),
            "n_scored": search.n_scored,
            "search_stopped_by": stopped_by,
        }
        return search.features(), seconds, details

    def new_search(self, task: Task) -> InductionSearch:
        """Return a search that has not begun."""
        data, threads = task.train, task.threads
        penalty = Penalty(self.search_sd, self.search_l1)
        gains: Gains
        if self.objective == "pseudo_likelihood":
            gains = PseudoLikelihoodGains(data, penalty, self.min_gain, threads)
        elif self.expectations == "exact":
            gains = LikelihoodGains(data, penalty, self.min_gain, threads)
        else:
            how = self.chains, self.sweeps, self.search_seed
            gains = SampledGains(data, penalty, self.min_gain, *how, threads)
        most = np.inf if self.max_features is None else self.max_features
        pool = PairCandidates(data, self.min_support, threads)
        return InductionSearch(pool, gains, self.min_gain, self.search == "quick", most)

    def _induced(self, workspace: Workspace) -> Induced:
        """Return the outcome of a search, which is made once."""
        found: Induced
        found, _ = workspace.get(self.structure(), lambda: self.search_features(workspace.task))
        return found

    def features(self, workspace: Workspace) -> FeatureSet:
        return self._induced(workspace)[0]

    def record(self, workspace: Workspace) -> tuple[float, dict[str, Any]]:
        return self._induced(workspace)[1:]

    title = "Della Pietra"
    citation = "Della Pietra, Della Pietra & Lafferty 1997"
    stages = (WeightedFeatures.stage("objective", "min_gain", "max_features"),)
    formats = suffixes.NETWORK
    variant = ("objective",)
