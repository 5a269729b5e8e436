"""Figures of kind `query_curves`: a quantity against the share of query variables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mnlearn.drawing.style import DPI
from mnlearn_studies.report.figures.canvas import NOTHING, WIDTHS, Material, empty, look_of
from mnlearn_studies.report.figures.ranges import visible_range
from mnlearn_studies.report.options import FLAG, TEXT, WHOLES, Kind, Options, listed, needed
from mnlearn_studies.report.products import option

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_COLUMNS = 3


@dataclass(frozen=True)
class _Line:
    """The line of one series in one panel."""

    series: int
    values: NDArray[np.float64]


def draw_query_curves(material: Material, options: Options) -> Figure:
    """Draw one panel per dataset and one line per method.

    Parameters
    ----------
    material : Material
        Scores of the study.
    options : mapping
        - series, each with head and method, and optionally `quantity` instead of the figure's;
          `dashed`; and `may_leave`: the vertical axis covers the other lines and as much again
          above and below;
        - quantity, such as `cll`, `cmll` or `seconds`;
        - percentages of query variables; datasets to draw, if not all of the study;
        - y_label; log, whether the vertical axis is logarithmic;
        - fraction, whether the horizontal axis has fractions and not per cent.
    """
    from matplotlib.figure import Figure

    percentages, series = (options[key] for key in ("percentages", "series"))
    wanted = options.get("datasets", material.datasets)
    lines = {d: _lines(material, options, d) for d in wanted if d in material.datasets}
    datasets = [dataset for dataset, own in lines.items() if own]
    if not datasets:
        return empty(options, NOTHING)
    n_rows = -(-len(datasets) // _COLUMNS)
    figure = Figure((WIDTHS["page"], 0.45 + 1.55 * n_rows), dpi=DPI, layout="constrained")
    axes = figure.subplots(n_rows, _COLUMNS, sharex=True, squeeze=False)
    for ax in axes.ravel()[len(datasets) :]:
        ax.set_visible(False)
    x = [p / 100 for p in percentages] if options.get("fraction") else percentages
    for ax, dataset in zip(axes.ravel(), datasets, strict=False):
        _draw_panel(ax, x, lines[dataset], series, log=bool(options.get("log", False)))
        ax.set_title(material.label(dataset), loc="left")
    for ax in axes[:, 0]:
        ax.set_ylabel(str(options["y_label"]))
    for column in range(_COLUMNS):
        drawn = [ax for ax in axes[:, column] if ax.get_visible()]
        if drawn:
            by = "Fraction of query variables" if options.get("fraction") else "Query variables, %"
            drawn[-1].set_xlabel(by)
            drawn[-1].tick_params(labelbottom=True)
    # One legend serves all panels; it has every line that some panel has.
    handles = {line.get_label(): line for ax in axes.ravel() for line in ax.get_lines()}
    heads = [str(one["head"]) for one in series if str(one["head"]) in handles]
    figure.legend([handles[h] for h in heads], heads, loc="outside upper center", ncols=6)
    return figure


def _lines(material: Material, options: Options, dataset: str) -> list[_Line]:
    """Return the lines of a dataset's panel: the series that are recorded at every percentage."""
    where = material.where(options)
    scores = material.scores
    own = scores[(scores["variant"] == "") & (scores["dataset"] == dataset)]
    value = own.set_index(["method", "quantity"])["value"]
    lines = []
    for k, one in enumerate(options["series"]):
        quantity = one["quantity"] if "quantity" in one else option(options, "quantity", where)
        keys = [(one["method"], f"{quantity}_q{p}") for p in options["percentages"]]
        if all(key in value.index for key in keys):
            lines.append(_Line(k, np.array([float(value[key]) for key in keys])))
    return lines


def _draw_panel(
    ax: Axes, x: Sequence[float], lines: Sequence[_Line], series: Sequence[Options], *, log: bool
) -> None:
    from matplotlib.ticker import MaxNLocator, NullFormatter

    for line in lines:
        one, (colour, marker) = series[line.series], look_of(line.series)
        ax.plot(
            x, line.values, lw=0.9, ms=2.6, color=colour, marker=marker,
            ls="--" if one.get("dashed") else "-", label=str(one["head"]),
        )  # fmt: skip
    if log:
        ax.set_yscale("log")
        ax.yaxis.set_minor_formatter(NullFormatter())
    else:
        ax.yaxis.set_major_locator(MaxNLocator(4))
        staying = [line.values for line in lines if not series[line.series].get("may_leave")]
        if staying:
            drawn = [line.values for line in lines]
            ax.set_ylim(*visible_range(np.concatenate(staying), np.concatenate(drawn)))
    ax.set_xticks(x[::2])
    ax.grid(True)


QUERY_CURVES = Kind(
    draw_query_curves,
    {
        "series": needed(
            listed(
                {
                    "head": needed(TEXT),
                    "method": needed(TEXT),
                    "quantity": TEXT,
                    "dashed": FLAG,
                    "may_leave": FLAG,
                }
            )
        ),
        "quantity": TEXT,
        "percentages": needed(WHOLES),
        "y_label": needed(TEXT),
        "log": FLAG,
        "fraction": FLAG,
    },
)
