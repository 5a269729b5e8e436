"""The graph of a model, and the weights of its edges: one meaning for all kinds of models."""

import math
from dataclasses import dataclass
from typing import Any

from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.circuit import ArithmeticCircuit
from mnlearn.models.dependency_network import DependencyNetwork, Trees
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.runtime.errors import InputError

Graph = MarkovNetwork | DependencyNetwork | BayesianNetwork


def graph_of(model: Any) -> Graph:
    """Return the network whose edges and features a model has.

    Raises
    ------
    InputError
        The model has hidden variables or is a circuit without features.
    """
    network: Graph
    if not isinstance(model, ArithmeticCircuit):
        network = model.to_markov_network() if model.is_exact else model
        return network
    if model.features is None:
        raise InputError(
            "model: this circuit has no features, so no graph over its variables; hidden "
            "variables may join any of them."
        )
    return model.to_bayesian_network() if model.target is not None else model.to_markov_network()


@dataclass(frozen=True)
class DirectedGraph:
    """The edges of a dependency network or a Bayesian network with their weights.

    The writers of graphs take it as they take a network.
    """

    n_vars: int
    names: tuple[str, ...] | None
    weight: dict[tuple[int, int], float]

    def edges(self) -> dict[tuple[int, int], float]:
        """Return the weight of each (parent, child), in nats; see `edge_weights`."""
        return self.weight


def weighted_graph_of(model: Any) -> Any:
    """Return the graph of a model for the writers of graphs, whose `edges()` are `edge_weights`.

    Raises
    ------
    InputError
        See `graph_of`.
    """
    network = graph_of(model)
    if isinstance(network, MarkovNetwork):
        return network
    return DirectedGraph(network.n_vars, network.names, edge_weights(network))


def edge_weights(network: Graph) -> dict[tuple[int, int], float]:
    """Return the log odds ratio of each edge while all other variables are 0.

    Returns
    -------
    dict of (int, int) to float
        In nats. For a Markov network u < v and the weight is that of `MarkovNetwork.edges`. For a
        dependency network or a Bayesian network an edge is (parent, child). Its weight is by how
        much the log odds of the child's conditional distribution grow if the parent changes from 0
        to 1. For a logistic regression it is the coefficient.
    """
    if isinstance(network, MarkovNetwork):
        return network.edges()
    # The log odds that hold where the parent is 0, and where it is 1; other parts cancel out.
    sides = {edge: [0.0, 0.0] for edge in network.edges()}
    for v in range(network.n_vars):
        for parent, leaves in _tested_where_others_are_0(network.trees, v).items():
            for value, leaf in enumerate(leaves):
                sides[parent, v][value] += _log_odds(network.trees, leaf)
    if isinstance(network, DependencyNetwork):
        _add_features(network, sides)
    return {edge: one - zero if one != zero else 0.0 for edge, (zero, one) in sides.items()}


def _tested_where_others_are_0(trees: Trees, v: int) -> dict[int, tuple[int, int]]:
    """Return the parents that matter while all others are 0, each with its leaves for 0 and 1."""
    branched, node = [], int(trees.start[v])
    while not trees.is_leaf[node]:
        branched.append((int(trees.split_var[node]), int(trees.child[node, 1])))
        node = int(trees.child[node, 0])
    out: dict[int, tuple[int, int]] = {}
    for parent, other in branched:
        while not trees.is_leaf[other]:
            value = int(trees.split_var[other] == parent)
            other = int(trees.child[other, value])
        # A second test of a parent on this path is reached by its value 0 only.
        out.setdefault(parent, (node, other))
    return out


def _log_odds(trees: Trees, leaf: int) -> float:
    zero, one = trees.log_prob[leaf].tolist()
    return math.inf if zero == -math.inf else one - zero


def _add_features(network: DependencyNetwork, sides: dict[tuple[int, int], list[float]]) -> None:
    """Add the weights of the features that hold where all variables but the parent are 0."""
    for f, v in enumerate(network.target.tolist()):
        weight = float(network.weight[f])
        if weight == 0:
            continue
        literals = dict(network.features.literals(f))
        # Where the target has the other value the feature does not hold.
        signed = weight if literals.pop(v) else -weight
        n_ones = sum(literals.values())
        for parent, value in literals.items():
            if n_ones == value:
                sides[parent, v][value] += signed
