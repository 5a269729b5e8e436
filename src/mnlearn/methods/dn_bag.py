"""Dependency networks of bagged probability trees."""

import time
from dataclasses import dataclass, field

from mnlearn.learning.learner import Fitted, Stage, Task
from mnlearn.learning.mixtures import average_networks
from mnlearn.learning.parameters import parameter
from mnlearn.learning.trees import TreePath, learn_tree_path
from mnlearn.methods.dn_tree import TreeLearner
from mnlearn.models.dependency_network import tree_network
from mnlearn.models.io import suffixes
from mnlearn.runtime.random_streams import stream


@dataclass
class Workspace:
    """Trees of every bootstrap sample for every kappa of a grid, grown once."""

    task: Task
    kept: dict[tuple[float, ...], tuple[list[TreePath], float]] = field(default_factory=dict)

    def paths(self, learner: "DNBag") -> tuple[list[TreePath], float]:
        """Return the trees of all samples and the seconds they took."""
        least, added = learner.min_leaf_examples, learner.pseudocount
        key = (least, added, learner.n_bags, learner.bag_seed)
        if key not in self.kept:
            began = time.process_time()
            kappa, threads = max(self.task.grid["kappa"]), self.task.threads
            rng = stream(learner.bag_seed, "bagging")
            samples = [self.task.train.resample(rng) for _ in range(learner.n_bags)]
            found = [
                learn_tree_path(
                    sample,
                    kappa,
                    least,
                    threads,
                    pseudocount=added,
                    shares=self.task.shares,
                    sample=number,
                )
                for number, sample in enumerate(samples)
            ]
            seconds = sum(path.seconds_shared for path in found) + time.process_time() - began
            self.kept[key] = found, seconds
        return self.kept[key]


@dataclass(eq=False, kw_only=True)
class DNBag(TreeLearner):
    """Dependency network whose CPDs are geometric means of trees of bootstrap samples."""

    n_bags: int = parameter(10, "bootstrap samples that trees are grown on", low=1, high=1e6)
    bag_seed: int = parameter(20, "seed of the bootstrap samples", low=0, high=2**63)

    by_variable = "dn_bag"

    @classmethod
    def learn_share(cls, task: Task) -> None:
        """Grow the trees of this process's share of the variables, on all samples."""
        Workspace(task).paths(cls.first(task))

    def learn(self, workspace: Workspace) -> Fitted:
        """Return the network of one kappa."""
        paths, seconds = workspace.paths(self)
        trees = [tree_network(path.cut(self.kappa), workspace.task.train.schema) for path in paths]
        network = average_networks([(1.0 / len(trees), one) for one in trees])
        return Fitted(network, {"structure": seconds}, {"n_leaves": len(network.features) // 2})

    prepare = staticmethod(Workspace)
    title = "Dependency network, bagged probability trees"
    citation = "for comparison; Breiman 1996"
    stages = (Stage(("kappa",), learn),)
    formats = suffixes.DEPENDENCY_NETWORK
