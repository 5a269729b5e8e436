"""The graph of a model as a NetworkX graph and as tables."""

from typing import TYPE_CHECKING, Any

import numpy as np

from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.edge_weights import Graph, edge_weights
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.names import labels_of

if TYPE_CHECKING:
    import networkx as nx
    import pandas as pd


def to_networkx(network: Graph) -> "nx.Graph | nx.DiGraph":
    """Return the graph; see `mnlearn.api.model.Model.to_networkx`."""
    import networkx as nx

    graph = nx.Graph() if isinstance(network, MarkovNetwork) else nx.DiGraph()
    nodes: Any = network.names or range(network.n_vars)
    graph.add_nodes_from(nodes)
    for (u, v), weight in sorted(edge_weights(network).items()):
        graph.add_edge(nodes[u], nodes[v], weight=weight)
    return graph


def edges_frame(network: Graph) -> "pd.DataFrame":
    """Return the edges, strongest first; see `mnlearn.api.model.Model.edges_frame`."""
    import pandas as pd

    labels = np.array(labels_of(network.names, network.n_vars), dtype=object)
    edges = edge_weights(network)
    pairs = np.array(list(edges), np.int64).reshape(-1, 2)
    weight = np.array(list(edges.values()), np.float64)
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -np.abs(weight)))
    columns = {
        "source": labels[pairs[order, 0]],
        "target": labels[pairs[order, 1]],
        "weight": weight[order],
    }
    name, count = (
        ("n_features", _features_by_pair(network))
        if isinstance(network, MarkovNetwork)
        else ("n_uses", network.edges())
    )
    columns[name] = np.array([count[u, v] for u, v in pairs[order].tolist()], int)
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


def features_frame(network: MarkovNetwork | DependencyNetwork) -> "pd.DataFrame":
    """Return the features, strongest first; see `mnlearn.api.model.Model.features_frame`."""
    import pandas as pd

    labels = labels_of(network.names, network.n_vars)
    order = np.argsort(-np.abs(network.weight), kind="stable")
    texts = [
        " & ".join(f"{labels[v]}={value}" for v, value in network.features.literals(f))
        for f in order.tolist()
    ]
    columns: dict[str, Any] = {
        "feature": texts,
        "weight": network.weight[order],
        "length": network.features.length[order],
    }
    if isinstance(network, DependencyNetwork):
        columns["target"] = [labels[v] for v in network.target[order].tolist()]
    return pd.DataFrame(columns)


def coefficients_frame(network: DependencyNetwork) -> "pd.DataFrame":
    """Return the regressions; see `mnlearn.api.models.DependencyNetwork.coefficients_frame`."""
    import pandas as pd

    if not network.trees.is_leaf.all():
        raise InputError(
            "coefficients_frame: expected logistic regressions; the network has trees, whose log "
            "odds are no weighted sum."
        )
    n, labels = network.n_vars, labels_of(network.names, network.n_vars)
    leaf = network.trees.log_prob[network.trees.start[:-1]]
    intercept, weights = leaf[:, 1] - leaf[:, 0], np.zeros((n, n))
    for f, (v, w) in enumerate(zip(network.target.tolist(), network.weight.tolist(), strict=True)):
        literals = dict(network.features.literals(f))
        # Where the target has the other value the feature does not hold.
        w = w if literals.pop(v) else -w
        if len(literals) > 1:
            raise InputError(
                "coefficients_frame: expected features of the target and one other variable, got "
                f"one of {len(literals) + 1} variables."
            )
        if not literals:
            intercept[v] += w
        for u, value in literals.items():
            # w (1 - x) is w - w x.
            weights[v, u] += w if value else -w
            intercept[v] += 0.0 if value else w
    name = None if "target" in labels else "target"
    table = pd.DataFrame(weights, pd.Index(labels, name=name), labels)
    table.insert(0, "(Intercept)", intercept)
    return table
