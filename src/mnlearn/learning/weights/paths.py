"""The weights of one feature set under every penalty of a grid, each begun at a stronger one's."""

import hashlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.learning.method import Fitted, Task
from mnlearn.learning.penalty import Penalty
from mnlearn.learning.weights.rewritten_likelihood import Likelihood, likelihood_of
from mnlearn.learning.weights.screening import Judge, ScreenedWeights, learn_screened_weights
from mnlearn.models.features import FeatureSet
from mnlearn.models.markov_network import MarkovNetwork


@dataclass(frozen=True, eq=False)
class WeightPaths:
    """The weights of one feature set, learned when they are asked for, each once.

    What is learned under a penalty depends on the grid but neither on the order in which it is
    asked for nor on where a killed run was taken up.

    initial : weights at which the strongest penalty begins; zeros if not given.
    seconds_arranged : what it took to arrange the features.
    judged : scores of weights by the criterion of the task, by a digest of the weights.
    """

    task: Task
    features: FeatureSet
    likelihood: Likelihood
    max_iterations: int
    initial: NDArray[np.float64] | None = None
    seconds_arranged: float = 0.0
    learned: dict[Penalty, ScreenedWeights] = field(default_factory=dict)
    judged: dict[bytes, float] = field(default_factory=dict)

    def weights(self, penalty: Penalty) -> ScreenedWeights:
        """Return the weights under `penalty`; those under all that come before are learned first.

        Where the task has a criterion, it ends the learning of weights that cannot win: those
        that get worse by it than the ones they began with, under a stronger penalty, and those
        that would not become as good as the best so far.
        """
        for each in strongest_first(self.task.grid):
            if each not in self.learned:
                self.learned[each] = self._learn(each)
            if each == penalty:
                break
        return self.learned[penalty]

    def _learn(self, penalty: Penalty) -> ScreenedWeights:
        before = stronger(penalty, self.task.grid)
        if before is None:
            # Others begin here, so that it is not ended by what fits this penalty.
            return learn_screened_weights(
                self.likelihood, penalty, self.initial, self.max_iterations
            )
        judge, bar = self._judge(), -np.inf
        if judge is not None:
            bar = max((judge(learned.weight) for learned in self.learned.values()), default=bar)
        return learn_screened_weights(
            self.likelihood,
            penalty,
            self.learned[before].weight,
            self.max_iterations,
            judge=judge,
            bar=bar,
        )

    def fitted(self, penalty: Penalty, seconds_structure: float) -> Fitted:
        """Return the network with the weights under `penalty`, and its record."""
        learned = self.weights(penalty)
        return Fitted(
            self._network(learned.weight),
            {
                "structure": seconds_structure,
                "features": self.seconds_arranged,
                "weights": learned.seconds,
            },
            {"n_candidates": len(self.features), **learned.summary()},
        )

    def strongest(self) -> Penalty:
        """Return the penalty of the grid that begins at `initial`."""
        return strongest_first(self.task.grid)[0]

    def _network(self, weight: NDArray[np.float64]) -> MarkovNetwork:
        train = self.task.train
        return MarkovNetwork(train.n_vars, self.features, weight, train.names)

    def _judge(self) -> Judge | None:
        criterion: Callable[[Any], float] | None = self.task.criterion
        if criterion is None:
            return None

        def judge(weight: NDArray[np.float64]) -> float:
            # Where one learning ends others begin, so that many weights are judged again.
            key = hashlib.sha256(weight.tobytes()).digest()
            if key not in self.judged:
                self.judged[key] = criterion(self._network(weight))
            return self.judged[key]

        return judge


def weight_paths(
    task: Task, features: FeatureSet, max_iterations: int, began: float
) -> WeightPaths:
    """Arrange features for learning their weights.

    began : when their making began, as from `time.perf_counter`.
    """
    likelihood = likelihood_of(features, task.train, task.threads)
    seconds = time.perf_counter() - began
    return WeightPaths(task, features, likelihood, max_iterations, None, seconds)


def _width(sd: float | None) -> float:
    return np.inf if sd is None else sd


def strongest_first(grid: Mapping[str, list[Any]]) -> list[Penalty]:
    """Return the penalties of a grid, each after the one that its learning begins at."""
    l1, sd = sorted(grid["l1"], reverse=True), sorted(grid["sd"], key=_width)
    return [Penalty(s, each) for each in l1 for s in sd]


def stronger(penalty: Penalty, grid: Mapping[str, list[Any]]) -> Penalty | None:
    """Return the next stronger penalty of a grid, from which learning begins.

    It has the next greater `l1`; the greatest has the next smaller `sd` instead.
    """
    l1, sd = sorted(grid["l1"], reverse=True), sorted(grid["sd"], key=_width)
    place = l1.index(penalty.l1)
    if place > 0:
        return Penalty(penalty.sd, l1[place - 1])
    place = sd.index(penalty.sd)
    return Penalty(sd[place - 1], penalty.l1) if place > 0 else None
