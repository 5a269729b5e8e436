"""The factors of Libra's text formats, and the weighted conjunctions that they are sums of."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from mnlearn.models.cpd_trees import learn, literals_of
from mnlearn.models.dependency_network import LEAF
from mnlearn.variables.schema import Schema

# In place of a column: a test that a variable of a single state passes.
ALWAYS = -2


class Row(NamedTuple):
    """A weighted conjunction.

    codes : Literals, coded as 2 * column + value, ascending.
    """

    weight: float
    codes: list[int]
    where: int


class Table(NamedTuple):
    """The rows of a `table`: the entry of a state is the sum of the rows that it satisfies."""

    rows: list[Row]
    where: int


class Tree(NamedTuple):
    """A `tree` as it stands in the file: the root first, every parent before its children.

    var : Column that each node tests, ALWAYS or LEAF.
    child : Nodes for its values 0 and 1.
    value : Log value of each leaf.
    where : Position of each node in the text.
    """

    var: list[int]
    child: list[list[int]]
    value: list[float]
    where: list[int]

    def add(self, var: int, value: float, where: int) -> int:
        """Append a node without children and return its number."""
        self.var.append(var)
        self.child.append([LEAF, LEAF])
        self.value.append(value)
        self.where.append(where)
        return len(self.var) - 1


Factor = Row | Table | Tree


def rows_of(factor: Factor, schema: Schema) -> Iterable[Row]:
    """Return the weighted conjunctions whose sum is the factor."""
    if isinstance(factor, Row):
        return (factor,)
    if isinstance(factor, Table):
        return factor.rows
    return _leaf_rows(factor, schema)


def _leaf_rows(tree: Tree, schema: Schema) -> Iterator[Row]:
    """Yield the path to each leaf that can be reached, with the value of the leaf."""
    paths = {0: {ALWAYS: 1}}
    for node, column in enumerate(tree.var):
        known = paths.pop(node, None)
        if known is None:
            continue
        if column == LEAF:
            codes = sorted(2 * c + x for c, x in literals_of(schema, known))
            yield Row(tree.value[node], codes, tree.where[node])
            continue
        for value, child in enumerate(tree.child[node]):
            if known.get(column, value) == value:
                paths[child] = known if column in known else learn(schema, known, column, value)
