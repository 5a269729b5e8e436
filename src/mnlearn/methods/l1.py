"""L1: pairwise features from the neighbourhoods of L1-penalised logistic regressions."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.learning.logistic import MERGES, build_pair_features, merge_pairs
from mnlearn.learning.parameters import parameter
from mnlearn.learning.weights.arrangement import (
    FeatureWorkspace,
    WeightedFeatures,
    iterations,
    l1_penalty,
    standard_deviation,
    stopping_rule,
)
from mnlearn.methods.dn_lr import LogisticLearner, PenaltyPaths
from mnlearn.models.features import FeatureSet
from mnlearn.models.io import suffixes


@dataclass(eq=False, kw_only=True)
class L1(LogisticLearner, WeightedFeatures):
    """Pairwise Markov network of neighbourhoods (Ravikumar, Wainwright & Lafferty 2010)."""

    merge: str = parameter("or", "pairs for which the regressions agree", choices=MERGES)
    sd: float | None = standard_deviation(1.0)
    l1: float = l1_penalty(0.0)
    max_iterations: int = iterations()
    stopping: str = stopping_rule()

    def features(self, workspace: FeatureWorkspace) -> FeatureSet:
        return build_pair_features(workspace.task.train.n_columns, self._pairs(workspace)[0])

    def record(self, workspace: FeatureWorkspace) -> tuple[float, dict[str, Any]]:
        pairs, seconds = self._pairs(workspace)
        return seconds, {"n_edges": len(pairs)}

    def _pairs(self, workspace: FeatureWorkspace) -> tuple[NDArray[np.int64], float]:
        paths, _ = workspace.get("regressions", lambda: PenaltyPaths(workspace.task))
        path, seconds = paths.path(self.intercept, self.gap, self.lambda_)
        return merge_pairs(path.coefficient[path.place(self.lambda_)], self.merge), seconds

    title = "L1"
    citation = "Ravikumar, Wainwright & Lafferty 2010"
    stages = (WeightedFeatures.stage("merge", "lambda"),)
    formats = suffixes.NETWORK
    variant = ("merge",)
