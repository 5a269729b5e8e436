"""The arithmetic circuit of a tree of hidden variables."""

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.hidden_tree import HiddenTree
from mnlearn.runtime.errors import InputError

_PRODUCT, _SUM = 0, 1
# A circuit with more edges is refused: it would take gigabytes, and seconds for each row.
MAX_EDGES = 5_000_000


def n_circuit_edges(tree: HiddenTree) -> int:
    """Return an upper bound on the number of edges of the circuit of a tree."""
    n, k = tree.n_vars, tree.n_states
    return (n - 1) * 3 * k * k + 3 * k + n * 7 * k + (n - 1) * k


def circuit_of(tree: HiddenTree, max_edges: int = MAX_EDGES) -> ArithmeticCircuit:
    """Return the circuit, which sums the hidden variables out.

    Its parameters are `parameters_of(tree)`. It is not deterministic.

    Raises
    ------
    InputError
        It would have more than `max_edges` edges.
    """
    n_edges = n_circuit_edges(tree)
    if n_edges > max_edges:
        raise InputError(
            f"hidden tree: its circuit would have up to {n_edges:,} edges, more than "
            f"{max_edges:,}; learn it with fewer states."
        )
    return _Builder(tree).circuit()


def parameters_of(tree: HiddenTree) -> NDArray[np.float64]:
    """Return the log-probabilities of X_v = x, [v, j, x], and then of Z_v, [v, i, j].

    The root has the row of its distribution only once. Variables are in the order of the tree.
    """
    emission = tree.emission[list(tree.order)]
    leaves = np.stack([(1.0 - emission).clip(0.0), emission], axis=2)
    edges = tree.transition[list(tree.order[1:])]
    both = [leaves.ravel(), tree.transition[tree.root, 0], edges.ravel()]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.concatenate(both)))


def with_parameters(tree: HiddenTree, weight: NDArray[np.float64]) -> HiddenTree:
    """Return the tree with other parameters, in the order of `parameters_of`."""
    n, k = tree.n_vars, tree.n_states
    order = list(tree.order)
    p = np.exp(weight)
    emission, transition = np.empty_like(tree.emission), np.empty_like(tree.transition)
    emission[order] = p[: 2 * n * k].reshape(n, k, 2)[:, :, 1]
    transition[tree.root] = p[2 * n * k : (2 * n + 1) * k]
    transition[order[1:]] = p[(2 * n + 1) * k :].reshape(n - 1, k, k)
    return HiddenTree(tree.parent, transition, emission, tree.names)


class _Builder:
    """Numbers the nodes of the circuit, children before parents; blocks of nodes are arrays."""

    def __init__(self, tree: HiddenTree) -> None:
        self._tree = tree
        self._weight = parameters_of(tree)
        self._next = 2 * tree.n_vars + len(self._weight)
        self._place = {v: p for p, v in enumerate(tree.order)}
        self._kinds: list[NDArray[np.uint8]] = []
        self._lengths: list[NDArray[np.int64]] = []
        self._children: list[NDArray[np.int32]] = []

    def circuit(self) -> ArithmeticCircuit:
        """Return the circuit of the tree."""
        tree = self._tree
        n, k = tree.n_vars, tree.n_states
        states = np.arange(k)
        message: dict[int, NDArray[np.int64]] = {}
        for v in reversed(tree.order):
            below = [self._emission(v), *(message.pop(c) for c in tree.children[v])]
            content = self._add(_PRODUCT, np.stack(below, axis=1)) if below[1:] else below[0]
            first = 2 * n + 2 * n * k
            if v == tree.root:
                rows = (first + states)[None]
            else:
                first += k + (self._place[v] - 1) * k * k
                rows = first + np.arange(k * k).reshape(k, k)
            pairs = np.stack([rows, np.broadcast_to(content, rows.shape)], axis=2)
            products = self._add(_PRODUCT, pairs.reshape(-1, 2))
            message[v] = self._add(_SUM, products.reshape(rows.shape))
        return ArithmeticCircuit(
            n,
            np.concatenate(self._kinds),
            np.cumsum(np.concatenate([[0], *self._lengths])).astype(np.int64),
            np.concatenate(self._children),
            self._weight,
            names=tree.names,
        )

    def _emission(self, v: int) -> NDArray[np.int64]:
        """Return the sums over the values of X_v, one for each value of Z_v."""
        n, k = self._tree.n_vars, self._tree.n_states
        parameters = 2 * n + self._place[v] * 2 * k + np.arange(2 * k)
        literals = np.tile([2 * v, 2 * v + 1], k)
        products = self._add(_PRODUCT, np.stack([parameters, literals], axis=1))
        return self._add(_SUM, products.reshape(k, 2))

    def _add(self, kind: int, children: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the numbers of nodes with equally many children, which are in the rows."""
        n_nodes, width = children.shape
        self._kinds.append(np.full(n_nodes, kind, np.uint8))
        self._lengths.append(np.full(n_nodes, width, np.int64))
        self._children.append(children.astype(np.int32).ravel())
        self._next += n_nodes
        return np.arange(self._next - n_nodes, self._next)
