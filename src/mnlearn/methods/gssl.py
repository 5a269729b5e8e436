"""GSSL: features by random generalisation of examples, selected by how often they are generated."""

import time
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from mnlearn.learning.features.generation import NestedFeatures, generate_features
from mnlearn.learning.features.literals import INITIAL
from mnlearn.learning.grid_order import Latest, Path, falling, rising
from mnlearn.learning.learner import Fitted, Learner, Stage, Start, Task
from mnlearn.learning.parameters import parameter
from mnlearn.learning.weights.arrangement import (
    ArrangedFeatures,
    arrange,
    iterations,
    l1_penalty,
    standard_deviation,
    stopping_rule,
)
from mnlearn.learning.weights.descent import Penalty, Restrictable
from mnlearn.models.io import suffixes
from mnlearn.models.markov_network import MarkovNetwork


@dataclass(frozen=True, eq=False)
class Generated:
    """The features of one initial set for the whole grid, arranged once."""

    nested: NestedFeatures
    likelihood: Restrictable
    seconds: float
    n_unique: dict[int, int]


class Workspace:
    """The features that were generated most recently, and the last selection of them."""

    def __init__(self, task: Task) -> None:
        self.task = task
        self._generated: Latest[Generated] = Latest()
        self._selected: Latest[ArrangedFeatures] = Latest()

    def generated(self, learner: "GSSL") -> Generated:
        """Return the features of one initial set for the whole grid."""
        key = learner.initial, learner.generation_seed
        return self._generated.get(key, lambda: self._generate(*key))

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

    def selected(self, learner: "GSSL") -> ArrangedFeatures:
        """Return the features of one run and threshold."""
        generated = self.generated(learner)
        key = (learner.initial, learner.generation_seed, learner.n_generated, learner.threshold)
        return self._selected.get(key, lambda: self._select(generated, learner))

    def _select(self, generated: Generated, learner: "GSSL") -> ArrangedFeatures:
        began = time.process_time()
        member = generated.nested.members(learner.n_generated, learner.threshold)
        features = generated.nested.features.select(member)
        likelihood = generated.likelihood.restrict(member)
        return ArrangedFeatures(self.task, features, likelihood, time.process_time() - began)

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

    def learn(self, workspace: Workspace, start: Start) -> Fitted:
        """Return the network of one feature set and weight prior."""
        generated = workspace.generated(self)
        initial = None if start.same_features else workspace.initial_weights(self, start)
        fitted = workspace.selected(self).fit(
            Penalty(self.sd, self.l1),
            self.max_iterations,
            start,
            stopping=self.stopping,
            seconds_structure=generated.seconds,
            initial=initial,
        )
        details = {"n_unique": generated.n_unique[self.n_generated], **fitted.details}
        return replace(fitted, details=details)

    prepare = staticmethod(Workspace)
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
