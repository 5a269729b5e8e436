"""Independent variables: the baseline that every structure learner has to beat."""

import time
from dataclasses import dataclass

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.learning.method import Fitted, Method, Stage, Task, parameter
from mnlearn.models.features import atomic_features
from mnlearn.models.markov_network import markov_network
from mnlearn.runtime.errors import InputError
from mnlearn.scoring import networks


@dataclass(frozen=True)
class Parameters:
    """Parameters of `atomic`."""

    pseudocount: float = parameter(0.5, "count added to each value of a variable; above 0")

    def __post_init__(self) -> None:
        if not 0 < self.pseudocount < float("inf"):
            raise InputError(
                f"parameter pseudocount: expected a number above 0, got {self.pseudocount:g}."
            )


def prepare(task: Task) -> Dataset:
    """Return the training data: nothing is shared."""
    return task.train


def learn(train: Dataset, parameters: Parameters, warm: Fitted | None) -> Fitted:
    """Return the product of smoothed marginals as a network of atomic features."""
    began = time.perf_counter()
    ones = train.frequency * train.n_examples + parameters.pseudocount
    zeros = (1 - train.frequency) * train.n_examples + parameters.pseudocount
    network = markov_network(
        train.n_vars, atomic_features(train.n_vars), np.log(ones / zeros), train.names
    )
    return Fitted(network, {"weights": time.perf_counter() - began}, {})


METHOD = Method(
    title="Independent variables",
    source="baseline",
    parameters=Parameters,
    prepare=prepare,
    stages=(Stage(("pseudocount",), learn),),
    scorer=networks,
)
