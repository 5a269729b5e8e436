"""L1: pairwise features from the neighbourhoods of L1-penalised logistic regressions."""

import time
from dataclasses import dataclass

import numpy as np

from mnlearn.errors import InputError
from mnlearn.method import Fitted, Method, Stage, Task, check_range, parameter
from mnlearn.methods.dn_lr import LogisticWorkspace
from mnlearn.methods.dn_lr import Parameters as LogisticParameters
from mnlearn.methods.dn_lr import prepare as prepare_logistic
from mnlearn.models.features import FeatureSet
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.neighbourhoods import MERGES, merged_pairs, pair_features
from mnlearn.pseudo_likelihood import PseudoLikelihood, pseudo_likelihood
from mnlearn.weight_learning import MAX_ITERATIONS, Penalty, learn_weights


@dataclass(frozen=True)
class Parameters(LogisticParameters):
    """Parameters of `l1`."""

    merge: str = parameter("or", f"pairs for which the regressions agree: {', '.join(MERGES)}")
    sd: float | None = parameter(1.0, "standard deviation of the Gaussian weight prior, or none")
    l1: float = parameter(0.0, "L1 penalty on the weights")
    max_iterations: int = parameter(MAX_ITERATIONS, "iterations of weight learning")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.merge not in MERGES:
            raise InputError(
                f"parameter merge: expected one of {', '.join(MERGES)}, got {self.merge!r}."
            )
        Penalty(self.sd, self.l1)
        check_range("max_iterations", self.max_iterations, 1, 1e9)


@dataclass
class Workspace:
    """The regressions, and the features and their arrangement that were used last."""

    logistic: LogisticWorkspace
    key: tuple[object, ...] | None = None
    features: FeatureSet | None = None
    likelihood: PseudoLikelihood | None = None

    def arranged(self, parameters: Parameters) -> tuple[FeatureSet, PseudoLikelihood]:
        """Return the features of the neighbourhoods, arranged for weight learning."""
        key = (parameters.intercept, parameters.gap, parameters.lambda_, parameters.merge)
        if self.key != key or self.features is None or self.likelihood is None:
            self.likelihood = None  # Two arrangements could be more than memory holds.
            path, _ = self.logistic.path(parameters.intercept, parameters.gap)
            coefficient = path.coefficient[path.place(parameters.lambda_)]
            train = self.logistic.train
            pairs = merged_pairs(coefficient, parameters.merge)
            self.features = pair_features(train.n_vars, pairs)
            self.likelihood = pseudo_likelihood(self.features, train, self.logistic.threads)
            self.key = key
        return self.features, self.likelihood


def prepare(task: Task) -> Workspace:
    """Return a workspace for all penalties of the grid."""
    return Workspace(prepare_logistic(task))


def learn(workspace: Workspace, parameters: Parameters, warm: Fitted | None) -> Fitted:
    """Return the network of one structure and weight prior (Ravikumar et al. 2010)."""
    _, structure_seconds = workspace.logistic.path(parameters.intercept, parameters.gap)
    began = time.perf_counter()
    features, likelihood = workspace.arranged(parameters)
    arranged_seconds = time.perf_counter() - began
    initial = None
    if warm is not None and isinstance(warm.model, MarkovNetwork):
        initial = warm.model.weight
    penalty = Penalty(parameters.sd, parameters.l1)
    learned = learn_weights(likelihood, penalty, initial, parameters.max_iterations)
    train = workspace.logistic.train
    return Fitted(
        MarkovNetwork(train.n_vars, features, learned.weight, train.names),
        {"structure": structure_seconds, "weights": arranged_seconds + learned.seconds},
        {"n_edges": int(np.sum(features.length == 2)), **learned.summary()},
    )


METHOD = Method(
    title="L1",
    source="Ravikumar, Wainwright & Lafferty 2010",
    parameters=Parameters,
    prepare=prepare,
    stages=(Stage(("merge", "lambda", "l1", "sd"), learn),),
    variant=("merge",),
)
