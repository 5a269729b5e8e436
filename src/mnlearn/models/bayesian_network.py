"""Bayesian networks whose conditional distributions are tables or trees."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.bayesian_networks import (
    LEAF,
    Families,
    draw_ancestral,
    fill_conditionals,
    fill_log_probabilities,
)
from mnlearn.models.cpds import CpdTable, Tables, assemble, tables_of
from mnlearn.models.dependency_network import Trees, count_pairs
from mnlearn.models.features import concatenate
from mnlearn.models.fields import NAMELESS, set_array, set_schema
from mnlearn.models.markov_network import MarkovNetwork, markov_network
from mnlearn.models.model import Model
from mnlearn.models.tree_features import paths_with_states
from mnlearn.runtime.arrays import read_only
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.threads import map_ranges
from mnlearn.variables.schema import NO_STATE, Schema

# Number of rows that are evaluated together, which bounds the memory.
_ROWS = 1000
# In place of tables, where no variable has one.
NO_TABLES: Any = None
# Most cells of a tree that is written out as a table.
MAX_TABLE = 1 << 17


@dataclass(frozen=True, eq=False, repr=False)
class BayesianNetwork(Model):
    """P(x) = product over variables v of P(x_v | parents of v), each a table or a tree.

    `bayesian_network` finds the order. Construction checks that it is a permutation.

    Attributes
    ----------
    trees : Trees
        A tree per variable, whose leaves hold log P(x_v | path) in nats. It tests columns. The tree
        of a variable that has a table is a single leaf and is not looked at.
    order : ndarray of int64, shape (n_vars,)
        The variables, parents before children.
    schema : Schema
        The variables; nameless ones of the states 0 and 1 if not given.
    tables : Tables
        The tables; none if not given.
    """

    kind: ClassVar[str] = "bayesian_network"
    title: ClassVar[str] = "a Bayesian network"
    is_directed: ClassVar[bool] = True
    shown: ClassVar[tuple[str, ...]] = ("n_leaves", "n_edges")
    has_exact_likelihood: ClassVar[bool] = True
    has_own_likelihood: ClassVar[bool] = True

    trees: Trees
    order: NDArray[np.int64]
    schema: Schema = NAMELESS
    tables: Tables = NO_TABLES

    def __post_init__(self) -> None:
        set_schema(self, self.schema, self.trees.n_vars)
        if self.tables is NO_TABLES:
            object.__setattr__(self, "tables", tables_of(self.n_vars, {}))
        order = set_array(self, "order", np.int64, (self.n_vars,))
        if not np.array_equal(np.sort(order), np.arange(self.n_vars)):
            raise InputError("BayesianNetwork, order: expected each variable once.")
        self.tables.check(self.schema.arity)

    @cached_property
    def _leaves(self) -> NDArray[np.int64]:
        """The leaves of the trees that are looked at."""
        has_table = np.diff(self.tables.start) > 0
        return np.flatnonzero(self.trees.is_leaf & ~has_table[self.trees.target])

    @cached_property
    def _n_distributions(self) -> NDArray[np.int64]:
        """How many distributions each variable has: leaves of its tree or rows of its table."""
        leaves = np.bincount(self.trees.target[self._leaves], minlength=self.n_vars)
        return np.asarray(leaves + np.diff(self.tables.start) // self.schema.arity, np.int64)

    @property
    def n_parameters(self) -> int:
        """Number of free probabilities: in each distribution, one less than there are states."""
        return int((self._n_distributions * (self.schema.arity - 1)).sum())

    @cached_property
    def rank(self) -> NDArray[np.int64]:
        """Position of each variable in `order`, int64 of shape (n_vars,)."""
        rank = np.empty(self.n_vars, np.int64)
        rank[self.order] = np.arange(self.n_vars)
        return read_only(rank)

    def edges(self) -> dict[tuple[int, int], int]:
        """Return for each (parent, child) how often the child's tree tests the parent.

        In a table, each parent counts once.
        """
        trees, tables = self.trees, self.tables
        inner = ~trees.is_leaf
        own = np.repeat(np.arange(self.n_vars), np.diff(tables.parent_start))
        return count_pairs(
            np.concatenate([self.schema.variable_of[trees.split_var[inner]], tables.parent]),
            np.concatenate([trees.target[inner], own]),
        )

    def parents(self, v: int) -> tuple[int, ...]:
        """Return the parents of a variable, as its table has them or in ascending order."""
        if v in self.tables:
            return self.tables.parents(v)
        return tuple(self._parents[v])

    @cached_property
    def _parents(self) -> list[list[int]]:
        """The parents of each variable, ascending."""
        parents: list[list[int]] = [[] for _ in range(self.n_vars)]
        for parent, child in self.edges():
            parents[child].append(parent)
        return parents

    def describe(self) -> dict[str, Any]:
        """Return the numbers of variables, distributions and edges, and the most tests of a leaf.

        Of a table they are the numbers of its rows and of its parents.
        """
        n_parents = np.diff(self.tables.parent_start).max()
        return {
            "n_vars": self.n_vars,
            "n_leaves": int(self._n_distributions.sum()),
            "deepest_leaf": int(max(self.trees.depth.max(), n_parents)),
            "n_edges": sum(map(len, self._parents)),
        }

    def table(self, v: int) -> CpdTable:
        """Return the conditional distribution of a variable as a table.

        Raises
        ------
        InputError
            It is a tree, and the table would have more than `MAX_TABLE` cells.
        """
        if v in self.tables:
            return self.tables.table(v, self.schema.arity)
        return CpdTable(self.parents(v), np.exp(self.log_table(v)))

    def log_table(self, v: int) -> NDArray[np.float64]:
        """Return the logarithms of `table(v)`, an axis for each parent and the last for `v`."""
        if v in self.tables:
            return self.tables.log_table(v, self.schema.arity)
        parents = self.parents(v)
        shape = [int(self.schema.arity[u]) for u in parents]
        n_cells = float(np.prod([*shape, self.schema.arity[v]], dtype=float))
        if n_cells > MAX_TABLE:
            raise InputError(
                f"variable {self.schema[v].name}: has {len(parents)} parents, so its table has "
                f"{n_cells:,.0f} cells; a tree is written as a table of up to {MAX_TABLE:,}."
            )
        states = np.indices(shape).reshape(len(parents), int(np.prod(shape)))
        log_prob = self.log_given(v, dict(zip(parents, states, strict=True)))
        return log_prob.reshape(*shape, -1)

    def log_given(self, v: int, states: Mapping[int, NDArray]) -> NDArray[np.float64]:
        """Return log P(x_v | parents) of all states of a variable, in nats.

        states : states of some of its parents, at least of one if it has any; the others are in
            their first states. One row is returned if no state is given.
        """
        if v in self.tables:
            table = self.tables.log_table(v, self.schema.arity)
            n_rows = max((len(own) for own in states.values()), default=1)
            first = np.zeros(n_rows, np.int64)
            return np.asarray(table[tuple(states.get(u, first) for u in self.parents(v))])
        node = self.trees.leaves_given(v, self.schema, states)
        return np.asarray(self.trees.log_prob[node, : self.schema.arity[v]])

    def to_markov_network(self) -> MarkovNetwork:
        """Return the same distribution as a Markov network with one feature for each parameter."""
        paths, place = paths_with_states(self.trees, self.schema, self._leaves)
        parts = [(paths, self.trees.log_prob.ravel()[place]), *self.tables.features(self.schema)]
        features = concatenate([features for features, _ in parts])
        return markov_network(self.schema, features, np.concatenate([w for _, w in parts]))

    def log_likelihood(self, rows: NDArray[np.uint8], threads: int = 1) -> NDArray[np.float64]:
        """Return the log-probability of each row of columns in nats, shape (n_rows,).

        It is minus infinity where a row gives a variable no state, or several.
        """
        states, impossible = self._states(rows)
        out, families = np.empty(len(rows)), self._log_families

        def fill(first: int, last: int) -> None:
            for begin in range(first, last, _ROWS):
                end = min(begin + _ROWS, last)
                log_p = np.empty((end - begin, self.n_vars))
                fill_log_probabilities(families, states[begin:end], 0, end - begin, log_p)
                out[begin:end] = log_p.sum(axis=1)

        map_ranges(fill, len(rows), threads)
        out[impossible] = -np.inf
        return out

    def log_conditionals(self, rows: NDArray[np.uint8], threads: int = 1) -> NDArray[np.float64]:
        """Return log P(x_v | all others) of every state, in nats, shape (n_rows, n_states).

        The states of one variable stand after those of the other. All states of a variable have
        minus infinity where none of them is possible.
        """
        states, impossible = self._states(rows)
        member_start, member = self._members
        start = np.concatenate([[0], np.cumsum(self.schema.arity)])
        out, families = np.empty((len(rows), start[-1])), self._log_families

        def fill(first: int, last: int) -> None:
            fill_conditionals(families, start, member_start, member, states, first, last, out)

        map_ranges(fill, len(rows), threads)
        out[impossible] = -np.inf
        return out

    def draw(self, n_rows: int, seed: int, threads: int = 1) -> NDArray[np.uint8]:
        """Return independent rows of columns, uint8, each variable drawn given its parents."""
        families = self._log_families._replace(
            leaf=np.exp(self.trees.log_prob), cell=self.tables.prob
        )
        states = np.empty((n_rows, self.n_vars), np.uint8)

        def fill(first: int, last: int) -> None:
            draw_ancestral(families, self.order, np.uint64(seed), first, last, states)

        map_ranges(fill, n_rows, threads)
        return self.schema.rows(states)

    def _states(self, rows: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
        """Return the states in each row, and which rows lack one: they get the first states."""
        states = self.schema.values(rows)
        impossible = (states == NO_STATE).any(axis=1)
        states[impossible] = 0
        return states, impossible

    @cached_property
    def _members(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Where each variable's members begin, and these: the variable itself and its children."""
        members = [[v] for v in range(self.n_vars)]
        for child, parents in enumerate(self._parents):
            for parent in parents:
                members[parent].append(child)
        return np.cumsum([0, *map(len, members)]), np.array([c for own in members for c in own])

    @cached_property
    def _tests(self) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """The variable and the state that each node of the trees tests; LEAF at leaves."""
        inner = ~self.trees.is_leaf
        column, schema = self.trees.split_var[inner], self.schema
        var = np.full(len(inner), LEAF, np.int32)
        state = np.ones(len(inner), np.uint8)
        var[inner] = schema.variable_of[column]
        state[inner] = np.where(schema.arity[var[inner]] > 2, column - schema.start[var[inner]], 1)
        return read_only(var), read_only(state)

    @cached_property
    def _log_families(self) -> Families:
        tables = self.tables
        return Families(
            self.schema.arity, self.trees.start, *self._tests, self.trees.child,
            self.trees.log_prob, tables.parent_start, tables.parent, tables.start, tables.log_prob,
        )  # fmt: skip


def bayesian_network(
    trees: Trees, schema: Schema = NAMELESS, tables: Tables = NO_TABLES
) -> BayesianNetwork:
    """Return the Bayesian network of a tree for each variable, and tables in place of some."""
    n_vars = trees.n_vars
    network = BayesianNetwork(trees, np.arange(n_vars), schema, tables)
    parents: dict[int, set[int]] = {v: set() for v in range(n_vars)}
    for parent, child in network.edges():
        parents[child].add(parent)
    try:
        order = np.array(list(TopologicalSorter(parents).static_order()), np.int64)
    except CycleError as error:
        cycle = " -> ".join(network.schema.names[v] for v in error.args[1])
        raise InputError(f"has a directed cycle, {cycle}.", where="Bayesian network") from error
    return BayesianNetwork(trees, order, network.schema, network.tables)


def network_of_tables(schema: Schema, tables: Mapping[int, CpdTable]) -> BayesianNetwork:
    """Return the Bayesian network in which every variable has a table; see `bayesian_network`."""
    return bayesian_network(assemble(schema, {}), schema, tables_of(len(schema), tables))
