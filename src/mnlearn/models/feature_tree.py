"""Feature trees: features divide the states, and the variables fall apart (Gogate et al. 2010)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.feature_trees import log_likelihoods
from mnlearn.models.grouped_variables import GroupedVariables
from mnlearn.runtime.files import read_only

ROOT = 0


@dataclass(frozen=True, eq=False)
class FeatureTree:
    """Alternating F-nodes, which choose, and A-nodes, whose children are independent.

    An F-node with literals has two A-nodes: the first for the states in which not all literals
    hold, the second for those in which all do. An F-node without literals is a table: it has an
    A-node for each joint value of its variables. P(state) is the product of the probabilities of
    the A-nodes that the state satisfies, starting from the root.

    Nodes stand before those below them. A-node 0 is the root; the A-nodes of F-node f are
    branch_start[f]:branch_start[f + 1]. An F-node may be the child of several A-nodes: then the
    tree is a feature graph.

    variables : the variables that literals ask for values, and their binary columns.
    literal_start : int64, shape (n_f + 1,). literal_var : int32. literal_value : uint8.
    branch_start : int64, shape (n_f + 1,). The first is 1.
    log_prob : float64, shape (n_a,). Logarithm of the probability of each A-node given those above
        it; 0 for the root.
    fixed_start : int64, shape (n_a + 1,). fixed_var : int32. fixed_value : uint8. The variables
        that have one value left at an A-node and more above it.
    child_start : int64, shape (n_a + 1,). child : int32. F-nodes below each A-node.
    names : names of the columns, or None.

    References
    ----------
    Gogate, Webb & Domingos (2010), Learning efficient Markov networks, Section 2.
    """

    variables: GroupedVariables
    literal_start: NDArray[np.int64]
    literal_var: NDArray[np.int32]
    literal_value: NDArray[np.uint8]
    branch_start: NDArray[np.int64]
    log_prob: NDArray[np.float64]
    fixed_start: NDArray[np.int64]
    fixed_var: NDArray[np.int32]
    fixed_value: NDArray[np.uint8]
    child_start: NDArray[np.int64]
    child: NDArray[np.int32]
    names: tuple[str, ...] | None = None

    @property
    def n_vars(self) -> int:
        """Number of binary columns."""
        return self.variables.n_columns

    @property
    def n_f_nodes(self) -> int:
        """Number of F-nodes, tables included."""
        return len(self.branch_start) - 1

    @property
    def n_a_nodes(self) -> int:
        """Number of A-nodes but the root: the size of the tree."""
        return len(self.log_prob) - 1

    @property
    def n_leaves(self) -> int:
        """Number of A-nodes without children: the features of the Markov network."""
        return int((np.diff(self.child_start) == 0).sum())

    @cached_property
    def is_table(self) -> NDArray[np.bool_]:
        """Whether each F-node is a table, shape (n_f,)."""
        return read_only(np.diff(self.literal_start) == 0)

    def literals(self, f: int) -> tuple[tuple[int, int], ...]:
        """Return the (variable, value) pairs of F-node `f`."""
        span = slice(self.literal_start[f], self.literal_start[f + 1])
        pairs = zip(self.literal_var[span].tolist(), self.literal_value[span].tolist(), strict=True)
        return tuple(pairs)

    def branches(self, f: int) -> range:
        """Return the A-nodes of F-node `f`."""
        return range(int(self.branch_start[f]), int(self.branch_start[f + 1]))

    def fixed(self, a: int) -> tuple[tuple[int, int], ...]:
        """Return the (variable, value) pairs that A-node `a` fixes."""
        span = slice(self.fixed_start[a], self.fixed_start[a + 1])
        pairs = zip(self.fixed_var[span].tolist(), self.fixed_value[span].tolist(), strict=True)
        return tuple(pairs)

    def children(self, a: int) -> list[int]:
        """Return the F-nodes below A-node `a`."""
        below: list[int] = self.child[self.child_start[a] : self.child_start[a + 1]].tolist()
        return below

    def log_likelihood(self, rows: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return log P(row) of each row in nats, shape (n_rows,).

        rows : uint8, shape (n_rows, n_vars). A row that gives a group none of its values, or
            several, has probability 0.
        """
        out = np.empty(len(rows))
        literals = (self.literal_start, self.literal_var, self.literal_value)
        fixed = (self.fixed_start, self.fixed_var, self.fixed_value)
        edges = (self.branch_start, self.child_start, self.child)
        stack = np.empty(max(len(self.child), 1), np.int32)
        values = self.variables.values(rows)
        log_likelihoods(values, literals, edges, fixed, self.log_prob, stack, out)
        return out

    def depth(self) -> int:
        """Return the number of F-nodes with literals on the longest way from the root."""
        above = np.zeros(self.n_f_nodes, np.int64)
        for f in range(self.n_f_nodes):
            own = above[f] + (not self.is_table[f])
            first, last = self.branch_start[f], self.branch_start[f + 1]
            below = self.child[self.child_start[first] : self.child_start[last]]
            above[below] = np.maximum(above[below], own)
        return int((above + ~self.is_table).max())

    def describe(self) -> dict[str, Any]:
        """Return what the model is: variables, nodes, lengths of features, size when merged."""
        length = np.diff(self.literal_start)[~self.is_table]
        return {
            "n_vars": self.n_vars,
            "n_groups": len(self.variables.groups),
            "n_a_nodes": self.n_a_nodes,
            "n_f_nodes": int((~self.is_table).sum()),
            "n_leaves": self.n_leaves,
            "n_tables": int(self.is_table.sum()),
            "longest_feature": int(length.max()) if len(length) else 0,
            "depth": self.depth(),
            "n_a_nodes_merged": merge_equal(self).n_a_nodes,
        }


