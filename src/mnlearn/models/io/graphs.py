"""Files of the edges of a model: CSV and GraphML."""

import io
import re
from pathlib import Path

from mnlearn.models.interactions import Graph, edge_weights
from mnlearn.runtime.files import to_csv, write_bytes, write_text

_INFINITE = re.compile(rb'(<edge [^>]*>\s*<data key="\w+">-?)inf<')


def write_edges(network: Graph, path: Path | str) -> None:
    """Write the edges as CSV with the header `source,target,weight`, in order of the variables."""
    names = network.schema.names
    edges = sorted(edge_weights(network).items())
    rows = [{"source": names[u], "target": names[v], "weight": w} for (u, v), w in edges]
    text = to_csv(rows) if rows else "source,target,weight\n"
    write_text(path, text)


def write_graphml(network: Graph, path: Path | str) -> None:
    """Write the graph as GraphML: nodes V0, V1, … with a `name`, edges as in `write_edges`."""
    import networkx as nx  # takes long to import; no other format needs it

    made = nx.DiGraph() if network.is_directed else nx.Graph()
    for v, name in enumerate(network.schema.names):
        made.add_node(f"V{v}", name=name)
    for (u, v), weight in sorted(edge_weights(network).items()):
        made.add_edge(f"V{u}", f"V{v}", weight=weight)
    content = io.BytesIO()
    # nx.write_graphml would use lxml where it is installed, and write other bytes.
    nx.write_graphml_xml(made, content)
    # XML Schema spells infinity so.
    write_bytes(path, _INFINITE.sub(rb"\1INF<", content.getvalue()))
