"""Figures of kind `scatter`: one method against another, a point per dataset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mnlearn.drawing.style import BLUE, GREY, SHADE
from mnlearn_studies.report.figures.canvas import NOTHING, WIDTH, Material, empty, new_figure
from mnlearn_studies.report.figures.labels import place_labels
from mnlearn_studies.report.options import FLAG, SOURCE, TEXT, Kind, Options, mapping, needed
from mnlearn_studies.study.published import paired

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_scatter(material: Material, options: Options) -> Figure:
    """Draw one method against another, a point per dataset.

    Log-likelihoods have their sign reversed. The shaded side is where y is better.

    Parameters
    ----------
    material : Material
        Scores and published numbers.
    options : mapping
        x, y (sources, each with a head), quantity (its name), per_variable (divide by the number of
        variables), linear (no logarithmic axes), width.
    """
    where = material.where(options)
    x_spec, y_spec = (options[axis] for axis in "xy")
    x, y = material.numbers(x_spec, where), material.numbers(y_spec, where)
    points, texts, shown = [], [], []
    for dataset, a, b in paired(x, y, material.datasets, as_printed=False):
        n_vars = material.n_vars(dataset)
        if options.get("per_variable") and n_vars is None:
            continue
        divisor = n_vars if options.get("per_variable") and n_vars else 1
        points.append((-a / divisor, -b / divisor))
        texts.append(material.label(dataset))
        shown.append(dataset)
    if not points:
        return empty(options, NOTHING)
    differences = [np.sign(a - b) for _, a, b in paired(x, y, shown)]
    better = (differences.count(1), differences.count(-1))
    return _draw_points(options, np.array(points), texts, x_spec, y_spec=y_spec, better=better)


def _draw_points(
    options: Options,
    points: NDArray[np.float64],
    texts: Sequence[str],
    x_spec: Options,
    *,
    y_spec: Options,
    better: tuple[int, int],
) -> Figure:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    figure, ax = new_figure(options, "column", 3.3)
    heads = [str(spec.get("head", spec["method"])) for spec in (x_spec, y_spec)]
    low, high = _square_limits(points, log=not options.get("linear"))
    if not options.get("linear"):
        ax.set_xscale("log")
        ax.set_yscale("log")
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
            axis.set_minor_locator(NullLocator())
    ax.set_xlim(low, high)
    ax.set_ylim(low, high)
    ax.set_aspect("equal")
    ax.fill_between([low, high], [low, low], [low, high], color=SHADE, lw=0, zorder=0)
    ax.plot([low, high], [low, high], color=GREY, lw=0.7, zorder=1)
    ax.scatter(points[:, 0], points[:, 1], s=13, color=BLUE, lw=0.4, ec="white", zorder=3)
    per = " per variable" if options.get("per_variable") else ""
    quantity = options.get("quantity", y_spec["quantity"])
    ax.set_xlabel(f"−{quantity}{per}, {heads[0]}")
    ax.set_ylabel(f"−{quantity}{per}, {heads[1]}")
    corners = [
        ax.text(0.03, 0.97, f"{heads[0]} better on {better[0]}", va="top", ha="left"),
        ax.text(0.97, 0.03, f"{heads[1]} better on {better[1]}", va="bottom", ha="right"),
    ]
    for corner in corners:
        corner.set(transform=ax.transAxes, color=GREY, fontsize=6.5, style="italic")
    figure.draw_without_rendering()
    steps = np.linspace(0, 1, 200)[:, None]
    log = not options.get("linear")
    line = low * (high / low) ** steps if log else low + (high - low) * steps
    boxes = [corner.get_window_extent() for corner in corners]
    place_labels(figure, ax, points, texts, obstacles=boxes, line=np.hstack([line, line]))
    return figure


def _square_limits(points: NDArray[np.float64], log: bool) -> tuple[float, float]:
    low, high = float(points.min()), float(points.max())
    if log:
        margin = max((high / low) ** 0.09, 1.12)
        return low / margin, high * margin
    margin = 0.09 * (high - low) or 0.1
    return low - margin, high + margin


SCATTER = Kind(
    draw_scatter,
    {
        "x": needed(mapping(SOURCE)),
        "y": needed(mapping(SOURCE)),
        "quantity": TEXT,
        "per_variable": FLAG,
        "linear": FLAG,
        "width": WIDTH,
    },
)
