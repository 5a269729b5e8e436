"""Conditional distributions as tables and as trees over the parents: one, or all in flat arrays."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.dependency_network import LEAF, Trees
from mnlearn.models.features import FeatureSet, state_features
from mnlearn.models.fields import check_spans, set_array
from mnlearn.runtime.arrays import read_only
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Literal, Schema

# Most cells of all tables of a network.
MAX_CELLS = 1 << 24
# A distribution that sums to 1 up to this error is not normalised again, so that a model that is
# written and read keeps its last bits.
_NORMALISED = 1e-12
# Values of columns, with those that follow from them by what the columns mean.
Known = dict[int, int]
_Path = tuple[Literal, ...]


class CpdTable(NamedTuple):
    """P(variable | parents), with an axis for each parent, then one for the variable itself."""

    parents: tuple[int, ...]
    prob: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Tables:
    """The tables of the variables that have one, in flat arrays.

    The parents of variable v are parent[parent_start[v]:parent_start[v + 1]]. Its cells are
    prob[start[v]:start[v + 1]], none if it has a tree. The state of the variable itself changes
    fastest, then that of its last parent.
    """

    parent_start: NDArray[np.int64]
    parent: NDArray[np.int32]
    start: NDArray[np.int64]
    prob: NDArray[np.float64]

    def __post_init__(self) -> None:
        parent_start = set_array(self, "parent_start", np.int64, (None,))
        n_parents = len(set_array(self, "parent", np.int32, (None,)))
        start = set_array(self, "start", np.int64, (len(parent_start),))
        n_cells = len(set_array(self, "prob", np.float64, (None,)))
        check_spans(self, parent_start, n_parents)
        check_spans(self, start, n_cells)

    def __contains__(self, v: int) -> bool:
        """Whether variable `v` has a table."""
        return bool(self.start[v + 1] > self.start[v])

    @cached_property
    def log_prob(self) -> NDArray[np.float64]:
        """Logarithms of `prob`."""
        with np.errstate(divide="ignore"):
            return read_only(np.log(self.prob))

    def parents(self, v: int) -> tuple[int, ...]:
        """Return the parents of variable `v` in its table."""
        return tuple(self.parent[self.parent_start[v] : self.parent_start[v + 1]].tolist())

    def table(self, v: int, arity: NDArray[np.int64]) -> CpdTable:
        """Return the table of variable `v`, given the numbers of states of all variables."""
        return CpdTable(self.parents(v), self._shaped(self.prob, v, arity))

    def log_table(self, v: int, arity: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the logarithms of the table of variable `v`."""
        return self._shaped(self.log_prob, v, arity)

    def _shaped(self, cells: NDArray, v: int, arity: NDArray[np.int64]) -> NDArray[np.float64]:
        shape = arity[[*self.parents(v), v]].tolist()
        return cells[self.start[v] : self.start[v + 1]].reshape(shape)

    def features(self, schema: Schema) -> Iterator[tuple[FeatureSet, NDArray[np.float64]]]:
        """Yield for each table a conjunction for each cell, and the logarithms of the cells."""
        for v in np.flatnonzero(np.diff(self.start)).tolist():
            scope = [*self.parents(v), v]
            states = np.indices(schema.arity[scope].tolist()).reshape(len(scope), -1).T
            log_prob = self.log_prob[self.start[v] : self.start[v + 1]]
            yield state_features(schema, scope, states), log_prob

    def check(self, arity: NDArray[np.int64]) -> None:
        """Check that the tables have these numbers of states and distributions as rows."""
        for v in range(len(self.start) - 1):
            if v not in self:
                continue
            parents, size = self.parents(v), int(self.start[v + 1] - self.start[v])
            fits = len({*parents, v}) == len(parents) + 1 and min((*parents, v)) >= 0
            fits = fits and max((*parents, v)) < len(arity)
            fits = fits and size == np.prod([float(arity[u]) for u in (*parents, v)])
            prob = self.table(v, arity).prob if fits else np.zeros(1)
            # NaN makes a comparison false.
            if not ((prob >= 0).all() and (np.abs(prob.sum(axis=-1) - 1.0) <= 1e-9).all()):
                raise InputError(f"the table of variable {v} is no distribution given its parents.")


