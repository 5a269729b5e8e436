"""Trees with hidden binary variables: structure by grouping, parameters by EM (Choi et al.)."""

import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.chow_liu_tree import (
    maximum_spanning_tree,
    mutual_information,
    pair_probabilities,
)
from mnlearn.data.dataset import Dataset
from mnlearn.inference.circuits import expected_counts
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.tree_circuit import NO_PARENT, tree_circuit
from mnlearn.neighbour_joining import Distances, information_distances, joined
from mnlearn.progress import track

Edge = tuple[int, int]
_LOWEST = 1e-4


@dataclass(frozen=True, eq=False)
class LatentTree:
    """A tree over observed variables 0 to n_vars - 1 and hidden ones after them.

    tables : P(X_u = a, X_v = b) of each edge (u, v), u < v, float64 of shape (2, 2).
    log_likelihood : of the training data, summed over examples, nats.
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
        parent, log_prob, _ = _rooted(self)
        return tree_circuit(parent, log_prob, self.n_vars, names)


def _rooted(tree: LatentTree) -> tuple[NDArray[np.int64], NDArray[np.float64], list[int]]:
    """Return parents and log-probabilities with hidden nodes numbered on, and their numbers."""
    neighbours = tree.neighbours()
    nodes = [*range(tree.n_vars), *sorted(node for node in neighbours if node >= tree.n_vars)]
    place = {node: k for k, node in enumerate(nodes)}
    parent = np.full(len(nodes), NO_PARENT, np.int64)
    log_prob = np.zeros((len(nodes), 2, 2))
    first = neighbours[0][0]
    log_prob[0, 0] = np.log(_table(tree, 0, first).sum(axis=1))
    stack, seen = [0], {0}
    while stack:
        u = stack.pop()
        for v in neighbours[u]:
            if v not in seen:
                seen.add(v)
                stack.append(v)
                table = _table(tree, u, v)
                parent[place[v]] = place[u]
                log_prob[place[v]] = np.log(table / table.sum(axis=1, keepdims=True))
    return parent, log_prob, nodes


def _table(tree: LatentTree, u: int, v: int) -> NDArray[np.float64]:
    return tree.tables[u, v] if u < v else tree.tables[v, u].T


def expectation_maximisation(
    tree: LatentTree, data: Dataset, pseudocount: float, n_iterations: int, tolerance: float
) -> LatentTree:
    """Return the tree after iterations of EM, at least one.

    pseudocount : added to each cell of the expected counts of an edge.
    tolerance : stop when an iteration raises the log-likelihood by less than this share of it.
    """
    circuit = tree.circuit()
    before = -np.inf
    for _ in range(n_iterations):
        counts, log_likelihood = expected_counts(circuit, data)
        if log_likelihood - before < tolerance * abs(log_likelihood):
            break
        before = log_likelihood
        tree = _maximised(tree, counts, data.n_examples, pseudocount)
        circuit = tree.circuit()
    return LatentTree(tree.n_vars, tree.tables, before)


def _maximised(
    tree: LatentTree, counts: NDArray[np.float64], n_examples: float, pseudocount: float
) -> LatentTree:
    """Return the tree with the expected tables; parameters are in the order of `tree_circuit`."""
    parent, _, nodes = _rooted(tree)
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
    return LatentTree(tree.n_vars, tables, tree.log_likelihood)


def learn_latent_tree(
    data: Dataset,
    pseudocount: float,
    trial_iterations: int,
    n_iterations: int,
    tolerance: float,
) -> LatentTree:
    """Learn a latent tree by regularised CLNJ (Choi et al. 2011, Sections 5 and 5.4).

    Starts from the Chow-Liu tree. The closed neighbourhood of each inner node is replaced by the
    tree that neighbour joining finds behind its distances, where that raises the BIC after
    `trial_iterations` of EM. Then hidden nodes are joined with the neighbour they are most
    correlated with, where that does.
    """
    n = data.n_examples
    pairs = pair_probabilities(data, pseudocount)
    parent = maximum_spanning_tree(mutual_information(pairs))
    tables = {}
    for v in range(1, data.n_vars):
        u, w = sorted((int(parent[v]), v))
        tables[u, w] = pairs[:, :, u, w]
    tree = LatentTree(data.n_vars, tables, -np.inf)
    tree = expectation_maximisation(tree, data, pseudocount, 1, tolerance)
    grouping = _Grouping(pairs)
    inner = [v for v, near in sorted(tree.neighbours().items()) if len(near) > 1]
    for v in track(inner, "neighbourhoods"):
        trial, grown = grouping.regrouped(tree, v)
        if trial.tables.keys() == tree.tables.keys():
            continue
        trial = expectation_maximisation(trial, data, pseudocount, trial_iterations, tolerance)
        if trial.bic(n) > tree.bic(n):
            tree, grouping = trial, grown
    for h in track([v for v in sorted(tree.neighbours()) if v >= data.n_vars], "hidden variables"):
        trial = _contracted(tree, h)
        trial = expectation_maximisation(trial, data, pseudocount, trial_iterations, tolerance)
        if trial.bic(n) > tree.bic(n):
            tree = trial
    return expectation_maximisation(tree, data, pseudocount, n_iterations, tolerance)


def _contracted(tree: LatentTree, h: int) -> LatentTree:
    """Return the tree in which the neighbour most correlated with a hidden node takes its place."""
    near = tree.neighbours()[h]
    heir = max(near, key=lambda u: abs(_correlation(tree.tables[min(u, h), max(u, h)])))
    link = _table(tree, heir, h)
    to_h = link / link.sum(axis=1, keepdims=True)
    tables = {edge: table for edge, table in tree.tables.items() if h not in edge}
    for u in near:
        if u != heir:
            # P(heir, u) = sum over h of P(heir, h) P(u | h).
            table = _table(tree, h, u)
            joint = link.sum(axis=1)[:, None] * (to_h @ (table / table.sum(axis=1, keepdims=True)))
            tables[min(heir, u), max(heir, u)] = joint if heir < u else joint.T
    return LatentTree(tree.n_vars, tables, tree.log_likelihood)


def _correlation(table: NDArray[np.float64]) -> float:
    p, q = table[1].sum(), table[:, 1].sum()
    return float((table[1, 1] - p * q) / np.sqrt(p * (1 - p) * q * (1 - q)))


class _Grouping:
    """Distances between observed and hidden nodes, and where to begin with their tables.

    A hidden node is correlated positively with one observed node, its representative.
    """

    def __init__(self, pairs: NDArray[np.float64]) -> None:
        p_one = pairs[1].sum(axis=0)[:, 0]
        sd = np.sqrt(p_one * (1.0 - p_one))
        self.correlation = (pairs[1, 1] - np.outer(p_one, p_one)) / np.outer(sd, sd)
        self.distances = Distances(information_distances(self.correlation))
        self.p_one = p_one.tolist()
        self.representative = list(range(len(p_one)))

    def regrouped(self, tree: LatentTree, v: int) -> tuple[LatentTree, "_Grouping"]:
        """Return the tree with the neighbourhood of v grouped anew, and the grouping after it."""
        grown = copy.copy(self)
        grown.distances = Distances(self.distances.matrix)
        grown.p_one, grown.representative = self.p_one.copy(), self.representative.copy()
        near = tree.neighbours()[v]
        edges = joined([v, *near], grown.distances)
        for head in range(len(self.p_one), len(grown.distances.matrix)):
            children = [i for h, i in edges if h == head and i < head]
            nearest = min(children, key=lambda i: float(grown.distances.matrix[head, i]))
            grown.p_one.append(0.5)
            grown.representative.append(grown.representative[nearest])
        tables = {e: t for e, t in tree.tables.items() if v not in e}
        for a, b in edges:
            u, w = sorted((a, b))
            tables[u, w] = tree.tables[u, w] if (u, w) in tree.tables else grown._table(u, w)
        return LatentTree(tree.n_vars, tables, tree.log_likelihood), grown

    def _table(self, u: int, w: int) -> NDArray[np.float64]:
        """Return the joint probabilities of two nodes by their distance."""
        p, q = self.p_one[u], self.p_one[w]
        ru, rw = self.representative[u], self.representative[w]
        sign = 1.0 if ru == rw else np.sign(self.correlation[ru, rw])
        size = np.exp(-self.distances.matrix[u, w])
        covariance = sign * size * np.sqrt(p * (1 - p) * q * (1 - q))
        table = np.outer([1 - p, p], [1 - q, q]) + covariance * np.array([[1, -1], [-1, 1]])
        table = np.maximum(table, _LOWEST)
        return table / table.sum()
