"""Circuits of tree-shaped Bayesian networks, some of whose variables may be hidden."""

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.circuit_nodes import PRODUCT, SUM, CircuitNodes
from mnlearn.models.features import FeatureSet, features_of
from mnlearn.variables.schema import Schema, binary_schema

NO_PARENT = -1


def tree_circuit(
    parent: NDArray[np.int64],
    log_prob: NDArray[np.float64],
    schema: Schema | int,
    hidden_states: int = 2,
) -> ArithmeticCircuit:
    """Return the circuit of a rooted tree, linear in its size; its parameters are `log_prob`.

    `parent`, (n_tree,), is NO_PARENT for the root and for variables of a single state. The first
    ones are those of the schema; the others are hidden. `log_prob`, (n_tree, most, most), has log
    P(variable = x | parent = y) at [variable, y, x], of the root at [root, 0]. The circuit has
    features and targets only if all variables are observed.
    """
    schema = schema if isinstance(schema, Schema) else binary_schema(schema)
    n_vars, n_tree, parents = len(schema), len(parent), np.asarray(parent).tolist()
    arity = [*schema.arity.tolist(), *[hidden_states] * (n_tree - n_vars)]
    inside = [v for v in range(n_tree) if arity[v] > 1]
    children: dict[int, list[int]] = {v: [] for v in (NO_PARENT, *inside)}
    for v in inside:
        children[parents[v]].append(v)
    # A root has one message.
    above = {v: 1 if parents[v] == NO_PARENT else arity[parents[v]] for v in inside}
    cells = [(v, y, x) for v in inside for y in range(above[v]) for x in range(arity[v])]
    nodes = CircuitNodes(schema, 2 * schema.n_columns + len(cells))
    parameter = {cell: 2 * schema.n_columns + k for k, cell in enumerate(cells)}
    order = children[NO_PARENT][:1]
    for v in order:
        order += children[v]
    messages: dict[int, list[int]] = {}
    for v in reversed(order):
        factors = [[messages[c][x] for c in children[v]] for x in range(arity[v])]
        if v < n_vars:
            factors = [[nodes.value(v, x), *own] for x, own in enumerate(factors)]
        below = [[nodes.add(PRODUCT, own)] if own[1:] else own for own in factors]
        messages[v] = []
        for y in range(above[v]):
            terms = [
                nodes.add(PRODUCT, [parameter[v, y, x], *own]) if own else parameter[v, y, x]
                for x, own in enumerate(below)
            ]
            messages[v].append(nodes.add(SUM, terms))
    place = tuple(np.array(cells).T)
    weight = np.asarray(log_prob, np.float64)[place]
    if n_tree > n_vars:
        return ArithmeticCircuit(schema, *nodes.arrays(), weight)
    features = _conjunctions(schema, parents, cells)
    return ArithmeticCircuit(schema, *nodes.arrays(), weight, features, place[0].astype(np.int32))


def _conjunctions(
    schema: Schema, parents: list[int], cells: list[tuple[int, int, int]]
) -> FeatureSet:
    """Return the conjunction of each parameter: a state of a variable, and one of its parent."""
    return features_of(
        sorted(schema.literal(u, state) for u, state in ((v, x), (parents[v], y)) if u != NO_PARENT)
        for v, y, x in cells
    )
