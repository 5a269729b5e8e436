"""Figures of kind `distances`: how far models are from the best published score per dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mnlearn.drawing.style import GREY
from mnlearn_studies.report.figures.canvas import (
    NOTHING,
    WIDTH,
    Material,
    empty,
    look_of,
    new_figure,
)
from mnlearn_studies.report.figures.rows import row_height, set_dataset_rows
from mnlearn_studies.report.options import (
    POSITIVE,
    SOURCE,
    TEXT,
    Kind,
    Options,
    listed,
    mapping,
    needed,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_distances(material: Material, options: Options) -> Figure:
    """Draw a mark per model and dataset: its score above the best published one, in per cent.

    Parameters
    ----------
    material : Material
        Scores and published numbers.
    options : mapping
        series (each with head and source); published (the sources of which the greatest counts);
        shown (per cent; what is farther below is an arrow at the edge); quantity; width.
    """
    where = material.where(options)
    series = options["series"]
    ours = [material.numbers(s["source"], where) for s in series]
    theirs = [material.numbers(s, where) for s in options["published"]]
    best = {
        d: max(one[d].value for one in theirs if d in one)
        for d in material.datasets
        if any(d in one for one in theirs)
    }
    datasets = [d for d in best if any(d in one for one in ours)]
    if not datasets:
        return empty(options, NOTHING)
    least = -float(options.get("shown", 10.0))
    figure, ax = new_figure(options, "page", row_height(len(datasets), 0.9))
    set_dataset_rows(ax, material, datasets)
    for number, (one, numbers) in enumerate(zip(series, ours, strict=True)):
        rows = np.array([i for i, d in enumerate(datasets) if d in numbers], np.int64)
        if not len(rows):
            continue
        of_row = [(numbers[datasets[i]].value, best[datasets[i]]) for i in rows]
        percent = np.array([100 * (value - other) / abs(other) for value, other in of_row])
        near = percent >= least
        colour, marker = look_of(number)
        ax.scatter(
            percent[near], rows[near], s=22, marker=marker, color=colour, lw=0, label=one["head"],
            zorder=3,
        )  # fmt: skip
        ax.scatter(
            np.full((~near).sum(), least), rows[~near], s=14, marker="<", fc="none", ec=colour,
            lw=0.7, zorder=3,
        )  # fmt: skip
    ax.axvline(0, color=GREY, lw=0.8, zorder=2)
    ax.set_xlim(left=1.04 * least)
    ax.set_xlabel(f"{options.get('quantity', 'score')} above the best published, %")
    figure.legend(loc="outside upper center", ncols=4, columnspacing=1.4)
    return figure


DISTANCES = Kind(
    draw_distances,
    {
        "series": needed(listed({"head": needed(TEXT), "source": needed(mapping(SOURCE))})),
        "published": needed(listed(SOURCE)),
        "shown": POSITIVE,
        "quantity": TEXT,
        "width": WIDTH,
    },
)
