"""The tree of most mutual information between binary variables (Chow & Liu 1968)."""

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.models.tree_circuit import NO_PARENT


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


def conditional_probabilities(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return P(X_v = b | X_u = a) at [a, b] from the joint probabilities at [a, b].

    Where P(X_u = a) is 0, X_v is as it is whatever X_u.
    """
    given = table.sum(axis=1, keepdims=True)
    out = np.broadcast_to(table.sum(axis=0), table.shape).copy()
    return np.divide(table, given, out=out, where=given > 0)


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
    # Pairs that differ by rounding errors only are equal, on every machine.
    return np.round(total, 12)


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
