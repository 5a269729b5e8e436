"""The weights of one feature set at the points of a grid that differ in their penalty only."""

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.learning.learner import Fitted, Start, Task
from mnlearn.learning.penalty import Penalty
from mnlearn.learning.weights.arrangement import arrange, arrange_tree_features
from mnlearn.learning.weights.fit import fit_weights
from mnlearn.learning.weights.judge import Judge
from mnlearn.learning.weights.likelihood import Restrictable
from mnlearn.models.features import FeatureSet
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.tree_features import TreeFeatures


@dataclass(frozen=True, eq=False)
class ArrangedFeatures:
    """A feature set arranged for weight learning.

    seconds : what the arrangement took.
    """

    task: Task
    features: FeatureSet
    likelihood: Restrictable
    seconds: float

    def fit(
        self,
        penalty: Penalty,
        max_iterations: int,
        start: Start,
        *,
        seconds_structure: float,
        initial: NDArray[np.float64] | None = None,
    ) -> Fitted:
        """Learn the weights at one grid point; return the network and its record.

        Parameters
        ----------
        penalty : Penalty
            Of the grid point.
        max_iterations : int
            Iterations of all searches together.
        start : Start
            Learning starts at its weights if they are of the same features. The criterion of the
            task then ends learning early if the weights cannot win: if they get worse than those
            at the start, or would not become as good as the best of these features so far. Other
            grid points start from the first one of these features, so that one is never stopped
            early.
        seconds_structure : float
            Seconds that finding the features took, for the record.
        initial : float64 array of shape (n_features,), optional
            Weights at which the first point of these features starts; zeros by default.
        """
        judge = None
        if start.same_features and start.fitted is not None:
            assert isinstance(start.fitted.model, MarkovNetwork)
            initial = start.fitted.model.weight
            if self.task.criterion is not None:
                judge = Judge(self._score, start.best_score, start.score)
        learned = fit_weights(
            self.likelihood,
            penalty,
            start=initial,
            max_iterations=max_iterations,
            screen=True,
            judge=judge,
        )
        seconds = {
            "structure": seconds_structure,
            "features": self.seconds,
            "weights": learned.seconds,
        }
        details = {"n_candidates": len(self.features), **learned.summary()}
        return Fitted(self._network(learned.weight), seconds, details)

    def _network(self, weight: NDArray[np.float64]) -> MarkovNetwork:
        train = self.task.train
        return MarkovNetwork(train.n_vars, self.features, weight, train.names)

    def _score(self, weight: NDArray[np.float64]) -> float:
        assert self.task.criterion is not None
        return self.task.criterion(self._network(weight))


def arrange_features(
    task: Task, features: FeatureSet | TreeFeatures, began: float
) -> ArrangedFeatures:
    """Arrange features for weight learning.

    began : when the conversion to these features began, as from `time.process_time`.
    """
    likelihood: Restrictable
    if isinstance(features, TreeFeatures):
        likelihood = arrange_tree_features(features, task.train, task.threads)
        features = features.features
    else:
        likelihood = arrange(features, task.train, task.threads)
    return ArrangedFeatures(task, features, likelihood, time.process_time() - began)
