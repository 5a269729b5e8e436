"""Dependency networks of gradient-boosted trees."""

import itertools
from dataclasses import dataclass, replace

from mnlearn.kernels.boosting import BoostRule
from mnlearn.learning.boosting import BoostedTrees
from mnlearn.learning.learner import Fitted, Learner, Stage, Task, Workspace
from mnlearn.learning.parameters import parameter
from mnlearn.models.io import suffixes


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

    by_variable = True

    @classmethod
    def learn_share(cls, task: Task) -> None:
        for depth, rate in itertools.product(task.grid["max_depth"], task.grid["rate"]):
            replace(cls.first(task), max_depth=depth, rate=rate)._grow(task)

    def _grow(self, task: Task) -> BoostedTrees:
        """Return the trees for the most rounds of a grid."""
        most, rule = max(task.grid["n_rounds"]), (self.rate, self.leaf_penalty, self.min_curvature)
        found = BoostedTrees(task.train, most, self.max_depth, BoostRule(*rule))
        name = ("boosted trees", most, *self.values_but("n_rounds"))
        found.grow(task.shares, name, task.threads)
        return found

    def learn(self, workspace: Workspace) -> Fitted:
        key = self.values_but("n_rounds")
        trees, seconds = workspace.get(key, lambda: self._grow(workspace.task))
        network = trees.network(self.n_rounds)
        return Fitted(network, {"structure": seconds}, {"n_features": len(network.features)})

    prepare = staticmethod(Workspace[BoostedTrees])
    title = "Dependency network, boosted trees"
    citation = "for comparison; Friedman 2001"
    stages = (Stage(("max_depth", "rate", "n_rounds"), learn),)
    formats = suffixes.DEPENDENCY_NETWORK
