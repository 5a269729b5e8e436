"""Figures of kind `query_curves`: a quantity against the share of query variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mnlearn.drawing.style import DPI
from mnlearn.runtime.errors import InputError
from mnlearn_studies.report.figures.canvas import (
    WIDTHS,
    FigureEntry,
    empty,
    look_of,
    visible_range,
)
from mnlearn_studies.report.material import Material

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_COLUMNS = 3


@dataclass(frozen=True)
class _Line:
    """The line of one series in one panel."""

    series: int
    values: NDArray[np.float64]


@dataclass(frozen=True)
class CurveSeries:
    """A line of each panel.

    Attributes
    ----------
    quantity : str
        Such as `cll`; that of the figure if empty.
    dashed : bool
        Whether the line is dashed.
    may_leave : bool
        The vertical axis covers the other lines and as much again above and below.
    """

    head: str
    method: str
    quantity: str = ""
    dashed: bool = False
    may_leave: bool = False


@dataclass(frozen=True, kw_only=True)
class QueryCurves(FigureEntry):
    """A quantity against the share of query variables: a panel per dataset, a line per method.

    Attributes
    ----------
    percentages : tuple of int
        Per cent of the variables that are queried.
    log : bool
        Whether the vertical axis is logarithmic.
    fraction : bool
        Whether the horizontal axis has fractions and not per cent.
    """

    series: tuple[CurveSeries, ...]
    percentages: tuple[int, ...]
    y_label: str
    quantity: str = ""
    log: bool = False
    fraction: bool = False

    def check(self, where: str) -> None:
        """Refuse a figure without a quantity for a series; see `study.reading.read`."""
        if not self.quantity and not all(series.quantity for series in self.series):
            raise InputError("expected the key 'quantity'.", where=where)

    def draw(self, material: Material) -> Figure:
        """Return the figure."""
        from matplotlib.figure import Figure

        percentages, series = self.percentages, self.series
        wanted = material.datasets if self.datasets is None else self.datasets
        lines = {d: self._lines(material, d) for d in wanted if d in material.datasets}
        datasets = [dataset for dataset, own in lines.items() if own]
        if not datasets:
            return empty()
        n_rows = -(-len(datasets) // _COLUMNS)
        figure = Figure((WIDTHS["page"], 0.45 + 1.55 * n_rows), dpi=DPI, layout="constrained")
        axes = figure.subplots(n_rows, _COLUMNS, sharex=True, squeeze=False)
        for ax in axes.ravel()[len(datasets) :]:
            ax.set_visible(False)
        x = [p / 100 for p in percentages] if self.fraction else percentages
        for ax, dataset in zip(axes.ravel(), datasets, strict=False):
            _draw_panel(ax, x, lines[dataset], series, log=self.log)
            ax.set_title(material.label(dataset), loc="left")
        for ax in axes[:, 0]:
            ax.set_ylabel(self.y_label)
        for column in range(_COLUMNS):
            drawn = [ax for ax in axes[:, column] if ax.get_visible()]
            if drawn:
                by = "Fraction of query variables" if self.fraction else "Query variables, %"
                drawn[-1].set_xlabel(by)
                drawn[-1].tick_params(labelbottom=True)
        # One legend serves all panels; it has every line that some panel has.
        handles = {line.get_label(): line for ax in axes.ravel() for line in ax.get_lines()}
        heads = [one.head for one in series if one.head in handles]
        figure.legend([handles[h] for h in heads], heads, loc="outside upper center", ncols=6)
        return figure

    def _lines(self, material: Material, dataset: str) -> list[_Line]:
        """Return the lines of a dataset's panel: the series recorded at every percentage."""
        scores = material.scores
        own = scores[(scores["variant"] == "") & (scores["dataset"] == dataset)]
        value = own.set_index(["method", "quantity"])["value"]
        lines = []
        for k, one in enumerate(self.series):
            quantity = one.quantity or self.quantity
            keys = [(one.method, f"{quantity}_q{p}") for p in self.percentages]
            if all(key in value.index for key in keys):
                lines.append(_Line(k, np.array([float(value[key]) for key in keys])))
        return lines


def _draw_panel(
    ax: Axes,
    x: Sequence[float],
    lines: Sequence[_Line],
    series: Sequence[CurveSeries],
    *,
    log: bool,
) -> None:
    from matplotlib.ticker import MaxNLocator, NullFormatter

    for line in lines:
        one, (colour, marker) = series[line.series], look_of(line.series)
        ax.plot(
            x, line.values, lw=0.9, ms=2.6, color=colour, marker=marker,
            ls="--" if one.dashed else "-", label=one.head,
        )  # fmt: skip
    if log:
        ax.set_yscale("log")
        ax.yaxis.set_minor_formatter(NullFormatter())
    else:
        ax.yaxis.set_major_locator(MaxNLocator(4))
        staying = [line.values for line in lines if not series[line.series].may_leave]
        if staying:
            drawn = [line.values for line in lines]
            ax.set_ylim(*visible_range(np.concatenate(staying), np.concatenate(drawn)))
    ax.set_xticks(x[::2])
    ax.grid(True)
