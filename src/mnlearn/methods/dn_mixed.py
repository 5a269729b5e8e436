"""Dependency networks whose CPDs average those of a given network and probability trees."""

from dataclasses import dataclass

from mnlearn.learning.conversion import average_networks
from mnlearn.learning.learner import Fitted, Stage, Workspace
from mnlearn.learning.parameters import parameter
from mnlearn.learning.trees import TreePath
from mnlearn.methods.dn_tree import TreeLearner
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.io import suffixes


@dataclass(eq=False, kw_only=True)
class DNMixed(TreeLearner):
    """Dependency network whose CPDs are geometric means of trees and a given network."""

    share: float = parameter(
        0.5, "share of the trees in the mean of the log-probabilities", low=0.0, high=1.0
    )

    def learn(self, workspace: Workspace) -> Fitted:
        trees, given = self.learn_trees(workspace), workspace.task.network
        assert isinstance(trees.model, DependencyNetwork)
        assert given is not None
        parts = [(self.share, trees.model), (1.0 - self.share, given)]
        return Fitted(average_networks(parts), trees.seconds, trees.details)

    prepare = staticmethod(Workspace[TreePath])
    title = "Dependency network, trees averaged with another"
    citation = "for comparison; geometric means of CPDs"
    stages = (Stage(("share", "kappa"), learn),)
    formats = suffixes.DEPENDENCY_NETWORK
    network = "required"
