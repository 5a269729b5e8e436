"""Figures of the study `dtsl`: scores against seconds, and the conversions of trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mnlearn.drawing.style import GREY
from mnlearn_studies.report.figures.canvas import (
    empty,
    look_of,
    new_figure,
    row_height,
    set_dataset_rows,
)
from mnlearn_studies.report.material import Material, best_variant
from mnlearn_studies.study.published import Place, Source

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BASELINE = Source("atomic", "cmll")
# Heading, score and seconds of each method; published ones are in Tables 2 and 3 of the GSSL paper.
SERIES = (
    *(
        (head, Source(method, "cmll"), Source(method, "seconds_learn"))
        for head, method in (("DTSL", "dtsl"), ("trees", "dn_tree"))
    ),
    *(
        (
            f"{head}, published",
            Place("gssl", "2").source(method, "cmll"),
            Place("gssl", "3").source(method, "seconds_learn"),
        )
        for head, method in (("DTSL", "dtsl"), ("L1", "l1"), ("BLM", "blm"))
    ),
)
CONVERSIONS = ("default", "prune", "prune-10", "prune-5", "nonzero")


def draw_accuracy_time(material: Material) -> Figure:
    """Draw CMLL above that of a baseline, in per cent, against seconds, by method and dataset.

    Marks of published series are hollow.
    """
    from matplotlib.ticker import FuncFormatter, NullFormatter

    baseline = material.numbers(BASELINE)
    figure, ax = new_figure("page", 3.2)
    drawn: list[tuple[NDArray[np.float64], str, str, bool, str]] = []
    colours: dict[str, tuple[str, str]] = {}
    for head, score_of, seconds_of in SERIES:
        score = material.numbers(score_of)
        seconds = material.numbers(seconds_of)
        xy = np.array(
            [
                (seconds[d].value, _above(score[d].value, baseline[d].value))
                for d in material.datasets
                if d in score and d in seconds and d in baseline and seconds[d].value > 0
            ]
        ).reshape(-1, 2)
        if not len(xy):
            continue
        colour, marker = colours.setdefault(score_of.method, look_of(len(colours)))
        drawn.append((xy, colour, marker, score_of.is_published, head))
    if not drawn:
        return empty()
    ax.set_xscale("log")
    off_scale: list[tuple[float, float, str]] = []
    low, high = _robust_range(np.concatenate([xy[:, 1] for xy, *_ in drawn]))
    for xy, colour, marker, hollow, label in drawn:
        inside = (xy[:, 1] >= low) & (xy[:, 1] <= high)
        face = "none" if hollow else colour
        x, y = xy[inside].T
        ax.scatter(x, y, s=16, lw=0.8, marker=marker, fc=face, ec=colour, label=label, zorder=3)
        off_scale += [(a, b, colour) for a, b in xy[~inside].tolist()]
    _draw_off_scale(ax, off_scale, low, high)
    ax.set_ylim(low, high)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}" if v >= 1 else f"{v:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.grid(True)
    ax.margins(x=0.04)
    ax.axhline(0, color=GREY, lw=0.7, zorder=1)
    ax.set_xlabel("learning time, seconds")
    ax.set_ylabel(f"CMLL above {BASELINE.method}, %")
    figure.legend(loc="outside upper center", ncols=len(drawn), columnspacing=1.4)
    return figure


def _robust_range(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return limits that include 0 and all values, except values that are far from most others."""
    first, last = np.quantile(values, [0.05, 0.95])
    room = 0.6 * (last - first) or 1.0
    low = min(float(values[values >= first - room].min()), 0.0)
    high = max(float(values[values <= last + room].max()), 0.0)
    margin = 0.08 * (high - low) or 1.0
    return low - margin, high + margin


def _draw_off_scale(
    ax: Axes, points: Sequence[tuple[float, float, str]], low: float, high: float
) -> None:
    """Draw points (x, y, colour) outside the vertical limits: a triangle at the edge and the value.

    The values of neighbouring points are stacked.
    """
    inset = 0.015 * (high - low)
    for up in (False, True):
        level, previous = 0, 0.0
        for x, y, colour in sorted(p for p in points if (p[1] > high) == up):
            level = level + 1 if previous and np.log10(x / previous) < 0.2 else 0
            previous = x
            edge, sign = (high - inset, -1) if up else (low + inset, 1)
            ax.scatter(x, edge, s=20, marker="^" if up else "v", color=colour, zorder=5)
            ax.annotate(
                f"{y:.0f}".replace("-", "−"),
                (x, edge),
                (0, sign * (8 + 7.5 * level)),
                textcoords="offset points",
                ha="center",
                va="center",
                fontsize=6,
                color=colour,
                bbox={"fc": "white", "ec": "none", "pad": 0.4},
                zorder=4,
            )


def _above(value: float, baseline: float) -> float:
    return 100 * (value - baseline) / abs(baseline)


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
    figure, ax = new_figure("page", row_height(len(datasets), 0.85))
    set_dataset_rows(ax, material, datasets)
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
    handles = [
        Line2D([], [], ls="", ms=4, color=colour, marker=marker, label=v)
        for (colour, marker), v in ((look_of(i), v) for i, v in enumerate(names))
    ]
    ring = Line2D([], [], ls="", marker="o", ms=6, mfc="none", mec="#222222", mew=0.6)
    ring.set_label("chosen on validation")
    figure.legend(
        handles=[*handles, ring],
        loc="outside upper center",
        ncols=len(names) + 1,
        columnspacing=1.2,
    )
    return figure


def _below_axis(ax: Axes, lowest: float) -> None:
    """Make the axis linear near 0 and logarithmic below, where the differences spread widely."""
    from matplotlib.ticker import FuncFormatter, NullLocator

    threshold = 0.5
    if lowest < -4 * threshold:
        ax.set_xscale("symlog", linthresh=threshold, linscale=0.8)
        decades = [t for t in (0, -0.25, -0.5, -1, -2, -5, -10, -20, -50) if t >= lowest * 1.05]
        ax.set_xticks(decades)
        ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}".replace("-", "−")))
        ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlim(min(lowest * 1.15, -0.1), -lowest * 0.002 + 0.03)
