"""GSSL: features by random generalisation of examples, selected by how often they are generated."""

import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mnlearn.learning.features.generation import NestedFeatures, generate_features
from mnlearn.learning.features.literals import INITIAL
from mnlearn.learning.grid_order import Path, falling, rising
from mnlearn.learning.learner import Fitted, Learner, Stage, Start, Task, Workspace
from mnlearn.learning.parameters import parameter
from mnlearn.learning.weights.arrangement import (
    ArrangedFeatures,
    arrange,
    iterations,
    l1_penalty,
    standard_deviation,
    stopping_rule,
)
from mnlearn.learning.weights.descent import Restrictable
from mnlearn.models.io import suffixes
from mnlearn.models.markov_network import MarkovNetwork


@dataclass(frozen=True, eq=False)
class Generated:
    """The features of one initial set for the whole grid, arranged once, but for `seconds`."""

    nested: NestedFeatures
    likelihood: Restrictable
    seconds: float
    n_unique: dict[int, int]


class GeneratedFeatures(Workspace[Generated]):
    """The features that were generated most recently, and the last selection of them."""

    def __init__(self, task: Task) -> None:
        super().__init__(task, most=1)
        self._selected: Workspace[ArrangedFeatures] = Workspace(task, most=1)

    def generated(self, learner: "GSSL") -> Generated:
        """Return the features of one initial set for the whole grid."""
        key = learner.initial, learner.generation_seed
        return self.get(key, lambda: self._generate(*key))[0]

    def _generate(self, initial: str, seed: int) -> Generated:
        self._selected.forget()
        began = time.process_time()
        grid, train = self.task.grid, self.task.train
        n_generated = max(grid["n_generated"])
        run = generate_features(train, n_generated, initial, seed)
        seconds = time.process_time() - began
        nested = run.nested(n_generated, min(grid["threshold"]))
        likelihood = arrange(nested.features, train, self.task.threads)
        n_unique = {n: len(run.distinct(n)[0]) for n in grid["n_generated"]}
        return Generated(nested, likelihood, seconds, n_unique)

    def selected(self, learner: "GSSL") -> tuple[ArrangedFeatures, float]:
        """Return the features of one run and threshold, and the seconds that selecting took."""
        generated = self.generated(learner)

        def select() -> ArrangedFeatures:
            member = generated.nested.members(learner.n_generated, learner.threshold)
            features = generated.nested.features.select(member)
            return ArrangedFeatures(self.task, features, generated.likelihood.restrict(member))

        key = (learner.initial, learner.generation_seed, learner.n_generated, learner.threshold)
        return self._selected.get(key, select)

    def initial_weights(self, learner: "GSSL", start: Start) -> NDArray[np.float64] | None:
        """Return the weights of another run or threshold, 0 for features that it does not have."""
        if start.fitted is None:
            return None
        assert isinstance(start.learner, GSSL)
        assert isinstance(start.fitted.model, MarkovNetwork)
        nested, before = self.generated(learner).nested, start.learner
        weight = np.zeros(len(nested.features))
        weight[nested.members(before.n_generated, before.threshold)] = start.fitted.model.weight
        return weight[nested.members(learner.n_generated, learner.threshold)]


@dataclass(eq=False, kw_only=True)
class GSSL(Learner):
    """Markov network of features generated at random (Van Haaren & Davis 2012)."""

    initial: str = parameter("positive", "what examples become at first", choices=INITIAL)
    n_generated: int = parameter(500_000, "features to generate", low=1, high=1e8)
    threshold: int = parameter(
        1, "features generated at most this often are dropped", low=0, high=1e9
    )
    sd: float | None = standard_deviation(0.5)
    l1: float = l1_penalty(5.0)
    max_iterations: int = iterations()
    stopping: str = stopping_rule()
    generation_seed: int = parameter(20, "seed of the generation", low=0, high=2**63)

    def learn(self, workspace: GeneratedFeatures, start: Start) -> Fitted:
        generated, (selected, spent) = workspace.generated(self), workspace.selected(self)
        initial = None if start.same_features else workspace.initial_weights(self, start)
        seconds = {"structure": generated.seconds, "features": spent}
        fitted = selected.fit(self, start, seconds, initial)
        details = {"n_unique": generated.n_unique[self.n_generated], **fitted.details}
        return replace(fitted, details=details)

    prepare = staticmethod(GeneratedFeatures)
    title = "GSSL"
    citation = "Van Haaren & Davis 2012"
    stages = (
        Stage(
            ("initial", "n_generated", "threshold", "l1", "sd"),
            learn,
            Path(features=(falling("threshold"), rising("n_generated"))),
            split=("initial",),
        ),
    )
    formats = suffixes.NETWORK
    variant = ("initial", "n_generated", "threshold")
