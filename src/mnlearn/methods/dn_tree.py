"""Dependency networks with probability trees."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mnlearn.data.dataset import Dataset
from mnlearn.method import Fitted, Method, Stage, check_range, parameter
from mnlearn.models.dependency_network import Trees, tree_network
from mnlearn.tree_learning import TreePath, learn_tree_path


@dataclass(frozen=True)
class Parameters:
    """Parameters of `dn_tree`."""

    kappa: float = parameter(0.01, "structure prior: a split gains more than -log(kappa)")
    min_leaf_examples: float = parameter(0.0, "least number of examples on each side of a split")

    def __post_init__(self) -> None:
        check_range("kappa", self.kappa, 1e-300, 1.0)
        check_range("min_leaf_examples", self.min_leaf_examples, 0.0, 1e15)


@dataclass
class TreeWorkspace:
    """Trees for every kappa of a grid, grown once."""

    train: Dataset
    largest_kappa: float
    threads: int
    paths: dict[float, tuple[TreePath, float]] = field(default_factory=dict)

    def trees(self, kappa: float, min_leaf_examples: float) -> tuple[Trees, float]:
        """Return the trees and the seconds it took to grow them for the whole grid."""
        if min_leaf_examples not in self.paths:
            began = time.perf_counter()
            path = learn_tree_path(self.train, self.largest_kappa, min_leaf_examples, self.threads)
            self.paths[min_leaf_examples] = path, time.perf_counter() - began
        path, seconds = self.paths[min_leaf_examples]
        return path.cut(kappa), seconds


def prepare(train: Dataset, grid: Mapping[str, list[Any]], threads: int) -> TreeWorkspace:
    """Return a workspace whose trees serve the largest kappa of the grid."""
    return TreeWorkspace(train, max(grid["kappa"]), threads)


def learn(workspace: TreeWorkspace, parameters: Parameters, warm: Fitted | None) -> Fitted:
    """Return the dependency network of one kappa (Lowd & Davis 2010, Section III)."""
    trees, seconds = workspace.trees(parameters.kappa, parameters.min_leaf_examples)
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
)
