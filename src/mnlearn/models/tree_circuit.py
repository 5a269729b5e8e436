"""Circuits of tree-shaped Bayesian networks over binary variables, some of them hidden."""

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.features import features_of
from mnlearn.runtime.arrays import read_only

NO_PARENT = -1


def tree_circuit(
    parent: NDArray[np.int64],
    log_prob: NDArray[np.float64],
    n_vars: int,
    names: tuple[str, ...] | None = None,
) -> ArithmeticCircuit:
    """Return the circuit of a rooted tree, linear in its size.

    parent : int64, (n_tree,). Parent of each variable, NO_PARENT for the root, of which there is
        one. The first `n_vars` variables are observed; those after them are summed out.
    log_prob : float64, (n_tree, 2, 2). log P(variable = x | parent = y) at [variable, y, x]; of
        the root, which has no parent, at [variable, 0].
    """
    n_tree = len(parent)
    children: list[list[int]] = [[] for _ in range(n_tree)]
    root = int(np.flatnonzero(parent == NO_PARENT)[0])
    for v in range(n_tree):
        if v != root:
            children[parent[v]].append(v)
    order = [root]
    for v in order:
        order += children[v]

    parameter: dict[tuple[int, int, int], int] = {}
    weight: list[float] = []
    conjunctions: list[list[tuple[int, int]]] = []
    target: list[int] = []
    for v in range(n_tree):
        for y in range(1 if v == root else 2):
            for x in (0, 1):
                parameter[v, y, x] = 2 * n_vars + len(weight)
                weight.append(log_prob[v, y, x])
                target.append(v)
                given = [] if v == root else [(int(parent[v]), y)]
                conjunctions.append(sorted([(v, x), *given]))
    n_leaves = 2 * n_vars + len(weight)
    is_sum: list[int] = []
    lists: list[list[int]] = []

    def node(kind: int, below: list[int]) -> int:
        if len(below) == 1:
            return below[0]
        is_sum.append(kind)
        lists.append(below)
        return n_leaves + len(is_sum) - 1

    message: dict[tuple[int, int], int] = {}
    for v in reversed(order):
        # What is below v if it takes the value x, once for both values of its parent.
        below = []
        for x in (0, 1):
            factors = [2 * v + x] if v < n_vars else []
            factors += [message[c, x] for c in children[v]]
            below.append([node(0, factors)] if factors else [])
        for y in range(1 if v == root else 2):
            terms = [node(0, [parameter[v, y, x], *below[x]]) for x in (0, 1)]
            message[v, y] = node(1, terms)
    start = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    observed = n_tree == n_vars
    return ArithmeticCircuit(
        n_vars,
        read_only(np.array(is_sum, np.uint8)),
        read_only(start),
        read_only(np.concatenate(lists).astype(np.int32)),
        read_only(np.array(weight, np.float64)),
        features_of(conjunctions) if observed else None,
        read_only(np.array(target, np.int32)) if observed else None,
        names,
    )
