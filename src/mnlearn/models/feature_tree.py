"""Feature trees: features divide the states, and the variables fall apart (Gogate et al. 2010)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mnlearn.kernels.feature_trees import log_likelihoods
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.circuit_building import PRODUCT, SUM, CircuitNodes
from mnlearn.models.features import features_of
from mnlearn.models.fields import set_array
from mnlearn.models.markov_network import MarkovNetwork, markov_network
from mnlearn.models.model import Model
from mnlearn.runtime.arrays import read_only
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Literal, Schema

ROOT = 0
ARRAYS: dict[str, type] = {
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
Conjunction = tuple[Literal, ...]
# More conjunctions than this are refused: their network would be of no use.
MAX_FEATURES = 2_000_000


@dataclass(frozen=True, eq=False, repr=False)
class FeatureTree(Model):
    """Alternating F-nodes, which choose, and A-nodes, whose children are independent.

    An F-node with literals has two A-nodes: the first for the states in which not all literals
    hold, the second for those in which all do. An F-node without literals is a table: it has an
    A-node for each joint value of its variables. P(state) is the product of the probabilities of
    the A-nodes that the state satisfies, starting from the root.

    Nodes stand before those below them. A-node 0 is the root; the A-nodes of F-node f are
    branch_start[f]:branch_start[f + 1]. An F-node may be the child of several A-nodes.

    Parameters
    ----------
    schema : Schema
        The variables that literals ask for states.
    literal_start, literal_var, literal_value : arrays of int64, int32 and uint8
        The literals of F-nodes; `literal_start` has shape (n_f + 1,).
    branch_start : array of int64, shape (n_f + 1,)
        The first A-node of each F-node. The first is 1.
    log_prob : array of float64, shape (n_a,)
        Logarithm of the probability of each A-node given those above it; 0 for the root.
    fixed_start, fixed_var, fixed_value : arrays of int64, int32 and uint8
        The variables that have one value left at an A-node and more above it.
    child_start, child : arrays of int64 and int32
        F-nodes below each A-node; `fixed_start` and `child_start` have shape (n_a + 1,).

    References
    ----------
    Gogate, Webb & Domingos (2010), Learning efficient Markov networks, Section 2.
    """

    kind: ClassVar[str] = "feature_tree"
    title: ClassVar[str] = "a feature tree"
    is_exact: ClassVar[bool] = True
    has_exact_likelihood: ClassVar[bool] = True
    has_own_likelihood: ClassVar[bool] = True
    shown: ClassVar[tuple[str, ...]] = ("n_leaves",)

    schema: Schema
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

    def __post_init__(self) -> None:
        for name, dtype in ARRAYS.items():
            set_array(self, name, dtype, (None,))

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

    def literals(self, f: int) -> Conjunction:
        """Return the (variable, value) pairs of F-node `f`."""
        return _pairs(self.literal_start, self.literal_var, self.literal_value, f)

    def branches(self, f: int) -> range:
        """Return the A-nodes of F-node `f`."""
        return range(int(self.branch_start[f]), int(self.branch_start[f + 1]))

    def fixed(self, a: int) -> Conjunction:
        """Return the (variable, value) pairs that A-node `a` fixes."""
        return _pairs(self.fixed_start, self.fixed_var, self.fixed_value, a)

    def children(self, a: int) -> list[int]:
        """Return the F-nodes below A-node `a`."""
        below: list[int] = self.child[self.child_start[a] : self.child_start[a + 1]].tolist()
        return below

    def log_likelihood(self, rows: NDArray[np.uint8], _threads: int = 1) -> NDArray[np.float64]:
        """Return the log-probability of each row of columns in nats, shape (n_rows,).

        It is minus infinity where a row gives a variable no state, or several.
        """
        out = np.empty(len(rows))
        literals = (self.literal_start, self.literal_var, self.literal_value)
        fixed = (self.fixed_start, self.fixed_var, self.fixed_value)
        edges = (self.branch_start, self.child_start, self.child)
        stack = np.empty(max(len(self.child), 1), np.int32)
        values = self.schema.values(rows)
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

    @property
    def n_parameters(self) -> int:
        """Number of leaves: the features of the Markov network."""
        return self.n_leaves

    def to_circuit(self, _max_edges: int | None = None) -> ArithmeticCircuit:
        """Return the circuit with a sum for each F-node and a product for each A-node.

        Its size is linear in that of the tree. Its parameters are the probabilities of the A-nodes,
        and its value of all states is 1.
        """
        nodes = CircuitNodes(self.schema, 2 * self.n_columns + self.n_a_nodes)
        sums = [0] * self.n_f_nodes
        for f in range(self.n_f_nodes - 1, -1, -1):
            products = []
            for a in self.branches(f):
                parameter = 2 * self.n_columns + a - 1
                several = ((v, x) for v, x in self.fixed(a) if self.schema.arity[v] > 1)
                fixed = [nodes.value(v, x) for v, x in several]
                below = [sums[c] for c in self.children(a)]
                products.append(nodes.add(PRODUCT, [parameter, *fixed, *below]))
            sums[f] = nodes.add(SUM, products)
        nodes.add(PRODUCT, [sums[f] for f in self.children(ROOT)])
        return ArithmeticCircuit(self.schema, *nodes.arrays(), self.log_prob[1:])

    def with_parameters(self, weight: NDArray[np.float64]) -> "FeatureTree":
        """Return the tree with other log-probabilities of its A-nodes but the root."""
        return replace(self, log_prob=np.concatenate([[0.0], weight]))

    def to_markov_network(self) -> MarkovNetwork:
        """Return the Markov network of the same distribution, whose partition function is 1.

        A negated conjunction of several literals is written as conjunctions that exclude each
        other: not (a and b) is (not a) or (a and not b). Each has the weight of the leaf.

        Raises
        ------
        InputError
            The network would have more than `MAX_FEATURES` features.
        """
        conjunctions: list[list[Literal]] = []
        weights: list[float] = []
        for leaf in leaf_features(self):
            for expanded in _expand(self.schema, leaf):
                conjunctions.append(sorted(expanded.items()))
                weights.append(leaf.weight)
                if len(weights) > MAX_FEATURES:
                    raise InputError(
                        f"has more than {MAX_FEATURES:,} features.", where="feature tree"
                    )
        return markov_network(self.schema, features_of(conjunctions), weights)

    def describe(self) -> dict[str, Any]:
        """Return what the model is: variables, nodes, lengths of features, size when merged."""
        length = np.diff(self.literal_start)[~self.is_table]
        return {
            "n_vars": self.n_vars,
            "n_a_nodes": self.n_a_nodes,
            "n_f_nodes": int((~self.is_table).sum()),
            "n_leaves": self.n_leaves,
            "n_tables": int(self.is_table.sum()),
            "longest_feature": int(length.max()) if len(length) else 0,
            "depth": self.depth(),
            "n_a_nodes_merged": n_merged(self),
        }


def _pairs(start: NDArray, var: NDArray, value: NDArray, at: int) -> Conjunction:
    span = slice(start[at], start[at + 1])
    return tuple(zip(var[span].tolist(), value[span].tolist(), strict=True))


def n_merged(tree: FeatureTree) -> int:
    """Return the number of A-nodes but the root if subtrees that are equal are counted once."""
    last: dict[tuple, int] = {}
    same_as = np.arange(tree.n_f_nodes)
    for f in range(tree.n_f_nodes - 1, -1, -1):
        below = (
            (float(tree.log_prob[a]), tree.fixed(a), tuple(same_as[tree.children(a)].tolist()))
            for a in tree.branches(f)
        )
        same_as[f] = last.setdefault((tree.literals(f), *below), f)
    return sum(len(tree.branches(f)) for f in last.values())


@dataclass(frozen=True)
class LeafFeature:
    """What holds on the way to a leaf: literals, and conjunctions of which each does not hold."""

    literals: Conjunction
    negated: tuple[Conjunction, ...]
    weight: float


def leaf_features(tree: FeatureTree) -> Iterator[LeafFeature]:
    """Yield a feature for each A-node without children, over the tree's variables.

    The weight of a leaf is its log-probability and a share of those above it: each A-node hands its
    own share to its children in equal parts. See Gogate, Webb & Domingos (2010), Section 2 and
    Figure 1; their weights differ by the model counts, which cancel.
    """
    # An A-node, what holds above it, and its share of the log-probabilities from the root on.
    waiting: list[tuple[int, Conjunction, tuple[Conjunction, ...], float]] = [(ROOT, (), (), 0.0)]
    while waiting:
        a, literals, negated, share = waiting.pop()
        children = tree.children(a)
        if not children:
            yield LeafFeature(literals, negated, share)
        for f in reversed(children):
            feature = tree.literals(f)
            branches = tree.branches(f)
            for b in reversed(branches):
                weight = share / len(children) + float(tree.log_prob[b])
                if not feature:
                    waiting.append((b, literals + tree.fixed(b), negated, weight))
                elif b == branches[1]:
                    waiting.append((b, literals + feature, negated, weight))
                else:
                    waiting.append((b, literals, (*negated, feature), weight))


def _expand(schema: Schema, leaf: LeafFeature) -> Iterator[dict[int, int]]:
    """Yield conjunctions over columns, as column: value, that together say what the leaf says."""
    own: dict[int, int] = {}
    for literal in leaf.literals:
        own |= schema.implied(*literal)
    negated = [[schema.literal(*lit) for lit in clause] for clause in leaf.negated]
    # Short ones first: they fix columns, which makes others true or shorter.
    waiting = [(own, sorted(negated, key=len))]
    while waiting:
        known, clauses = waiting.pop()
        if not clauses:
            yield known
            continue
        clause, *rest = clauses
        if any(known.get(c, x) != x for c, x in clause):
            waiting.append((known, rest))
            continue
        for c, x in clause:
            if c not in known:
                waiting.append(({**known, c: 1 - x}, rest))
                known = {**known, c: x}
