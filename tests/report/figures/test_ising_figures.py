"""Figures of Ising networks: nothing is cut off, however long the names are."""

import numpy as np
import pytest

from mnlearn.learning.ising.network import IsingNetwork
from mnlearn.learning.ising.stability import EdgeStability
from mnlearn.report.figures.ising import draw_edge_stability


@pytest.mark.parametrize("length", [1, 40, 120])
def test_labels_of_edge_stability_are_inside_the_figure(length):
    n = 4
    weight = 1.0 - np.eye(n)
    zeros, never = np.zeros(n), np.zeros(n, bool)
    network = IsingNetwork(weight, zeros, weight, zeros, zeros, never, never, zeros, names=None)
    pairs = np.ones((5, n * (n - 1) // 2))
    stability = EdgeStability(weight, weight, weight / 2, 2 * weight, pairs)
    figure = draw_edge_stability(network, stability, [str(v) * length for v in range(n)])
    figure.draw_without_rendering()
    (ax,) = figure.axes
    label = ax.xaxis.label.get_window_extent()
    assert 0 <= label.x0 < label.x1 <= figure.bbox.x1
    assert label.width <= ax.get_window_extent().width
