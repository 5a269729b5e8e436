"""Dependency networks of gradient-boosted trees."""

import time
from dataclasses import dataclass, field, replace
from typing import Any

from mnlearn.kernels.boosting import BoostRule
from mnlearn.learning.boosting import BoostedTrees
from mnlearn.learning.learner import Fitted, Learner, Stage, Task
from mnlearn.learning.parameters import parameter
from mnlearn.models.io import suffixes


@dataclass
class Workspace:
    """The trees for the most rounds of a grid, by the other hyperparameters."""

    task: Task
    kept: dict[tuple[Any, ...], tuple[BoostedTrees, float]] = field(default_factory=dict)

    def trees(self, learner: "DNBoost") -> tuple[BoostedTrees, float]:
        """Return the trees and the seconds they took."""
        key = learner.values_but("n_rounds")
        if key not in self.kept:
            began, most = time.process_time(), max(self.task.grid["n_rounds"])
            rule = BoostRule(learner.rate, learner.leaf_penalty, learner.min_curvature)
            found = BoostedTrees(self.task.train, most, learner.max_depth, rule)
            found.grow(self.task.shares, ("boosted trees", most, *key), self.task.threads)
            self.kept[key] = found, found.seconds_shared + time.process_time() - began
        return self.kept[key]


@dataclass(eq=False, kw_only=True)
class DNBoost(Learner):
    """Dependency network whose CPDs are sums of trees, each fitted to what the others leave."""

    n_rounds: int = parameter(100, "trees of each state", low=1, high=1e5)
    max_depth: int = parameter(4, "most tests above a leaf", low=1, high=10)
    rate: float = parameter(0.1, "share of its Newton step that a leaf takes", low=1e-6, high=1.0)
    leaf_penalty: float = parameter(
        1.0, "penalty on the squared value of a leaf", low=1e-9, high=1e15
    )
    min_curvature: float = parameter(
        1.0, "least curvature of the loss on each side of a split", low=0.0, high=1e15
    )

    by_variable = "dn_boost"

    @classmethod
    def learn_share(cls, task: Task) -> None:
        """Grow the trees of this process's share of the variables."""
        workspace = Workspace(task)
        for depth in task.grid["max_depth"]:
            for rate in task.grid["rate"]:
                workspace.trees(replace(cls.first(task), max_depth=depth, rate=rate))

    def learn(self, workspace: Workspace) -> Fitted:
        """Return the network of some rounds."""
        trees, seconds = workspace.trees(self)
        network = trees.network(self.n_rounds)
        return Fitted(network, {"structure": seconds}, {"n_features": len(network.features)})

    prepare = staticmethod(Workspace)
    title = "Dependency network, boosted trees"
    citation = "for comparison; Friedman 2001"
    stages = (Stage(("max_depth", "rate", "n_rounds"), learn),)
    formats = suffixes.DEPENDENCY_NETWORK
