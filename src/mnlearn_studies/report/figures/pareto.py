"""Figures of kind `pareto`: mean accuracy of methods against mean time, with the Pareto front."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mnlearn.drawing.style import GREY
from mnlearn_studies.report.figures.canvas import (
    FigureEntry,
    Series,
    Width,
    empty,
    look_of,
    new_figure,
)
from mnlearn_studies.report.material import Material
from mnlearn_studies.report.statistics import geometric_mean

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass(frozen=True, kw_only=True)
class Pareto(FigureEntry):
    """A mark per method: score below the best of the figure, in per cent, against seconds.

    Scores are averaged, seconds by the geometric mean, over the datasets that all series have. A
    line joins those of our series that none of our other series beats in both. Marks of published
    series are hollow.
    """

    series: tuple[Series, ...]
    quantity: str = "score"
    width: Width = "page"

    def draw(self, material: Material) -> Figure:
        """Return the figure."""
        from matplotlib.ticker import FuncFormatter, NullFormatter, NullLocator

        numbers = [(material.numbers(s.score), material.numbers(s.seconds)) for s in self.series]
        # A learner that has not been run yet does not hide the others.
        shown = [i for i, (score, seconds) in enumerate(numbers) if score.keys() & seconds.keys()]
        if not shown:
            return empty(width=self.width)
        series, data = [self.series[i] for i in shown], [numbers[i] for i in shown]
        datasets = [d for d in material.datasets if all(d in a and d in b for a, b in data)]
        if not datasets:
            return empty(width=self.width)
        scores = np.array([[score[d].value for d in datasets] for score, _ in data])
        best = scores.max(axis=0)
        y = (100 * (scores - best) / np.abs(best)).mean(axis=1)
        x = np.array([geometric_mean([seconds[d].value for d in datasets]) for _, seconds in data])
        figure, ax = new_figure(self.width, 3.2)
        ax.set_xscale("log")
        ours = np.array([not s.score.is_published for s in series])
        edge = [i for i in np.flatnonzero(ours).tolist() if not _beaten(i, x, y, ours)]
        edge.sort(key=lambda i: float(x[i]))
        ax.plot(x[edge], y[edge], color=GREY, lw=0.8, drawstyle="steps-post", zorder=1)
        colours: dict[str, int] = {}
        for i, s in enumerate(series):
            number = colours.setdefault(s.score.method, len(colours))
            colour, marker = look_of(number)
            face = colour if ours[i] else "none"
            ax.scatter(x[i], y[i], s=30, marker=marker, fc=face, ec=colour, label=s.head, zorder=3)
        if y.min() < -5:
            # One learner far behind the others must not hide their differences.
            ax.set_yscale("symlog", linthresh=1.0, linscale=1.5)
            ticks = [t for t in (0, -0.5, -1, -2, -5, -10, -20, -50) if t >= 1.3 * y.min()]
            ax.set_yticks(ticks, [f"{t:g}".replace("-", "−") for t in ticks])
            ax.yaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(
            FuncFormatter(lambda v, _: f"{v:,.0f}" if v >= 1 else f"{v:g}")
        )
        ax.xaxis.set_minor_formatter(NullFormatter())
        ax.margins(x=0.08, y=0.1)
        ax.grid(True)
        ax.set_xlabel(f"seconds, geometric mean of {len(datasets)} datasets")
        ax.set_ylabel(f"{self.quantity} below the best, mean %")
        figure.legend(loc="outside upper center", ncols=4, columnspacing=1.4)
        return figure


def _beaten(i: int, x: np.ndarray, y: np.ndarray, ours: np.ndarray) -> bool:
    """Tell whether one of our series is at least as good as `i` in both, and better in one."""
    as_good = ours & (x <= x[i]) & (y >= y[i])
    return bool((as_good & ((x < x[i]) | (y > y[i]))).any())
