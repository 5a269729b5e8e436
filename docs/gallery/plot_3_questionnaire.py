"""
A questionnaire as a network
============================

Symptoms of 600 invented people. ``Ising`` estimates the network as R's IsingFit does, and a
bootstrap says which edges can be trusted.
"""

import matplotlib.pyplot as plt
import networkx as nx
import numpy as np
import pandas as pd

import mnlearn as mn

rng = np.random.default_rng(3)


def answers(probability):
    """Return the answers of 600 people, 1 with the probability of each."""
    return (rng.random(600) < probability).astype(int)


items = pd.DataFrame({"worry": answers(0.4)})
items["restless"] = answers(0.1 + 0.5 * items["worry"])
items["insomnia"] = answers(0.1 + 0.3 * items["worry"] + 0.3 * items["restless"])
items["fatigue"] = answers(0.1 + 0.6 * items["insomnia"])
items["sadness"] = answers(0.15 + 0.35 * items["fatigue"])
items["appetite"] = answers(0.1 + 0.4 * items["sadness"])

# %%
# The weights are log odds ratios given all other items. ``bootstrap_share`` is the share of the
# resamples in which the edge was found.

ising = mn.Ising(gamma=0.25).fit(items)
table = ising.bootstrap(50, random_state=0)
edges = table[table["weight"] != 0]
print(edges[["source", "target", "weight", "bootstrap_share"]].round(2).to_string(index=False))

# %%
# Solid lines were found in at least 90 % of the resamples.

graph = nx.Graph()
graph.add_nodes_from(items.columns)
for edge in edges.to_dict("records"):
    graph.add_edge(edge["source"], edge["target"], **edge)
places = nx.circular_layout(graph)
figure, axes = plt.subplots(figsize=(5, 4))
nx.draw_networkx_nodes(graph, places, ax=axes, node_size=2200, node_color="0.92", edgecolors="0.5")
nx.draw_networkx_labels(graph, places, ax=axes, font_size=9)
for u, v, edge in graph.edges(data=True):
    nx.draw_networkx_edges(
        graph,
        places,
        edgelist=[(u, v)],
        ax=axes,
        node_size=2200,
        width=2 * abs(edge["weight"]),
        edge_color="firebrick" if edge["weight"] > 0 else "steelblue",
        style="solid" if edge["bootstrap_share"] >= 0.9 else "dotted",
    )
axes.margins(0.2)
axes.axis("off")
plt.show()
