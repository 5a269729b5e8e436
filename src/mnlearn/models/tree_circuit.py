"""Circuits of tree-shaped Bayesian networks over binary variables, some of them hidden."""

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
) -> ArithmeticCircuit:
    """Return the circuit of a rooted tree, linear in its size.

    Parameters
    ----------
    parent : ndarray of int64, shape (n_tree,)
        Parent of each variable; NO_PARENT for the root, of which there is one. The first `n_vars`
        variables are observed; the circuit sums out the others.
    log_prob : ndarray of float64, shape (n_tree, 2, 2)
        log P(variable = x | parent = y) at [variable, y, x], in nats. The root has no parent; its
        log-probabilities are at [root, 0].
    schema : Schema or int
        The observed variables, or their number.

    Returns
    -------
    ArithmeticCircuit
        Its parameters are the conditional probabilities. It has features and targets only if all
        variables are observed.
    """
    schema = schema if isinstance(schema, Schema) else binary_schema(schema)
    n_vars = len(schema)
    parent = np.asarray(parent, np.int64)
    n_tree = len(parent)
    # A parameter for each value of a variable and of its parent; a root has no parent.
    used = np.ones((n_tree, 2, 2), bool)
    used[parent == NO_PARENT, 1] = False
    n_parameters = int(used.sum())
    layout = _lay_out(parent, n_vars, n_parameters)
    observed = n_tree == n_vars
    return ArithmeticCircuit(
        schema,
        layout.is_sum,
        layout.start,
        _children(parent, n_vars, layout),
        np.asarray(log_prob, np.float64)[used],
        _conjunctions(parent, used) if observed else None,
        np.repeat(np.arange(n_tree, dtype=np.int32), used.sum(axis=(1, 2))) if observed else None,
    )


def _conjunctions(parent: NDArray[np.int64], used: NDArray[np.bool_]) -> FeatureSet:
    """Return the conjunction of each parameter: a value of a variable, and one of its parent."""
    v, y, x = np.nonzero(used)
    above = parent[v]
    is_first = (above == NO_PARENT) | (v < above)
    var = np.stack([np.where(is_first, v, above), np.where(is_first, above, v)], axis=1)
    value = np.stack([np.where(is_first, x, y), np.where(is_first, y, x)], axis=1)
    kept = var != NO_PARENT
    return feature_set(np.concatenate([[0], np.cumsum(kept.sum(axis=1))]), var[kept], value[kept])


@dataclass(frozen=True, eq=False)
class _Layout:
    """The nodes of a tree's circuit.

    The product below a variable is that of its own literal, if it is observed, and of the messages
    of its children. The messages for both values of the parent share it. A message is a sum of two
    terms, each a parameter times what is below. A product of one factor is this factor.

    parameter : the node of the parameter of [v, y, x]. below : the node of what is below [v, x];
    -1 for a product of one factor or none. term : the node of the term [v, y, x]. message : the
    node of the message [v, y]. n_factors : of the product below each variable. Of the sums and
    products: is_sum, and start as in `ArithmeticCircuit`. n_leaves : nodes before them.
    """

    parameter: NDArray[np.int64]
    below: NDArray[np.int64]
    term: NDArray[np.int64]
    message: NDArray[np.int64]
    n_factors: NDArray[np.int64]
    is_sum: NDArray[np.uint8]
    start: NDArray[np.int64]
    n_leaves: int


def _lay_out(parent: NDArray[np.int64], n_vars: int, n_parameters: int) -> _Layout:
    """Number the nodes: literals, parameters, then variable by variable, children first."""
    n_tree, n_leaves = len(parent), 2 * n_vars + n_parameters
    values, bits = np.where(parent == NO_PARENT, 1, 2), np.arange(2)
    first_parameter = 2 * n_vars + 2 * (np.cumsum(values) - values)
    parameter = first_parameter[:, None, None] + 2 * bits[:, None] + bits
    n_factors = (np.arange(n_tree) < n_vars).astype(np.int64)
    np.add.at(n_factors, parent[parent != NO_PARENT], 1)
    n_below = np.where(n_factors > 1, 2, 0)
    n_products = np.where(n_factors > 0, 2, 0)
    n_nodes = n_below + values * (n_products + 1)

    order = _children_first(parent)
    first = np.empty(n_tree, np.int64)
    first[order] = n_leaves + np.cumsum(n_nodes[order]) - n_nodes[order]
    below = np.where(n_below[:, None] > 0, first[:, None] + bits, -1)
    of_value = first[:, None] + n_below[:, None] + bits * (n_products[:, None] + 1)
    term = np.where(n_products[:, None, None] > 0, of_value[:, :, None] + bits, parameter)
    message = of_value + n_products[:, None]

    is_sum = np.zeros(n_nodes.sum(), np.uint8)
    is_sum[message[_has_message(parent)] - n_leaves] = 1
    n_children = np.full(len(is_sum), 2, np.int64)
    n_children[below[n_below > 0] - n_leaves] = n_factors[n_below > 0, None]
    start = np.concatenate([[0], np.cumsum(n_children)])
    return _Layout(parameter, below, term, message, n_factors, is_sum, start, n_leaves)


def _has_message(parent: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return whether a variable has a message for each value of its parent; a root has one."""
    return np.stack([np.ones(len(parent), bool), parent != NO_PARENT], axis=1)


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


def _children(parent: NDArray[np.int64], n_vars: int, layout: _Layout) -> NDArray[np.int32]:
    """Return the children of all sums and products."""
    out = np.empty(layout.start[-1], np.int32)

    def put(nodes: NDArray[np.int64], place: NDArray | int, children: NDArray[np.int64]) -> None:
        out[layout.start[nodes - layout.n_leaves] + place] = children

    bits, observed = np.arange(2), np.arange(n_vars)
    literal = 2 * observed[:, None] + bits
    has_product = layout.n_factors > 1
    # What is below each value of a variable: a product, or its only factor.
    below = layout.below.copy()
    below[observed] = np.where(has_product[:n_vars, None], below[observed], literal)
    put(below[observed][has_product[:n_vars]], 0, literal[has_product[:n_vars]])

    # The variables with a parent, by parent; the literal of an observed parent comes first.
    child = np.argsort(parent, kind="stable")[np.count_nonzero(parent == NO_PARENT) :]
    above, message = parent[child], layout.message[child]
    place = np.arange(len(child)) - np.searchsorted(above, above) + (above < n_vars)
    several = has_product[above]
    put(below[above[several]], place[several, None], message[several])
    below[above[~several]] = message[~several]

    v, y = np.nonzero(_has_message(parent))
    put(layout.message[v, y][:, None], bits, layout.term[v, y])
    is_product = layout.n_factors[v] > 0
    v, y = v[is_product], y[is_product]
    put(layout.term[v, y], 0, layout.parameter[v, y])
    put(layout.term[v, y], 1, below[v])
    return out
