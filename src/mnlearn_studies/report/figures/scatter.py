"""Figures of kind `scatter`: one method against another, a point per dataset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mnlearn.drawing.style import BLUE, GREY, SHADE
from mnlearn_studies.report.figures.canvas import FigureEntry, empty, new_figure
from mnlearn_studies.report.figures.labels import place_labels
from mnlearn_studies.report.material import Material
from mnlearn_studies.study.published import NamedSource, paired

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Scatter(FigureEntry):
    """One method against another, a point per dataset.

    Log-likelihoods have their sign reversed. The shaded side is where y is better.

    x, y : what is compared; their heads name the axes. quantity : its name; that of y if empty.
    per_variable : whether to divide by the number of variables.
    """

    x: NamedSource
    y: NamedSource
    quantity: str = ""
    per_variable: bool = False

    def draw(self, material: Material) -> Figure:
        """Return the figure."""
        x, y = material.numbers(self.x), material.numbers(self.y)
        points, shown = [], []
        for dataset, a, b in paired(x, y, material.datasets, as_printed=False):
            divisor = material.n_vars(dataset) if self.per_variable else 1
            if divisor:
                points.append((-a / divisor, -b / divisor))
                shown.append(dataset)
        if not points:
            return empty()
        differences = [np.sign(a - b) for _, a, b in paired(x, y, shown)]
        better = (differences.count(1), differences.count(-1))
        return self._draw_points(np.array(points), [material.label(d) for d in shown], better)

    def _draw_points(
        self, points: NDArray[np.float64], texts: Sequence[str], better: tuple[int, int]
    ) -> Figure:
        from matplotlib.ticker import LogLocator, NullLocator

        figure, ax = new_figure("column", 3.3)
        heads = [source.head or source.method for source in (self.x, self.y)]
        low, high = float(points.min()), float(points.max())
        margin = max((high / low) ** 0.09, 1.12)
        low, high = low / margin, high * margin
        ax.set_xscale("log")
        ax.set_yscale("log")
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axis.set_major_formatter(lambda v, _: f"{v:g}")
            axis.set_minor_locator(NullLocator())
        ax.set_xlim(low, high)
        ax.set_ylim(low, high)
        ax.set_aspect("equal")
        ax.fill_between([low, high], [low, low], [low, high], color=SHADE, lw=0, zorder=0)
        ax.plot([low, high], [low, high], color=GREY, lw=0.7, zorder=1)
        ax.scatter(points[:, 0], points[:, 1], s=13, color=BLUE, lw=0.4, ec="white", zorder=3)
        per = " per variable" if self.per_variable else ""
        quantity = self.quantity or self.y.quantity
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
        line = low * (high / low) ** steps
        boxes = [corner.get_window_extent() for corner in corners]
        place_labels(figure, ax, points, texts, obstacles=boxes, line=np.hstack([line, line]))
        return figure
