"""
Find a known network again
==========================

Samples are drawn from a network that we know, a grid of 4 x 4 variables. DTSL learns a network
from the samples. How many edges of the grid does it find?
"""

import matplotlib.pyplot as plt
import networkx as nx

import mnlearn as mn
from mnlearn_studies.datasets.embedded import build_true_network, load_embedded

train, _, test = load_embedded("grid", seed=20)
truth = build_true_network("grid", seed=20)
true_edges = set(truth.edges())

# %%
# The learned network has a weight for each pair of variables that share a feature. There are as
# many true edges as we look at: the 24 strongest pairs.

model = mn.DTSL(l1=10.0).fit(train).model_
graph = model.to_networkx()
by_strength = sorted(graph.edges, key=lambda edge: -abs(graph.edges[edge]["weight"]))
names = list(graph)
place = {name: (k % 4, -(k // 4)) for k, name in enumerate(names)}
strongest = {tuple(sorted((names.index(u), names.index(v)))) for u, v in by_strength[:24]}
found = len(strongest & true_edges)
print(f"{found} of the {len(true_edges)} strongest pairs are edges of the grid")

# %%
# A line is red if the two variables tend to be equal, and blue if they tend to differ. Its width
# is the weight. The learned network draws all pairs, also the weak ones.


def draw(axes, edges, title):
    """Draw the grid with the weights of edges as colours and widths."""
    plain = nx.Graph()
    plain.add_nodes_from(range(16))
    nodes = {k: place[name] for k, name in enumerate(names)}
    plain.add_edges_from(edges)
    colours = ["firebrick" if weight > 0 else "steelblue" for weight in edges.values()]
    widths = [2.5 * abs(weight) for weight in edges.values()]
    nx.draw_networkx_nodes(plain, nodes, ax=axes, node_size=220, node_color="0.85")
    nx.draw_networkx_edges(
        plain, nodes, edgelist=list(edges), ax=axes, edge_color=colours, width=widths,
        arrows=True, connectionstyle="arc3,rad=0.12", arrowstyle="-",
    )  # fmt: skip
    axes.set_title(title)
    axes.axis("off")


figure, (left, right) = plt.subplots(1, 2, figsize=(8, 4))
draw(left, truth.edges(), "the known network")
draw(right, model.edges(), "learned from 3,000 samples")
plt.show()
