"""The graph of a model for other programs: a CSV list of edges, or GraphML."""

import csv
import io
from pathlib import Path

from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.dependency_network import DependencyNetwork
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.runtime.atomic import atomic_path
from mnlearn.runtime.files import write_text

Graph = MarkovNetwork | DependencyNetwork | BayesianNetwork


def write_edges(network: Graph, path: Path | str) -> None:
    """Write the edges as CSV with the header `source,target,weight`, in order of the variables.

    The weight is what `edges()` returns. An undirected edge of a Markov network has one line. An
    edge of another network leads from the parent to the child.
    """
    names = _names(network)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["source", "target", "weight"])
    for (u, v), weight in sorted(network.edges().items()):
        writer.writerow([names[u], names[v], repr(weight)])
    write_text(path, text.getvalue())


def write_graphml(network: Graph, path: Path | str) -> None:
    """Write the graph as GraphML: nodes V0, V1, … with a `name`, edges as in `write_edges`."""
    import networkx as nx  # takes long to import; no other format needs it

    graph = nx.Graph() if isinstance(network, MarkovNetwork) else nx.DiGraph()
    for v, name in enumerate(_names(network)):
        graph.add_node(f"V{v}", name=name)
    for (u, v), weight in sorted(network.edges().items()):
        graph.add_edge(f"V{u}", f"V{v}", weight=weight)
    with atomic_path(path) as temporary, temporary.open("wb") as file:
        # nx.write_graphml would use lxml where it is installed, and write other bytes.
        nx.write_graphml_xml(graph, file)


def _names(network: Graph) -> tuple[str, ...]:
    return network.names or tuple(f"V{v}" for v in range(network.n_vars))
