"""L1: pairwise features from the neighbourhoods of L1-penalised logistic regressions."""

import time
from dataclasses import dataclass, replace

import numpy as np

from mnlearn.learning.method import Fitted, Method, Stage, Task, check_range, parameter
from mnlearn.learning.neighbourhoods import MERGES, merged_pairs, pair_features
from mnlearn.learning.penalty import Penalty
from mnlearn.learning.weights.descent import MAX_ITERATIONS
from mnlearn.learning.weights.paths import WeightPaths, weight_paths
from mnlearn.methods.dn_lr import LogisticWorkspace
from mnlearn.methods.dn_lr import Parameters as LogisticParameters
from mnlearn.methods.dn_lr import prepare as prepare_logistic
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.runtime.errors import InputError
from mnlearn.scoring import networks


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
    """The regressions, and the weights of the features that were used last."""

    task: Task
    logistic: LogisticWorkspace
    paths: tuple[Parameters, WeightPaths] | None = None

    def weight_paths(self, p: Parameters) -> WeightPaths:
        """Return the weights of the features of one structure."""
        key = replace(p, sd=None, l1=0.0)
        if self.paths is None or self.paths[0] != key:
            self.paths = None  # Two arrangements could be more than memory holds.
            began = time.perf_counter()
            path, _ = self.logistic.path(p.intercept, p.gap)
            pairs = merged_pairs(path.coefficient[path.place(p.lambda_)], p.merge)
            features = pair_features(self.task.train.n_vars, pairs)
            self.paths = key, weight_paths(self.task, features, p.max_iterations, began)
        return self.paths[1]


def prepare(task: Task) -> Workspace:
    """Return a workspace for all penalties of the grid."""
    return Workspace(task, prepare_logistic(task))


def learn(workspace: Workspace, parameters: Parameters, warm: Fitted | None) -> Fitted:
    """Return the network of one structure and weight prior (Ravikumar et al. 2010).

    `warm` is not used: see `WeightPaths`.
    """
    _, structure_seconds = workspace.logistic.path(parameters.intercept, parameters.gap)
    fitted = workspace.weight_paths(parameters).fitted(
        Penalty(parameters.sd, parameters.l1), structure_seconds
    )
    assert isinstance(fitted.model, MarkovNetwork)
    n_edges = int(np.sum(fitted.model.features.length == 2))
    return replace(fitted, details={"n_edges": n_edges, **fitted.details})


METHOD = Method(
    title="L1",
    source="Ravikumar, Wainwright & Lafferty 2010",
    parameters=Parameters,
    prepare=prepare,
    stages=(Stage(("merge", "lambda", "l1", "sd"), learn),),
    scorer=networks,
    variant=("merge",),
)
