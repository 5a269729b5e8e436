"""The arithmetic circuit of a feature tree or graph."""

import numpy as np

from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.feature_tree import ROOT, FeatureTree
from mnlearn.runtime.arrays import read_only

_PRODUCT, _SUM = 0, 1


def circuit_of(tree: FeatureTree) -> ArithmeticCircuit:
    """Return the circuit with a sum for each F-node and a product for each A-node.

    Its size is linear in that of the tree, a value of a group counted once with all its columns.
    Its parameters are the probabilities of the A-nodes, and its value of all states is 1.
    """
    return _Builder(tree).circuit()


class _Builder:
    """Numbers the nodes of the circuit, children before parents."""

    def __init__(self, tree: FeatureTree) -> None:
        self._tree = tree
        self._n_leaves = 2 * tree.n_vars + tree.n_a_nodes
        self._kinds: list[int] = []
        self._lists: list[list[int]] = []
        self._values: dict[tuple[int, int], int] = {}

    def circuit(self) -> ArithmeticCircuit:
        """Return the circuit of the tree."""
        tree = self._tree
        sums = [0] * tree.n_f_nodes
        for f in range(tree.n_f_nodes - 1, -1, -1):
            products = []
            for a in tree.branches(f):
                parameter = 2 * tree.n_vars + a - 1
                fixed = [self._value(v, x) for v, x in tree.fixed(a)]
                below = [sums[c] for c in tree.children(a)]
                products.append(self._node(_PRODUCT, [parameter, *fixed, *below]))
            sums[f] = self._node(_SUM, products)
        self._node(_PRODUCT, [sums[f] for f in tree.children(ROOT)])
        start = np.cumsum([0, *map(len, self._lists)], dtype=np.int64)
        return ArithmeticCircuit(
            tree.n_vars,
            read_only(np.array(self._kinds, np.uint8)),
            read_only(start),
            read_only(np.concatenate(self._lists).astype(np.int32)),
            read_only(tree.log_prob[1:]),
            names=tree.names,
        )

    def _value(self, v: int, value: int) -> int:
        """Return the node of a value of a variable: a literal, or a product of those of a group."""
        columns = self._tree.variables.columns(v)
        if len(columns) == 1:
            return 2 * columns[0] + value
        if (v, value) not in self._values:
            literals = [2 * c + (k == value) for k, c in enumerate(columns)]
            self._values[v, value] = self._node(_PRODUCT, literals)
        return self._values[v, value]

    def _node(self, kind: int, below: list[int]) -> int:
        self._kinds.append(kind)
        self._lists.append(below)
        return self._n_leaves + len(self._kinds) - 1
