"""What the rest of a tree says of each part of it, for every row of the data."""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.circuit import LOG_ZERO
from mnlearn.models.tree_circuit import NO_PARENT

Array = NDArray[np.float64]


class TreeMessages:
    """Messages of belief propagation in a rooted tree, logarithms, all (n_rows, 2).

    parent, log_prob : as in `tree_circuit`. rows : uint8, (n_rows, n_vars), values of the first
    variables.

    up[v] is sent to the parent, what v and all below it say of the parent's value; own[v] what v
    and all below say of v's value; down[v] what everything else says of it, priors included.
    """

    def __init__(self, parent: NDArray[np.int64], log_prob: Array, rows: NDArray[np.uint8]) -> None:
        self.parent = parent
        n_tree, n_vars = len(parent), rows.shape[1]
        order = _from_the_root(parent)
        self.own = np.zeros((n_tree, len(rows), 2))
        for v in range(n_vars):
            self.own[v][rows[:, v] == 1, 0] = LOG_ZERO
            self.own[v][rows[:, v] == 0, 1] = LOG_ZERO
        self.up = np.zeros((n_tree, len(rows), 2))
        for v in reversed(order):
            if parent[v] != NO_PARENT:
                self.up[v] = _through(self.own[v], log_prob[v].T)
                self.own[parent[v]] += self.up[v]
        self.down = np.zeros((n_tree, len(rows), 2))
        for v in order:
            u = parent[v]
            if u == NO_PARENT:
                self.down[v] = log_prob[v, 0]
            else:
                self.down[v] = _through(self.down[u] + self.own[u] - self.up[v], log_prob[v])

    def log_value(self) -> Array:
        """Return the log-probability of each row, float64 of (n_rows,)."""
        root = int(np.flatnonzero(self.parent == NO_PARENT)[0])
        both = self.own[root] + self.down[root]
        return np.asarray(np.logaddexp(both[:, 0], both[:, 1]))

    def potentials(self, region: Sequence[int], top: int) -> Array:
        """Return what all outside a connected region says of its nodes' values.

        region : nodes; top : the one nearest to the root. Returns (n_rows, len(region), 2).
        """
        inside: Collection[int] = set(region)
        out = self.own[list(region)].copy()
        place = {node: k for k, node in enumerate(region)}
        for v in region:
            if v != top and self.parent[v] in inside:
                out[place[int(self.parent[v])]] -= self.up[v]
        out[place[top]] += self.down[top]
        return np.ascontiguousarray(out.transpose(1, 0, 2))


def _from_the_root(parent: NDArray[np.int64]) -> list[int]:
    children: list[list[int]] = [[] for _ in parent]
    order = []
    for v, u in enumerate(parent):
        if u == NO_PARENT:
            order.append(v)
        else:
            children[u].append(v)
    for v in order:
        order += children[v]
    return order


def _through(message: Array, log_table: Array) -> Array:
    """Return log sum over x of exp(message[:, x] + log_table[x, y]) at [:, y]."""
    zero = message[:, :1] + log_table[0]
    one = message[:, 1:] + log_table[1]
    return np.logaddexp(zero, one)
