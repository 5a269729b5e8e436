"""Read Markov networks, dependency networks and Bayesian networks in Libra's text formats."""

import math
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.bayesian_network import BayesianNetwork, bayesian_network
from mnlearn.models.cpds import (
    CpdTable,
    CpdTree,
    Known,
    assemble,
    learn,
    normalised,
    tables_of,
)
from mnlearn.models.dependency_network import LEAF, DependencyNetwork
from mnlearn.models.features import FeatureSet, feature_set
from mnlearn.models.interactions import allowed_states
from mnlearn.models.io.libra.parse import ALWAYS, Factor, Reader, Row, Table, Tree, rows_of
from mnlearn.models.markov_network import MarkovNetwork, network_with_constant
from mnlearn.runtime.errors import name_file

# Most cells of the table of a CPD.
MAX_CELLS = 1 << 21


class _Collector:
    """Weighted conjunctions in flat arrays that grow."""

    def __init__(self) -> None:
        self.weight = array("d")
        self.length = array("q")
        self.codes = array("q")

    def add(self, row: Row) -> None:
        """Append one conjunction."""
        self.weight.append(row.weight)
        self.length.append(len(row.codes))
        self.codes.extend(row.codes)

    def features(self) -> FeatureSet:
        """Return the conjunctions as they were added."""
        codes = np.array(self.codes, np.int64)
        start = np.concatenate([[0], np.cumsum(np.array(self.length, np.int64))])
        return feature_set(start, codes >> 1, codes & 1)


def read_mn(path: Path | str) -> MarkovNetwork:
    """Read a Markov network, whose factors become features; see `network_with_constant`."""
    reader = Reader(path, "MN")
    collected, constant = _Collector(), 0.0
    for factor in reader.factors():
        for row in rows_of(factor, reader.schema):
            if row.codes:
                collected.add(row)
                continue
            if math.isinf(row.weight):
                reader.refuse(
                    f"expected a finite weight without literals, got {row.weight}", row.where
                )
            constant += row.weight
    reader.finish()
    weight = np.array(collected.weight, np.float64)
    with name_file(path):
        return network_with_constant(reader.schema, collected.features(), weight, constant)


def read_dn(path: Path | str) -> DependencyNetwork:
    """Read a dependency network.

    The first tree of a CPD that mentions its target becomes its tree, all other factors features;
    those without the target cancel in the normalisation.
    """
    reader = Reader(path, "DN")
    n_vars = len(reader.schema)
    rows: dict[int, list[Row]] = {}
    trees: dict[int, CpdTree] = {}
    for target, _ in _cpds(reader):
        rows[target] = []
        for factor in reader.factors():
            own = reader.schema.columns(target)
            if isinstance(factor, Table):
                _dense(reader, factor, target)
            if isinstance(factor, Tree) and target not in trees and {*own} & {*factor.var}:
                trees[target] = _by_target(reader, factor, target)
            else:
                rows[target] += _rows_with(reader, factor, target)
    collected = _Collector()
    for target in range(n_vars):
        for row in rows[target]:
            collected.add(row)
    n_rows = [len(rows[target]) for target in range(n_vars)]
    return DependencyNetwork(
        assemble(reader.schema, trees),
        collected.features(),
        np.repeat(np.arange(n_vars, dtype=np.int32), n_rows),
        np.array(collected.weight, np.float64),
        reader.schema,
    )


def _cpds(reader: Reader) -> Iterator[tuple[int, int]]:
    """Yield each variable whose CPD is next, and its position; check that each has one."""
    seen = set()
    while header := reader.target():
        target, where = header
        if target in seen:
            reader.refuse(f"v{target} has a second CPD", where)
        seen.add(target)
        yield target, where
    missing = sorted(set(range(len(reader.schema))) - seen)
    if missing:
        reader.refuse(f"expected a CPD of v{missing[0]} before the closing }}", reader.at - 1)
    reader.finish()


def read_bn(path: Path | str) -> BayesianNetwork:
    """Read a Bayesian network, whose CPDs are normalised: one tree, or anything else as a table."""
    reader = Reader(path, "BN")
    trees: dict[int, CpdTree] = {}
    tables: dict[int, CpdTable] = {}
    for target, where in _cpds(reader):
        factors = list(reader.factors())
        if len(factors) == 1 and isinstance(factors[0], Tree):
            trees[target] = _by_target(reader, factors[0], target)
            continue
        rows = [row for factor in factors for row in rows_of(factor, reader.schema)]
        found = _dense(reader, Table(rows, where), target)
        if found is None:
            reader.refuse(
                f"expected a CPD that mentions v{target} and is a tree or a table of at most "
                f"{MAX_CELLS:,} cells",
                where,
            )
        parents, value = found
        tables[target] = CpdTable(parents, np.exp(normalised(value)))
    with name_file(path):
        of_tables = tables_of(len(reader.schema), tables)
        return bayesian_network(assemble(reader.schema, trees), reader.schema, of_tables)


