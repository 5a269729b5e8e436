"""DTSL: features read off probability trees, weighted by pseudo-likelihood."""

from dataclasses import dataclass
from typing import Any

from mnlearn.learning.learner import Stage
from mnlearn.learning.parameters import parameter
from mnlearn.learning.weights.arrangement import (
    FeatureWorkspace,
    WeightedFeatures,
    iterations,
    l1_penalty,
    standard_deviation,
    stopping_rule,
)
from mnlearn.methods.dn_tree import TreeLearner
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

    def features(self, workspace: FeatureWorkspace) -> TreeFeatures:
        schema = workspace.task.train.schema
        return find_tree_features(self.grown(workspace)[0], self.feature_mode, schema)

    def record(self, workspace: FeatureWorkspace) -> tuple[float, dict[str, Any]]:
        return self.grown(workspace)[1], {}

    title = "DTSL"
    citation = "Lowd & Davis 2010"
    stages = (Stage(("kappa",), TreeLearner.learn_trees), WeightedFeatures.stage("feature_mode"))
    formats = suffixes.NETWORK
    variant = ("feature_mode",)
