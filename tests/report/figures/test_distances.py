"""Figures of kind `distances`: where the marks lie."""

import dataclasses

import pytest

from made_figures import DATASETS, SCORE, material, scores
from mnlearn_studies.report.figures import draw


def marks(product, frame):
    """Return (per cent, row) of the marks of each series, and the names of the rows."""
    figure = draw(dataclasses.replace(material(None), scores=frame), product)
    (ax,) = figure.axes
    names = [label.get_text() for label in ax.get_yticklabels()]
    return [collection.get_offsets().tolist() for collection in ax.collections], names


def test_marks_are_per_cent_of_the_best_published_score():
    frame = scores()[["dataset", "method", "variant", "quantity", "value", "stderr"]]
    product = {
        "kind": "distances",
        "name": "f",
        "caption": "",
        "shown": 20.0,
        "series": [
            {"head": "ours", "source": SCORE["dtsl"]},
            {"head": "base", "source": SCORE["atomic"]},
        ],
        "published": [SCORE["trees"], SCORE["atomic"]],
    }
    (ours, _, _, far), names = marks(product, frame)
    assert names == list(DATASETS.values())
    # DTSL scores -b, trees -1.02 b and atomic -1.4 b: the trees are the best published.
    assert ours == [[pytest.approx(100 * 0.02 / 1.02), row] for row in range(len(DATASETS))]
    # 37 per cent below is beyond the edge of the figure.
    assert far == [[-20.0, row] for row in range(len(DATASETS))]


def test_a_dataset_without_a_published_score_has_no_row():
    frame = scores()[["dataset", "method", "variant", "quantity", "value", "stderr"]]
    frame = frame[(frame["method"] != "trees") | (frame["dataset"] != "d3")]
    product = {
        "kind": "distances",
        "name": "f",
        "caption": "",
        "series": [{"head": "ours", "source": SCORE["dtsl"]}],
        "published": [SCORE["trees"]],
    }
    _, names = marks(product, frame)
    assert names == [label for name, label in DATASETS.items() if name != "d3"]


def test_a_series_without_numbers_does_not_hide_the_others():
    seconds = {"quantity": "seconds_learn"}
    series = [
        {"head": m, "score": SCORE["dtsl"] | {"method": m}, "seconds": {"method": m} | seconds}
        for m in ("dtsl", "never_run", "trees")
    ]
    product = {"kind": "pareto", "name": "f", "caption": "", "series": series}
    figure = draw(dataclasses.replace(material(None), scores=scores()), product)
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["dtsl", "trees"]
