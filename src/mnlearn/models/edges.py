"""The edges of a network as people see them: a feature of weight 0 joins no variables."""

from dataclasses import replace

from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.markov_network import MarkovNetwork

Graph = MarkovNetwork | DependencyNetwork | BayesianNetwork


def edges_of(network: Graph) -> dict[tuple[int, int], float]:
    """Return the edges and their weights, as `edges` of the network does.

    Pairs of variables whose features all have weight 0 are left out.
    """
    return dict(without_zero_weights(network).edges())


def without_zero_weights(network: Graph) -> Graph:
    """Return the same distributions without the features of weight 0, which have no effect."""
    if isinstance(network, BayesianNetwork) or network.weight.all():
        return network
    kept = network.weight != 0
    features, weight = network.features.select(kept), network.weight[kept]
    if isinstance(network, DependencyNetwork):
        return replace(network, features=features, weight=weight, target=network.target[kept])
    return replace(network, features=features, weight=weight)
