"""Figure of the study `frontier`: how far models are from the best published score."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from mnlearn.drawing.style import GREY
from mnlearn_studies.report.figures.canvas import (
    empty,
    look_of,
    new_figure,
    row_height,
    set_dataset_rows,
)
from mnlearn_studies.report.material import Material
from mnlearn_studies.study.published import Place, Source

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Our methods with their headings.
METHODS = {
    "mixture": "mixture of trees",
    "hclt": "HCLT",
    "acmn_mixture": "mixture of ACMN",
    "acmn": "ACMN",
    "acbn": "ACBN",
    "ltm": "LTM",
    "lem": "LEM",
}
# The published methods of which the best counts.
PUBLISHED = Place("later", "ll")
LATER = (
    *("hclt", "learnspn", "prometheus", "learnrp_100", "learnrp_f"),
    *("strudel_ensemble", "learnpsdd_ensemble", "xpc_ensemble"),
)
# What is farther below, in per cent, is an arrow at the edge.
SHOWN = 8.0


def draw_distances(material: Material) -> Figure:
    """Draw a mark per model and dataset: its score above the best published one, in per cent."""
    ours = {head: material.numbers(Source(method, "ll")) for method, head in METHODS.items()}
    theirs = [material.numbers(PUBLISHED.source(method, "ll")) for method in LATER]
    best = {
        d: max(one[d].value for one in theirs if d in one)
        for d in material.datasets
        if any(d in one for one in theirs)
    }
    datasets = [d for d in best if any(d in one for one in ours.values())]
    if not datasets:
        return empty(width="page")
    least = -SHOWN
    figure, ax = new_figure("page", row_height(len(datasets), 0.9))
    set_dataset_rows(ax, material, datasets)
    for number, (head, numbers) in enumerate(ours.items()):
        rows = np.array([i for i, d in enumerate(datasets) if d in numbers], np.int64)
        if not len(rows):
            continue
        of_row = [(numbers[datasets[i]].value, best[datasets[i]]) for i in rows]
        percent = np.array([100 * (value - other) / abs(other) for value, other in of_row])
        near = percent >= least
        colour, marker = look_of(number)
        ax.scatter(
            percent[near], rows[near], s=22, marker=marker, color=colour, lw=0, label=head,
            zorder=3,
        )  # fmt: skip
        ax.scatter(
            np.full((~near).sum(), least), rows[~near], s=14, marker="<", fc="none", ec=colour,
            lw=0.7, zorder=3,
        )  # fmt: skip
    ax.axvline(0, color=GREY, lw=0.8, zorder=2)
    ax.set_xlim(left=1.04 * least)
    ax.set_xlabel("test LL above the best published, %")
    figure.legend(loc="outside upper center", ncols=4, columnspacing=1.4)
    return figure
