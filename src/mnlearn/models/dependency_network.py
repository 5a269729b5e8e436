"""Dependency networks: one conditional distribution per variable."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.features import FeatureSet, feature_set, features_of
from mnlearn.models.fields import NAMELESS, check_spans, set_array, set_schema
from mnlearn.models.model import Model
from mnlearn.models.questions import answers
from mnlearn.runtime.arrays import read_only
from mnlearn.variables.schema import Schema

if TYPE_CHECKING:
    import pandas as pd

LEAF = -1


@dataclass(frozen=True, eq=False)
class Trees:
    """One decision tree per variable; the nodes of all trees are in flat arrays.

    The nodes of the tree of variable v are at start[v]:start[v + 1]. The root is first, and every
    parent stands before its children. A node tests the column `split_var` of `Schema`, or is a
    LEAF; `child`, (n_nodes, 2), has the nodes for its values 0 and 1. `log_prob`, (n_nodes,
    most_states), has the log-probabilities in nats of the states of the target, at inner nodes too:
    those of all examples that reach the node. There is room for two states at least; those beyond
    the states of the target have minus infinity.
    """

    start: NDArray[np.int64]
    split_var: NDArray[np.int32]
    child: NDArray[np.int32]
    log_prob: NDArray[np.float64]

    def __post_init__(self) -> None:
        start = set_array(self, "start", np.int64, (None,))
        n_nodes = len(set_array(self, "split_var", np.int32, (None,)))
        set_array(self, "child", np.int32, (n_nodes, 2))
        set_array(self, "log_prob", np.float64, (n_nodes, None))
        check_spans(self, start, n_nodes)

    @property
    def n_vars(self) -> int:
        """Number of trees, one per variable."""
        return len(self.start) - 1

    @property
    def most_states(self) -> int:
        """Number of states that a node has room for."""
        return self.log_prob.shape[1]

    @cached_property
    def target(self) -> NDArray[np.int64]:
        """Variable whose tree each node belongs to, int64 of shape (n_nodes,)."""
        return read_only(np.repeat(np.arange(self.n_vars), np.diff(self.start)))

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Whether each node is a leaf, bool of shape (n_nodes,)."""
        return read_only(self.split_var == LEAF)

    @cached_property
    def depth(self) -> NDArray[np.int64]:
        """Number of tests above each node, int64 of shape (n_nodes,)."""
        depth = np.zeros(len(self.split_var), np.int64)
        below: NDArray[np.int64] = self.start[:-1]
        d = 0
        while len(below):
            depth[below] = d
            inner = below[~self.is_leaf[below]]
            below = self.child[inner].ravel().astype(np.int64)
            d += 1
        return read_only(depth)

    @cached_property
    def parent(self) -> NDArray[np.int64]:
        """Parent of each node, or -1 at a root, int64 of shape (n_nodes,)."""
        parent = np.full(len(self.split_var), -1, np.int64)
        inner = np.flatnonzero(~self.is_leaf)
        parent[self.child[inner]] = inner[:, None]
        return read_only(parent)

    def leaves_given(
        self, v: int, schema: Schema, states: Mapping[int, NDArray]
    ) -> NDArray[np.int64]:
        """Return the leaves of a tree where some variables have states, others their first."""
        n_rows = max((len(own) for own in states.values()), default=1)
        node, nothing = np.full(n_rows, self.start[v]), np.zeros(n_rows, np.int64)
        while (inner := np.flatnonzero(~self.is_leaf[node])).size:
            for column in np.unique(self.split_var[node[inner]]).tolist():
                own = inner[self.split_var[node[inner]] == column]
                u = int(schema.variable_of[column])
                asked = 1 if schema.arity[u] == 2 else column - int(schema.start[u])
                holds = states.get(u, nothing)[own] == asked
                node[own] = self.child[node[own], holds.astype(int)]
        return node

    def is_flat(self, schema: Schema) -> NDArray[np.bool_]:
        """Return which trees are a single leaf of equal probabilities, bool of shape (n_vars,)."""
        root = self.start[:-1]
        unused = np.arange(self.most_states) >= schema.arity[:, None]
        equal = unused | (self.log_prob[root] == self.log_prob[root, :1])
        return self.is_leaf[root] & equal.all(axis=1)

    def paths(self) -> FeatureSet:
        """Return for each node the conjunction of the tests that lead to it, from the root down."""
        parent = self.parent
        branch = np.zeros(len(self.split_var), np.uint8)
        branch[self.child[~self.is_leaf, 1]] = 1
        start = np.concatenate([[0], np.cumsum(self.depth)])
        var = np.empty(start[-1], np.int32)
        value = np.empty(start[-1], np.uint8)
        # All nodes climb together, one test a step, and write their paths from the end.
        node = np.flatnonzero(parent >= 0)
        place = start[node + 1] - 1
        while len(node):
            above = parent[node]
            var[place] = self.split_var[above]
            value[place] = branch[node]
            climbs = parent[above] >= 0
            node, place = above[climbs], place[climbs] - 1
        return feature_set(start, var, value)


