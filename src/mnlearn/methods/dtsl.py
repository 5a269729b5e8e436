"""DTSL: features read off probability trees, weighted by pseudo-likelihood."""

import time
from dataclasses import dataclass
from typing import ClassVar

from mnlearn.inference.score import Scorer
from mnlearn.learning.grid_order import Latest, Path
from mnlearn.learning.learner import Fitted, Stage, Start, Task
from mnlearn.learning.parameters import parameter
from mnlearn.learning.weights.arrangement import (
    ArrangedFeatures,
    arrange_features,
    iterations,
    l1_penalty,
    standard_deviation,
)
from mnlearn.learning.weights.descent import Penalty
from mnlearn.methods.dn_tree import GrownTrees, TreeLearner, grow_trees
from mnlearn.models.io import suffixes
from mnlearn.models.tree_features import FEATURE_MODES, find_tree_features
from mnlearn.scoring import networks


class Workspace:
    """The trees, and the features that were arranged most recently."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.trees: GrownTrees = grow_trees(task)
        self._arranged: Latest[ArrangedFeatures] = Latest()

    def arranged(self, learner: "DTSL") -> ArrangedFeatures:
        """Return the features of the trees."""
        return self._arranged.get(learner.values_but("sd", "l1"), lambda: self._arrange(learner))

    def _arrange(self, learner: "DTSL") -> ArrangedFeatures:
        trees, _ = self.trees.trees(learner)
        began = time.process_time()
        features = find_tree_features(trees, learner.feature_mode)
        return arrange_features(self.task, features, began)


@dataclass(eq=False, kw_only=True)
class DTSL(TreeLearner):
    """Markov network of the features of probability trees (Lowd & Davis 2010)."""

    feature_mode: str = parameter("prune", "features of a tree", choices=FEATURE_MODES)
    sd: float | None = standard_deviation(1.0)
    l1: float = l1_penalty(0.0)
    max_iterations: int = iterations()

    def learn_structure(self, workspace: Workspace) -> Fitted:
        """Return the trees alone, as a dependency network: kappa is chosen by their log-loss."""
        return self.learn_trees(workspace.trees)

    def learn(self, workspace: Workspace, start: Start) -> Fitted:
        """Return the Markov network of one feature mode and weight prior."""
        _, seconds = workspace.trees.trees(self)
        penalty = Penalty(self.sd, self.l1)
        arranged = workspace.arranged(self)
        return arranged.fit(penalty, self.max_iterations, start, seconds_structure=seconds)

    prepare = staticmethod(Workspace)
    title = "DTSL"
    citation = "Lowd & Davis 2010"
    stages = (
        Stage(("kappa",), learn_structure),
        Stage(("feature_mode", "l1", "sd"), learn, Path(), split=("feature_mode",)),
    )
    scorer: ClassVar[Scorer] = networks
    formats = suffixes.NETWORK
    variant = ("feature_mode",)
