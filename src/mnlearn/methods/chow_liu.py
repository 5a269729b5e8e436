"""Chow-Liu trees: the tree-shaped network of highest likelihood."""

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.method import Fitted, Method, Stage, Task, check_range, parameter
from mnlearn.models.tree_circuit import NO_PARENT, tree_circuit


@dataclass(frozen=True)
class Parameters:
    """Parameters of `chow_liu`."""

    pseudocount: float = parameter(1.0, "added to each cell of the table of each pair")

    def __post_init__(self) -> None:
        check_range("pseudocount", self.pseudocount, 0, 1e9)


def pair_probabilities(data: Dataset, pseudocount: float) -> NDArray[np.float64]:
    """Return P(X_u = a, X_v = b) at [a, b, u, v], float64 of shape (2, 2, n_vars, n_vars)."""
    both = (data.rows * data.weight[:, None]).T @ data.rows.astype(np.float64)
    ones = np.diag(both)
    table = np.empty((2, 2, *both.shape))
    table[1, 1] = both
    table[1, 0] = ones[:, None] - both
    table[0, 1] = ones[None, :] - both
    table[0, 0] = data.n_examples - ones[:, None] - ones[None, :] + both
    return (table + pseudocount) / (data.n_examples + 4.0 * pseudocount)


def mutual_information(pairs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mutual information of each pair in nats, float64 of shape (n_vars, n_vars)."""
    single = pairs.sum(axis=1)[:, :, 0]
    total = np.zeros(pairs.shape[2:])
    for a in (0, 1):
        for b in (0, 1):
            p = pairs[a, b]
            with np.errstate(divide="ignore", invalid="ignore"):
                term = p * np.log(p / np.outer(single[a], single[b]))
            total += np.where(p > 0, term, 0.0)
    return total


def maximum_spanning_tree(weight: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the parent of each node in the tree of greatest weight rooted at node 0 (Prim).

    weight : float64, symmetric. Of equal edges the one to the first node is taken.
    """
    n = len(weight)
    parent = np.zeros(n, np.int64)
    parent[0] = NO_PARENT
    best = weight[0].copy()
    best[0] = -np.inf
    outside = np.ones(n, bool)
    outside[0] = False
    for _ in range(n - 1):
        v = int(np.argmax(np.where(outside, best, -np.inf)))
        outside[v] = False
        closer = outside & (weight[v] > best)
        best[closer] = weight[v][closer]
        parent[closer] = v
    return parent


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
    criterion="ll",
)
