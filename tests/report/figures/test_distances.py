"""Figures of studies whose marks are compared with those of others: where the marks lie."""

import dataclasses

import pandas as pd
import pytest

from made_figures import BY_KIND, DATASETS, NO_PUBLISHED, SCORE, material, scores
from mnlearn_studies.report.figures import draw
from mnlearn_studies.report.figures.reproduction import Distances


def marks(ours, published):
    """Return (per cent, row) of the marks, and the names of the rows.

    ours, published : log-likelihoods by method, of all datasets or by dataset.
    """

    def of(values):
        return values if isinstance(values, dict) else dict.fromkeys(DATASETS, values)

    frame = pd.DataFrame(
        [("s", d, m, "", "ll", v, None) for m, by in ours.items() for d, v in of(by).items()],
        columns=scores().columns,
    )
    printed = pd.DataFrame(
        [
            ("later", "ll", d, m, "ll", v, "", str(v), 1)
            for m, by in published.items()
            for d, v in of(by).items()
        ],
        columns=NO_PUBLISHED.columns,
    )
    entry = Distances(**BY_KIND["frontier.distances"])
    figure = entry.draw(dataclasses.replace(material(None, frame), published=printed))
    (ax,) = figure.axes
    names = [label.get_text() for label in ax.get_yticklabels()]
    return [collection.get_offsets().tolist() for collection in ax.collections], names


def test_marks_are_per_cent_of_the_best_published_score():
    of_methods = {"hclt": -10.0, "acmn": -14.0}
    (hclt, _, _, far), names = marks(of_methods, {"learnspn": -12.0, "prometheus": -10.2})
    assert names == list(DATASETS.values())
    assert hclt == [[pytest.approx(100 * 0.2 / 10.2), row] for row in range(len(DATASETS))]
    # 37 per cent below is beyond the edge of the figure.
    assert far == [[-8.0, row] for row in range(len(DATASETS))]


def test_a_dataset_without_a_published_score_has_no_row():
    published = {d: -3.0 for d in DATASETS if d != "d3"}
    _, names = marks({"acmn": -3.1}, {"hclt": published})
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
