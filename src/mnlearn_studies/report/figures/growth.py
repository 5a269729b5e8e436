"""Figures of kind `growth`: one quantity against another, with the slope of the fitted line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import linear_regression
from typing import TYPE_CHECKING

import numpy as np

from mnlearn.drawing.style import GREY
from mnlearn_studies.report.figures.canvas import (
    FigureEntry,
    Width,
    empty,
    look_of,
    new_figure,
)
from mnlearn_studies.report.material import Material
from mnlearn_studies.study.published import NamedSource, paired

# Up to so many values of x are the ticks themselves.
_FEW = 5

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


@dataclass(frozen=True)
class GrowthSeries:
    """A series of one quantity against another; its head is the method of y if empty."""

    x: NamedSource
    y: NamedSource
    head: str = ""


@dataclass(frozen=True, kw_only=True)
class Growth(FigureEntry):
    """A quantity against another over datasets, on logarithmic axes.

    The legend has the slope of the least-squares line through the logarithms: the exponent with
    which y grows in x. powers : powers of x that are drawn as grey lines for comparison.
    """

    series: tuple[GrowthSeries, ...]
    x_label: str
    y_label: str
    powers: tuple[float, ...] = ()
    width: Width = "column"

    def draw(self, material: Material) -> Figure:
        """Return the figure."""
        from matplotlib.ticker import NullLocator

        figure, ax = new_figure(self.width, 2.6)
        drawn: set[float] = set()
        for i, series in enumerate(self.series):
            x = material.numbers(series.x)
            y = material.numbers(series.y)
            pairs = paired(x, y, material.datasets, as_printed=False)
            found = np.array([(a, b) for _, a, b in pairs if a > 0 and b > 0]).reshape(-1, 2)
            if len(np.unique(found[:, 0])) < 2:
                continue
            drawn |= set(found[:, 0].tolist())
            logs = np.log(found)
            # The last bits of logarithms differ among processors.
            slope, height = (round(part, 9) for part in linear_regression(*logs.T.tolist()))
            label = f"{series.head or series.y.method}: slope {slope:.2f}"
            colour, marker = look_of(i)
            ax.scatter(
                found[:, 0],
                found[:, 1],
                s=14,
                lw=0,
                color=colour,
                marker=marker,
                label=label,
                zorder=3,
            )
            ends = np.array([logs[:, 0].min(), logs[:, 0].max()])
            ax.plot(np.exp(ends), np.exp(slope * ends + height), color=colour, lw=0.8, zorder=2)
        if not drawn:
            return empty(width=self.width)
        ax.set_xscale("log")
        ax.set_yscale("log")
        if len(drawn) <= _FEW:
            ax.set_xticks(sorted(drawn), [f"{x:g}" for x in sorted(drawn)])
            ax.xaxis.set_minor_locator(NullLocator())
        _draw_powers(ax, self.powers)
        ax.set_xlabel(self.x_label)
        ax.set_ylabel(self.y_label)
        ax.grid(True)
        ax.legend(loc="upper left")
        return figure


def _draw_powers(ax: Axes, powers: Sequence[float]) -> None:
    """Draw powers of x over the width of the axes, each with its name at its right end."""
    if not powers:
        return
    ends = np.array(ax.get_xlim())
    for power in powers:
        ax.plot(ends, ends**power, color=GREY, lw=0.7, ls=":", zorder=1)
        ax.annotate(
            f"$x^{power:g}$", (ends[1], ends[1] ** power), (2, 0), textcoords="offset points",
            va="center", color=GREY, annotation_clip=False,
        )  # fmt: skip
    ax.set_xlim(*ends)
