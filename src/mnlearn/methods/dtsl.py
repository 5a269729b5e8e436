"""DTSL: features read off probability trees, weighted by pseudo-likelihood."""

import time
from dataclasses import dataclass, replace

from mnlearn.learning.method import Fitted, Method, Stage, Task, check_range, parameter
from mnlearn.learning.penalty import Penalty
from mnlearn.learning.weights.descent import MAX_ITERATIONS
from mnlearn.learning.weights.paths import WeightPaths, weight_paths
from mnlearn.methods.dn_tree import Parameters as TreeParameters
from mnlearn.methods.dn_tree import TreeWorkspace
from mnlearn.methods.dn_tree import learn as learn_trees
from mnlearn.methods.dn_tree import prepare as prepare_trees
from mnlearn.models.tree_features import FEATURE_MODES, tree_features
from mnlearn.runtime.errors import InputError
from mnlearn.scoring import networks


@dataclass(frozen=True)
class Parameters(TreeParameters):
    """Parameters of `dtsl`."""

    feature_mode: str = parameter("prune", f"features of a tree: {', '.join(FEATURE_MODES)}")
    sd: float | None = parameter(1.0, "standard deviation of the Gaussian weight prior, or none")
    l1: float = parameter(0.0, "L1 penalty on the weights")
    max_iterations: int = parameter(MAX_ITERATIONS, "iterations of weight learning")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.feature_mode not in FEATURE_MODES:
            raise InputError(
                f"parameter feature_mode: expected one of {', '.join(FEATURE_MODES)}, "
                f"got {self.feature_mode!r}."
            )
        Penalty(self.sd, self.l1)
        check_range("max_iterations", self.max_iterations, 1, 1e9)


@dataclass
class Workspace:
    """The trees, and the weights of the features that were used last."""

    task: Task
    trees: TreeWorkspace
    paths: tuple[Parameters, WeightPaths] | None = None

    def weight_paths(self, p: Parameters) -> WeightPaths:
        """Return the weights of the features of the trees at `p`."""
        key = replace(p, sd=None, l1=0.0)
        if self.paths is None or self.paths[0] != key:
            self.paths = None  # Two arrangements could be more than memory holds.
            trees, _ = self.trees.trees(p)
            began = time.perf_counter()
            features = tree_features(trees, p.feature_mode)
            self.paths = key, weight_paths(self.task, features, p.max_iterations, began)
        return self.paths[1]


def prepare(task: Task) -> Workspace:
    """Return a workspace whose trees serve the largest kappa of the grid."""
    return Workspace(task, prepare_trees(task))


def learn_structure(workspace: Workspace, parameters: Parameters, warm: Fitted | None) -> Fitted:
    """Return the trees alone, as a dependency network: kappa is chosen by their log-loss."""
    return learn_trees(workspace.trees, parameters, warm)


def learn(workspace: Workspace, parameters: Parameters, warm: Fitted | None) -> Fitted:
    """Return the Markov network of one feature mode and weight prior.

    `warm` is not used: see `WeightPaths`.
    """
    _, structure_seconds = workspace.trees.trees(parameters)
    return workspace.weight_paths(parameters).fitted(
        Penalty(parameters.sd, parameters.l1), structure_seconds
    )


METHOD = Method(
    title="DTSL",
    source="Lowd & Davis 2010",
    parameters=Parameters,
    prepare=prepare,
    stages=(Stage(("kappa",), learn_structure), Stage(("feature_mode", "l1", "sd"), learn)),
    scorer=networks,
    variant=("feature_mode",),
)
