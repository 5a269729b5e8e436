"""Dependency networks with probability trees."""

from dataclasses import dataclass

from mnlearn.learning.learner import Fitted, Learner, Stage, Task, Workspace
from mnlearn.learning.parameters import parameter
from mnlearn.learning.trees import TreePath, learn_tree_path
from mnlearn.models.dependency_network import Trees, tree_network
from mnlearn.models.io import suffixes


@dataclass(eq=False, kw_only=True)
class TreeLearner(Learner):
    """The hyperparameters of every learner that grows probability trees."""

    kappa: float = parameter(
        0.01, "structure prior: a split gains more than -log(kappa)", low=1e-300, high=1.0
    )
    min_leaf_examples: float = parameter(
        0.0, "least number of examples on each side of a split", low=0.0, high=1e15
    )
    pseudocount: float = parameter(
        1.0, "count added to each state at a leaf; above 0", low=1e-9, high=1e15
    )

    by_variable = True

    @classmethod
    def learn_share(cls, task: Task) -> None:
        cls.first(task).grown(Workspace(task))

    def grown(self, workspace: Workspace) -> tuple[Trees, float]:
        """Return the trees and the seconds it took to grow them for the whole grid."""
        least, added = key = (self.min_leaf_examples, self.pseudocount)
        task = workspace.task

        def grow() -> TreePath:
            kappa, shares = max(task.grid["kappa"]), task.shares
            return learn_tree_path(
                task.train, kappa, least, task.threads, pseudocount=added, shares=shares
            )

        path, seconds = workspace.get(key, grow)
        return path.cut(self.kappa), seconds

    def learn_trees(self, workspace: Workspace) -> Fitted:
        """Return the dependency network of one kappa (Lowd & Davis 2010, Section III)."""
        trees, seconds = self.grown(workspace)
        return Fitted(
            tree_network(trees, workspace.task.train.schema),
            {"structure": seconds},
            {"n_leaves": int(trees.is_leaf.sum()), "deepest_leaf": int(trees.depth.max())},
        )


@dataclass(eq=False, kw_only=True)
class DNTree(TreeLearner):
    """Dependency network whose CPDs are probability trees."""

    prepare = staticmethod(Workspace[TreePath])
    title = "Dependency network, probability trees"
    citation = "Lowd & Davis 2010, Section III; Heckerman et al. 2000"
    stages = (Stage(("kappa",), TreeLearner.learn_trees),)
    formats = suffixes.DEPENDENCY_NETWORK
