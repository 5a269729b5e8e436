"""Dependency networks whose CPDs average those of a given network and probability trees."""

from dataclasses import dataclass

from mnlearn.learning.method import Fitted, Method, Stage, Task, check_range, parameter
from mnlearn.learning.mixtures import mixture
from mnlearn.methods.dn_tree import Parameters as TreeParameters
from mnlearn.methods.dn_tree import TreeWorkspace
from mnlearn.methods.dn_tree import learn as learn_trees
from mnlearn.methods.dn_tree import prepare as prepare_trees
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.scoring import networks


@dataclass(frozen=True)
class Parameters(TreeParameters):
    """Parameters of `dn_mixed`."""

    share: float = parameter(0.5, "share of the trees in the mean of the log-odds")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("share", self.share, 0.0, 1.0)


@dataclass
class Workspace:
    """The trees and the given network."""

    trees: TreeWorkspace
    network: DependencyNetwork


def prepare(task: Task) -> Workspace:
    """Return a workspace whose trees serve the largest kappa of the grid."""
    assert task.network is not None
    return Workspace(prepare_trees(task), task.network)


def learn(workspace: Workspace, parameters: Parameters, warm: Fitted | None) -> Fitted:
    """Return the network whose log-odds are the weighted mean of both."""
    trees = learn_trees(workspace.trees, parameters, None)
    assert isinstance(trees.model, DependencyNetwork)
    parts = [(parameters.share, trees.model), (1.0 - parameters.share, workspace.network)]
    return Fitted(mixture(parts), trees.seconds, trees.details)


METHOD = Method(
    title="Dependency network, trees averaged with another",
    source="for comparison; geometric means of CPDs",
    parameters=Parameters,
    prepare=prepare,
    stages=(Stage(("share", "kappa"), learn),),
    scorer=networks,
    network="required",
)
