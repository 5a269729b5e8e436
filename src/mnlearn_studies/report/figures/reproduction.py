"""Ours against published by dataset: differences with the sampling error, distances to the best."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.drawing.style import BAND, BLUE, GREY, VERMILION
from mnlearn_studies.report.figures.canvas import (
    FigureEntry,
    dataset_rows,
    empty,
    legend_above,
    look_of,
)
from mnlearn_studies.report.material import Material
from mnlearn_studies.study.published import NamedSource, Place, paired

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Reproduction(FigureEntry):
    """Ours minus published per dataset, as lollipops with the sampling error.

    Bars and bands reach two standard errors or standard deviations to either side. A point that is
    far from the others is an arrow with its value.

    a, b : ours and the published numbers. spread : a source whose standard error is the standard
    deviation over random partitions. relative : whether differences are in per cent.
    """

    a: NamedSource
    b: NamedSource
    spread: NamedSource | None = None
    relative: bool = False

    def draw(self, material: Material) -> Figure:
        from matplotlib.lines import Line2D
        from matplotlib.patches import Patch

        ours, theirs = material.numbers(self.a), material.numbers(self.b)
        spread = material.numbers(self.spread) if self.spread else {}
        pairs = paired(ours, theirs, material.datasets, as_printed=False)
        if not pairs:
            return empty()
        datasets = [d for d, _, _ in pairs]
        scale = np.array([100 / abs(b) if self.relative else 1.0 for _, _, b in pairs])
        difference = np.array([a - b for _, a, b in pairs]) * scale
        error, band = (
            2 * scale * np.array([(of[d].stderr or 0.0) if d in of else 0.0 for d in datasets])
            for of in (ours, spread)
        )
        figure, ax = dataset_rows(material, datasets, "column", 0.75)
        limit = _robust_limit(np.abs(difference) + np.maximum(error, band))
        rows, inside = np.arange(len(datasets)), np.abs(difference) <= limit
        if band.any():
            ax.barh(rows, 2 * band, 0.62, difference - band, color=BAND, lw=0, zorder=2)
        colour = np.where(difference >= 0, BLUE, VERMILION)
        reach = np.clip(difference, -limit, limit)
        ax.hlines(rows, 0, reach, color=colour, lw=1.1, zorder=3)
        ax.errorbar(
            difference[inside], rows[inside], xerr=error[inside], fmt="none", ecolor=GREY,
            elinewidth=0.7, capsize=1.6, capthick=0.7, zorder=4,
        )  # fmt: skip
        ax.scatter(reach[inside], rows[inside], s=13, color=colour[inside], lw=0, zorder=5)
        for row in rows[~inside].tolist():
            _draw_arrow(ax, float(reach[row]), row, float(difference[row]), str(colour[row]))
        ax.axvline(0, color=GREY, lw=0.7, zorder=2)
        ax.set_xlim(-limit * 1.04, limit * 1.04)
        handles: list[Any] = [
            Line2D([], [], color=GREY, lw=0.7, marker="|", ms=4, label="±2 standard errors")
        ]
        if band.any():
            handles.append(Patch(color=BAND, lw=0, label="±2 sd over query groups"))
        legend_above(figure, handles, ncols=2, columnspacing=1)
        ax.set_xlabel(f"ours − published, {'%' if self.relative else 'nats'}")
        return figure


def _draw_arrow(ax: Axes, x: float, row: int, value: float, colour: str) -> None:
    """Draw a point off the scale: an arrow head at the edge, with the value beside it."""
    marker, inward, side = (">", -7, "right") if x > 0 else ("<", 7, "left")
    ax.scatter(x, row, s=18, marker=marker, color=colour, lw=0, zorder=5)
    ax.annotate(
        f"{value:+.1f}".replace("-", "−"), (x, row), (inward, 0), textcoords="offset points",
        ha=side, va="center", fontsize=6, color=colour,
        bbox={"fc": "white", "ec": "none", "pad": 0.6}, zorder=6,
    )  # fmt: skip


def _robust_limit(reach: NDArray[np.float64]) -> float:
    """Return the limit of the axis: the farthest point, unless a few are three times as far."""
    far = np.sort(reach)
    last = len(far) - 1
    for skipped in range(min(3, last)):
        if far[last - skipped] > 3 * far[last - skipped - 1]:
            return float(far[last - skipped - 1]) * 1.05 or 1.0
    return float(far[last]) * 1.05 or 1.0


# Our methods in study `frontier` with their headings, and the published methods of which the best
# counts.
FRONTIER = {
    "mixture": "mixture of trees",
    "hclt": "HCLT",
    "acmn_mixture": "mixture of ACMN",
    "acmn": "ACMN",
    "acbn": "ACBN",
    "ltm": "LTM",
    "lem": "LEM",
}
LATER = (
    *("hclt", "learnspn", "prometheus", "learnrp_100", "learnrp_f"),
    *("strudel_ensemble", "learnpsdd_ensemble", "xpc_ensemble"),
)
# What is farther below, in per cent, is an arrow at the edge.
SHOWN = 8.0


def draw_distances(material: Material) -> Figure:
    """Draw a mark per model and dataset: its score above the best published one, in per cent."""
    ours = {head: material.ours(method, "ll") for method, head in FRONTIER.items()}
    theirs = [material.numbers(Place("later", "ll").source(method, "ll")) for method in LATER]
    best = {d: max(one[d].value for one in theirs if d in one) for d in material.in_any(theirs)}
    datasets = [d for d in material.in_any(ours.values()) if d in best]
    if not datasets:
        return empty(width="page")
    figure, ax = dataset_rows(material, datasets, "page", 0.9)
    for number, (head, numbers) in enumerate(ours.items()):
        rows = np.array([i for i, d in enumerate(datasets) if d in numbers], np.int64)
        if not len(rows):
            continue
        of_row = [(numbers[datasets[i]].value, best[datasets[i]]) for i in rows]
        percent = np.array([100 * (value - other) / abs(other) for value, other in of_row])
        near = percent >= -SHOWN
        colour, marker = look_of(number)
        ax.scatter(
            percent[near], rows[near], s=22, marker=marker, color=colour, lw=0, label=head,
            zorder=3,
        )  # fmt: skip
        ax.scatter(
            np.full((~near).sum(), -SHOWN), rows[~near], s=14, marker="<", fc="none", ec=colour,
            lw=0.7, zorder=3,
        )  # fmt: skip
    ax.axvline(0, color=GREY, lw=0.8, zorder=2)
    ax.set_xlim(left=-1.04 * SHOWN)
    ax.set_xlabel("test LL above the best published, %")
    legend_above(figure, ncols=4, columnspacing=1.4)
    return figure
