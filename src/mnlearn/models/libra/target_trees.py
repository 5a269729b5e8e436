"""Trees and tables of a CPD as trees over its parents."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.dependency_network import LEAF
from mnlearn.models.libra.factors import Factor, Row, Table, Tree
from mnlearn.models.libra.parse import Reader

MAX_TABLE_PARENTS = 20


class TargetTree(NamedTuple):
    """A tree over the parents of a CPD, nodes ordered as in `Trees`.

    value : float64, shape (n_nodes, 2). Log value of each leaf for either value of the target.
    where : int64, shape (n_nodes,). Position of each leaf in the text.
    """

    split_var: NDArray
    child: NDArray
    value: NDArray
    where: NDArray


def becomes_tree(factor: Factor, target: int) -> bool:
    """Tell whether the factor is a tree or a table that mentions the target."""
    if isinstance(factor, Tree):
        return target in factor.var
    if isinstance(factor, Table):
        mentioned = _mentioned(factor)
        return target in mentioned and len(mentioned) <= MAX_TABLE_PARENTS + 1
    return False


def _mentioned(table: Table) -> set[int]:
    """Return the variables in the rows of a table."""
    return {code >> 1 for row in table.rows for code in row.codes}


def target_tree(reader: Reader, factor: Factor, target: int) -> TargetTree:
    """Return the tree over the parents that is equal to a tree or a table."""
    assert not isinstance(factor, Row)
    tree = _by_target(factor, target) if isinstance(factor, Tree) else _dense(factor, target)
    leaf = tree.split_var == LEAF
    if np.isnan(tree.value[leaf]).any():
        reader.refuse("rows of this table add up infinities of both signs", int(tree.where[0]))
    undefined = np.isinf(tree.value[:, 0]) & (tree.value[:, 0] == tree.value[:, 1])
    if undefined.any():
        node = int(np.flatnonzero(undefined)[0])
        reader.refuse(
            f"both values of v{target} have log-probability {tree.value[node, 0]}",
            int(tree.where[node]),
        )
    return tree


def _by_target(tree: Tree, target: int) -> TargetTree:
    """Return the tree without its tests of the target and without branches out of reach.

    The tree as it is for target = 0 and the tree as it is for target = 1 are descended together;
    a node tests what the first of them tests there, or else what the second does.
    """
    split_var: list[int] = []
    children: list[list[int]] = []
    values: list[tuple[float, float]] = []
    where: list[int] = []
    known: dict[int, int] = {}
    tested: list[int] = []  # the keys of `known`, in the order of the path

    def settle(node: int, target_value: int) -> int:
        while tree.var[node] == target or tree.var[node] in known:
            node = tree.child[node][known.get(tree.var[node], target_value)]
        return node

    agenda = [(0, 0, LEAF, 0, 0)]
    while agenda:
        for_zero, for_one, parent, value, depth = agenda.pop()
        while len(tested) >= max(depth, 1):
            del known[tested.pop()]
        if parent != LEAF:
            children[parent][value] = len(split_var)
            known[split_var[parent]] = value
            tested.append(split_var[parent])
        for_zero, for_one = settle(for_zero, 0), settle(for_one, 1)
        var = tree.var[for_zero] if tree.var[for_zero] != LEAF else tree.var[for_one]
        node = len(split_var)
        split_var.append(var)
        children.append([LEAF, LEAF])
        where.append(tree.where[for_zero])
        values.append((tree.value[for_zero], tree.value[for_one]) if var == LEAF else (0.0, 0.0))
        if var != LEAF:
            agenda += [(for_zero, for_one, node, value, depth + 1) for value in (1, 0)]
    return TargetTree(np.array(split_var), np.array(children), np.array(values), np.array(where))


def _dense(table: Table, target: int) -> TargetTree:
    """Return the complete tree over the parents of a table, level by level."""
    parents = sorted(_mentioned(table) - {target})
    axis = {var: i for i, var in enumerate([*parents, target])}
    entry = np.zeros((2,) * len(axis))
    for row in table.rows:
        index: list[int | slice] = [slice(None)] * len(axis)
        for code in row.codes:
            index[axis[code >> 1]] = code & 1
        with np.errstate(invalid="ignore"):
            entry[tuple(index)] += row.weight
    n_inner = 2 ** len(parents) - 1
    n_nodes = 2 * n_inner + 1
    split_var = np.full(n_nodes, LEAF)
    split_var[:n_inner] = np.repeat(np.array(parents, int), 2 ** np.arange(len(parents)))
    child = np.full((n_nodes, 2), LEAF)
    child[:n_inner] = np.arange(1, n_nodes).reshape(-1, 2)
    value = np.zeros((n_nodes, 2))
    value[n_inner:] = entry.reshape(-1, 2)
    return TargetTree(split_var, child, value, np.full(n_nodes, table.where))
