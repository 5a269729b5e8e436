"""Figures of kind `query_curves`: a quantity against the share of query variables."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullFormatter

from mnlearn.runtime.errors import InputError
from mnlearn_studies.report.figures.canvas import (
    COLUMNS,
    FigureEntry,
    legend_of_lines,
    look_of,
    panel_grid,
    visible_range,
)
from mnlearn_studies.report.material import Material


@dataclass(frozen=True)
class CurveSeries:
    """A line of each panel; its quantity, such as `cll`, is that of the figure if empty.

    may_leave : the vertical axis covers the other lines and as much again above and below.
    """

    head: str
    method: str
    quantity: str = ""
    dashed: bool = False
    may_leave: bool = False


@dataclass(frozen=True, kw_only=True)
class QueryCurves(FigureEntry):
    """A quantity against the share of query variables: a panel per dataset, a line per method.

    log : whether the vertical axis is logarithmic. fraction : whether the horizontal axis has
    fractions and not per cent.
    """

    kind_name = "query_curves"
    series: tuple[CurveSeries, ...]
    y_label: str
    quantity: str = ""
    log: bool = False
    fraction: bool = False

    def check(self, where: str) -> None:
        if not self.quantity and not all(series.quantity for series in self.series):
            raise InputError("expected the key 'quantity'.", where=where)

    def draw(self, material: Material) -> Figure | None:
        wanted = material.datasets if self.datasets is None else self.datasets
        lines = {d: self._lines(material, d) for d in wanted if d in material.datasets}
        datasets = [dataset for dataset, own in lines.items() if own]
        if not datasets:
            return None
        figure, axes = panel_grid(len(datasets), 0.45, 1.55, sharex=True)
        shares = self._percentages(material)
        x = [p / 100 for p in shares] if self.fraction else shares
        for number, (ax, dataset) in enumerate(zip(axes, datasets, strict=False)):
            self._draw_panel(ax, x, lines[dataset])
            ax.set_title(material.label(dataset), loc="left")
            if number % COLUMNS == 0:
                ax.set_ylabel(self.y_label)
            if number + COLUMNS >= len(datasets):
                unit = "Fraction of query variables" if self.fraction else "Query variables, %"
                ax.set_xlabel(unit)
                ax.tick_params(labelbottom=True)
        legend_of_lines(figure, [one.head for one in self.series], ncols=6)
        return figure

    def _percentages(self, material: Material) -> Sequence[int]:
        queries: Mapping[str, list[int]] = material.study.content.get("queries", {})
        return queries.get("percentages", [])

    def _lines(self, material: Material, dataset: str) -> dict[int, list[float]]:
        scores = material.scores
        own = scores[(scores["variant"] == "") & (scores["dataset"] == dataset)]
        value = own.set_index(["method", "quantity"])["value"]
        lines = {}
        for k, one in enumerate(self.series):
            quantity = one.quantity or self.quantity
            keys = [(one.method, f"{quantity}_q{p}") for p in self._percentages(material)]
            if keys and all(key in value.index for key in keys):
                lines[k] = [float(value[key]) for key in keys]
        return lines

    def _draw_panel(
        self, ax: Axes, x: Sequence[float], lines: Mapping[int, Sequence[float]]
    ) -> None:
        for k, values in lines.items():
            one, (colour, marker) = self.series[k], look_of(k)
            ax.plot(
                x, values, lw=0.9, ms=2.6, color=colour, marker=marker,
                ls="--" if one.dashed else "-", label=one.head,
            )  # fmt: skip
        staying = [values for k, values in lines.items() if not self.series[k].may_leave]
        if self.log:
            ax.set_yscale("log")
            ax.yaxis.set_minor_formatter(NullFormatter())
        else:
            ax.yaxis.set_major_locator(MaxNLocator(4))
            if staying:
                drawn = np.concatenate(list(lines.values()))
                ax.set_ylim(*visible_range(np.concatenate(staying), drawn))
        ax.set_xticks(x[::2])
        ax.grid(True)
