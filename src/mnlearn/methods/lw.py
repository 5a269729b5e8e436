"""LW: weights of the features of a dependency network, by pseudo-likelihood."""

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.learning.conversion import Orders, cpd_features, smoothed_marginals, to_markov_network
from mnlearn.learning.method import Fitted, Method, Stage, Task, check_range, parameter
from mnlearn.learning.penalty import Penalty
from mnlearn.learning.weights.descent import MAX_ITERATIONS, REFERENCE, STANDARD, learn_weights
from mnlearn.learning.weights.stored_likelihood import PseudoLikelihood, pseudo_likelihood
from mnlearn.models.features import FeatureSet, canonicalise, concatenate
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.runtime.errors import InputError
from mnlearn.scoring import networks

FEATURES = ("cpds", "converted")
STARTS = ("previous", "zero", "conversion")
STOPPING = {"gap": STANDARD, "reference": REFERENCE}


@dataclass(frozen=True)
class Parameters:
    """Parameters of `lw`."""

    features: str = parameter("cpds", f"features whose weights are learned: {', '.join(FEATURES)}")
    start: str = parameter(
        "previous", f"weights to start from, those of the previous prior first: {', '.join(STARTS)}"
    )
    stopping: str = parameter(
        "gap", "rule that ends weight learning: gap (ours), reference (Libra's)"
    )
    sd: float | None = parameter(1.0, "standard deviation of the Gaussian weight prior, or none")
    l1: float = parameter(0.0, "L1 penalty on the weights")
    max_iterations: int = parameter(MAX_ITERATIONS, "iterations of weight learning")

    def __post_init__(self) -> None:
        choices = (("features", FEATURES), ("start", STARTS), ("stopping", STOPPING))
        for name, known in choices:
            if getattr(self, name) not in known:
                raise InputError(
                    f"parameter {name}: expected one of {', '.join(known)}, "
                    f"got {getattr(self, name)!r}."
                )
        Penalty(self.sd, self.l1)
        check_range("max_iterations", self.max_iterations, 1, 1e9)


@dataclass(frozen=True, eq=False)
class Arranged:
    """Features arranged for weight learning, where it starts, and the seconds that took."""

    features: FeatureSet
    likelihood: PseudoLikelihood
    initial: NDArray[np.float64] | None
    seconds: float


@dataclass
class Workspace:
    """The task, and the features that were used last."""

    task: Task
    kept: tuple[tuple[str, str], Arranged] | None = None

    def arranged(self, kind: str, start: str) -> Arranged:
        """Return the features of the CPDs, or of the converted network."""
        if self.kept is None or self.kept[0] != (kind, start):
            self.kept = None  # Two arrangements together could be more than memory holds.
            self.kept = (kind, start), _arrange(self.task, kind, start)
        return self.kept[1]


def _arrange(task: Task, kind: str, start: str) -> Arranged:
    assert task.network is not None
    train = task.train
    began = time.perf_counter()
    converted = None
    wanted = cpd_features(task.network)[0]
    if kind == "converted" or start == "conversion":
        orders = Orders(np.arange(train.n_vars))
        converted = to_markov_network(task.network, smoothed_marginals(train), orders)
        wanted = converted.features if kind == "converted" else wanted
    features, _ = canonicalise(wanted)
    initial = None
    if converted is not None and start == "conversion":
        _, place = canonicalise(concatenate([features, converted.features]))
        # Features that the converted network does not have start at 0.
        weight = np.zeros(place.max() + 1)
        weight[place[len(features) :]] = converted.weight
        initial = weight[place[: len(features)]]
    likelihood = pseudo_likelihood(features, train, task.threads)
    return Arranged(features, likelihood, initial, time.perf_counter() - began)


def prepare(task: Task) -> Workspace:
    """Return a workspace with nothing arranged yet."""
    return Workspace(task)


def learn(workspace: Workspace, parameters: Parameters, warm: Fitted | None) -> Fitted:
    """Return the network of the features at one weight prior (Lowd 2012, Section 6.2)."""
    arranged = workspace.arranged(parameters.features, parameters.start)
    train = workspace.task.train
    initial = arranged.initial
    previous = parameters.start == "previous"
    if previous and warm is not None and isinstance(warm.model, MarkovNetwork):
        initial = warm.model.weight
    learned = learn_weights(
        arranged.likelihood,
        Penalty(parameters.sd, parameters.l1),
        initial,
        parameters.max_iterations,
        STOPPING[parameters.stopping],
    )
    return Fitted(
        MarkovNetwork(train.n_vars, arranged.features, learned.weight, train.names),
        {"features": arranged.seconds, "weights": learned.seconds},
        {"n_pairs": arranged.likelihood.n_pairs, **learned.summary()},
    )


METHOD = Method(
    title="LW",
    source="Lowd 2012, Section 6.2",
    parameters=Parameters,
    prepare=prepare,
    stages=(Stage(("features", "start", "l1", "sd"), learn),),
    scorer=networks,
    network="required",
)
