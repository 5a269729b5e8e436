"""Dependency networks with probability trees."""

import time
from dataclasses import dataclass, field

from mnlearn.data.dataset import Dataset
from mnlearn.learning.method import Fitted, Method, Stage, Task, check_range, parameter
from mnlearn.learning.trees import TreePath, learn_tree_path
from mnlearn.models.dependency_network import Trees, tree_network
from mnlearn.scoring import networks


@dataclass(frozen=True)
class Parameters:
    """Parameters of `dn_tree`."""

    kappa: float = parameter(0.01, "structure prior: a split gains more than -log(kappa)")
    min_leaf_examples: float = parameter(0.0, "least number of examples on each side of a split")
    pseudocount: float = parameter(1.0, "count added to each value at a leaf; above 0")

    def __post_init__(self) -> None:
        check_range("kappa", self.kappa, 1e-300, 1.0)
        check_range("pseudocount", self.pseudocount, 1e-9, 1e15)
        check_range("min_leaf_examples", self.min_leaf_examples, 0.0, 1e15)


@dataclass
class TreeWorkspace:
    """Trees for every kappa of a grid, grown once."""

    train: Dataset
    largest_kappa: float
    threads: int
    paths: dict[tuple[float, float], tuple[TreePath, float]] = field(default_factory=dict)

    def trees(self, parameters: Parameters) -> tuple[Trees, float]:
        """Return the trees and the seconds it took to grow them for the whole grid."""
        key = (parameters.min_leaf_examples, parameters.pseudocount)
        if key not in self.paths:
            began = time.perf_counter()
            least, added = key
            path = learn_tree_path(self.train, self.largest_kappa, least, self.threads, added)
            self.paths[key] = path, time.perf_counter() - began
        path, seconds = self.paths[key]
        return path.cut(parameters.kappa), seconds


def prepare(task: Task) -> TreeWorkspace:
    """Return a workspace whose trees serve the largest kappa of the grid."""
    return TreeWorkspace(task.train, max(task.grid["kappa"]), task.threads)


def learn(workspace: TreeWorkspace, parameters: Parameters, warm: Fitted | None) -> Fitted:
    """Return the dependency network of one kappa (Lowd & Davis 2010, Section III)."""
    trees, seconds = workspace.trees(parameters)
    return Fitted(
        tree_network(trees, workspace.train.names),
        {"structure": seconds},
        {"n_leaves": int(trees.is_leaf.sum()), "deepest_leaf": int(trees.depth.max())},
    )


METHOD = Method(
    title="Dependency network, probability trees",
    source="Lowd & Davis 2010, Section III; Heckerman et al. 2000",
    parameters=Parameters,
    prepare=prepare,
    stages=(Stage(("kappa",), learn),),
    scorer=networks,
)
