"""Junction trees: cliques of variables, joined in a tree by the variables that they share."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.bayesian_network import BayesianNetwork, network_of_tables
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.circuit_building import NO_PARENT, PRODUCT, SUM, CircuitNodes
from mnlearn.models.cpds import CpdTable
from mnlearn.models.features import features_of
from mnlearn.models.fields import check_spans, set_array, set_schema
from mnlearn.models.markov_network import MarkovNetwork, markov_network
from mnlearn.models.model import Model
from mnlearn.runtime.arrays import read_only
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import NO_STATE, Literal, Schema

# Tables of more cells than this in all are refused: no sample could fill them.
MAX_CELLS = 2_000_000
# How far the probabilities of a distribution may add up to something else than 1.
_ROUNDING = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class JunctionTree(Model):
    """P(state) is the product over cliques of P(new variables of the clique | its separator).

    The separator of a clique has the variables that it shares with its parent; its other variables
    are new: no clique before it has them. So the joint distribution is the product of the
    distributions of all cliques, divided by those of all separators, and its partition function
    is 1. Construction checks that the cliques are such a tree.

    Attributes
    ----------
    schema : Schema
        The variables.
    clique_start : ndarray of int64, shape (n_cliques + 1,)
        The variables of clique c are clique_var[clique_start[c]:clique_start[c + 1]].
    clique_var : ndarray of int32, shape (n_members,)
        They ascend in each clique.
    parent : ndarray of int32, shape (n_cliques,)
        A clique before each clique; NO_PARENT where the separator is empty.
    log_prob : ndarray of float64, shape (n_cells,)
        log P(new variables | separator) in nats: a table for each clique, one after the other, with
        an axis for each variable of the clique, the last one changing fastest.

    References
    ----------
    Chechetka & Guestrin (2007), Efficient principled learning of thin junction trees, Section 2.
    """

    kind: ClassVar[str] = "junction_tree"
    title: ClassVar[str] = "a junction tree"
    is_exact: ClassVar[bool] = True
    has_exact_likelihood: ClassVar[bool] = True
    has_own_likelihood: ClassVar[bool] = True
    sizes: ClassVar[tuple[str, ...]] = ("n_cliques", "treewidth", "n_parameters")
    shown: ClassVar[tuple[str, ...]] = ("n_cliques",)

    schema: Schema
    clique_start: NDArray[np.int64]
    clique_var: NDArray[np.int32]
    parent: NDArray[np.int32]
    log_prob: NDArray[np.float64]

    def __post_init__(self) -> None:
        set_schema(self, self.schema)
        start = set_array(self, "clique_start", np.int64, (None,))
        clique_var = set_array(self, "clique_var", np.int32, (None,))
        check_spans(self, start, len(clique_var))
        if (np.diff(start) < 1).any():
            raise InputError("junction tree: expected at least one variable in each clique.")
        if ((clique_var < 0) | (clique_var >= len(self.schema))).any():
            raise InputError(
                f"junction tree: expected variables 0 to {len(self.schema) - 1} in the cliques."
            )
        set_array(self, "parent", np.int32, (self.n_cliques,))
        _check_tree(self)
        set_array(self, "log_prob", np.float64, (int(self.table_start[-1]),))
        for c in range(self.n_cliques):
            new = ~np.isin(self.clique(c), self.separator(c))
            with np.errstate(over="ignore"):
                total = np.exp(self.table(c)).sum(axis=tuple(np.flatnonzero(new)))
            # NaN makes a comparison false.
            if not (np.abs(total - 1.0) <= _ROUNDING).all():
                raise InputError(
                    f"junction tree, clique {c}: expected log-probabilities of its new variables "
                    "whose exponentials add up to 1."
                )

    @property
    def n_cliques(self) -> int:
        """Number of cliques."""
        return len(self.clique_start) - 1

    @property
    def treewidth(self) -> int:
        """Number of variables of the largest clique, less one."""
        return int(np.diff(self.clique_start).max()) - 1

    @cached_property
    def table_start(self) -> NDArray[np.int64]:
        """Positions of the tables in `log_prob`, int64 of shape (n_cliques + 1,)."""
        # Products of floats: those of integers could overflow.
        cells = [float(np.prod(self.shape(c), dtype=np.float64)) for c in range(self.n_cliques)]
        if sum(cells) > MAX_CELLS:
            raise InputError(f"junction tree: its tables have more than {MAX_CELLS:,} cells.")
        return read_only(np.cumsum([0, *map(int, cells)], dtype=np.int64))

    def clique(self, c: int) -> tuple[int, ...]:
        """Return the variables of clique `c`, ascending."""
        return tuple(self.clique_var[self.clique_start[c] : self.clique_start[c + 1]].tolist())

    def separator(self, c: int) -> tuple[int, ...]:
        """Return the variables that clique `c` shares with its parent, ascending."""
        above = int(self.parent[c])
        return () if above == NO_PARENT else shared(self.clique(c), self.clique(above))

    def shape(self, c: int) -> tuple[int, ...]:
        """Return the numbers of values of the variables of clique `c`."""
        return tuple(self.schema.arity[list(self.clique(c))].tolist())

    def table(self, c: int) -> NDArray[np.float64]:
        """Return log P(new variables | separator) of clique `c`, an axis for each variable."""
        first, last = self.table_start[c], self.table_start[c + 1]
        return self.log_prob[first:last].reshape(self.shape(c))

    def log_likelihood(self, rows: NDArray[np.uint8], _threads: int = 1) -> NDArray[np.float64]:
        """Return the log-probability of each row of columns in nats, shape (n_rows,).

        It is minus infinity where a row gives a variable no state, or several.
        """
        values = self.schema.values(rows)
        impossible = (values == NO_STATE).any(axis=1)
        values[impossible] = 0
        out = np.zeros(len(rows))
        for c in range(self.n_cliques):
            out += self.table(c)[tuple(values[:, v] for v in self.clique(c))]
        out[impossible] = -np.inf
        return out

    @property
    def n_parameters(self) -> int:
        """Number of cells of all tables."""
        return len(self.log_prob)

    def to_circuit(self, _max_edges: int | None = None) -> ArithmeticCircuit:
        """Return the circuit, linear in the number of cells of all tables.

        It has a product for each cell of a table, and a sum over the new variables of a clique for
        each value of its separator. Its parameters are the log-probabilities of the tree, in their
        order. They are also weights of features.
        """
        return _circuit_of(self)

    def with_parameters(self, weight: NDArray[np.float64]) -> "JunctionTree":
        """Return the tree with other log-probabilities in its tables."""
        return replace(self, log_prob=weight)

    def to_markov_network(self) -> MarkovNetwork:
        """Return the Markov network of the same distribution, whose partition function is 1.

        It has a feature for each cell of a table, with the log-probability of the cell as weight.
        """
        return markov_network(self.schema, features_of(_conjunctions(self)), self.log_prob)

    def to_bayesian_network(self) -> BayesianNetwork:
        """Return the same distribution as a Bayesian network of tables.

        The parents of a new variable of a clique are the separator and the new variables before it.
        """
        tables: dict[int, CpdTable] = {}
        for c in range(self.n_cliques):
            clique, parents = self.clique(c), self.separator(c)
            new = [v for v in clique if v not in parents]
            whole = np.exp(self.table(c)).transpose([clique.index(v) for v in (*parents, *new)])
            for v in new:
                own = whole.sum(axis=tuple(range(len(parents) + 1, whole.ndim)))
                total = own.sum(axis=-1, keepdims=True)
                # Where the parents are impossible, any distribution will do.
                given = np.full(own.shape, 1.0 / own.shape[-1])
                tables[v] = CpdTable(parents, np.divide(own, total, out=given, where=total > 0))
                parents = (*parents, v)
        return network_of_tables(self.schema, tables)


def shared(one: Sequence[int], other: Sequence[int]) -> tuple[int, ...]:
    """Return the variables of one clique that are also in another one, in their order."""
    inside = set(other)
    return tuple(v for v in one if v in inside)


def _check_tree(tree: JunctionTree) -> None:
    """Raise InputError unless every variable is new in one clique and handed down from there."""
    seen: set[int] = set()
    for c in range(tree.n_cliques):
        own = tree.clique(c)
        if any(a >= b for a, b in itertools.pairwise(own)):
            raise InputError(f"junction tree, clique {c}: expected its variables to ascend.")
        if not NO_PARENT <= tree.parent[c] < c:
            raise InputError(f"junction tree, clique {c}: expected a parent before it.")
        old = tuple(v for v in own if v in seen)
        if old != tree.separator(c):
            raise InputError(
                f"junction tree, clique {c}: expected its parent to have all its variables that "
                "earlier cliques have."
            )
        if len(old) == len(own):
            raise InputError(f"junction tree, clique {c}: expected a variable of its own.")
        seen.update(own)
    if len(seen) < len(tree.schema):
        missing = min(set(range(len(tree.schema))) - seen)
        raise InputError(f"junction tree: variable {missing} is in no clique.")


def _conjunctions(tree: JunctionTree) -> Iterator[list[Literal]]:
    """Yield the conjunction of literals of columns of each cell, in the order of the tables."""
    for c in range(tree.n_cliques):
        own = tree.clique(c)
        for cell in itertools.product(*map(range, tree.shape(c))):
            values = zip(own, cell, strict=True)
            yield sorted(tree.schema.literal(v, x) for v, x in values if tree.schema.arity[v] > 1)


def _circuit_of(tree: JunctionTree) -> ArithmeticCircuit:
    """Return the circuit of a tree, in which children stand before parents."""
    nodes = CircuitNodes(tree.schema, 2 * tree.n_columns + len(tree.log_prob))
    # The sum of each clique for each joint value of its separator.
    messages: dict[tuple[int, tuple[int, ...]], int] = {}
    below: list[list[int]] = [[] for _ in range(tree.n_cliques)]
    roots: list[int] = []
    for c in range(tree.n_cliques - 1, -1, -1):
        _add_clique(tree, c, below[c], nodes, messages)
        above = int(tree.parent[c])
        (roots if above == NO_PARENT else below[above]).append(c)
    if len(roots) > 1:
        nodes.add(PRODUCT, [messages[c, ()] for c in roots])
    features = features_of(_conjunctions(tree))
    return ArithmeticCircuit(tree.schema, *nodes.arrays(), tree.log_prob, features)


def _add_clique(
    tree: JunctionTree,
    c: int,
    below: list[int],
    nodes: CircuitNodes,
    messages: dict[tuple[int, tuple[int, ...]], int],
) -> None:
    """Add the products and sums of a clique, whose children have theirs."""
    own, common = tree.clique(c), tree.separator(c)
    handed = [(d, [own.index(v) for v in tree.separator(d)]) for d in below]
    terms: dict[tuple[int, ...], list[int]] = {}
    cells = itertools.product(*map(range, tree.shape(c)))
    for parameter, cell in enumerate(cells, 2 * tree.n_columns + int(tree.table_start[c])):
        values = list(zip(own, cell, strict=True))
        several = ((v, x) for v, x in values if v not in common and tree.schema.arity[v] > 1)
        factors = [parameter, *(nodes.value(v, x) for v, x in several)]
        factors += [messages[d, tuple(cell[k] for k in place)] for d, place in handed]
        given = tuple(x for v, x in values if v in common)
        terms.setdefault(given, []).append(nodes.add(PRODUCT, factors))
    for given, products in terms.items():
        messages[c, given] = nodes.add(SUM, products)
