"""Bayesian networks whose conditional distributions are trees."""

from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.dependency_network import Trees
from mnlearn.models.features import concatenate, with_literal
from mnlearn.models.fields import NAMELESS, set_array, set_schema
from mnlearn.models.markov_network import MarkovNetwork, markov_network
from mnlearn.models.model import Model
from mnlearn.runtime.arrays import read_only
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import Schema


@dataclass(frozen=True, eq=False)
class BayesianNetwork(Model):
    """P(x) = product over variables v of P(x_v | parents of v), each a tree over the parents.

    `bayesian_network` finds the order. Construction checks that it is a permutation.

    Attributes
    ----------
    trees : Trees
        A tree per variable, whose leaves hold log P(x_v | path) in nats.
    order : ndarray of int64, shape (n_vars,)
        The variables, parents before children.
    schema : Schema
        The variables; nameless ones of the states 0 and 1 if not given.
    """

    kind: ClassVar[str] = "bayesian_network"
    title: ClassVar[str] = "a Bayesian network"
    has_exact_likelihood: ClassVar[bool] = True

    trees: Trees
    order: NDArray[np.int64]
    schema: Schema = NAMELESS

    def __post_init__(self) -> None:
        set_schema(self, self.schema, self.trees.n_vars)
        order = set_array(self, "order", np.int64, (self.n_vars,))
        if not np.array_equal(np.sort(order), np.arange(self.n_vars)):
            raise InputError("BayesianNetwork, order: expected each variable once.")

    @property
    def n_parameters(self) -> int:
        """Number of leaves of all trees."""
        return int(self.trees.is_leaf.sum())

    def to_markov_network(self) -> MarkovNetwork:
        """Return the same distribution as a Markov network with one feature for each parameter."""
        leaves = np.flatnonzero(self.trees.is_leaf)
        paths, target = self.trees.paths().select(leaves), self.trees.target[leaves]
        both = concatenate([with_literal(paths, target, value) for value in (0, 1)])
        weight = self.trees.log_prob[leaves].T.ravel()
        return markov_network(self.schema, both, weight)

    @cached_property
    def rank(self) -> NDArray[np.int64]:
        """Position of each variable in `order`, int64 of shape (n_vars,)."""
        rank = np.empty(self.n_vars, np.int64)
        rank[self.order] = np.arange(self.n_vars)
        return read_only(rank)

    def edges(self) -> dict[tuple[int, int], int]:
        """Return for each (parent, child) how often the child's tree tests the parent."""
        return self.trees.tests()

    def describe(self) -> dict[str, Any]:
        """Return the numbers of variables, leaves and edges, and the depth of the deepest leaf."""
        return {
            "n_vars": self.n_vars,
            "n_leaves": self.n_parameters,
            "deepest_leaf": int(self.trees.depth.max()),
            "n_edges": len(self.edges()),
        }


def bayesian_network(trees: Trees, schema: Schema | None = None) -> BayesianNetwork:
    """Return the Bayesian network of the trees.

    Parameters
    ----------
    trees : Trees
        A tree per variable over its parents.
    schema : Schema
        The variables; nameless ones of the states 0 and 1 if not given.

    Raises
    ------
    InputError
        The trees have a directed cycle; the sentence names its variables.
    """
    parents: dict[int, set[int]] = {v: set() for v in range(trees.n_vars)}
    for parent, child in trees.tests():
        parents[child].add(parent)
    try:
        order = list(TopologicalSorter(parents).static_order())
    except CycleError as error:
        cycle = " -> ".join(f"v{v}" for v in error.args[1])
        raise InputError(f"has a directed cycle, {cycle}.", where="Bayesian network") from error
    return BayesianNetwork(trees, np.array(order, np.int64), schema or NAMELESS)
