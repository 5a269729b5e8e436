"""The graph of a model for other programs: a CSV list of edges, or GraphML."""

import csv
import io
from pathlib import Path

import numpy as np

from mnlearn.files import atomic_path, write_text
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.markov_network import MarkovNetwork


def write_edges(network: MarkovNetwork | DependencyNetwork, path: Path | str) -> None:
    """Write the edges as CSV with the header `source,target,weight`, in order of the variables.

    An undirected edge of a Markov network stands once, with the pairwise interaction of
    `MarkovNetwork.edges`; one of a dependency network leads from the parent to the child, with
    the weight of `parent_counts`.
    """
    names = _names(network)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["source", "target", "weight"])
    for (u, v), weight in sorted(_edges(network).items()):
        writer.writerow([names[u], names[v], repr(weight)])
    write_text(path, text.getvalue())


def write_graphml(network: MarkovNetwork | DependencyNetwork, path: Path | str) -> None:
    """Write the graph as GraphML: nodes V0, V1, … with a `name`, edges as in `write_edges`."""
    import networkx as nx  # slow to import, and needed by no other file format

    graph = nx.DiGraph() if isinstance(network, DependencyNetwork) else nx.Graph()
    for v, name in enumerate(_names(network)):
        graph.add_node(f"V{v}", name=name)
    for (u, v), weight in sorted(_edges(network).items()):
        graph.add_edge(f"V{u}", f"V{v}", weight=weight)
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        # nx.write_graphml writes other bytes where lxml happens to be installed.
        nx.write_graphml_xml(graph, file)


def parent_counts(network: DependencyNetwork) -> dict[tuple[int, int], int]:
    """Return for each (parent, child) in how many places the child's CPD looks at the parent.

    Counted are the tests of the parent in the child's tree and the features of the child's CPD
    with a literal on the parent.
    """
    trees, features = network.trees, network.features
    inner = ~trees.is_leaf
    other = features.var != network.target[features.owner]
    parent = np.concatenate([trees.split_var[inner], features.var[other]])
    child = np.concatenate([trees.target[inner], network.target[features.owner[other]]])
    pairs, count = np.unique(np.column_stack([parent, child]), axis=0, return_counts=True)
    return {(u, v): n for (u, v), n in zip(pairs.tolist(), count.tolist(), strict=True)}


def _edges(
    network: MarkovNetwork | DependencyNetwork,
) -> dict[tuple[int, int], float] | dict[tuple[int, int], int]:
    if isinstance(network, DependencyNetwork):
        return parent_counts(network)
    return network.edges()


def _names(network: MarkovNetwork | DependencyNetwork) -> tuple[str, ...]:
    return network.names or tuple(f"V{v}" for v in range(network.n_vars))