def tables_of(n_vars: int, tables: Mapping[int, CpdTable]) -> Tables:
    """Return the tables of some variables in flat arrays, each distribution normalised."""
    parents: list[Sequence[int]] = [()] * n_vars
    cells: list[NDArray[np.float64]] = [np.zeros(0)] * n_vars
    for v, table in tables.items():
        total = table.prob.sum(axis=-1, keepdims=True)
        exact = np.abs(total - 1.0) <= _NORMALISED
        parents[v] = table.parents
        cells[v] = np.where(exact, table.prob, table.prob / total).ravel()
    return Tables(
        np.cumsum([0, *map(len, parents)]),
        np.array([u for own in parents for u in own], np.int32),
        np.cumsum([0, *map(len, cells)]),
        np.concatenate(cells) if cells else np.zeros(0),
    )


class CpdTree(NamedTuple):
    """A tree over the parents of a variable; every parent node stands before its children.

    A node tests the column `split_var`, or is a LEAF; `child`, (n_nodes, 2), has the nodes for 0
    and 1; `value`, (n_nodes, n_states), has logarithms at leaves, which need not be normalised.
    """

    split_var: NDArray
    child: NDArray
    value: NDArray[np.float64]


def learn(schema: Schema, known: Known, column: int, value: int) -> Known:
    """Return what is known if a column that is not known yet has a value, too."""
    columns = schema.columns(int(schema.variable_of[column]))
    if len(columns) == 1:
        return {**known, column: value}
    left = [column] if value else [c for c in columns if c != column and known.get(c) != 0]
    if len(left) > 1:
        return {**known, column: 0}
    return {**known, **{c: int(c in left) for c in columns}}


def literals_of(schema: Schema, known: Known) -> list[Literal]:
    """Return a conjunction that says what is known: the state of a variable, or which it has not.

    Negative numbers of columns are left out.
    """
    variable_of = schema.variable_of
    sure = {int(variable_of[c]) for c, x in known.items() if x and c >= 0}
    return [(c, x) for c, x in known.items() if c >= 0 and (x or int(variable_of[c]) not in sure)]


def assemble(schema: Schema, trees: Mapping[int, CpdTree]) -> Trees:
    """Return the trees of all variables in flat arrays, with normalised log-probabilities.

    A variable without a tree gets a single leaf at which all its states are alike. An inner node
    gets the mean of the distributions of its children.
    """
    arity = schema.arity.tolist()
    ordered = [
        trees.get(v, CpdTree(np.array([LEAF]), np.full((1, 2), LEAF), np.zeros((1, k))))
        for v, k in enumerate(arity)
    ]
    start = np.concatenate([[0], np.cumsum([len(tree.split_var) for tree in ordered])])
    shifted = [
        np.where(tree.child == LEAF, LEAF, tree.child + offset)
        for tree, offset in zip(ordered, start[:-1], strict=True)
    ]
    split_var = np.concatenate([tree.split_var for tree in ordered])
    child = np.concatenate(shifted)
    value = np.full((start[-1], max(2, *arity)), -np.inf)
    for v, tree in enumerate(ordered):
        value[start[v] : start[v + 1], : arity[v]] = tree.value
    log_prob = normalised(value)
    _fill_inner(split_var, child, log_prob)
    return Trees(
        start.astype(np.int64),
        split_var.astype(np.int32),
        child.astype(np.int32),
        log_prob,
    )


