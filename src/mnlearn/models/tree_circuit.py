"""Circuits of tree-shaped Bayesian networks over binary variables, some of them hidden."""

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.features import features_of

NO_PARENT = -1


def tree_circuit(
    parent: NDArray[np.int64],
    log_prob: NDArray[np.float64],
    n_vars: int,
    names: tuple[str, ...] | None = None,
) -> ArithmeticCircuit:
    """Return the circuit of a rooted tree, linear in its size.

    Parameters
    ----------
    parent : ndarray of int64, shape (n_tree,)
        Parent of each variable; NO_PARENT for the root, of which there is one. The first `n_vars`
        variables are observed; the circuit sums out the others.
    log_prob : ndarray of float64, shape (n_tree, 2, 2)
        log P(variable = x | parent = y) at [variable, y, x], in nats. The root has no parent; its
        log-probabilities are at [root, 0].
    n_vars : int
        Number of observed variables.
    names : tuple of str, optional
        Names of the observed variables.

    Returns
    -------
    ArithmeticCircuit
        Its parameters are the conditional probabilities. It has features and targets only if all
        variables are observed.
    """
    cpds = _Cpds(parent, log_prob, n_vars)
    nodes = _InnerNodes(2 * n_vars + len(cpds.weight))
    _add_messages(parent, n_vars, cpds, nodes)
    observed = len(parent) == n_vars
    return ArithmeticCircuit(
        n_vars,
        np.array(nodes.is_sum, np.uint8),
        np.cumsum([0, *map(len, nodes.children)], dtype=np.int64),
        np.concatenate(nodes.children).astype(np.int32),
        np.array(cpds.weight, np.float64),
        features_of(cpds.conjunctions) if observed else None,
        np.array(cpds.target, np.int32) if observed else None,
        names,
    )


class _Cpds:
    """The parameters of a tree: a leaf of the circuit, a weight and a conjunction for each."""

    def __init__(
        self, parent: NDArray[np.int64], log_prob: NDArray[np.float64], n_vars: int
    ) -> None:
        self.node: dict[tuple[int, int, int], int] = {}
        self.weight: list[float] = []
        self.conjunctions: list[list[tuple[int, int]]] = []
        self.target: list[int] = []
        for v, above in enumerate(parent.tolist()):
            for y in _parent_values(above):
                condition = [] if above == NO_PARENT else [(above, y)]
                for x in (0, 1):
                    self.node[v, y, x] = 2 * n_vars + len(self.weight)
                    self.weight.append(log_prob[v, y, x])
                    self.target.append(v)
                    self.conjunctions.append(sorted([(v, x), *condition]))


class _InnerNodes:
    """Sums and products, numbered after the leaves in the order in which they are added."""

    def __init__(self, n_leaves: int) -> None:
        self.n_leaves = n_leaves
        self.is_sum: list[int] = []
        self.children: list[list[int]] = []

    def add(self, is_sum: int, children: list[int]) -> int:
        """Return the node of a sum or product; a single child stands for itself."""
        if len(children) == 1:
            return children[0]
        self.is_sum.append(is_sum)
        self.children.append(children)
        return self.n_leaves + len(self.is_sum) - 1


def _add_messages(parent: NDArray[np.int64], n_vars: int, cpds: _Cpds, nodes: _InnerNodes) -> None:
    """Add the message of each variable to its parent, for each value of the parent."""
    children: list[list[int]] = [[] for _ in parent]
    for v, above in enumerate(parent.tolist()):
        if above != NO_PARENT:
            children[above].append(v)
    order = np.flatnonzero(parent == NO_PARENT)[:1].tolist()
    for v in order:
        order += children[v]
    message: dict[tuple[int, int], int] = {}
    for v in reversed(order):
        # The product below v for each value of v, which the messages for both values of the
        # parent share.
        below = []
        for x in (0, 1):
            factors = [2 * v + x] if v < n_vars else []
            factors += [message[c, x] for c in children[v]]
            below.append([nodes.add(0, factors)] if factors else [])
        for y in _parent_values(int(parent[v])):
            terms = [nodes.add(0, [cpds.node[v, y, x], *below[x]]) for x in (0, 1)]
            message[v, y] = nodes.add(1, terms)


def _parent_values(parent: int) -> tuple[int, ...]:
    return (0,) if parent == NO_PARENT else (0, 1)
