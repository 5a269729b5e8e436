"""Trees of observed and hidden variables: messages for each row, and parameters by EM."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.inference.circuits.exact import expected_counts
from mnlearn.kernels.circuits.evaluation import LOG_ZERO
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.circuit_building import NO_PARENT, tree_circuit
from mnlearn.variables.schema import Schema

Array = NDArray[np.float64]


class TreeMessages:
    """Messages in a rooted tree that changes; all are logarithms of shape (n_rows, n_states).

    Nodes beyond those of `values`, (n_rows, n_vars), are hidden. Messages to the root are kept, and
    computed again only above a change.
    """

    def __init__(self, values: NDArray[np.uint8], n_states: int = 2) -> None:
        self._values, self._n_states = values, n_states
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
        """Replace the tree by another, whose parents are places in `nodes`; see `tree_circuit`."""
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
        out = np.zeros((len(self._values), self._n_states))
        if v < self._values.shape[1]:
            out[self._values[:, v, None] != np.arange(self._n_states)] = LOG_ZERO
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
        return np.asarray(np.logaddexp.reduce(both, axis=1))

    def top(self, region: Sequence[int]) -> int:
        """Return the node of a connected region that is nearest to the root."""
        inside = set(region)
        return next(v for v in region if self.parent[v] not in inside)

    def potentials(self, region: Sequence[int]) -> Array:
        """Return messages to a connected region, (n_rows, len(region), n_states)."""
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
    out: Array = message[:, :1] + log_table[0]
    for x in range(1, len(log_table)):
        out = np.logaddexp(out, message[:, x : x + 1] + log_table[x])
    return out


Edge = tuple[int, int]


@dataclass(frozen=True, eq=False)
class LatentTree:
    """A tree over observed variables 0 to n_vars - 1 and hidden ones after them.

    tables : P(X_u = a, X_v = b) of each edge (u, v), u < v. log_likelihood : of the training data.
    """

    n_vars: int
    tables: dict[Edge, NDArray[np.float64]]
    log_likelihood: float

    @property
    def n_states(self) -> int:
        """Number of states of each variable."""
        return len(next(iter(self.tables.values())))

    @property
    def n_hidden(self) -> int:
        """Number of hidden variables."""
        return len({node for edge in self.tables for node in edge if node >= self.n_vars})

    def bic(self, n_examples: float) -> float:
        """Return the Bayesian information criterion, higher is better (Choi et al., 5.4)."""
        k = self.n_states
        n_parameters = k * (k - 1) * len(self.tables) + k - 1
        return self.log_likelihood - 0.5 * n_parameters * np.log(n_examples)

    def neighbours(self) -> dict[int, list[int]]:
        """Return the neighbours of each node."""
        return neighbours_of(self.tables)

    def circuit(self, schema: Schema | None = None) -> ArithmeticCircuit:
        """Return the circuit of the observed variables."""
        parent, log_prob, _ = root_tree(self)
        return tree_circuit(parent, log_prob, schema or self.n_vars, self.n_states)


def root_tree(tree: LatentTree) -> tuple[NDArray[np.int64], NDArray[np.float64], list[int]]:
    """Return parents, as places in the third value, log-probabilities and numbers."""
    neighbours = tree.neighbours()
    nodes = [*range(tree.n_vars), *sorted(node for node in neighbours if node >= tree.n_vars)]
    parent = places_of_parents(nodes, neighbours, 0)
    log_prob = conditionals(tree, nodes, parent)
    log_prob[0, 0] = np.log(table_of(tree, 0, neighbours[0][0]).sum(axis=1))
    return parent, log_prob, nodes


def neighbours_of(edges: Iterable[Edge]) -> dict[int, list[int]]:
    """Return the neighbours of each node."""
    out: dict[int, list[int]] = {}
    for u, v in sorted(edges):
        out.setdefault(u, []).append(v)
        out.setdefault(v, []).append(u)
    return out


def places_of_parents(
    nodes: Sequence[int], neighbours: Mapping[int, list[int]], root: int
) -> NDArray[np.int64]:
    """Return the parent of each node, as its place in `nodes`."""
    place = {node: k for k, node in enumerate(nodes)}
    parent = np.full(len(nodes), NO_PARENT, np.int64)
    stack, seen = [root], {root}
    while stack:
        u = stack.pop()
        new = [v for v in neighbours[u] if v not in seen]
        parent[[place[v] for v in new]] = place[u]
        seen.update(new)
        stack += new
    return parent


def conditionals(tree: "LatentTree", nodes: Sequence[int], parent: NDArray[np.int64]) -> Array:
    """Return the log-probabilities of nodes given their parents; 0 at the root."""
    out = np.zeros((len(nodes), tree.n_states, tree.n_states))
    for k, up in enumerate(parent):
        if up != NO_PARENT:
            table = table_of(tree, nodes[up], nodes[k])
            out[k] = np.log(table / table.sum(axis=1, keepdims=True))
    return out


def table_of(tree: LatentTree, u: int, v: int) -> NDArray[np.float64]:
    """Return P(X_u = a, X_v = b) at [a, b], u and v in either order."""
    return tree.tables[u, v] if u < v else tree.tables[v, u].T


def run_em(
    tree: LatentTree, data: Dataset, pseudocount: float, *, n_iterations: int, tolerance: float
) -> LatentTree:
    """Return the tree after EM; the tolerance is a share of the log-likelihood."""
    circuit = tree.circuit(data.schema)
    before = -np.inf
    for _ in range(n_iterations):
        counts, log_likelihood = expected_counts(circuit, data)
        if log_likelihood - before < tolerance * abs(log_likelihood):
            break
        before = log_likelihood
        parent, _, nodes = root_tree(tree)
        more = data.n_examples, tree.n_states, pseudocount
        tree = LatentTree(tree.n_vars, smooth_tables(parent, nodes, counts, *more), before)
        circuit = tree.circuit(data.schema)
    return LatentTree(tree.n_vars, tree.tables, before)


def smooth_tables(
    parent: NDArray[np.int64],
    nodes: Sequence[int],
    counts: NDArray[np.float64],
    n_examples: float,
    n_states: int,
    pseudocount: float,
) -> dict[Edge, NDArray[np.float64]]:
    """Return the tables of expected counts, which are in the order of `tree_circuit`."""
    tables, at, n_cells = {}, 0, n_states * n_states
    for place, up in enumerate(parent):
        if up == NO_PARENT:
            at += n_states
            continue
        table = counts[at : at + n_cells].reshape(n_states, n_states) + pseudocount
        at += n_cells
        table /= n_examples + float(n_cells) * pseudocount
        u, v = nodes[up], nodes[place]
        tables[min(u, v), max(u, v)] = table if u < v else table.T
    return tables
