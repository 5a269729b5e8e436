"""Read Markov networks, dependency networks and Bayesian networks in Libra's text formats."""

import math
from array import array
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from mnlearn.models.bayesian_network import BayesianNetwork, bayesian_network
from mnlearn.models.cpd_tables import CpdTable, tables_of
from mnlearn.models.cpd_trees import CpdTree, assemble
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.features import FeatureSet, feature_set
from mnlearn.models.io.libra.factors import Factor, Row, Table, Tree, rows_of
from mnlearn.models.io.libra.parse import Reader
from mnlearn.models.io.libra.target_trees import (
    MAX_CELLS,
    becomes_table,
    becomes_tree,
    target_table,
    target_tree,
)
from mnlearn.models.markov_network import MarkovNetwork, network_with_constant
from mnlearn.runtime.errors import InputError


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
    """Read a Markov network; every factor becomes features.

    A constant becomes weights of all states of the first variable that has several: it counts in
    scores that are not normalised.
    """
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
    try:
        return network_with_constant(reader.schema, collected.features(), weight, constant)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def read_dn(path: Path | str) -> DependencyNetwork:
    """Read a dependency network.

    The first tree or table of a CPD that mentions its target becomes the tree of the CPD; a table
    only if it has at most `target_trees.MAX_CELLS` cells. All other factors become features.
    Factors that do not mention the target cancel in the normalisation and are dropped. The files
    do not say how many examples reached an inner node, so its distribution is the mean of those of
    its children.
    """
    reader = Reader(path, "DN")
    n_vars = len(reader.schema)
    rows: dict[int, list[Row]] = {}
    trees: dict[int, CpdTree] = {}
    for target, _ in _cpds(reader):
        rows[target] = []
        for factor in reader.factors():
            if target not in trees and becomes_tree(reader, factor, target):
                trees[target] = target_tree(reader, factor, target)
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
    """Read a Bayesian network; its CPDs are normalised.

    A CPD that is one tree keeps it. Any other CPD (a table, features, several factors) becomes a
    table of at most `target_trees.MAX_CELLS` cells.
    """
    reader = Reader(path, "BN")
    trees: dict[int, CpdTree] = {}
    tables: dict[int, CpdTable] = {}
    for target, where in _cpds(reader):
        factors = list(reader.factors())
        if len(factors) == 1 and isinstance(factors[0], Tree):
            trees[target] = target_tree(reader, factors[0], target)
            continue
        rows = [row for factor in factors for row in rows_of(factor, reader.schema)]
        table = Table(rows, where)
        if not becomes_table(reader, table, target):
            reader.refuse(
                f"expected a CPD that mentions v{target} and is a tree or a table of at most "
                f"{MAX_CELLS:,} cells",
                where,
            )
        tables[target] = target_table(reader, table, target)
    try:
        found = tables_of(len(reader.schema), tables)
        return bayesian_network(assemble(reader.schema, trees), reader.schema, found)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


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