_DTYPE: dict[str, type] = {
    "literal_start": np.int64,
    "literal_var": np.int32,
    "literal_value": np.uint8,
    "branch_start": np.int64,
    "log_prob": np.float64,
    "fixed_start": np.int64,
    "fixed_var": np.int32,
    "fixed_value": np.uint8,
    "child_start": np.int64,
    "child": np.int32,
}
ARRAYS = tuple(_DTYPE)


def feature_tree(
    variables: GroupedVariables,
    arrays: Mapping[str, NDArray],
    names: tuple[str, ...] | None = None,
) -> FeatureTree:
    """Return the tree of the arrays that `ARRAYS` names, with its dtypes and read-only."""
    own = {name: read_only(np.asarray(arrays[name], dtype)) for name, dtype in _DTYPE.items()}
    return FeatureTree(variables, **own, names=names)


def merge_equal(tree: FeatureTree) -> FeatureTree:
    """Return the feature graph in which equal subtrees are one.

    Two subtrees are equal if they have the same literals, values and probabilities. The graph has
    the same distribution and is never larger.
    """
    last: dict[tuple, int] = {}
    same_as = np.arange(tree.n_f_nodes)
    for f in range(tree.n_f_nodes - 1, -1, -1):
        key = (
            tree.literals(f),
            tuple(
                (float(tree.log_prob[a]), tree.fixed(a), tuple(same_as[tree.children(a)].tolist()))
                for a in tree.branches(f)
            ),
        )
        # The last of the equal nodes stands for all: it is behind all the parents of each.
        same_as[f] = last.setdefault(key, f)
    kept = np.flatnonzero(same_as == np.arange(tree.n_f_nodes))
    return _select(replace(tree, child=same_as[tree.child].astype(np.int32)), kept)


def _select(tree: FeatureTree, kept: NDArray[np.int64]) -> FeatureTree:
    """Return the tree with the kept F-nodes only, which are all that their A-nodes lead to."""
    number = np.full(tree.n_f_nodes, -1)
    number[kept] = np.arange(len(kept))
    branches = np.concatenate([[ROOT], *(np.array(tree.branches(f)) for f in kept.tolist())])
    branches = branches.astype(np.int64)
    literal_start, literal = _spans(tree.literal_start, kept)
    fixed_start, fixed = _spans(tree.fixed_start, branches)
    child_start, child = _spans(tree.child_start, branches)
    arrays = {
        "literal_start": literal_start,
        "literal_var": tree.literal_var[literal],
        "literal_value": tree.literal_value[literal],
        "branch_start": 1 + np.concatenate([[0], np.cumsum(np.diff(tree.branch_start)[kept])]),
        "log_prob": tree.log_prob[branches],
        "fixed_start": fixed_start,
        "fixed_var": tree.fixed_var[fixed],
        "fixed_value": tree.fixed_value[fixed],
        "child_start": child_start,
        "child": number[tree.child[child]],
    }
    return feature_tree(tree.variables, arrays, tree.names)


def _spans(start: NDArray[np.int64], index: NDArray[np.int64]) -> tuple[NDArray, NDArray]:
    """Return the starts of the spans at `index` put side by side, and what positions they hold."""
    length = np.diff(start)[index]
    begin = np.concatenate([[0], np.cumsum(length)])
    return begin, np.repeat(start[index] - begin[:-1], length) + np.arange(begin[-1])
