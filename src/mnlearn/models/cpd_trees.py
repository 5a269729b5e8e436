"""Conditional distributions as trees over the parents: one tree, or all in flat arrays."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.dependency_network import LEAF, Trees
from mnlearn.models.features import FeatureSet
from mnlearn.runtime.errors import InputError

# A distribution that sums to 1 up to this error is not normalised again, so that a model that is
# written and read keeps its last bits.
_NORMALISED = 1e-12


class CpdTree(NamedTuple):
    """A tree over the parents of a variable; every parent node stands before its children.

    Attributes
    ----------
    split_var : ndarray of int, shape (n_nodes,)
        Variable that the node tests, or LEAF.
    child : ndarray of int, shape (n_nodes, 2)
        Nodes for value 0 and value 1; LEAF at leaves.
    value : ndarray of float64, shape (n_nodes, 2)
        Log value of each leaf for both values of the variable; need not be normalised.
    """

    split_var: NDArray
    child: NDArray
    value: NDArray[np.float64]


def table_tree(parents: Sequence[int], table: NDArray[np.float64]) -> CpdTree:
    """Return the complete tree of a table; its nodes stand level by level.

    Parameters
    ----------
    parents : sequence of int
        Variables, in the order of the axes of the table.
    table : ndarray of float64, shape (2,) * len(parents) + (2,)
        Log values; the last axis is the variable itself.
    """
    n_inner = 2 ** len(parents) - 1
    n_nodes = 2 * n_inner + 1
    split_var = np.full(n_nodes, LEAF)
    split_var[:n_inner] = np.repeat(np.array(parents, int), 2 ** np.arange(len(parents)))
    child = np.full((n_nodes, 2), LEAF)
    child[:n_inner] = np.arange(1, n_nodes).reshape(-1, 2)
    value = np.zeros((n_nodes, 2))
    value[n_inner:] = table.reshape(-1, 2)
    return CpdTree(split_var, child, value)


def assemble(n_vars: int, trees: Mapping[int, CpdTree]) -> Trees:
    """Return the trees of all variables in flat arrays, with normalised log-probabilities.

    A variable without a tree gets a single leaf of log-odds 0. An inner node gets the mean of the
    distributions of its children.
    """
    single = CpdTree(np.array([LEAF]), np.full((1, 2), LEAF), np.zeros((1, 2)))
    ordered = [trees.get(target, single) for target in range(n_vars)]
    start = np.concatenate([[0], np.cumsum([len(tree.split_var) for tree in ordered])])
    shifted = [
        np.where(tree.child == LEAF, LEAF, tree.child + offset)
        for tree, offset in zip(ordered, start[:-1], strict=True)
    ]
    split_var = np.concatenate([tree.split_var for tree in ordered])
    child = np.concatenate(shifted)
    log_prob = _normalised(np.concatenate([tree.value for tree in ordered]))
    _fill_inner(split_var, child, log_prob)
    return Trees(
        start.astype(np.int64),
        split_var.astype(np.int32),
        child.astype(np.int32),
        log_prob,
    )


def _normalised(value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log-probabilities proportional to exp(value), shape (n_nodes, 2).

    One infinity makes its value certain: (0, inf) becomes (-inf, 0).
    """
    certain = np.isposinf(value).any(axis=1, keepdims=True)
    value = np.where(certain, np.where(np.isposinf(value), 0.0, -np.inf), value)
    with np.errstate(over="ignore"):
        total = np.logaddexp(value[:, :1], value[:, 1:])
        return np.where(np.abs(total) <= _NORMALISED, value, value - total)


def _fill_inner(split_var: NDArray, child: NDArray, log_prob: NDArray[np.float64]) -> None:
    """Give inner nodes the mean of their children's distributions."""
    inner = np.flatnonzero(split_var != LEAF)
    share = np.exp(log_prob[:, 1]).tolist()
    pairs = child[inner].tolist()
    for node, (a, b) in zip(inner[::-1].tolist(), pairs[::-1], strict=True):
        share[node] = 0.5 * (share[a] + share[b])
    ones = np.minimum(np.array(share)[inner], 1.0)
    with np.errstate(divide="ignore"):
        log_prob[inner] = np.log(np.column_stack([1.0 - ones, ones]))


def trees_of_leaves(
    n_vars: int, features: FeatureSet, target: NDArray, log_prob: NDArray[np.float64]
) -> Trees:
    """Return the trees whose leaves are given as features, two for each leaf.

    Parameters
    ----------
    n_vars : int
        Number of variables.
    features : FeatureSet
        The path to a leaf together with one value of its variable, in any order.
    target : ndarray of int, shape (n_features,)
        Variable of each leaf.
    log_prob : ndarray of float64, shape (n_features,)
        log P(value | path) in nats.

    Raises
    ------
    InputError
        The leaves of a variable do not form a tree.
    """
    leaves: list[dict[tuple[tuple[int, int], ...], list[float]]] = [{} for _ in range(n_vars)]
    for f, (v, w) in enumerate(zip(target.tolist(), log_prob.tolist(), strict=True)):
        literals = dict(features.literals(f))
        own = literals.pop(v)
        leaves[v].setdefault(tuple(literals.items()), [np.nan, np.nan])[own] = w
    return assemble(n_vars, {v: _tree_of(v, leaves[v]) for v in range(n_vars)})


def _tree_of(target: int, leaves: Mapping[tuple[tuple[int, int], ...], list[float]]) -> CpdTree:
    """Return the tree whose leaves have these paths; a path lists its tests in any order.

    The first test of a tree is in all paths. If several variables are, any of them may come first.
    """
    split_var: list[int] = []
    children: list[list[int]] = []
    values: list[list[float]] = []
    agenda = [([(dict(path), value) for path, value in leaves.items()], LEAF, 0)]
    while agenda:
        below, parent, branch = agenda.pop()
        node = len(split_var)
        if parent != LEAF:
            children[parent][branch] = node
        children.append([LEAF, LEAF])
        in_all = set.intersection(*(set(path) for path, _ in below)) if below else set()
        whole = len(below) == 1 and not np.isnan(below[0][1]).any()
        if not in_all and not (whole and not below[0][0]):
            raise InputError(
                f"the parameters of variable {target} do not form a tree.", where="circuit"
            )
        if not in_all:
            split_var.append(LEAF)
            values.append(below[0][1])
            continue
        var = min(in_all)
        split_var.append(var)
        values.append([0.0, 0.0])
        sides: list[list[tuple[dict[int, int], list[float]]]] = [[], []]
        for path, value in below:
            sides[path.pop(var)].append((path, value))
        agenda += [(sides[1], node, 1), (sides[0], node, 0)]
    return CpdTree(np.array(split_var), np.array(children), np.array(values))
