"""Bayesian networks whose conditional distributions are trees."""

from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.dependency_network import Trees
from mnlearn.models.features import concatenate, with_literal
from mnlearn.models.fields import States, check_names, check_states, set_array
from mnlearn.models.markov_network import MarkovNetwork, markov_network
from mnlearn.models.model import Model
from mnlearn.runtime.arrays import read_only
from mnlearn.runtime.errors import InputError


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
    names : tuple of str, optional
        Names of the variables.
    states : tuple of (str, str), optional
        Names of the values 0 and 1 of each variable.
    """

    kind: ClassVar[str] = "bayesian_network"
    title: ClassVar[str] = "a Bayesian network"
    has_exact_likelihood: ClassVar[bool] = True

    trees: Trees
    order: NDArray[np.int64]
    names: tuple[str, ...] | None = None
    states: States | None = None

    def __post_init__(self) -> None:
        order = set_array(self, "order", np.int64, (self.n_vars,))
        if not np.array_equal(np.sort(order), np.arange(self.n_vars)):
            raise InputError("BayesianNetwork, order: expected each variable once.")
        check_names(self, self.names, self.n_vars)
        check_states(self, self.states, self.n_vars)

    @property
    def n_vars(self) -> int:
        """Number of binary variables."""
        return self.trees.n_vars

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
        return markov_network(self.n_vars, both, weight, self.names)

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


def bayesian_network(
    trees: Trees, names: tuple[str, ...] | None = None, states: States | None = None
) -> BayesianNetwork:
    """Return the Bayesian network of the trees.

    Parameters
    ----------
    trees : Trees
        A tree per variable over its parents.
    names : tuple of str, optional
        Names of the variables.
    states : tuple of (str, str), optional
        Names of the values 0 and 1 of each variable.

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
    return BayesianNetwork(trees, np.array(order, np.int64), names, states)
