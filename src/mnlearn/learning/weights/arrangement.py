"""Weights of one feature set: the quickest way to evaluate it, and the points of a grid."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.learning.grid_order import Path
from mnlearn.learning.learner import Fitted, Learner, Stage, Start, Task, Workspace
from mnlearn.learning.parameters import parameter
from mnlearn.learning.weights.descent import Judge, Penalty, Restrictable
from mnlearn.learning.weights.fit import (
    MAX_ITERATIONS,
    Sample,
    WeightFit,
    fit_as_libra,
    fit_weights,
)
from mnlearn.learning.weights.heavy_cells import HeavyCells
from mnlearn.learning.weights.packed_likelihood import (
    FEW,
    PackedLikelihood,
    arrange_packed,
    arrange_rewritten,
)
from mnlearn.learning.weights.tree_likelihood import arrange_trees, count_touches
from mnlearn.models.features import FeatureSet
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.models.tree_features import TreeFeatures

# Rewriting has to save at least this share of the estimated work.
MIN_SAVED = 0.25
# Below this work an evaluation takes less than 0.1 ms, and all of them together take less than the
# rewriting and the import of the sparse matrices that it needs.
MIN_WORK = 50_000
# Lists of rows that would take more bytes than this cost more than walks of the trees
# (lab note 0041).
MAX_LISTS = 2**27
# Of more rows than four times this, a sample of at most so many leads to the weights
# (lab note 0895). All rows are then evaluated a few times, and lists may take more bytes: walks
# that are not stored take three times as long.
SAMPLE_ROWS, MAX_SAMPLED_LISTS = 2**16, 2**30


def arrange(found: FeatureSet | TreeFeatures, data: Dataset, threads: int = 1) -> Restrictable:
    """Arrange features (distinct, canonical, none empty) as is quicker to evaluate.

    The trees of tree features are walked where lists would be long.
    """
    features = found
    if isinstance(found, TreeFeatures):
        features = found.features
        is_sampled = _is_sampled(features, data)
        limit, most = (MAX_SAMPLED_LISTS, FEW) if is_sampled else (MAX_LISTS, 1.0)
        bytes_of_row = 2 if data.n_rows <= 2**16 else 4
        if found.place is not None and bytes_of_row * count_touches(found, data, most) > limit:
            return arrange_trees(found, data, threads)
    assert isinstance(features, FeatureSet)
    plain = arrange_packed(features, data, threads)
    plain_work = _work(plain, data)
    asks_common = features.value == (data.frequency[features.var] > 0.5)
    if plain_work < MIN_WORK or not asks_common.any():
        return plain
    rewritten = arrange_rewritten(features, data, plain.curvature, threads)
    work = _work(rewritten.rewritten, data) + rewritten.sums.nnz
    return plain if work > (1 - MIN_SAVED) * plain_work else rewritten


def _is_sampled(features: FeatureSet, data: Dataset) -> bool:
    """Tell whether weights are learned from a sample first: it has to be far smaller, yet large."""
    return data.n_rows > 4 * SAMPLE_ROWS and len(features) <= SAMPLE_ROWS // 4


def _work(likelihood: PackedLikelihood, data: Dataset) -> float:
    """Return the work of an evaluation, in rows of lists."""
    columns = len(likelihood.many) + len(likelihood.few)
    return likelihood.n_listed + FEW * data.n_rows * len(likelihood.many) + columns


def standard_deviation(default: float) -> Any:
    """Declare the standard deviation of the Gaussian prior on the weights."""
    help_text = "standard deviation of the Gaussian weight prior, or none"
    return parameter(default, help_text, above=0)


def l1_penalty(default: float) -> Any:
    """Declare the L1 penalty on the weights."""
    return parameter(default, "L1 penalty on the weights", low=0, high=1e15)


def iterations() -> Any:
    """Declare the greatest number of iterations of weight learning."""
    return parameter(MAX_ITERATIONS, "iterations of weight learning", low=1, high=1e9)


def stopping_rule() -> Any:
    """Declare how weight learning goes and ends."""
    help_text = "weights are learned to a small gap, or as Libra's program does"
    return parameter("gap", help_text, choices=("gap", "reference"))


@dataclass(frozen=True, eq=False)
class ArrangedFeatures:
    """A feature set arranged for weight learning."""

    task: Task
    features: FeatureSet
    likelihood: Restrictable
    sample: Sample | None = None

    def fit(
        self,
        learner: Any,
        start: Start,
        seconds: Mapping[str, float],
        initial: NDArray[np.float64] | None = None,
    ) -> Fitted:
        """Learn the weights at one grid point, whose `learner` has the prior and when to stop.

        Learning starts at the weights of `start` if these are of the same features, else at
        `initial`. It ends early if they cannot become as good by the criterion of the task as the
        best so far. With the stopping rule "reference" neither holds: it starts at 0.
        """
        penalty, judge = Penalty(learner.sd, learner.l1), None
        most = min(learner.max_iterations, start.iterations)
        if self.task.criterion is not None and start.best_score > -math.inf:
            judge = Judge(self._score, start.best_score, self.task.train.n_examples)
        if start.same_features and start.fitted is not None:
            assert isinstance(start.fitted.model, MarkovNetwork)
            initial = start.fitted.model.weight
        if learner.stopping == "reference":
            initial = initial if start.goes_on else None
            learned = fit_as_libra(self.likelihood, penalty, initial, most)
        else:
            learned = fit_weights(
                self.likelihood, penalty, start=initial, max_iterations=most, screen=True,
                judge=judge, sample=self.sample,
                cells=None if self.sample else HeavyCells.of(self.features, self.task.train),
            )  # fmt: skip
        details = {"n_candidates": len(self.features), **learned.summary()}
        return Fitted(
            self._network(learned.weight), {**seconds, "weights": learned.seconds}, details
        )

    def _network(self, weight: NDArray[np.float64]) -> MarkovNetwork:
        return MarkovNetwork(self.task.train.schema, self.features, weight)

    def _score(self, weight: NDArray[np.float64]) -> float:
        assert self.task.criterion is not None
        return self.task.criterion(self._network(weight))


class FeatureWorkspace(Workspace[Any]):
    """What the grid points of a learner of features share, and the last features arranged."""

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._arranged: Workspace[ArrangedFeatures] = Workspace(task, most=1)

    def arranged(self, learner: "WeightedFeatures") -> tuple[ArrangedFeatures, float]:
        """Return the features of a grid point, which are kept for the next one; their seconds."""

        def arrange_anew() -> ArrangedFeatures:
            train, threads = self.task.train, self.task.threads
            found, sample = learner.features(self), None
            features = found.features if isinstance(found, TreeFeatures) else found
            if _is_sampled(features, train):
                some = train.subset(np.arange(0, train.n_rows, -(-train.n_rows // SAMPLE_ROWS)))
                factor = train.n_examples / some.n_examples
                sample = Sample(arrange(found, some, threads), factor)
            return ArrangedFeatures(self.task, features, arrange(found, train, threads), sample)

        return self._arranged.get(learner.structure(), arrange_anew)


class WeightedFeatures(Learner):
    """A learner that finds features, and learns their weights at every point of the grid.

    A subclass declares the hyperparameters of the weights, and writes `features`. Its last
    stage is made by `stage`.
    """

    sd: float | None
    l1: float
    max_iterations: int
    stopping: str = "gap"

    prepare = staticmethod(FeatureWorkspace)

    @classmethod
    def stage(cls, *structure: str) -> Stage:
        """Return the stage that chooses the prior, and hyperparameters of the features with it."""
        return Stage((*structure, "l1", "sd"), cls.learn, Path(), split=structure)

    def features(self, workspace: FeatureWorkspace) -> FeatureSet | TreeFeatures:
        """Return the features of one structure. Each learner of features writes this."""
        raise NotImplementedError

    def record(self, workspace: FeatureWorkspace) -> tuple[float, dict[str, Any]]:
        """Return the seconds that the structure took, and what the record says of it."""
        return 0.0, {}

    def structure(self) -> tuple[Any, ...]:
        """Return the values of the hyperparameters that the features depend on, as a key."""
        return self.values_but("sd", "l1", "max_iterations", "stopping")

    def learn(self, workspace: FeatureWorkspace, start: Start) -> Fitted:
        """Return the network of one structure and weight prior."""
        seconds, details = self.record(workspace)
        arranged, spent = workspace.arranged(self)
        fitted = arranged.fit(self, start, {"structure": seconds, "features": spent})
        return replace(fitted, details={**details, **fitted.details})


def learn_weights(
    network: MarkovNetwork,
    data: Dataset,
    penalty: Penalty,
    *,
    max_iterations: int = MAX_ITERATIONS,
    threads: int = 1,
) -> tuple[MarkovNetwork, WeightFit]:
    """Learn new weights for the features of a network by pseudo-likelihood, from weights of 0.

    An infinite `sd` of the penalty is none.
    """
    if penalty.sd == math.inf:
        # Its precision is 0, and the gap would be infinite.
        penalty = replace(penalty, sd=None)
    found = fit_weights(
        arrange(network.features, data, threads),
        penalty,
        max_iterations=max_iterations,
        screen=True,
        cells=HeavyCells.of(network.features, data),
    )
    return MarkovNetwork(network.schema, network.features, found.weight), found
