"""The arithmetic circuit of a junction tree, and its Markov network."""

import itertools
from collections.abc import Iterator

from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.circuit_nodes import PRODUCT, SUM, CircuitNodes
from mnlearn.models.features import features_of
from mnlearn.models.junction_tree import NO_PARENT, JunctionTree
from mnlearn.models.markov_network import MarkovNetwork, markov_network

Literal = tuple[int, int]


def circuit_of(tree: JunctionTree) -> ArithmeticCircuit:
    """Return the circuit, linear in the number of cells of all tables.

    It has a product for each cell of a table, and a sum over the new variables of a clique for each
    value of its separator. Its parameters are the log-probabilities of the tree, in their order. If
    all variables have one column, they are also weights of features.
    """
    return _Builder(tree).circuit()


def network_of(tree: JunctionTree) -> MarkovNetwork:
    """Return the Markov network over the binary columns, whose partition function is 1.

    It has a feature for each cell of a table, with the log-probability of the cell as weight.
    Features of weight minus infinity forbid that a group has none or several of its values.
    """
    conjunctions = list(_conjunctions(tree))
    forbidden = list(tree.variables.impossible())
    weights = [*tree.log_prob.tolist(), *[-float("inf")] * len(forbidden)]
    features = features_of([*conjunctions, *forbidden])
    return markov_network(tree.n_vars, features, weights, tree.names)


def _conjunctions(tree: JunctionTree) -> Iterator[list[Literal]]:
    """Yield the conjunction of literals of columns of each cell, in the order of the tables."""
    for c in range(tree.n_cliques):
        own = tree.clique(c)
        for cell in itertools.product(*map(range, tree.shape(c))):
            values = zip(own, cell, strict=True)
            yield sorted(tree.variables.column_literal(v, x) for v, x in values)


class _Builder:
    """Adds the nodes of one clique after another, children before parents."""

    def __init__(self, tree: JunctionTree) -> None:
        self._tree = tree
        self._nodes = CircuitNodes(tree.variables, 2 * tree.n_vars + len(tree.log_prob))
        # The sum of each clique for each joint value of its separator.
        self._messages: dict[tuple[int, tuple[int, ...]], int] = {}

    def circuit(self) -> ArithmeticCircuit:
        """Return the circuit of the tree."""
        tree = self._tree
        below: list[list[int]] = [[] for _ in range(tree.n_cliques)]
        roots: list[int] = []
        for c in range(tree.n_cliques - 1, -1, -1):
            self._add_clique(c, below[c])
            above = int(tree.parent[c])
            (roots if above == NO_PARENT else below[above]).append(c)
        if len(roots) > 1:
            self._nodes.add(PRODUCT, [self._messages[c, ()] for c in roots])
        plain = not tree.variables.groups
        return ArithmeticCircuit(
            tree.n_vars,
            *self._nodes.arrays(),
            tree.log_prob,
            features_of(_conjunctions(tree)) if plain else None,
            names=tree.names,
        )

    def _add_clique(self, c: int, below: list[int]) -> None:
        """Add the products and sums of a clique, whose children have theirs."""
        tree = self._tree
        own, common = tree.clique(c), tree.separator(c)
        handed = [(d, [own.index(v) for v in tree.separator(d)]) for d in below]
        terms: dict[tuple[int, ...], list[int]] = {}
        parameter = 2 * tree.n_vars + int(tree.table_start[c])
        for cell in itertools.product(*map(range, tree.shape(c))):
            values = list(zip(own, cell, strict=True))
            new = [self._nodes.value(v, x) for v, x in values if v not in common]
            messages = [self._messages[d, tuple(cell[k] for k in place)] for d, place in handed]
            given = tuple(x for v, x in values if v in common)
            product = self._nodes.add(PRODUCT, [parameter, *new, *messages])
            terms.setdefault(given, []).append(product)
            parameter += 1
        for given, products in terms.items():
            self._messages[c, given] = self._nodes.add(SUM, products)
