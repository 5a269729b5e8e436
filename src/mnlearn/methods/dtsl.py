"""DTSL: features read off probability trees, weighted by pseudo-likelihood."""

from dataclasses import dataclass
from typing import Any

from mnlearn.learning.learner import Fitted, Stage
from mnlearn.learning.parameters import parameter
from mnlearn.learning.weights.arrangement import (
    FeatureWorkspace,
    WeightedFeatures,
    iterations,
    l1_penalty,
    standard_deviation,
    stopping_rule,
)
from mnlearn.methods.dn_tree import GrownTrees, TreeLearner, grow_trees
from mnlearn.models.io import suffixes
from mnlearn.models.tree_features import FEATURE_MODES, TreeFeatures, find_tree_features


@dataclass(eq=False, kw_only=True)
class DTSL(TreeLearner, WeightedFeatures):
    """Markov network of the features of probability trees (Lowd & Davis 2010)."""

    feature_mode: str = parameter("prune", "features of a tree", choices=FEATURE_MODES)
    sd: float | None = standard_deviation(1.0)
    l1: float = l1_penalty(0.0)
    max_iterations: int = iterations()
    stopping: str = stopping_rule()

    share = staticmethod(grow_trees)

    def learn_structure(self, workspace: FeatureWorkspace) -> Fitted:
        """Return the trees alone, as a dependency network: kappa is chosen by their log-loss."""
        return self.learn_trees(workspace.shared)

    def features(self, shared: GrownTrees) -> TreeFeatures:
        """Return the features of the trees of one kappa."""
        return find_tree_features(shared.trees(self)[0], self.feature_mode, shared.train.schema)

    def record(self, shared: GrownTrees) -> tuple[float, dict[str, Any]]:
        """Return the seconds that the trees of the whole grid took."""
        return shared.trees(self)[1], {}

    title = "DTSL"
    citation = "Lowd & Davis 2010"
    stages = (Stage(("kappa",), learn_structure), WeightedFeatures.stage("feature_mode"))
    formats = suffixes.NETWORK
    variant = ("feature_mode",)
