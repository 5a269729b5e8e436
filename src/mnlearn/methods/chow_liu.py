"""Chow-Liu trees: the tree-shaped network of highest likelihood."""

import time
from dataclasses import dataclass

import numpy as np

from mnlearn.learning.latent_trees.chow_liu import (
    maximum_spanning_tree,
    mutual_information,
    pair_probabilities,
)
from mnlearn.learning.method import Fitted, Method, Stage, Task, check_range, parameter
from mnlearn.models.tree_circuit import NO_PARENT, tree_circuit
from mnlearn.scoring import circuits


@dataclass(frozen=True)
class Parameters:
    """Parameters of `chow_liu`."""

    pseudocount: float = parameter(1.0, "added to each cell of the table of each pair")

    def __post_init__(self) -> None:
        check_range("pseudocount", self.pseudocount, 0, 1e9)


def learn(task: Task, p: Parameters, _warm: Fitted | None) -> Fitted:
    """Return the tree of most mutual information as a circuit (Chow & Liu 1968)."""
    began = time.monotonic()
    pairs = pair_probabilities(task.train, p.pseudocount)
    parent = maximum_spanning_tree(mutual_information(pairs))
    n_vars = task.train.n_vars
    log_prob = np.zeros((n_vars, 2, 2))
    with np.errstate(divide="ignore"):
        for v in range(n_vars):
            if parent[v] == NO_PARENT:
                log_prob[v, 0] = np.log(pairs[:, :, v, 0].sum(axis=1))
            else:
                table = pairs[:, :, parent[v], v]
                log_prob[v] = np.log(table / table.sum(axis=1, keepdims=True))
    model = tree_circuit(parent, log_prob, n_vars, task.train.names)
    details = {"n_edges": model.n_edges}
    return Fitted(model, {"structure": time.monotonic() - began, "weights": 0.0}, details)


METHOD = Method(
    title="Chow-Liu tree",
    source="Chow & Liu 1968",
    parameters=Parameters,
    prepare=lambda task: task,
    stages=(Stage(("pseudocount",), learn),),
    scorer=circuits,
    criterion="ll",
)
