"""Trees and tables of a CPD as trees over its parents."""

import numpy as np

from mnlearn.models.cpd_trees import CpdTree, table_tree
from mnlearn.models.dependency_network import LEAF
from mnlearn.models.io.libra.factors import Factor, Row, Table, Tree
from mnlearn.models.io.libra.parse import Reader

MAX_TABLE_PARENTS = 20


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


def target_tree(reader: Reader, factor: Factor, target: int) -> CpdTree:
    """Return the tree over the parents that is equal to a tree or a table."""
    assert not isinstance(factor, Row)
    if isinstance(factor, Tree):
        tree, where = _by_target(factor, target)
    else:
        tree = _dense(factor, target)
        where = [factor.where] * len(tree.split_var)
    leaf = tree.split_var == LEAF
    if np.isnan(tree.value[leaf]).any():
        reader.refuse("rows of this table add up infinities of both signs", where[0])
    undefined = np.isinf(tree.value[:, 0]) & (tree.value[:, 0] == tree.value[:, 1])
    if undefined.any():
        node = int(np.flatnonzero(undefined)[0])
        reader.refuse(
            f"both values of v{target} have log-probability {tree.value[node, 0]}", where[node]
        )
    return tree


def _by_target(tree: Tree, target: int) -> tuple[CpdTree, list[int]]:
    """Return the tree without tests of the target and without branches that cannot be reached.

    The second value is the position of each node in the text. The function descends the tree for
    target = 0 and the tree for target = 1 together. A node of the result tests what the first of
    the two tests there, or else what the second tests.
    """
    split_var: list[int] = []
    children: list[list[int]] = []
    values: list[tuple[float, float]] = []
    where: list[int] = []
    known: dict[int, int] = {}
    tested: list[int] = []  # the keys of `known`, in the order of the path

    def descend(node: int, target_value: int) -> int:
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
        for_zero, for_one = descend(for_zero, 0), descend(for_one, 1)
        var = tree.var[for_zero] if tree.var[for_zero] != LEAF else tree.var[for_one]
        node = len(split_var)
        split_var.append(var)
        children.append([LEAF, LEAF])
        where.append(tree.where[for_zero])
        values.append((tree.value[for_zero], tree.value[for_one]) if var == LEAF else (0.0, 0.0))
        if var != LEAF:
            agenda += [(for_zero, for_one, node, value, depth + 1) for value in (1, 0)]
    return CpdTree(np.array(split_var), np.array(children), np.array(values)), where


def _dense(table: Table, target: int) -> CpdTree:
    """Return the complete tree over the parents of a table."""
    parents = sorted(_mentioned(table) - {target})
    axis = {var: i for i, var in enumerate([*parents, target])}
    entry = np.zeros((2,) * len(axis))
    for row in table.rows:
        index: list[int | slice] = [slice(None)] * len(axis)
        for code in row.codes:
            index[axis[code >> 1]] = code & 1
        with np.errstate(invalid="ignore"):
            entry[tuple(index)] += row.weight
    return table_tree(parents, entry)
