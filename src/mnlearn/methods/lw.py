"""LW: weights of the features of a dependency network, by pseudo-likelihood."""

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mnlearn.learning.conversion import Orders, cpd_features, smooth_marginals, to_markov_network
from mnlearn.learning.grid_order import Path, rising
from mnlearn.learning.learner import Fitted, Learner, Stage, Start, Task, Workspace
from mnlearn.learning.parameters import parameter
from mnlearn.learning.weights.arrangement import (
    iterations,
    l1_penalty,
    standard_deviation,
    stopping_rule,
)
from mnlearn.learning.weights.descent import Penalty
from mnlearn.learning.weights.fit import fit_as_libra, fit_weights
from mnlearn.learning.weights.heavy_cells import HeavyCells
from mnlearn.learning.weights.stored_likelihood import StoredLikelihood, arrange_stored
from mnlearn.models.features import FeatureSet, canonicalise, concatenate
from mnlearn.models.io import suffixes
from mnlearn.models.markov_network import MarkovNetwork

FEATURES = ("cpds", "converted")
STARTS = ("previous", "zero", "conversion")


@dataclass(frozen=True, eq=False)
class Arranged:
    """Features arranged for weight learning; initial : the weights at which it starts."""

    features: FeatureSet
    likelihood: StoredLikelihood
    initial: NDArray[np.float64] | None


def _arrange(task: Task, kind: str, start: str) -> Arranged:
    assert task.network is not None
    train = task.train
    converted = None
    wanted = cpd_features(task.network)[0]
    if kind == "converted" or start == "conversion":
        orders = Orders(np.arange(train.n_vars))
        converted = to_markov_network(task.network, smooth_marginals(train), orders)
        wanted = converted.features if kind == "converted" else wanted
    features, _ = canonicalise(wanted, train.schema.start)
    initial = None
    if converted is not None and start == "conversion":
        _, place = canonicalise(concatenate([features, converted.features]), train.schema.start)
        # Features that the converted network does not have start at 0.
        weight = np.zeros(place.max() + 1)
        weight[place[len(features) :]] = converted.weight
        initial = weight[place[: len(features)]]
    likelihood = arrange_stored(features, train, task.threads)
    return Arranged(features, likelihood, initial)


@dataclass(eq=False, kw_only=True)
class LW(Learner):
    """Markov network of the features of a dependency network, its weights learned."""

    features: str = parameter("cpds", "features whose weights are learned", choices=FEATURES)
    start: str = parameter(
        "previous", "weights to start from, those of the previous prior first", choices=STARTS
    )
    stopping: str = stopping_rule()
    sd: float | None = standard_deviation(1.0)
    l1: float = l1_penalty(0.0)
    max_iterations: int = iterations()

    def learn(self, workspace: Workspace, start: Start) -> Fitted:
        """Return the network of the features at one weight prior (Lowd 2012, Section 6.2)."""
        task, train, key = workspace.task, workspace.task.train, (self.features, self.start)
        arranged, seconds = workspace.get(key, lambda: _arrange(task, *key))
        initial = arranged.initial
        if start.fitted is not None and (self.start == "previous" or start.goes_on):
            assert isinstance(start.fitted.model, MarkovNetwork)
            initial = start.fitted.model.weight
        most = min(self.max_iterations, start.iterations)
        penalty = Penalty(self.sd, self.l1)
        if self.stopping == "reference":
            learned = fit_as_libra(arranged.likelihood, penalty, initial, most)
        else:
            learned = fit_weights(
                arranged.likelihood, penalty, start=initial, max_iterations=most,
                cells=HeavyCells.of(arranged.features, train),
            )  # fmt: skip
        return Fitted(
            MarkovNetwork(train.schema, arranged.features, learned.weight),
            {"features": seconds, "weights": learned.seconds},
            {"n_pairs": arranged.likelihood.n_pairs, **learned.summary()},
        )

    prepare = staticmethod(partial(Workspace, most=1))
    title = "LW"
    citation = "Lowd 2012, Section 6.2"
    stages = (
        Stage(
            ("features", "start", "l1", "sd"),
            learn,
            Path(penalty=(rising("sd"),)),
            split=("features", "start", "l1"),
        ),
    )
    formats = suffixes.NETWORK
    network = "required"
