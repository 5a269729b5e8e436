"""Quantities against seconds or against each other: growth, the Pareto front."""

from dataclasses import dataclass
from statistics import linear_regression

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator
from numpy.typing import NDArray

from mnlearn.drawing.style import GREY
from mnlearn.runtime.names import counted
from mnlearn_studies.report.figures.canvas import (
    FigureEntry,
    legend_above,
    look_of,
    new_figure,
    set_seconds,
    with_minus,
)
from mnlearn_studies.report.material import Material
from mnlearn_studies.report.statistics import geometric_mean
from mnlearn_studies.study.published import NamedSource, paired

# Up to so many values of x are the ticks themselves.
_FEW = 5


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

    kind_name = "growth"
    series: tuple[GrowthSeries, ...]
    x_label: str
    y_label: str
    powers: tuple[float, ...] = ()

    def draw(self, material: Material) -> Figure | None:
        figure, ax = new_figure("column", 2.6)
        drawn: set[float] = set()
        for i, series in enumerate(self.series):
            x, y = material.numbers(series.x), material.numbers(series.y)
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
            return None
        ax.set_xscale("log")
        ax.set_yscale("log")
        if len(drawn) <= _FEW:
            ax.set_xticks(sorted(drawn), [f"{x:g}" for x in sorted(drawn)])
            ax.xaxis.set_minor_locator(NullLocator())
        self._draw_powers(ax)
        ax.set_xlabel(self.x_label)
        ax.set_ylabel(self.y_label)
        ax.grid(True)
        ax.legend(loc="upper left")
        return figure

    def _draw_powers(self, ax: Axes) -> None:
        """Draw powers of x over the width of the axes, each with its name at its right end."""
        ends = np.array(ax.get_xlim())
        for power in self.powers:
            ax.plot(ends, ends**power, color=GREY, lw=0.7, ls=":", zorder=1)
            ax.annotate(
                f"$x^{power:g}$", (ends[1], ends[1] ** power), (2, 0), textcoords="offset points",
                va="center", color=GREY, annotation_clip=False,
            )  # fmt: skip
        if self.powers:
            ax.set_xlim(*ends)


@dataclass(frozen=True)
class Series:
    """A series of scores against seconds."""

    head: str
    score: NamedSource
    seconds: NamedSource


@dataclass(frozen=True, kw_only=True)
class Pareto(FigureEntry):
    """A mark per method: score below the best of the figure, in per cent, against seconds.

    Scores are averaged, seconds by the geometric mean, over the datasets that all series have. A
    line joins those of our series that none of our other series beats in both. Marks of published
    series are hollow.
    """

    kind_name = "pareto"
    series: tuple[Series, ...]
    quantity: str = "score"

    def draw(self, material: Material) -> Figure | None:
        numbers = [(material.numbers(s.score), material.numbers(s.seconds)) for s in self.series]
        # A learner that has not been run yet does not hide the others.
        shown = [i for i, (score, seconds) in enumerate(numbers) if score.keys() & seconds.keys()]
        series, data = [self.series[i] for i in shown], [numbers[i] for i in shown]
        datasets = material.in_all(column for pair in data for column in pair)
        if not datasets:
            return None
        scores = np.array([[score[d].value for d in datasets] for score, _ in data])
        best = scores.max(axis=0)
        y = (100 * (scores - best) / np.abs(best)).mean(axis=1)
        x = np.array([geometric_mean([seconds[d].value for d in datasets]) for _, seconds in data])
        figure, ax = new_figure("page", 3.2)
        set_seconds(ax)
        ours = np.array([not s.score.is_published for s in series])
        edge = [i for i in np.flatnonzero(ours).tolist() if not _beaten(i, x, y, ours)]
        edge.sort(key=lambda i: float(x[i]))
        ax.plot(x[edge], y[edge], color=GREY, lw=0.8, drawstyle="steps-post", zorder=1)
        colours: dict[str, int] = {}
        for i, s in enumerate(series):
            colour, marker = look_of(colours.setdefault(s.score.method, len(colours)))
            face = colour if ours[i] else "none"
            ax.scatter(x[i], y[i], s=30, marker=marker, fc=face, ec=colour, label=s.head, zorder=3)
        if y.min() < -5:
            # One learner far behind the others must not hide their differences.
            ax.set_yscale("symlog", linthresh=1.0, linscale=1.5)
            ticks = [t for t in (0, -0.5, -1, -2, -5, -10, -20, -50) if t >= 1.3 * y.min()]
            ax.set_yticks(ticks, [with_minus(t) for t in ticks])
            ax.yaxis.set_minor_locator(NullLocator())
        ax.margins(x=0.08, y=0.1)
        ax.grid(True)
        ax.set_xlabel(f"seconds, geometric mean of {counted(len(datasets), 'dataset')}")
        ax.set_ylabel(f"{self.quantity} below the best, mean %")
        legend_above(figure, ncols=4, columnspacing=1.4)
        return figure


def _beaten(
    i: int, x: NDArray[np.float64], y: NDArray[np.float64], ours: NDArray[np.bool_]
) -> bool:
    """Tell whether one of our series is at least as good as `i` in both, and better in one."""
    as_good = ours & (x <= x[i]) & (y >= y[i])
    return bool((as_good & ((x < x[i]) | (y > y[i]))).any())
