"""L1: pairwise features from the neighbourhoods of L1-penalised logistic regressions."""

import time
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from mnlearn.inference.score import Scorer
from mnlearn.learning.grid_order import Latest, Path
from mnlearn.learning.learner import Fitted, Stage, Start, Task
from mnlearn.learning.neighbourhoods import MERGES, build_pair_features, merge_pairs
from mnlearn.learning.parameters import parameter
from mnlearn.learning.weights.arrangement import (
    ArrangedFeatures,
    arrange_features,
    iterations,
    l1_penalty,
    standard_deviation,
)
from mnlearn.learning.weights.descent import Penalty
from mnlearn.methods.dn_lr import LogisticLearner, PenaltyPaths, regress
from mnlearn.models.io import suffixes
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.scoring import networks


class Workspace:
    """The regressions, and the features that were arranged most recently."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self.paths: PenaltyPaths = regress(task)
        self._arranged: Latest[ArrangedFeatures] = Latest()

    def arranged(self, learner: "L1") -> ArrangedFeatures:
        """Return the features of one structure."""
        return self._arranged.get(learner.values_but("sd", "l1"), lambda: self._arrange(learner))

    def _arrange(self, learner: "L1") -> ArrangedFeatures:
        began = time.process_time()
        path, _ = self.paths.path(learner.intercept, learner.gap, learner.lambda_)
        pairs = merge_pairs(path.coefficient[path.place(learner.lambda_)], learner.merge)
        features = build_pair_features(self.task.train.n_vars, pairs)
        return arrange_features(self.task, features, began)


@dataclass(eq=False, kw_only=True)
class L1(LogisticLearner):
    """Pairwise Markov network of neighbourhoods (Ravikumar, Wainwright & Lafferty 2010)."""

    merge: str = parameter("or", "pairs for which the regressions agree", choices=MERGES)
    sd: float | None = standard_deviation(1.0)
    l1: float = l1_penalty(0.0)
    max_iterations: int = iterations()

    def learn(self, workspace: Workspace, start: Start) -> Fitted:
        """Return the network of one structure and weight prior."""
        _, seconds = workspace.paths.path(self.intercept, self.gap, self.lambda_)
        penalty = Penalty(self.sd, self.l1)
        arranged = workspace.arranged(self)
        fitted = arranged.fit(penalty, self.max_iterations, start, seconds_structure=seconds)
        assert isinstance(fitted.model, MarkovNetwork)
        n_edges = int(np.sum(fitted.model.features.length == 2))
        return replace(fitted, details={"n_edges": n_edges, **fitted.details})

    prepare = staticmethod(Workspace)
    title = "L1"
    citation = "Ravikumar, Wainwright & Lafferty 2010"
    stages = (Stage(("merge", "lambda", "l1", "sd"), learn, Path(), split=("merge", "lambda")),)
    scorer: ClassVar[Scorer] = networks
    formats = suffixes.NETWORK
    variant = ("merge",)
