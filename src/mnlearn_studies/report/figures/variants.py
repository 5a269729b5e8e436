"""Figures of kind `variants`: feature conversions of a method below the best, per dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mnlearn_studies.report.by_variant import chosen_variant, numbers_by_variant, variants_of
from mnlearn_studies.report.figures.canvas import (
    NOTHING,
    WIDTH,
    Material,
    empty,
    look_of,
    new_figure,
)
from mnlearn_studies.report.figures.rows import row_height, set_dataset_rows
from mnlearn_studies.report.options import NAMES, TEXT, Kind, Options, needed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_variants(material: Material, options: Options) -> Figure:
    """Draw how far each variant of a method is below the best, per dataset, in per cent.

    A ring marks the variant that validation chose.

    Parameters
    ----------
    material : Material
        Scores of the study.
    options : mapping
        method, variants (their order), quantity, width.
    """
    from matplotlib.lines import Line2D

    method = options["method"]
    quantity = options.get("quantity", "cmll")
    names = variants_of(material.scores, method, options.get("variants"))
    data = numbers_by_variant(material.scores, method, quantity, names)
    validation = numbers_by_variant(material.scores, method, "validation", names)
    datasets = [
        d for d in material.datasets if any(d in by_dataset for by_dataset in data.values())
    ]
    if not datasets:
        return empty(options, NOTHING)
    figure, ax = new_figure(options, "page", row_height(len(datasets), 0.85))
    set_dataset_rows(ax, material, datasets)
    below: list[float] = []
    for row, dataset in enumerate(datasets):
        values = {v: data[v][dataset].value for v in names if dataset in data[v]}
        chosen = chosen_variant(validation, dataset)
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
    ax.set_xlabel(f"{quantity.upper()} below the best conversion, %")
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


VARIANTS = Kind(
    draw_variants,
    {"method": needed(TEXT), "variants": NAMES, "quantity": TEXT, "width": WIDTH},
)