def normalised(value: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the log-probabilities proportional to exp(value), on the last axis.

    One infinity makes its state certain: (0, inf) becomes (-inf, 0).
    """
    certain = np.isposinf(value).any(axis=-1, keepdims=True)
    value = np.where(certain, np.where(np.isposinf(value), 0.0, -np.inf), value)
    with np.errstate(over="ignore"):
        total = np.logaddexp.reduce(value, axis=-1, keepdims=True)
        return np.where(np.abs(total) <= _NORMALISED, value, value - total)


def _fill_inner(split_var: NDArray, child: NDArray, log_prob: NDArray[np.float64]) -> None:
    """Give inner nodes the mean of their children's distributions."""
    inner = np.flatnonzero(split_var != LEAF)
    # The first state has what the others leave.
    share = np.exp(log_prob[:, 1:])
    for node in inner[::-1].tolist():
        a, b = child[node]
        share[node] = 0.5 * (share[a] + share[b])
    others = np.minimum(share[inner], 1.0)
    first = np.maximum(1.0 - others.sum(axis=1), 0.0)
    with np.errstate(divide="ignore"):
        log_prob[inner] = np.log(np.column_stack([first, others]))


def trees_of_leaves(
    schema: Schema, features: FeatureSet, target: NDArray, log_prob: NDArray[np.float64]
) -> Trees:
    """Return the trees whose leaves are given as features, one for each state at each leaf.

    A feature is the path to a leaf with one state of its target; `log_prob` is log P(state | path).
    """
    leaves: list[dict[_Path, NDArray[np.float64]]] = [{} for _ in schema]
    for f, (v, w) in enumerate(zip(target.tolist(), log_prob.tolist(), strict=True)):
        columns = schema.columns(v)
        literals = features.literals(f)
        own = [(c, x) for c, x in literals if c in columns]
        path = tuple((c, x) for c, x in literals if c not in columns)
        state = own[0][1] if len(columns) == 1 else own[0][0] - columns[0]
        empty = np.full(schema[v].arity, np.nan)
        leaves[v].setdefault(path, empty)[state] = w
    return assemble(schema, {v: _tree_of(schema, v, own) for v, own in enumerate(leaves) if own})


def _tree_of(schema: Schema, target: int, leaves: Mapping[_Path, NDArray[np.float64]]) -> CpdTree:
    """Return the tree whose leaves have these paths; a path lists its tests in any order.

    The first test of a tree is decided in all paths. If several are, any may come first.
    """
    split_var: list[int] = []
    children: list[list[int]] = []
    values: list[NDArray[np.float64]] = []
    below = [(_known(schema, path), value) for path, value in leaves.items()]
    agenda: list[tuple[list[tuple[Known, NDArray]], Known, int, int]] = [(below, {}, LEAF, 0)]
    while agenda:
        below, above, parent, branch = agenda.pop()
        node = len(split_var)
        if parent != LEAF:
            children[parent][branch] = node
        children.append([LEAF, LEAF])
        in_all = set.intersection(*(set(path) for path, _ in below)) if below else set()
        open_tests = in_all - set(above)
        whole = (
            len(below) == 1 and not np.isnan(below[0][1]).any() and set(below[0][0]) <= set(above)
        )
        if not open_tests and not whole:
            raise InputError(
                f"the parameters of variable {target} do not form a tree.", where="circuit"
            )
        if not open_tests:
            split_var.append(LEAF)
            values.append(below[0][1])
            continue
        column = min(open_tests)
        split_var.append(column)
        values.append(np.zeros(schema[target].arity))
        for value in (1, 0):
            side = [one for one in below if one[0][column] == value]
            agenda.append((side, learn(schema, above, column, value), node, value))
    return CpdTree(np.array(split_var), np.array(children), np.array(values))


def _known(schema: Schema, path: _Path) -> Known:
    """Return what a conjunction says, with what follows from it."""
    known: Known = {}
    for column, value in path:
        if column not in known:
            known = learn(schema, known, column, value)
    return known
