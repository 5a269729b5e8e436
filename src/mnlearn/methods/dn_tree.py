"""Dependency networks with probability trees."""

import time
from dataclasses import dataclass, field

from mnlearn.data.dataset import Dataset
from mnlearn.learning.learner import Fitted, Learner, Stage, Task
from mnlearn.learning.parameters import parameter
from mnlearn.learning.shares import ALONE, Shares
from mnlearn.learning.trees import TreePath, learn_tree_path
from mnlearn.models.dependency_network import DependencyNetwork, Trees, tree_network
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

    by_variable = "dn_tree"

    @classmethod
    def learn_share(cls, task: Task) -> None:
        """Grow the trees of this process's share of the variables."""
        grow_trees(task).trees(cls.first(task))

    def learn_trees(self, grown: "GrownTrees") -> Fitted:
        """Return the dependency network of one kappa (Lowd & Davis 2010, Section III)."""
        trees, seconds = grown.trees(self)
        return Fitted(
            tree_network(trees, grown.train.schema),
            {"structure": seconds},
            {"n_leaves": int(trees.is_leaf.sum()), "deepest_leaf": int(trees.depth.max())},
        )


@dataclass
class GrownTrees:
    """Trees for every kappa of a grid, grown once, beside a network that is given."""

    train: Dataset
    largest_kappa: float
    threads: int
    shares: Shares = ALONE
    network: DependencyNetwork | None = None
    paths: dict[tuple[float, float], tuple[TreePath, float]] = field(default_factory=dict)

    def trees(self, learner: TreeLearner) -> tuple[Trees, float]:
        """Return the trees and the seconds it took to grow them for the whole grid."""
        least, added = key = (learner.min_leaf_examples, learner.pseudocount)
        if key not in self.paths:
            began = time.process_time()
            path = learn_tree_path(
                self.train,
                self.largest_kappa,
                least,
                self.threads,
                pseudocount=added,
                shares=self.shares,
            )
            self.paths[key] = path, path.seconds_shared + time.process_time() - began
        path, seconds = self.paths[key]
        return path.cut(learner.kappa), seconds


def grow_trees(task: Task) -> GrownTrees:
    """Return a workspace whose trees serve the largest kappa of the grid."""
    largest_kappa = max(task.grid["kappa"])
    return GrownTrees(task.train, largest_kappa, task.threads, task.shares, task.network)


@dataclass(eq=False, kw_only=True)
class DNTree(TreeLearner):
    """Dependency network whose CPDs are probability trees."""

    prepare = staticmethod(grow_trees)
    title = "Dependency network, probability trees"
    citation = "Lowd & Davis 2010, Section III; Heckerman et al. 2000"
    stages = (Stage(("kappa",), TreeLearner.learn_trees),)
    formats = suffixes.DEPENDENCY_NETWORK
