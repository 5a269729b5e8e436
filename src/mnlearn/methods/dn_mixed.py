"""Dependency networks whose CPDs average those of a given network and probability trees."""

from dataclasses import dataclass

from mnlearn.learning.learner import Fitted, Stage, Task
from mnlearn.learning.mixtures import average_networks
from mnlearn.learning.parameters import parameter
from mnlearn.methods.dn_tree import GrownTrees, TreeLearner, grow_trees
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.io import suffixes


class Workspace:
    """The trees and the given network."""

    def __init__(self, task: Task) -> None:
        assert task.network is not None
        self.trees: GrownTrees = grow_trees(task)
        self.network: DependencyNetwork = task.network


@dataclass(eq=False, kw_only=True)
class DNMixed(TreeLearner):
    """Dependency network whose CPDs are geometric means of trees and a given network."""

    share: float = parameter(
        0.5, "share of the trees in the mean of the log-probabilities", low=0.0, high=1.0
    )

    def learn(self, workspace: Workspace) -> Fitted:
        """Return the network of one share and kappa."""
        trees = self.learn_trees(workspace.trees)
        assert isinstance(trees.model, DependencyNetwork)
        parts = [(self.share, trees.model), (1.0 - self.share, workspace.network)]
        return Fitted(average_networks(parts), trees.seconds, trees.details)

    prepare = staticmethod(Workspace)
    title = "Dependency network, trees averaged with another"
    citation = "for comparison; geometric means of CPDs"
    stages = (Stage(("share", "kappa"), learn),)
    formats = suffixes.DEPENDENCY_NETWORK
    network = "required"