def _rows_with(reader: Reader, factor: Factor, target: int) -> Iterator[Row]:
    """Yield the conjunctions of the factor that contain the target."""
    first, end = reader.schema.start[target], reader.schema.start[target + 1]
    for row in rows_of(factor, reader.schema):
        if any(first <= code >> 1 < end for code in row.codes):
            yield row
        elif math.isinf(row.weight):
            reader.refuse(
                f"expected a finite weight without v{target}, got {row.weight}", row.where
            )


def _check(reader: Reader, target: int, value: NDArray[np.float64], where: Sequence[int]) -> None:
    """Refuse log-probabilities, a row for each leaf or row of a table, that are no distribution."""
    nan = np.isnan(value).any(axis=1)
    if nan.any():
        at = where[int(np.flatnonzero(nan)[0])]
        reader.refuse("rows of this table add up infinities of both signs", at)
    undefined = np.isneginf(value).all(axis=1) | (np.isposinf(value).sum(axis=1) > 1)
    if undefined.any():
        k = int(np.flatnonzero(undefined)[0])
        all_of_them = "both" if value.shape[1] == 2 else "several"
        infinite = float(value[k].max())
        reader.refuse(
            f"{all_of_them} values of v{target} have log-probability {infinite}", where[k]
        )


def _by_target(reader: Reader, tree: Tree, target: int) -> CpdTree:
    """Return the tree without tests of the target and without branches that cannot be reached.

    The function descends the trees for all states of the target together.
    """
    schema = reader.schema
    states = [{ALWAYS: 1, **schema.implied(target, state)} for state in range(schema[target].arity)]
    split_var: list[int] = []
    children: list[list[int]] = []
    values: list[list[float]] = []
    where: list[int] = []

    def descend(node: int, state: Known, known: Known) -> int:
        while (value := state.get(tree.var[node], known.get(tree.var[node]))) is not None:
            node = tree.child[node][value]
        return node

    nothing: Known = {}
    agenda = [([0] * len(states), nothing, LEAF, 0)]
    while agenda:
        places, known, parent, branch = agenda.pop()
        node = len(split_var)
        if parent != LEAF:
            children[parent][branch] = node
        places = [descend(at, own, known) for at, own in zip(places, states, strict=True)]
        column = next((tree.var[at] for at in places if tree.var[at] != LEAF), LEAF)
        split_var.append(column)
        children.append([LEAF, LEAF])
        values.append([tree.value[at] if column == LEAF else 0.0 for at in places])
        where.append(tree.where[places[0]])
        if column != LEAF:
            agenda += [
                (places, learn(schema, known, column, value), node, value) for value in (1, 0)
            ]
    found = CpdTree(np.array(split_var), np.array(children), np.array(values))
    _check(reader, target, found.value, where)
    return found


def _dense(
    reader: Reader, table: Table, target: int
) -> tuple[tuple[int, ...], NDArray[np.float64]] | None:
    """Return the parents of a table, ascending, and its cells with the target on the last axis.

    None if it has more than `MAX_CELLS` cells, or lacks a target of several states.
    """
    schema = reader.schema
    mentioned = {int(schema.variable_of[code >> 1]) for row in table.rows for code in row.codes}
    if target not in mentioned and schema[target].arity > 1:
        return None
    if math.prod(schema[v].arity for v in mentioned) > MAX_CELLS:
        return None
    parents = tuple(sorted(mentioned - {target}))
    entry = np.zeros([schema[v].arity for v in (*parents, target)])
    for row in table.rows:
        allowed = allowed_states(schema, [(code >> 1, code & 1) for code in row.codes])
        whole = (allowed.get(v, np.ones(schema[v].arity, bool)) for v in (*parents, target))
        with np.errstate(invalid="ignore"):
            entry[np.ix_(*whole)] += row.weight
    flat = entry.reshape(-1, entry.shape[-1])
    _check(reader, target, flat, [table.where] * len(flat))
    return parents, entry
