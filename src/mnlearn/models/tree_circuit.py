"""Circuits of tree-shaped Bayesian networks, some of whose variables may be hidden."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.features import FeatureSet, feature_set
from mnlearn.variables.schema import Schema, binary_schema

NO_PARENT = -1


def tree_circuit(
    parent: NDArray[np.int64],
    log_prob: NDArray[np.float64],
    schema: Schema | int,
    hidden_states: int = 2,
) -> ArithmeticCircuit:
    """Return the circuit of a rooted tree, linear in its size.

    Parameters
    ----------
    parent : ndarray of int64, shape (n_tree,)
        Parent of each variable; NO_PARENT for the root, of which there is one, and for variables of
        a single state. The first ones are those of the schema; the circuit sums out the others.
    log_prob : ndarray of float64, shape (n_tree, most, most)
        log P(variable = x | parent = y) at [variable, y, x], in nats. The root has no parent; its
        log-probabilities are at [root, 0]. Places of states that a variable lacks are not read.
    schema : Schema or int
        The observed variables, or the number of them if they have two states.
    hidden_states : int
        Number of states of each hidden variable.

    Returns
    -------
    ArithmeticCircuit
        Its parameters are the conditional probabilities. It has features and targets only if all
        variables are observed.
    """
    schema = schema if isinstance(schema, Schema) else binary_schema(schema)
    parent = np.asarray(parent, np.int64)
    n_vars, n_tree = len(schema), len(parent)
    arity = np.concatenate([schema.arity, np.full(n_tree - n_vars, hidden_states)])
    kept = np.flatnonzero(arity > 1)
    place = np.full(n_tree + 1, NO_PARENT)
    place[kept] = np.arange(len(kept))
    leaf = _leaves(schema, int(arity.max()))[kept[kept < n_vars]]
    tree = _Tree(place[parent[kept]], arity[kept], kept, leaf)
    layout = _lay_out(tree, 2 * schema.n_columns)
    v, y, x = np.nonzero(layout.parameter >= 0)
    observed = n_tree == n_vars
    return ArithmeticCircuit(
        schema,
        layout.is_sum,
        layout.start,
        _children(tree, layout),
        np.asarray(log_prob, np.float64)[kept[v], y, x],
        _conjunctions(tree, v, y, x) if observed else None,
        kept[v].astype(np.int32) if observed else None,
    )


@dataclass(frozen=True, eq=False)
class _Tree:
    """The variables of two states or more.

    parent : places of the parents. arity : numbers of states. number : the variables, those that
    are observed first. leaf : int64, (n_observed, most): the leaf of each state.
    """

    parent: NDArray[np.int64]
    arity: NDArray[np.int64]
    number: NDArray[np.int64]
    leaf: NDArray[np.int64]

    @property
    def above(self) -> NDArray[np.int64]:
        """Number of states of each parent; a root has one message."""
        return np.where(self.parent == NO_PARENT, 1, self.arity[self.parent])

    @property
    def states(self) -> NDArray[np.int64]:
        """The states that some variable has."""
        return np.arange(self.arity.max())


def _leaves(schema: Schema, most: int) -> NDArray[np.int64]:
    """Return the leaf of each state of each variable, (n_vars, most); others are of no use."""
    states = np.arange(most)
    first = 2 * schema.start[:-1, None]
    return np.where(schema.arity[:, None] == 2, first + states, first + 2 * states + 1)


def _conjunctions(tree: _Tree, v: NDArray, y: NDArray, x: NDArray) -> FeatureSet:
    """Return the conjunction of each parameter: a state of a variable, and one of its parent."""
    above = tree.parent[v]
    own, other = tree.leaf[v, x], np.where(above == NO_PARENT, -1, tree.leaf[above, y])
    both = np.stack([np.minimum(own, other), np.maximum(own, other)], axis=1)
    kept = both >= 0
    start = np.concatenate([[0], np.cumsum(kept.sum(axis=1))])
    return feature_set(start, both[kept] // 2, both[kept] % 2)


@dataclass(frozen=True, eq=False)
class _Layout:
    """The nodes of a tree's circuit.

    The product below a variable is that of its own literal, if it is observed, and of the messages
    of its children. The messages for all states of the parent share it. A message is a sum of
    terms, each a parameter times what is below. A product of one factor is this factor.

    parameter : the node of the parameter of [v, y, x], -1 where there is none. below : the node of
    what is below [v, x]; -1 for a product of one factor or none. term : the node of the term
    [v, y, x]. message : the node of the message [v, y]. n_factors : of the product below each
    variable. Of the sums and products: is_sum, and start as in `ArithmeticCircuit`. n_leaves :
    nodes before them.
    """

    parameter: NDArray[np.int64]
    below: NDArray[np.int64]
    term: NDArray[np.int64]
    message: NDArray[np.int64]
    n_factors: NDArray[np.int64]
    is_sum: NDArray[np.uint8]
    start: NDArray[np.int64]
    n_leaves: int


def _lay_out(tree: _Tree, n_literals: int) -> _Layout:
    """Number the nodes: literals, parameters, then variable by variable, children first."""
    n_tree, states, arity, above = len(tree.parent), tree.states, tree.arity, tree.above
    has_state, has_message = states < arity[:, None], states < above[:, None]
    used = has_message[:, :, None] & has_state[:, None, :]
    parameter = np.where(used, n_literals - 1 + np.cumsum(used).reshape(used.shape), -1)
    n_leaves = n_literals + int(used.sum())
    n_factors = (np.arange(n_tree) < len(tree.leaf)).astype(np.int64)
    np.add.at(n_factors, tree.parent[tree.parent != NO_PARENT], 1)
    n_below = np.where(n_factors > 1, arity, 0)
    n_products = np.where(n_factors > 0, arity, 0)
    n_nodes = n_below + above * (n_products + 1)

    order = _children_first(tree.parent)
    first = np.empty(n_tree, np.int64)
    first[order] = n_leaves + np.cumsum(n_nodes[order]) - n_nodes[order]
    below = np.where((n_factors > 1)[:, None] & has_state, first[:, None] + states, -1)
    of_state = first[:, None] + n_below[:, None] + states * (n_products[:, None] + 1)
    term = np.where(n_products[:, None, None] > 0, of_state[:, :, None] + states, parameter)
    message = of_state + n_products[:, None]

    is_sum = np.zeros(n_nodes.sum(), np.uint8)
    n_children = np.full(len(is_sum), 2, np.int64)
    v, y = np.nonzero(has_message)
    is_sum[message[v, y] - n_leaves] = 1
    n_children[message[v, y] - n_leaves] = arity[v]
    v, x = np.nonzero(below >= 0)
    n_children[below[v, x] - n_leaves] = n_factors[v]
    start = np.concatenate([[0], np.cumsum(n_children)])
    return _Layout(parameter, below, term, message, n_factors, is_sum, start, n_leaves)


def _children_first(parent: NDArray[np.int64]) -> list[int]:
    """Return the variables so that each one comes after all of its children."""
    children: list[list[int]] = [[] for _ in parent]
    for v, above in enumerate(parent.tolist()):
        if above != NO_PARENT:
            children[above].append(v)
    order: list[int] = np.flatnonzero(parent == NO_PARENT)[:1].tolist()
    for v in order:
        order += children[v]
    return order[::-1]


def _children(tree: _Tree, layout: _Layout) -> NDArray[np.int32]:
    """Return the children of all sums and products."""
    out = np.empty(layout.start[-1], np.int32)

    def put(nodes: NDArray[np.int64], place: NDArray | int, children: NDArray[np.int64]) -> None:
        out[layout.start[nodes - layout.n_leaves] + place] = children

    n_observed, states = len(tree.leaf), tree.states
    literal = tree.leaf[:, : len(states)]
    has_product = layout.n_factors > 1
    # What is below each state of a variable: a product, or its only factor.
    below = layout.below.copy()
    v, x = np.nonzero(below[:n_observed] >= 0)
    put(below[v, x], 0, literal[v, x])
    below[:n_observed] = np.where(has_product[:n_observed, None], below[:n_observed], literal)

    # The variables with a parent, by parent; the literal of an observed parent comes first.
    child = np.argsort(tree.parent, kind="stable")[np.count_nonzero(tree.parent == NO_PARENT) :]
    above = tree.parent[child]
    place = np.arange(len(child)) - np.searchsorted(above, above) + (above < n_observed)
    c, y = np.nonzero(states < tree.above[child, None])
    several = has_product[above[c]]
    message = layout.message[child[c], y]
    put(below[above[c[several]], y[several]], place[c[several]], message[several])
    below[above[c[~several]], y[~several]] = message[~several]

    v, y, x = np.nonzero(layout.parameter >= 0)
    put(layout.message[v, y], x, layout.term[v, y, x])
    is_product = layout.n_factors[v] > 0
    v, y, x = v[is_product], y[is_product], x[is_product]
    put(layout.term[v, y, x], 0, layout.parameter[v, y, x])
    put(layout.term[v, y, x], 1, below[v, x])
    return out