def count_pairs(first: NDArray, second: NDArray) -> dict[tuple[int, int], int]:
    """Return how often each pair (first[i], second[i]) occurs, pairs in ascending order."""
    pairs, count = np.unique(np.column_stack([first, second]), axis=0, return_counts=True)
    return {(u, v): n for (u, v), n in zip(pairs.tolist(), count.tolist(), strict=True)}


def flat_trees(schema: Schema | int) -> Trees:
    """Return trees without information: each is a single leaf of equal probabilities.

    A number in place of a schema stands for as many variables of two states.
    """
    arity = np.full(schema, 2) if isinstance(schema, int) else schema.arity
    n_vars, unused = len(arity), np.arange(max(2, arity.max(initial=0))) >= arity[:, None]
    return Trees(
        np.arange(n_vars + 1),
        np.full(n_vars, LEAF, np.int32),
        np.full((n_vars, 2), LEAF, np.int32),
        np.where(unused, -np.inf, np.log(1.0 / arity[:, None])),
    )


@dataclass(frozen=True, eq=False, repr=False)
class DependencyNetwork(Model):
    """One CPD per variable: score of a state = leaf of its tree + weights of features that hold.

    The probabilities of the states are in proportion to the exponentials of their scores.

    Construction converts the arrays to these dtypes, makes them read-only and checks their shapes.

    Attributes
    ----------
    trees : Trees
        A tree per variable; where a CPD has no tree, a single leaf of equal probabilities.
    features : FeatureSet
        Features of the log-linear CPDs; each has a literal of its target.
    target : ndarray of int32, shape (n_features,)
        Variable whose CPD each feature belongs to.
    weight : ndarray of float64, shape (n_features,)
        Weights in nats; may be infinite.
    schema : Schema
        The variables; nameless ones of the states 0 and 1 if not given.
    """

    kind: ClassVar[str] = "dependency_network"
    title: ClassVar[str] = "a dependency network"
    has_joint: ClassVar[bool] = False
    is_directed: ClassVar[bool] = True
    shown: ClassVar[tuple[str, ...]] = ("n_edges",)

    trees: Trees
    features: FeatureSet
    target: NDArray[np.int32]
    weight: NDArray[np.float64]
    schema: Schema = NAMELESS

    def __post_init__(self) -> None:
        set_array(self, "target", np.int32, (len(self.features),))
        set_array(self, "weight", np.float64, (len(self.features),))
        set_schema(self, self.schema, self.trees.n_vars)

    @property
    def n_parameters(self) -> int:
        """Number of leaves and features."""
        return self.n_informative_leaves + len(self.features)

    @property
    def n_informative_leaves(self) -> int:
        """Number of leaves, without those of flat trees."""
        return int(self.trees.is_leaf.sum() - self.trees.is_flat(self.schema).sum())

    def coefficients_frame(self) -> "pd.DataFrame":
        """Return the coefficients of logistic regressions, as of `DNLR`.

        Returns
        -------
        pandas.DataFrame
            A row for the regression of each variable of two states, and for each state of other
            variables: `(Intercept)`, and the weights of the second state of each variable of two
            states, and of each state of others, in nats.

        Raises
        ------
        InputError
            The network has trees, or features of more than two variables.
        """
        found: pd.DataFrame = answers().coefficients_frame(self)
        return found

    def edges(self) -> dict[tuple[int, int], int]:
        """Return for each (parent, child) how often the child's CPD uses the parent.

        Each test of the parent in the child's tree counts, and each feature of the child's CPD that
        has a literal of the parent. A feature of weight 0 has no effect and does not count.
        """
        trees, features = self.trees, self.features
        inner = ~trees.is_leaf
        used = self.weight[features.owner] != 0
        tested, var = (self.schema.variable_of[v] for v in (trees.split_var[inner], features.var))
        other = used & (var != self.target[features.owner])
        return count_pairs(
            np.concatenate([tested, var[other]]),
            np.concatenate([trees.target[inner], self.target[features.owner[other]]]),
        )

    def describe(self) -> dict[str, Any]:
        """Return the numbers of variables, informative leaves, features and edges."""
        return {
            "n_vars": self.n_vars,
            "n_leaves": self.n_informative_leaves,
            "deepest_leaf": int(self.trees.depth.max()),
            "n_features": len(self.features),
            "n_edges": len(self.edges()),
        }


def tree_network(trees: Trees, schema: Schema | None = None) -> DependencyNetwork:
    """Return the dependency network whose CPDs are all trees."""
    none = features_of([])
    return DependencyNetwork(trees, none, np.zeros(0, np.int32), np.zeros(0), schema or NAMELESS)
