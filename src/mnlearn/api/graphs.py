"""The graph of a model as a NetworkX graph and as tables."""

from typing import TYPE_CHECKING, Any

import numpy as np

from mnlearn.api.inputs import labels_of
from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.markov_network import MarkovNetwork

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd

Graph = MarkovNetwork | DependencyNetwork | BayesianNetwork


def to_networkx(network: Graph) -> "nx.Graph | nx.DiGraph":
    """Return the graph; see `mnlearn.api.model.Model.to_networkx`."""
    import networkx as nx

    graph = nx.Graph() if isinstance(network, MarkovNetwork) else nx.DiGraph()
    nodes: Any = network.names or range(network.n_vars)
    graph.add_nodes_from(nodes)
    for (u, v), weight in sorted(network.edges().items()):
        graph.add_edge(nodes[u], nodes[v], weight=weight)
    return graph


def edges_frame(network: Graph) -> "pd.DataFrame":
    """Return the edges, strongest first; see `mnlearn.api.model.Model.edges_frame`."""
    import pandas as pd

    labels = np.array(labels_of(network.names, network.n_vars), dtype=object)
    edges = network.edges()
    pairs = np.array(list(edges), np.int64).reshape(-1, 2)
    weight = np.array(list(edges.values()))
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -np.abs(weight)))
    columns = {
        "source": labels[pairs[order, 0]],
        "target": labels[pairs[order, 1]],
        "weight": weight[order],
    }
    if isinstance(network, MarkovNetwork):
        joined = _features_by_pair(network)
        columns["n_features"] = np.array([joined[u, v] for u, v in pairs[order].tolist()], int)
    return pd.DataFrame(columns)


def _features_by_pair(network: MarkovNetwork) -> dict[tuple[int, int], int]:
    """Return how many features join both variables of each pair (u, v) with u < v."""
    count: dict[tuple[int, int], int] = {}
    for f in np.flatnonzero(network.weight).tolist():
        members = [v for v, _ in network.features.literals(f)]
        for a, u in enumerate(members):
            for v in members[a + 1 :]:
                count[u, v] = count.get((u, v), 0) + 1
    return count


def features_frame(network: MarkovNetwork) -> "pd.DataFrame":
    """Return the features, strongest first; see `mnlearn.api.model.Model.features_frame`."""
    import pandas as pd

    labels = labels_of(network.names, network.n_vars)
    order = np.argsort(-np.abs(network.weight), kind="stable")
    texts = [
        " & ".join(f"{labels[v]}={value}" for v, value in network.features.literals(f))
        for f in order.tolist()
    ]
    return pd.DataFrame(
        {
            "feature": texts,
            "weight": network.weight[order],
            "length": network.features.length[order],
        }
    )
