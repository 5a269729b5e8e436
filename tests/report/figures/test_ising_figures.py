"""Figures of Ising networks: nothing is cut off, however long the names are."""

import numpy as np
import pytest

from mnlearn.learning.ising.network import IsingNetwork
from mnlearn.learning.ising.stability import EdgeStability
from mnlearn.report.figures.ising import draw_edge_stability, draw_ising_network


def network_of(names):
    n = len(names)
    weight = 1.0 - np.eye(n)
    zeros, never = np.zeros(n), np.zeros(n, bool)
    return IsingNetwork(
        weight, zeros, weight, zeros, zeros, never, never, zeros, names=tuple(names)
    )


@pytest.mark.parametrize(("n", "length"), [(4, 1), (6, 40), (10, 75), (40, 75)])
def test_names_leave_the_network_its_size(n, length):
    figure = draw_ising_network(network_of([f"{v} ".ljust(length, "x") for v in range(n)]))
    figure.draw_without_rendering()
    for legend in figure.legends:
        box = legend.get_window_extent()
        assert 0 <= box.x0 < box.x1 <= figure.bbox.x1
        assert 0 <= box.y0 < box.y1 <= figure.bbox.y1
    width, height = figure.axes[0].get_position().size * figure.get_size_inches()
    assert min(width, height) > 2.4


@pytest.mark.parametrize("length", [1, 40, 120])
def test_labels_of_edge_stability_are_inside_the_figure(length):
    n = 4
    network = network_of([str(v) * length for v in range(n)])
    weight = network.weight
    pairs = np.ones((5, n * (n - 1) // 2))
    stability = EdgeStability(weight, weight, weight / 2, 2 * weight, pairs)
    figure = draw_edge_stability(network, stability, network.labels)
    figure.draw_without_rendering()
    (ax,) = figure.axes
    label = ax.xaxis.label.get_window_extent()
    assert 0 <= label.x0 < label.x1 <= figure.bbox.x1
    assert label.width <= ax.get_window_extent().width
