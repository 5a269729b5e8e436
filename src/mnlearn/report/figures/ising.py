"""Figures of an estimated Ising network: the network, and the stability of its edges."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mnlearn.learning.ising.network import IsingNetwork
from mnlearn.learning.ising.stability import EdgeStability
from mnlearn.report.figures.canvas import BLUE, DPI, GREY, WIDTHS, style
from mnlearn.report.figures.networks import (
    draw_edges,
    draw_nodes,
    layout,
    short_names,
    sign_handles,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# More edges are not legible in one column of names.
MAX_EDGES = 60


def draw_ising_network(network: IsingNetwork, names: Sequence[str]) -> Figure:
    """Return a figure of a network: edges by the sign and size of their weights."""
    from matplotlib.figure import Figure

    with style():
        side = min(3.4 + 0.05 * max(len(names) - 10, 0), WIDTHS["page"])
        figure = Figure((side, side), dpi=DPI, layout="constrained")
        ax = figure.add_subplot()
        ax.set_aspect("equal")
        ax.set_axis_off()
        ax.margins(0.07)
        edges = [(u, v) for u, v in network.edges().tolist()]
        position = layout(len(names), sorted(edges))
        draw_edges(ax, position, {(u, v): float(network.weight[u, v]) for u, v in edges}, set())
        draw_nodes(ax, position, short_names(names))
        figure.legend(handles=sign_handles(), loc="outside lower center", ncols=2)
    return figure


def draw_edge_stability(
    network: IsingNetwork, stability: EdgeStability, names: Sequence[str]
) -> Figure:
    """Return a figure of edge weights with their bootstrap intervals, the strongest edge on top.

    It has the edges of the network and those of at least half of the resamples, at most `MAX_EDGES`
    of them. The number at the right of an edge is the share of resamples that have it.
    """
    from matplotlib.figure import Figure

    shown = np.argwhere(np.triu((network.weight != 0) | (stability.share >= 0.5), 1))
    size = np.abs(network.weight[tuple(shown.T)])
    order = np.lexsort((-stability.share[tuple(shown.T)], -size))[:MAX_EDGES]
    edges = shown[order]
    u, v = edges.T
    place = np.arange(len(edges))
    with style():
        figure = Figure((4.2, 0.9 + 0.13 * len(edges)), dpi=DPI, layout="constrained")
        ax = figure.add_subplot()
        ax.hlines(place, stability.low[u, v], stability.high[u, v], color=GREY, lw=2, alpha=0.45)
        ax.plot(stability.mean[u, v], place, "|", ms=5, color="black", label="bootstrap mean")
        ax.plot(network.weight[u, v], place, "o", ms=3, color=BLUE, label="data")
        ax.axvline(0, color=GREY, lw=0.6)
        labels = [f"{names[a]} – {names[b]}" for a, b in edges.tolist()]
        ax.set_yticks(place, labels, parse_math=False)
        ax.set_ylim(len(edges) - 0.4, -0.6)
        ax.set_xlabel("edge weight, with the middle 95 % of the resamples")
        right = ax.secondary_yaxis("right")
        right.set_yticks(place, [f"{share:.2f}" for share in stability.share[u, v]])
        right.tick_params(length=0)
        right.spines["right"].set_visible(False)
        ax.set_title("share of resamples", loc="right", color=GREY)
        figure.legend(loc="outside lower center", ncols=2)
    return figure
