"""Figures that one study has: conversions of trees, distances from the best, mean ranks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mnlearn.drawing.style import BLUE, GREY
from mnlearn_studies.report.figures.canvas import (
    dataset_rows,
    empty,
    legend_above,
    look_of,
    marks,
    new_figure,
    with_minus,
)
from mnlearn_studies.report.material import Material, best_variant
from mnlearn_studies.report.statistics import friedman
from mnlearn_studies.study.published import Place

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CONVERSIONS = ("default", "prune", "prune-10", "prune-5", "nonzero")


def draw_conversions(material: Material) -> Figure:
    """Draw how far each conversion of DTSL is below the best, per dataset, in per cent of CMLL.

    A ring marks the conversion that validation chose.
    """
    from matplotlib.lines import Line2D

    names = material.variants("dtsl", CONVERSIONS)
    data, validation = (
        material.by_variant("dtsl", quantity, names) for quantity in ("cmll", "validation")
    )
    datasets = material.in_any(data.values())
    if not datasets:
        return empty(width="page")
    figure, ax = dataset_rows(material, datasets, "page", 0.85)
    below: list[float] = []
    for row, dataset in enumerate(datasets):
        values = {v: data[v][dataset].value for v in names if dataset in data[v]}
        chosen = best_variant(validation, dataset)
        best = max(values.values())
        for v, value in values.items():
            x = 100 * (value - best) / abs(best)
            below.append(x)
            number = names.index(v)
            # Each variant has its own height in the row, so equal values do not hide each other.
            y = row + (number - (len(names) - 1) / 2) * 0.13
            colour, marker = look_of(number)
            ax.scatter(x, y, s=12, lw=0, color=colour, marker=marker, zorder=3, clip_on=False)
            if v == chosen:
                ax.scatter(x, y, s=42, fc="none", ec="#222222", lw=0.6, zorder=4, clip_on=False)
    _below_axis(ax, min(below))
    ax.set_xlabel("CMLL below the best conversion, %")
    ring = Line2D([], [], ls="", marker="o", ms=6, mfc="none", mec="#222222", mew=0.6)
    ring.set_label("chosen on validation")
    legend_above(figure, [*marks(names), ring], ncols=len(names) + 1, columnspacing=1.2)
    return figure


def _below_axis(ax: Axes, lowest: float) -> None:
    """Make the axis linear near 0 and logarithmic below, where the differences spread widely."""
    from matplotlib.ticker import NullLocator

    threshold = 0.5
    if lowest < -4 * threshold:
        ax.set_xscale("symlog", linthresh=threshold, linscale=0.8)
        decades = [t for t in (0, -0.25, -0.5, -1, -2, -5, -10, -20, -50) if t >= lowest * 1.05]
        ax.set_xticks(decades)
        ax.xaxis.set_major_formatter(with_minus)
        ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlim(min(lowest * 1.15, -0.1), -lowest * 0.002 + 0.03)


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


LEARNERS = {"gssl": "GSSL", "l1": "L1", "dtsl": "DTSL", "blm": "BLM"}


def draw_critical_difference(material: Material) -> Figure:
    """Draw the mean rank of each learner of study `gssl` by test CMLL.

    Bars join learners that Nemenyi's test does not tell apart at 0.05. See Demsar, "Statistical
    comparisons of classifiers over multiple data sets", JMLR 7 (2006), Section 3.2.2.
    """
    data = [material.ours(method, "cmll") for method in LEARNERS]
    datasets = material.in_all(data)
    if len(datasets) < 2:
        return empty(width="page")
    ranked = friedman(np.array([[found[d].value for found in data] for d in datasets]))
    critical, order = ranked.critical_difference, np.argsort(ranked.mean, kind="stable")
    mean, heads = ranked.mean[order], [list(LEARNERS.values())[i] for i in order]
    groups = find_runs(mean, critical)
    n, half = len(mean), (len(mean) + 1) // 2
    depth = 0.32 * len(groups) + 0.5 * half
    figure, ax = new_figure("page", 0.9 + 0.36 * depth)
    ax.set_axis_off()
    ax.set_xlim(0.2, n + 0.8)
    ax.set_ylim(-depth - 0.5, 1.5)
    ax.plot([1, n], [0, 0], color="black", lw=0.8)
    for tick in range(1, n + 1):
        ax.plot([tick, tick], [0, 0.14], color="black", lw=0.8)
        ax.text(tick, 0.24, str(tick), ha="center", va="bottom")
    ax.plot([1, 1 + critical], [1.05, 1.05], color=GREY, lw=1.2)
    said = f"critical difference {critical:.2f}"
    ax.text(1 + critical + 0.04, 1.05, said, color=GREY, va="center")
    for number, (rank, head) in enumerate(zip(mean.tolist(), heads, strict=True)):
        left = number < half
        level = number if left else n - 1 - number
        y = -0.32 * len(groups) - 0.5 * (level + 1)
        edge, outward, side = (0.75, -0.04, "right") if left else (n + 0.25, 0.04, "left")
        ax.plot([rank, rank, edge], [0, y, y], color="black", lw=0.6)
        ax.plot(rank, 0, "o", ms=3, color="black")
        ax.text(edge + outward, y, f"{head} ({rank:.2f})", ha=side, va="center")
    for number, (first, last) in enumerate(groups):
        y = -0.3 * (number + 1)
        ax.plot([mean[first] - 0.03, mean[last] + 0.03], [y, y], color=BLUE, lw=2.5)
    return figure


def find_runs(mean: NDArray[np.float64], critical: float) -> list[tuple[int, int]]:
    """Return (first, last) of the longest runs of ascending ranks less than `critical` apart."""
    runs: list[tuple[int, int]] = []
    for first in range(len(mean)):
        last = int(np.flatnonzero(mean - mean[first] < critical)[-1])
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    return runs
