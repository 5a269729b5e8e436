"""Messages of belief propagation in a latent tree, for every row of the data."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.circuits.evaluation import LOG_ZERO
from mnlearn.models.tree_circuit import NO_PARENT

Array = NDArray[np.float64]


class TreeMessages:
    """Messages in a rooted tree that changes; all are logarithms of shape (n_rows, 2).

    rows : uint8, (n_rows, n_vars), values of the nodes 0 to n_vars - 1. All other nodes are hidden.

    Messages to the root are kept, and computed again only above a change. Messages from the root
    are computed when they are asked for.
    """

    def __init__(self, rows: NDArray[np.uint8]) -> None:
        self._rows = rows
        self.parent: dict[int, int] = {}
        self._children: dict[int, list[int]] = {}
        self._log_prob: dict[int, Array] = {}
        # own[v]: evidence of v and of all nodes below it about the value of v.
        # up[v]: the same about the value of the parent of v.
        # down[v]: evidence of all other nodes, and the prior, about the value of v.
        self._up: dict[int, Array] = {}
        self._own: dict[int, Array] = {}
        self._down: dict[int, Array] = {}

    def change(
        self, nodes: Sequence[int], parent: NDArray[np.int64], log_prob: NDArray[np.float64]
    ) -> None:
        """Replace the tree by another.

        nodes : numbers of the nodes; a node of both trees has the same number. parent, log_prob :
            as in `tree_circuit`; parents are places in `nodes`.
        """
        before = self._parts()
        self.parent = {
            v: NO_PARENT if up == NO_PARENT else nodes[up]
            for v, up in zip(nodes, parent.tolist(), strict=True)
        }
        self._children = {v: [] for v in nodes}
        for v, up in self.parent.items():
            if up != NO_PARENT:
                self._children[up].append(v)
        self._log_prob = dict(zip(nodes, log_prob, strict=True))
        for v in self._own.keys() - self._children.keys():
            self._own.pop(v)
            self._up.pop(v, None)
        self._down.clear()
        pairs = list(zip(before, self._parts(), strict=True))
        stale = {v for v in nodes if not all(_same(a, b, v) for a, b in pairs)}
        for v in reversed(self._from_the_root()):
            if v in stale:
                self._send(v)
                stale.add(self.parent[v])

    def _parts(self) -> tuple[dict[int, Any], ...]:
        return self.parent, self._children, self._log_prob

    def _from_the_root(self) -> list[int]:
        order = [v for v, up in self.parent.items() if up == NO_PARENT]
        for v in order:
            order += self._children[v]
        return order

    def _send(self, v: int) -> None:
        """Compute the messages of v about its own value and about that of its parent."""
        own = self._evidence(v)
        for c in self._children[v]:
            own += self._up[c]
        self._own[v] = own
        if self.parent[v] != NO_PARENT:
            self._up[v] = _through(own, self._log_prob[v].T)

    def _evidence(self, v: int) -> Array:
        out = np.zeros((len(self._rows), 2))
        if v < self._rows.shape[1]:
            out[self._rows[:, v] == 1, 0] = LOG_ZERO
            out[self._rows[:, v] == 0, 1] = LOG_ZERO
        return out

    def _from_above(self, v: int) -> Array:
        """Return the message to v from all nodes that are not below it."""
        path = [v]
        while path[-1] not in self._down and self.parent[path[-1]] != NO_PARENT:
            path.append(self.parent[path[-1]])
        for node in reversed(path):
            if node in self._down:
                continue
            u = self.parent[node]
            if u == NO_PARENT:
                self._down[node] = np.broadcast_to(self._log_prob[node][0], self._own[node].shape)
            else:
                rest = self._down[u] + self._own[u] - self._up[node]
                self._down[node] = _through(rest, self._log_prob[node])
        return self._down[v]

    def log_value(self) -> Array:
        """Return the log-probability of each row, float64 of (n_rows,)."""
        root = next(v for v, up in self.parent.items() if up == NO_PARENT)
        both = self._own[root] + self._from_above(root)
        return np.asarray(np.logaddexp(both[:, 0], both[:, 1]))

    def top(self, region: Sequence[int]) -> int:
        """Return the node of a connected region that is nearest to the root."""
        inside = set(region)
        return next(v for v in region if self.parent[v] not in inside)

    def potentials(self, region: Sequence[int]) -> Array:
        """Return the messages to the nodes of a connected region from all nodes outside it.

        Returns
        -------
        float64 array of shape (n_rows, len(region), 2)
            Logarithms.
        """
        out = np.array([self._own[v] for v in region])
        place = {node: k for k, node in enumerate(region)}
        for v in region:
            if self.parent[v] in place:
                out[place[self.parent[v]]] -= self._up[v]
        top = self.top(region)
        out[place[top]] += self._from_above(top)
        return np.ascontiguousarray(out.transpose(1, 0, 2))


def _same(before: dict[int, Any], after: dict[int, Any], v: int) -> bool:
    return v in before and np.array_equal(before[v], after[v])


def _through(message: Array, log_table: Array) -> Array:
    """Return log sum over x of exp(message[:, x] + log_table[x, y]) at [:, y]."""
    zero = message[:, :1] + log_table[0]
    one = message[:, 1:] + log_table[1]
    return np.logaddexp(zero, one)
