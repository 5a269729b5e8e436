"""Dependency networks of bagged probability trees."""

import time
from dataclasses import dataclass, field

from mnlearn.learning.method import Fitted, Method, Stage, Task, check_range, parameter
from mnlearn.learning.mixtures import mixture
from mnlearn.learning.trees import TreePath, learn_tree_path
from mnlearn.methods.dn_tree import Parameters as TreeParameters
from mnlearn.models.dependency_network import tree_network
from mnlearn.runtime.random_streams import stream
from mnlearn.scoring import networks


@dataclass(frozen=True)
class Parameters(TreeParameters):
    """Parameters of `dn_bag`."""

    n_bags: int = parameter(10, "bootstrap samples that trees are grown on")
    bag_seed: int = parameter(20, "seed of the bootstrap samples")

    def __post_init__(self) -> None:
        super().__post_init__()
        check_range("n_bags", self.n_bags, 1, 1e6)
        check_range("bag_seed", self.bag_seed, 0, 2**63)


@dataclass
class Workspace:
    """Trees of every bootstrap sample for every kappa of a grid, grown once."""

    task: Task
    kept: dict[tuple[float, ...], tuple[list[TreePath], float]] = field(default_factory=dict)

    def paths(self, parameters: Parameters) -> tuple[list[TreePath], float]:
        """Return the trees of all samples and the seconds they took."""
        least, added = parameters.min_leaf_examples, parameters.pseudocount
        key = (least, added, parameters.n_bags, parameters.bag_seed)
        if key not in self.kept:
            began = time.perf_counter()
            kappa, threads = max(self.task.grid["kappa"]), self.task.threads
            rng = stream(parameters.bag_seed, "bagging")
            samples = [self.task.train.resample(rng) for _ in range(parameters.n_bags)]
            found = [learn_tree_path(s, kappa, least, threads, added) for s in samples]
            self.kept[key] = found, time.perf_counter() - began
        return self.kept[key]


def prepare(task: Task) -> Workspace:
    """Return a workspace without trees yet."""
    return Workspace(task)


def learn(workspace: Workspace, parameters: Parameters, warm: Fitted | None) -> Fitted:
    """Return the network whose log-odds are the mean over the trees of all samples."""
    paths, seconds = workspace.paths(parameters)
    trees = [tree_network(path.cut(parameters.kappa), workspace.task.train.names) for path in paths]
    network = mixture([(1.0 / len(trees), one) for one in trees])
    return Fitted(network, {"structure": seconds}, {"n_leaves": len(network.features) // 2})


METHOD = Method(
    title="Dependency network, bagged probability trees",
    source="for comparison; Breiman 1996",
    parameters=Parameters,
    prepare=prepare,
    stages=(Stage(("kappa",), learn),),
    scorer=networks,
)
