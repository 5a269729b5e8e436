"""Trees and tables of a CPD as trees or tables over its parents."""

import math

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.cpd_tables import CpdTable
from mnlearn.models.cpd_trees import CpdTree, Known, learn, normalised, table_tree
from mnlearn.models.dependency_network import LEAF
from mnlearn.models.interactions import allowed_states
from mnlearn.models.io.libra.factors import ALWAYS, Factor, Row, Table, Tree
from mnlearn.models.io.libra.parse import Reader

# Most cells of the table of a CPD.
MAX_CELLS = 1 << 21


def becomes_tree(reader: Reader, factor: Factor, target: int) -> bool:
    """Tell whether the factor is a tree or a table that mentions the target."""
    if isinstance(factor, Tree):
        return not set(reader.schema.columns(target)).isdisjoint(factor.var)
    return isinstance(factor, Table) and becomes_table(reader, factor, target)


def becomes_table(reader: Reader, table: Table, target: int) -> bool:
    """Tell whether a table mentions the target and has at most `MAX_CELLS` cells.

    A variable of a single state cannot be mentioned, and needs not.
    """
    mentioned = _mentioned(reader, table)
    n_cells = math.prod(reader.schema[v].arity for v in mentioned)
    return (target in mentioned or reader.schema[target].arity == 1) and n_cells <= MAX_CELLS


def _mentioned(reader: Reader, table: Table) -> set[int]:
    """Return the variables in the rows of a table."""
    columns = {code >> 1 for row in table.rows for code in row.codes}
    return {int(reader.schema.variable_of[c]) for c in columns}


def target_tree(reader: Reader, factor: Factor, target: int) -> CpdTree:
    """Return the tree over the parents that is equal to a tree or a table."""
    assert not isinstance(factor, Row)
    if isinstance(factor, Tree):
        tree, where = _by_target(reader, factor, target)
    else:
        tree = table_tree(reader.schema, *_dense(reader, factor, target))
        where = [factor.where] * len(tree.split_var)
    leaves = np.flatnonzero(tree.split_var == LEAF)
    _check(reader, target, tree.value[leaves], [where[leaf] for leaf in leaves.tolist()])
    return tree


def target_table(reader: Reader, table: Table, target: int) -> CpdTable:
    """Return the conditional distribution that is proportional to a table."""
    parents, value = _dense(reader, table, target)
    flat = value.reshape(-1, value.shape[-1])
    _check(reader, target, flat, [table.where] * len(flat))
    return CpdTable(parents, np.exp(normalised(value)))


def _check(reader: Reader, target: int, value: NDArray[np.float64], where: list[int]) -> None:
    """Refuse log-probabilities that do not make a distribution of the target."""
    nan = np.isnan(value).any(axis=1)
    if nan.any():
        at = where[int(np.flatnonzero(nan)[0])]
        reader.refuse("rows of this table add up infinities of both signs", at)
    undefined = np.isneginf(value).all(axis=1) | (np.isposinf(value).sum(axis=1) > 1)
    if undefined.any():
        k = int(np.flatnonzero(undefined)[0])
        all_of_them = "both" if value.shape[1] == 2 else "several"
        infinite = float(value[k].max())
        reader.refuse(
            f"{all_of_them} values of v{target} have log-probability {infinite}", where[k]
        )


def _by_target(reader: Reader, tree: Tree, target: int) -> tuple[CpdTree, list[int]]:
    """Return the tree without tests of the target and without branches that cannot be reached.

    The second value is the position of each node in the text. The function descends the trees for
    all states of the target together. A node of the result tests what the first of them tests that
    tests anything.
    """
    schema = reader.schema
    states = [{ALWAYS: 1, **schema.implied(target, state)} for state in range(schema[target].arity)]
    split_var: list[int] = []
    children: list[list[int]] = []
    values: list[list[float]] = []
    where: list[int] = []

    def descend(node: int, state: Known, known: Known) -> int:
        while (value := state.get(tree.var[node], known.get(tree.var[node]))) is not None:
            node = tree.child[node][value]
        return node

    nothing: Known = {}
    agenda = [([0] * len(states), nothing, LEAF, 0)]
    while agenda:
        places, known, parent, branch = agenda.pop()
        node = len(split_var)
        if parent != LEAF:
            children[parent][branch] = node
        places = [descend(at, own, known) for at, own in zip(places, states, strict=True)]
        column = next((tree.var[at] for at in places if tree.var[at] != LEAF), LEAF)
        split_var.append(column)
        children.append([LEAF, LEAF])
        where.append(tree.where[places[0]])
        values.append([tree.value[at] if column == LEAF else 0.0 for at in places])
        if column != LEAF:
            agenda += [
                (places, learn(schema, known, column, value), node, value) for value in (1, 0)
            ]
    return CpdTree(np.array(split_var), np.array(children), np.array(values)), where


def _dense(
    reader: Reader, table: Table, target: int
) -> tuple[tuple[int, ...], NDArray[np.float64]]:
    """Return the parents of a table, ascending, and its cells with the target on the last axis."""
    schema = reader.schema
    parents = tuple(sorted(_mentioned(reader, table) - {target}))
    scope = (*parents, target)
    entry = np.zeros([schema[v].arity for v in scope])
    for row in table.rows:
        literals = [(code >> 1, code & 1) for code in row.codes]
        allowed = allowed_states(schema, literals)
        whole = (allowed.get(v, np.ones(schema[v].arity, bool)) for v in scope)
        with np.errstate(invalid="ignore"):
            entry[np.ix_(*whole)] += row.weight
    return parents, entry
