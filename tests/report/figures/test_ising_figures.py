"""Figures of Ising networks: nothing is cut off, however long the names are."""

import logging
import warnings
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from mnlearn.drawing.ising import MAX_EDGES, draw_edge_stability, draw_networks
from mnlearn.drawing.ising_measures import (
    MAX_COMPARED,
    draw_case_dropping,
    draw_differences,
    fitting,
)
from mnlearn.drawing.item_groups import colour_groups
from mnlearn.drawing.style import name_missing_glyphs, render
from mnlearn.learning.ising.network import IsingNetwork, case_drop_frame
from mnlearn.learning.ising.stability import CaseDropping, Differences, EdgeStability
from mnlearn.variables.schema import binary_schema


def network_of(names):
    n = len(names)
    weight = 1.0 - np.eye(n)
    zeros, never = np.zeros(n), np.zeros(n, bool)
    schema = binary_schema(names)
    return IsingNetwork(weight, zeros, weight, zeros, zeros, never, never, zeros, schema)


@pytest.mark.parametrize(("n", "length"), [(4, 1), (6, 40), (10, 75), (40, 75)])
def test_names_leave_the_network_its_size(n, length):
    figure = draw_networks({"": network_of([f"{v} ".ljust(length, "x") for v in range(n)])})
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


def test_long_names_beside_axes_are_cut_and_numbered():
    long = "how often did you feel down in the last weeks"
    cut = fitting(["a", long, f"{long}?"])
    assert cut == ["a", f"2  {long[:29]}…", f"3  {long[:29]}…"]


def test_letters_are_white_on_dark_colours():
    fills = {"a": "navy", "b": "black", "c": "#F0E442", "d": "#56B4E9", "e": "#0072B2"}
    groups = colour_groups(list(fills), fills)
    figure = draw_networks({"": network_of(fills)}, groups)
    found = {text.get_text(): text.get_color() for text in figure.axes[0].texts}
    white, black = "white", "black"
    assert found == {"a": white, "b": white, "c": black, "d": black, "e": white}


def test_figures_say_how_much_of_the_edges_they_show():
    n = 12
    names = [f"i{v}" for v in range(n)]
    network, n_edges = network_of(names), n * (n - 1) // 2
    weight = network.weight
    stability = EdgeStability(weight, weight, weight, weight, np.ones((5, n_edges)))
    figure = draw_edge_stability(network, stability, names)
    assert figure.axes[0].get_title(loc="left") == f"{MAX_EDGES} of {n_edges} edges"
    first, second = np.triu_indices(n_edges, 1)
    zeros = np.zeros(len(first))
    differences = Differences(first, second, zeros, zeros, zeros)
    figure = draw_differences([("edges", [str(k) for k in range(n_edges)], differences)])
    assert figure.axes[0].get_title() == f"edges, the first {MAX_COMPARED} of {n_edges}"


def test_the_figure_of_case_dropping_shows_the_numbers_of_its_table():
    correlation = np.array([[0.9, 0.8, np.nan], [0.4, np.nan, np.nan]])
    cases = CaseDropping(np.array([0.25, 0.5]), {"edges": correlation})
    (ax,) = draw_case_dropping(cases).axes
    mean = ax.lines[0].get_ydata()
    np.testing.assert_allclose(mean, case_drop_frame(cases)["correlation"])
    np.testing.assert_allclose(mean, [0.85, 0.4])


def test_a_line_names_the_characters_that_no_font_has(caplog):
    # The first two stand for nothing; matplotlib brings a font that has the third.
    names = ["\u0379", "\u0378", "\u2312", "sleep"]
    with warnings.catch_warnings(), caplog.at_level(logging.INFO, logger="mnlearn"):
        warnings.simplefilter("error", RuntimeWarning)
        with name_missing_glyphs():
            render(draw_networks({"": network_of(names)}))
        with pytest.raises(RuntimeWarning, match="another"), name_missing_glyphs():
            warnings.warn("another", RuntimeWarning, stacklevel=1)
    assert "figures: no installed font has \u0378, \u0379, drawn as boxes; a" in caplog.text


def chain_of(names):
    weight = np.eye(len(names), k=1) + np.eye(len(names), k=-1)
    return replace(network_of(names), weight=weight)


@pytest.mark.parametrize("n", [2, 6, 12, 30])
@pytest.mark.parametrize("length", [1, 20, 70])
def test_a_chain_fills_its_figure(n, length):
    figure = draw_networks({"": chain_of([f"{v} ".ljust(length, "x") for v in range(n)])})
    figure.draw_without_rendering()
    (ax,) = figure.axes
    parts = [*ax.texts, *ax.collections, *figure.legends]
    used = np.array([part.get_window_extent().extents for part in parts])
    low, high = used[:, :2].min(axis=0), used[:, 2:].max(axis=0)
    assert (high - low > 0.6 * np.array(figure.bbox.size)).all()
    # Names stand beside the circles, and do not meet each other.
    names = [text.get_window_extent() for text in ax.texts]
    assert not any(one.overlaps(other) for one, other in combinations(names, 2))


def test_names_stand_beside_variables_where_they_fit():
    names = ["sleeping poorly", "appetite", "irritable", "anxious"]
    texts = draw_networks({"": chain_of(names)}).axes[0].texts
    assert [text.get_text() for text in texts] == names
    assert {text.get_horizontalalignment() for text in texts} == {"left"}
    crowded = network_of([f"{v} during the last two weeks" for v in range(20)])
    figure = draw_networks({"": crowded})
    assert [text.get_text() for text in figure.axes[0].texts] == [str(v + 1) for v in range(20)]
    assert any(crowded.labels[0] in text.get_text() for text in figure.legends[-1].get_texts())
