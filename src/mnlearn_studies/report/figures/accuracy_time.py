"""Figures of kind `accuracy_time`: scores above a baseline against seconds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mnlearn.drawing.style import GREY
from mnlearn_studies.report.figures.canvas import (
    NOTHING,
    SCORE_AND_SECONDS,
    WIDTH,
    Material,
    empty,
    look_of,
    new_figure,
)
from mnlearn_studies.report.options import (
    FLAG,
    SOURCE,
    TEXT,
    Kind,
    Options,
    listed,
    mapping,
    needed,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_accuracy_time(material: Material, options: Options) -> Figure:
    """Draw scores above those of a baseline against seconds, a mark per method and dataset.

    Parameters
    ----------
    material : Material
        Scores and published numbers.
    options : mapping
        baseline, a source; series, each with head, score and seconds, two sources (marks of
        published series are hollow); quantity; relative (per cent of the baseline); width.
    """
    from matplotlib.ticker import FuncFormatter, NullFormatter

    where = material.where(options)
    baseline = material.numbers(options["baseline"], where)
    figure, ax = new_figure(options, "page", 3.2)
    relative = bool(options.get("relative"))
    drawn: list[tuple[NDArray[np.float64], str, str, bool, str]] = []
    colours: dict[str, tuple[str, str]] = {}
    for series in options["series"]:
        score = material.numbers(series["score"], where)
        seconds = material.numbers(series["seconds"], where)
        xy = np.array(
            [
                (seconds[d].value, _above(score[d].value, baseline[d].value, relative))
                for d in material.datasets
                if d in score and d in seconds and d in baseline and seconds[d].value > 0
            ]
        ).reshape(-1, 2)
        if not len(xy):
            continue
        method = str(series["score"]["method"])
        colour, marker = colours.setdefault(method, look_of(len(colours)))
        drawn.append((xy, colour, marker, "study" in series["score"], str(series["head"])))
    if not drawn:
        return empty(options, NOTHING)
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
    base = options["baseline"].get("head", options["baseline"]["method"])
    unit = "%" if relative else "nats"
    ax.set_ylabel(f"{options.get('quantity', 'score')} above {base}, {unit}")
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


def _above(value: float, baseline: float, relative: bool) -> float:
    return 100 * (value - baseline) / abs(baseline) if relative else value - baseline


ACCURACY_TIME = Kind(
    draw_accuracy_time,
    {
        "baseline": needed(mapping(SOURCE)),
        "series": needed(listed(SCORE_AND_SECONDS)),
        "quantity": TEXT,
        "relative": FLAG,
        "width": WIDTH,
    },
)
