"""Dependency networks of bagged probability trees."""

from dataclasses import dataclass

from mnlearn.learning.conversion import average_networks
from mnlearn.learning.learner import Fitted, Stage, Task, Workspace
from mnlearn.learning.parameters import parameter
from mnlearn.learning.trees import TreePath, learn_tree_path
from mnlearn.methods.dn_tree import TreeLearner
from mnlearn.models.dependency_network import tree_network
from mnlearn.models.io import suffixes
from mnlearn.runtime.random_streams import stream


@dataclass(eq=False, kw_only=True)
class DNBag(TreeLearner):
    """Dependency network whose CPDs are geometric means of trees of bootstrap samples."""

    n_bags: int = parameter(10, "bootstrap samples that trees are grown on", low=1, high=1e6)
    bag_seed: int = parameter(20, "seed of the bootstrap samples", low=0, high=2**63)

    by_variable = True

    @classmethod
    def learn_share(cls, task: Task) -> None:
        cls.first(task)._grow(task)

    def _grow(self, task: Task) -> list[TreePath]:
        """Return the trees of all samples for every kappa of a grid."""
        rng, kappa = stream(self.bag_seed, "bagging"), max(task.grid["kappa"])
        samples = [task.train.resample(rng) for _ in range(self.n_bags)]
        return [
            learn_tree_path(
                one,
                kappa,
                self.min_leaf_examples,
                task.threads,
                pseudocount=self.pseudocount,
                shares=task.shares,
                sample=number,
            )
            for number, one in enumerate(samples)
        ]

    def learn(self, workspace: Workspace) -> Fitted:
        task, key = workspace.task, self.values_but("kappa")
        paths, seconds = workspace.get(key, lambda: self._grow(task))
        trees = [path.cut(self.kappa) for path in paths]
        share = 1.0 / len(trees)
        network = average_networks([(share, tree_network(t, task.train.schema)) for t in trees])
        n_leaves = int(sum(one.is_leaf.sum() for one in trees))
        return Fitted(network, {"structure": seconds}, {"n_leaves": n_leaves})

    prepare = staticmethod(Workspace[list[TreePath]])
    title = "Dependency network, bagged probability trees"
    citation = "for comparison; Breiman 1996"
    stages = (Stage(("kappa",), learn),)
    formats = suffixes.DEPENDENCY_NETWORK
