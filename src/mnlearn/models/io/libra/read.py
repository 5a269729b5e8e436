"""Read Markov networks, dependency networks and Bayesian networks in Libra's text formats."""

import math
from array import array
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from mnlearn.models.bayesian_network import BayesianNetwork, bayesian_network
from mnlearn.models.cpd_trees import CpdTree, assemble
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.features import FeatureSet, feature_set
from mnlearn.models.io.libra.factors import Factor, Row, Table, Tree, rows_of
from mnlearn.models.io.libra.parse import Reader
from mnlearn.models.io.libra.target_trees import MAX_TABLE_PARENTS, becomes_tree, target_tree
from mnlearn.models.markov_network import MarkovNetwork, markov_network
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import binary_schema


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
    """Read a Markov network; every factor becomes features, and constants are dropped.

    Raises
    ------
    InputError
        The file is missing or malformed, has variables of more than two values or an infinite
        constant (the sentence names the line), or gives one feature weights of both infinities.
    """
    reader = Reader(path, "MN")
    collected = _Collector()
    for factor in reader.factors():
        for row in rows_of(factor):
            if row.codes:
                collected.add(row)
            elif math.isinf(row.weight):
                reader.refuse(
                    f"expected a finite weight without literals, got {row.weight}", row.where
                )
    reader.finish()
    if not collected.weight:
        return MarkovNetwork(binary_schema(reader.n_vars), collected.features(), np.zeros(0))
    try:
        return markov_network(reader.n_vars, collected.features(), np.array(collected.weight))
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def read_dn(path: Path | str) -> DependencyNetwork:
    """Read a dependency network.

    The first tree or table of a CPD that mentions its target becomes the tree of the CPD; a table
    only if it has at most `target_trees.MAX_TABLE_PARENTS` parents. All other factors become
    features. Factors that do not mention the target cancel in the normalisation and are dropped.
    The files do not say how many examples reached an inner node, so its distribution is the mean of
    those of its children.

    Raises
    ------
    InputError
        The file is missing or malformed, has variables of more than two values, lacks a CPD or has
        one twice, or an infinite weight leaves a distribution undefined. The sentence names the
        line.
    """
    reader = Reader(path, "DN")
    rows: dict[int, list[Row]] = {}
    trees: dict[int, CpdTree] = {}
    for target, _ in _cpds(reader):
        rows[target] = []
        for factor in reader.factors():
            if target not in trees and becomes_tree(factor, target):
                trees[target] = target_tree(reader, factor, target)
            else:
                rows[target] += _rows_with(reader, factor, target)
    collected = _Collector()
    for target in range(reader.n_vars):
        for row in rows[target]:
            collected.add(row)
    n_rows = [len(rows[target]) for target in range(reader.n_vars)]
    return DependencyNetwork(
        assemble(reader.n_vars, trees),
        collected.features(),
        np.repeat(np.arange(reader.n_vars, dtype=np.int32), n_rows),
        np.array(collected.weight, np.float64),
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
    missing = sorted(set(range(reader.n_vars)) - seen)
    if missing:
        reader.refuse(f"expected a CPD of v{missing[0]} before the closing }}", reader.at - 1)
    reader.finish()


def read_bn(path: Path | str) -> BayesianNetwork:
    """Read a Bayesian network; its CPDs become trees and are normalised.

    A CPD that is one tree keeps it. Any other CPD (a table, features, several factors) becomes the
    complete tree over its parents, at most `target_trees.MAX_TABLE_PARENTS` of them.

    Raises
    ------
    InputError
        See `read_dn`; or a CPD that is no tree has too many parents, or there is a directed cycle.
    """
    reader = Reader(path, "BN")
    trees: dict[int, CpdTree] = {}
    for target, where in _cpds(reader):
        factors = list(reader.factors())
        if len(factors) == 1 and isinstance(factors[0], Tree):
            trees[target] = target_tree(reader, factors[0], target)
            continue
        table = Table([row for factor in factors for row in rows_of(factor)], where)
        if not becomes_tree(table, target):
            reader.refuse(
                f"expected a CPD that mentions v{target} and has at most {MAX_TABLE_PARENTS} "
                "parents, or is a tree",
                where,
            )
        trees[target] = target_tree(reader, table, target)
    try:
        return bayesian_network(assemble(reader.n_vars, trees))
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def _rows_with(reader: Reader, factor: Factor, target: int) -> Iterator[Row]:
    """Yield the conjunctions of the factor that contain the target."""
    for row in rows_of(factor):
        if any(code >> 1 == target for code in row.codes):
            yield row
        elif math.isinf(row.weight):
            reader.refuse(
                f"expected a finite weight without v{target}, got {row.weight}", row.where
            )
