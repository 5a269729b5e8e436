"""Scatter plots: labels, sizes, arrows and lines."""

import itertools

import numpy as np
import pandas as pd
from matplotlib.collections import PathCollection
from matplotlib.text import Text

from made_figures import BY_KIND, DATASETS, material, scores
from mnlearn_studies.report.figures import draw
from mnlearn_studies.report.figures.against_time import _beaten


def test_scatter_labels_keep_apart_and_inside(structures):
    figure = draw(material(structures), BY_KIND["scatter"])
    figure.draw_without_rendering()
    ax = figure.axes[0]
    texts = ax.texts
    assert {text.get_text() for text in texts} >= set(DATASETS.values())
    assert "DTSL better on 8" in {text.get_text() for text in texts}
    # An annotation's own extent includes its line to the point.
    boxes = [Text.get_window_extent(text) for text in texts]
    for a, b in itertools.combinations(boxes, 2):
        assert not a.overlaps(b)
    frame = ax.get_window_extent()
    for box in boxes:
        assert frame.x0 - 1 <= box.x0 < box.x1 <= frame.x1 + 1
        assert frame.y0 - 1 <= box.y0 < box.y1 <= frame.y1 + 1


def test_scatter_per_variable_divides_by_the_size_of_the_model(structures):
    product = {**BY_KIND["scatter"], "per_variable": True}
    frame = scores()
    sized = frame[(frame.dataset == "d0") & (frame.quantity == "cmll")].head(1)
    frame = pd.concat([frame, sized.assign(quantity="n_vars", value=6.0)])
    figure = draw(material(structures, frame), product)
    (points,) = [c for c in figure.axes[0].collections if isinstance(c, PathCollection)]
    frame = scores()
    cmll = frame[(frame.dataset == "d0") & (frame.quantity == "cmll") & (frame.variant == "")]
    by_method = cmll.set_index("method")["value"]
    expected = [[-by_method["trees"] / 6, -by_method["dtsl"] / 6]]
    np.testing.assert_allclose(points.get_offsets(), expected)


def test_a_point_far_off_is_an_arrow_and_the_axis_stays_short(structures):
    frame = scores()
    far = (frame.dataset == "d1") & (frame.method == "dtsl") & (frame.quantity == "cmll")
    frame.loc[far, "value"] *= 3
    figure = draw(material(structures, frame), BY_KIND["reproduction"])
    ax = figure.axes[0]
    assert ax.get_xlim()[0] > -20
    assert [text.get_text() for text in ax.texts] == ["−194.1"]


def test_series_that_another_beats_in_both_are_off_the_line():
    x, y = np.array([1.0, 2.0, 3.0, 0.5]), np.array([-2.0, -3.0, -1.0, 0.0])
    ours = np.array([True, True, True, False])
    assert [_beaten(i, x, y, ours) for i in range(3)] == [False, True, False]
