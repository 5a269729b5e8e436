"""Circuits that are built node by node: of trees, also with hidden variables, and mixtures."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.features import FeatureSet, features_of
from mnlearn.variables.schema import Schema, binary_schema

PRODUCT, SUM = 0, 1
NO_PARENT = -1


class CircuitNodes:
    """Numbers products and sums, children before parents, behind literals and parameters."""

    def __init__(self, schema: Schema, n_leaves: int) -> None:
        self._schema = schema
        self._n_leaves = n_leaves
        self._kinds: list[int] = []
        self._lengths: list[int] = [0]
        self._children: list[list[int] | NDArray[np.int64]] = []

    def add(self, kind: int, below: list[int]) -> int:
        """Add a product or sum of nodes and return its number."""
        self._kinds.append(kind)
        self._lengths.append(len(below))
        self._children.append(below)
        return self._n_leaves + len(self._kinds) - 1

    def add_rows(self, kind: int, below: NDArray[np.int64]) -> NDArray[np.int64]:
        """Add a node for each row of nodes and return their numbers."""
        n_nodes, width = below.shape
        self._kinds += [kind] * n_nodes
        self._lengths += [width] * n_nodes
        self._children.append(below.ravel())
        end = self._n_leaves + len(self._kinds)
        return np.arange(end - n_nodes, end)

    def value(self, v: int, value: int) -> int:
        """Return the literal of a state of a variable of two states or more."""
        column, bit = self._schema.literal(v, value)
        return 2 * column + bit

    def arrays(self) -> tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int32]]:
        """Return the kinds, the places where lists of children start, and the children."""
        return (
            np.array(self._kinds, np.uint8),
            np.cumsum(self._lengths, dtype=np.int64),
            np.concatenate(self._children).astype(np.int32),
        )


def tree_circuit(
    parent: NDArray[np.int64],
    log_prob: NDArray[np.float64],
    schema: Schema | int,
    hidden_states: int = 2,
) -> ArithmeticCircuit:
    """Return the circuit of a rooted tree, linear in its size; its parameters are `log_prob`.

    `parent`, (n_tree,), is NO_PARENT for the root and for variables of a single state; those beyond
    the schema are hidden. `log_prob`, (n_tree, most, most), has log P(variable = x | parent = y) at
    [variable, y, x], of the root at [root, 0].
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


def mixture_circuit(circuits: Sequence[ArithmeticCircuit], log_share: NDArray) -> ArithmeticCircuit:
    """Return the circuit whose value is the weighted sum of the values of circuits.

    Its parameters are those of the circuits, one after the other, and the shares.
    """
    n_literals = 2 * circuits[0].n_columns
    n_parameters = [len(one.weight) for one in circuits]
    first_parameter = n_literals + np.cumsum([0, *n_parameters])
    first_share = int(first_parameter[-1])
    first_inner = first_share + len(circuits) + np.cumsum([0, *(len(c.is_sum) for c in circuits)])
    children = []
    for k, one in enumerate(circuits):
        number = np.concatenate(
            [
                np.arange(n_literals),
                first_parameter[k] + np.arange(n_parameters[k]),
                first_inner[k] + np.arange(len(one.is_sum)),
            ]
        )
        children.append(number[one.child])
    shares, product = first_share + np.arange(len(circuits)), int(first_inner[-1])
    children.append(np.stack([shares, first_inner[1:] - 1], axis=1).ravel())
    children.append(product + np.arange(len(circuits)))
    inner = [one.is_sum for one in circuits]
    lengths = [np.diff(one.start) for one in circuits]
    n = len(circuits)
    return ArithmeticCircuit(
        circuits[0].schema,
        np.concatenate([*inner, np.full(n, PRODUCT), [SUM]]).astype(np.uint8),
        np.cumsum(np.concatenate([[0], *lengths, np.full(n, 2), [n]])).astype(np.int64),
        np.concatenate(children).astype(np.int32),
        np.concatenate([*(c.weight for c in circuits), log_share]),
    )
