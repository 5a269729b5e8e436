"""Trees of hidden variables with several values, each with one observed variable."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.circuit_building import NO_PARENT, PRODUCT, SUM, CircuitNodes
from mnlearn.models.fields import NAMELESS, set_array, set_schema
from mnlearn.models.model import Model
from mnlearn.runtime.arrays import read_only
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Schema

# How far the probabilities of a distribution may add up to something else than 1.
_ROUNDING = 1e-6
# A circuit with more edges is refused: it would take gigabytes, and seconds for each row.
MAX_EDGES = 5_000_000


@dataclass(frozen=True, eq=False, repr=False)
class HiddenTree(Model):
    """A hidden variable Z_v for each observed X_v; the hidden ones form a rooted tree.

    P(x) is the sum over z of the product over v of P(z_v | z_parent) P(x_v | z_v). Its partition
    function is 1.

    Attributes
    ----------
    parent : ndarray of int32, shape (n_vars,)
        Parent of each hidden variable; NO_PARENT for the root, of which there is one, and for
        variables of one state, which are not in the tree.
    transition : ndarray of float64, shape (n_vars, n_states, n_states)
        P(Z_v = j | Z_parent = i) at [v, i, j]. All rows of the root are P(Z_root = j).
    emission : ndarray of float64, shape (n_columns, n_states)
        P(column = 1 | Z_v = j) at [column, j], of the columns of X_v.
    schema : Schema
        The observed variables; nameless ones of the states 0 and 1 if not given.

    References
    ----------
    Liu & Van den Broeck, "Tractable regularization of probabilistic circuits", NeurIPS 2021.
    """

    kind: ClassVar[str] = "hidden_tree"
    title: ClassVar[str] = "a hidden tree"
    is_exact: ClassVar[bool] = True
    has_exact_likelihood: ClassVar[bool] = True
    sizes: ClassVar[tuple[str, ...]] = ("n_states", "n_parameters")
    shown: ClassVar[tuple[str, ...]] = ("n_states",)

    parent: NDArray[np.int32]
    transition: NDArray[np.float64]
    emission: NDArray[np.float64]
    schema: Schema = NAMELESS

    def __post_init__(self) -> None:
        parent = set_array(self, "parent", np.int32, (None,))
        if not len(parent):
            raise InputError("hidden tree: expected at least one variable.")
        n_vars = len(parent)
        set_schema(self, self.schema, n_vars)
        emission = set_array(self, "emission", np.float64, (self.n_columns, None))
        n_states = emission.shape[1]
        if not n_states:
            raise InputError("hidden tree: expected at least one value of each hidden variable.")
        transition = set_array(self, "transition", np.float64, (n_vars, n_states, n_states))
        for name, array in (("transition", transition), ("emission", emission)):
            if not ((array >= 0) & (array <= 1 + _ROUNDING)).all():
                raise InputError(f"hidden tree, {name}: expected probabilities.")
        if (np.abs(transition.sum(axis=2) - 1.0) > _ROUNDING).any():
            raise InputError("hidden tree, transition: expected rows that add up to 1.")
        for own in self.schema.several:
            if (np.abs(emission[list(own)].sum(axis=0) - 1.0) > _ROUNDING).any():
                raise InputError("hidden tree, emission: expected states that add up to 1.")
        if ((parent < NO_PARENT) | (parent >= n_vars)).any():
            raise InputError(f"hidden tree, parent: expected variables 0 to {n_vars - 1} or -1.")
        inside = self.schema.arity > 1
        n_roots = int((parent[inside] == NO_PARENT).sum())
        if n_roots != 1 or sorted(self.order) != np.flatnonzero(inside).tolist():
            raise InputError("hidden tree, parent: expected a tree with one root.")
        if (transition[self.order[0]] != transition[self.order[0], 0]).any():
            raise InputError("hidden tree, transition: expected equal rows at the root.")

    @property
    def n_states(self) -> int:
        """Number of values of each hidden variable."""
        return self.emission.shape[1]

    @property
    def root(self) -> int:
        """The root of the tree."""
        return self.order[0]

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Return the children of each variable, ascending."""
        return children_of(self.parent)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The root and the variables below it, parents before children."""
        inside = (self.parent == NO_PARENT) & (self.schema.arity > 1)
        order: list[int] = np.flatnonzero(inside)[:1].tolist()
        for v in order:
            order += self.children[v]
        return tuple(order)

    @cached_property
    def leaf(self) -> NDArray[np.float64]:
        """P(X_v = x | Z_v = j) at [v, j, x], (n_vars, n_states, most); 0 for states X_v lacks."""
        return read_only(leaf_tables(self.emission, self.schema))

    def leaf_of(self, v: int) -> NDArray[np.float64]:
        """Return P(X_v = x | Z_v = j) at [j, x], for the states that X_v has."""
        return self.leaf[v, :, : self.schema.arity[v]]

    @property
    def n_parameters(self) -> int:
        """Number of probabilities that can be chosen freely."""
        k, free = self.n_states, self.schema.arity - 1
        return (k - 1) + (len(self.order) - 1) * k * (k - 1) + int(free.sum()) * k

    def to_circuit(self, max_edges: int | None = None) -> ArithmeticCircuit:
        """Return the circuit, which sums the hidden variables out.

        Its parameters are `parameters_of(tree)`. It is not deterministic.

        Raises
        ------
        InputError
            It would have more than `max_edges` edges.
        """
        n_edges = n_circuit_edges(self)
        max_edges = MAX_EDGES if max_edges is None else max_edges
        if n_edges > max_edges:
            raise InputError(
                f"hidden tree: its circuit would have up to {n_edges:,} edges, more than "
                f"{max_edges:,}; learn it with fewer states."
            )
        return _circuit_of(self)

    def with_parameters(self, weight: NDArray[np.float64]) -> "HiddenTree":
        """Return the tree with other parameters, in the order of `parameters_of`."""
        k, first, rest = self.n_states, 0, list(self.order[1:])
        leaf, transition = np.array(self.leaf), np.array(self.transition)
        p = np.exp(weight)
        for v in self.order:
            width = int(self.schema.arity[v])
            leaf[v, :, :width] = p[first : first + k * width].reshape(k, width)
            first += k * width
        transition[self.root] = p[first : first + k]
        transition[rest] = p[first + k :].reshape(len(rest), k, k)
        emission = emission_of(leaf, self.schema)
        return HiddenTree(self.parent, transition, emission, self.schema)

    def is_deterministic(self) -> bool:
        """Return that hidden variables are maximised too."""
        return False

    def to_markov_network(self) -> Any:
        """Refuse: a tree of hidden variables has no features."""
        raise InputError(
            "a hidden tree has no features, so no graph over its variables; hidden variables may "
            "join any of them.",
            where="model",
        )


def children_of(parent: NDArray[np.int32]) -> tuple[tuple[int, ...], ...]:
    """Return the children of each node of a forest, ascending."""
    below: list[list[int]] = [[] for _ in parent]
    for v, above in enumerate(parent.tolist()):
        if above != NO_PARENT:
            below[above].append(v)
    return tuple(map(tuple, below))


def leaf_tables(emission: NDArray[np.float64], schema: Schema) -> NDArray[np.float64]:
    """Return the probabilities of states from those of columns; see `HiddenTree`."""
    if schema.is_binary:
        return np.stack([1.0 - emission, emission], axis=2)
    out = np.zeros((len(schema), emission.shape[1], int(schema.arity.max())))
    for v in range(len(schema)):
        own = emission[list(schema.columns(v))].T
        if own.shape[1] < 2:
            out[v, :, 0] = 1.0 - own.sum(axis=1)
        out[v, :, own.shape[1] == 1 :][:, : own.shape[1]] = own
    return out


def emission_of(leaf: NDArray[np.float64], schema: Schema) -> NDArray[np.float64]:
    """Return the probabilities of columns from those of states; the reverse of `leaf_tables`."""
    if schema.is_binary:
        return leaf[:, :, 1]
    kept = np.arange(leaf.shape[2]) < schema.arity[:, None]
    kept[schema.arity < 3, 0] = False
    return leaf.transpose(0, 2, 1)[kept]


def n_circuit_edges(tree: HiddenTree) -> int:
    """Return an upper bound on the number of edges of the circuit of a tree."""
    n, k = len(tree.order), tree.n_states
    leaves = int((3 * tree.schema.arity + 1).sum()) * k
    return (n - 1) * 3 * k * k + 3 * k + leaves + (n - 1) * k


def parameters_of(tree: HiddenTree) -> NDArray[np.float64]:
    """Return the log-probabilities of X_v = x, [v, j, x], and then of Z_v, [v, i, j].

    The root has the row of its distribution only once. Variables are in the order of the tree.
    """
    leaves = [tree.leaf_of(v).clip(0.0).ravel() for v in tree.order]
    edges = tree.transition[list(tree.order[1:])]
    both = [*leaves, tree.transition[tree.root, 0], edges.ravel()]
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.concatenate(both)))


def _circuit_of(tree: HiddenTree) -> ArithmeticCircuit:
    """Return the circuit of a tree, whose nodes are added in blocks: one for each variable."""
    schema, k, weight = tree.schema, tree.n_states, parameters_of(tree)
    n_literals = 2 * tree.n_columns
    nodes = CircuitNodes(schema, n_literals + len(weight))
    widths = k * schema.arity[list(tree.order)]
    # The first parameter of each variable of the tree, and the first one behind all of these.
    firsts = n_literals + np.cumsum([0, *widths.tolist()])
    message: dict[int, NDArray[np.int64]] = {}
    for place in range(len(tree.order) - 1, -1, -1):
        v = tree.order[place]
        literals = [nodes.value(v, x) for x in range(schema[v].arity)]
        parameters = firsts[place] + np.arange(widths[place])
        terms = nodes.add_rows(PRODUCT, np.stack([parameters, np.tile(literals, k)], axis=1))
        below = [nodes.add_rows(SUM, terms.reshape(k, -1))]
        below += [message.pop(c) for c in tree.children[v]]
        content = nodes.add_rows(PRODUCT, np.stack(below, axis=1)) if below[1:] else below[0]
        first = int(firsts[-1])
        rows = (first + np.arange(k))[None]
        if place:
            rows = first + k + (place - 1) * k * k + np.arange(k * k).reshape(k, k)
        pairs = np.stack([rows, np.broadcast_to(content, rows.shape)], axis=2)
        products = nodes.add_rows(PRODUCT, pairs.reshape(-1, 2))
        message[v] = nodes.add_rows(SUM, products.reshape(rows.shape))
    return ArithmeticCircuit(schema, *nodes.arrays(), weight)
