"""Trees of observed and hidden binary variables, and their parameters by EM."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.inference.circuits.exact import expected_counts
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.tree_circuit import NO_PARENT, tree_circuit

Edge = tuple[int, int]


@dataclass(frozen=True, eq=False)
class LatentTree:
    """A tree over observed variables 0 to n_vars - 1 and hidden ones after them.

    Attributes
    ----------
    n_vars : int
        Number of observed variables.
    tables : dict of float64 arrays of shape (2, 2)
        P(X_u = a, X_v = b) of each edge (u, v), u < v.
    log_likelihood : float
        Of the training data in nats, summed over examples.
    """

    n_vars: int
    tables: dict[Edge, NDArray[np.float64]]
    log_likelihood: float

    @property
    def n_hidden(self) -> int:
        """Number of hidden variables."""
        return len({node for edge in self.tables for node in edge if node >= self.n_vars})

    def bic(self, n_examples: float) -> float:
        """Return the Bayesian information criterion, higher is better (Choi et al., 5.4)."""
        n_parameters = 2 * len(self.tables) + 1
        return self.log_likelihood - 0.5 * n_parameters * np.log(n_examples)

    def neighbours(self) -> dict[int, list[int]]:
        """Return the neighbours of each node."""
        out: dict[int, list[int]] = {}
        for u, v in sorted(self.tables):
            out.setdefault(u, []).append(v)
            out.setdefault(v, []).append(u)
        return out

    def circuit(self, names: tuple[str, ...] | None = None) -> ArithmeticCircuit:
        """Return the circuit of the observed variables."""
        parent, log_prob, _ = root_tree(self)
        return tree_circuit(parent, log_prob, self.n_vars, names)


def root_tree(tree: LatentTree) -> tuple[NDArray[np.int64], NDArray[np.float64], list[int]]:
    """Return the parents, the log-probabilities and the numbers of all nodes.

    Parents are places in the list of numbers, in which hidden nodes come after observed ones. The
    root is variable 0.
    """
    neighbours = tree.neighbours()
    nodes = [*range(tree.n_vars), *sorted(node for node in neighbours if node >= tree.n_vars)]
    place = {node: k for k, node in enumerate(nodes)}
    parent = np.full(len(nodes), NO_PARENT, np.int64)
    log_prob = np.zeros((len(nodes), 2, 2))
    first = neighbours[0][0]
    log_prob[0, 0] = np.log(table_of(tree, 0, first).sum(axis=1))
    stack, seen = [0], {0}
    while stack:
        u = stack.pop()
        for v in neighbours[u]:
            if v not in seen:
                seen.add(v)
                stack.append(v)
                table = table_of(tree, u, v)
                parent[place[v]] = place[u]
                log_prob[place[v]] = np.log(table / table.sum(axis=1, keepdims=True))
    return parent, log_prob, nodes


def table_of(tree: LatentTree, u: int, v: int) -> NDArray[np.float64]:
    """Return P(X_u = a, X_v = b) at [a, b], u and v in either order."""
    return tree.tables[u, v] if u < v else tree.tables[v, u].T


def run_em(
    tree: LatentTree, data: Dataset, pseudocount: float, *, n_iterations: int, tolerance: float
) -> LatentTree:
    """Return the tree after iterations of EM.

    Parameters
    ----------
    tree : LatentTree
        The tree at whose tables EM starts.
    data : Dataset
        The training data.
    pseudocount : float
        Added to each cell of the expected counts of an edge.
    n_iterations : int
        Greatest number of iterations, at least 1.
    tolerance : float
        Stop when an iteration raises the log-likelihood by less than this share of it.
    """
    circuit = tree.circuit()
    before = -np.inf
    for _ in range(n_iterations):
        counts, log_likelihood = expected_counts(circuit, data)
        if log_likelihood - before < tolerance * abs(log_likelihood):
            break
        before = log_likelihood
        tree = _maximise(tree, counts, data.n_examples, pseudocount)
        circuit = tree.circuit()
    return LatentTree(tree.n_vars, tree.tables, before)


def _maximise(
    tree: LatentTree, counts: NDArray[np.float64], n_examples: float, pseudocount: float
) -> LatentTree:
    parent, _, nodes = root_tree(tree)
    tables = smooth_tables(parent, nodes, counts, n_examples, pseudocount=pseudocount)
    return LatentTree(tree.n_vars, tables, tree.log_likelihood)


def smooth_tables(
    parent: NDArray[np.int64],
    nodes: Sequence[int],
    counts: NDArray[np.float64],
    n_examples: float,
    *,
    pseudocount: float,
) -> dict[Edge, NDArray[np.float64]]:
    """Return the tables of expected counts, which are in the order of `tree_circuit`."""
    tables, at = {}, 0
    for k, up in enumerate(parent):
        if up == NO_PARENT:
            at += 2
            continue
        table = counts[at : at + 4].reshape(2, 2) + pseudocount
        at += 4
        table /= n_examples + 4.0 * pseudocount
        u, v = nodes[up], nodes[k]
        tables[min(u, v), max(u, v)] = table if u < v else table.T
    return tables
