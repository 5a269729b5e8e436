"""Figures of kind `query_curves`: a number against the share of variables that are queried."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullFormatter

from mnlearn.figures.canvas import CYCLE, DPI, MARKERS, NOTHING, WIDTHS, Material, empty
from mnlearn.products import Options, option

_COLUMNS = 3


def query_curves(material: Material, options: Options) -> Figure:
    """Draw one panel per dataset, one line per method.

    options: series (each with head and method; where one `may_leave` a panel, the vertical axis
    covers the others and as much again above and below), quantity (`cll`, `cmll` or `seconds`),
    percentages, y_label, log (whether the vertical axis is logarithmic).
    """
    where = material.where(options)
    quantity, percentages = (
        option(options, "quantity", where),
        option(options, "percentages", where),
    )
    series = option(options, "series", where)
    scores = material.scores[material.scores["variant"] == ""]
    value = scores.set_index(["dataset", "method", "quantity"])["value"]
    lines = {}
    for dataset in material.datasets:
        for k, one in enumerate(series):
            keys = [(dataset, one["method"], f"{quantity}_q{p}") for p in percentages]
            if all(key in value.index for key in keys):
                lines[dataset, k] = np.array([float(value[key]) for key in keys])
    datasets = [d for d in material.datasets if any(d == drawn for drawn, _ in lines)]
    if not datasets:
        return empty(options, NOTHING)
    n_rows = -(-len(datasets) // _COLUMNS)
    figure = Figure((WIDTHS["page"], 0.45 + 1.55 * n_rows), dpi=DPI, layout="constrained")
    axes = figure.subplots(n_rows, _COLUMNS, sharex=True, squeeze=False)
    for ax in axes.ravel()[len(datasets) :]:
        ax.set_visible(False)
    for ax, dataset in zip(axes.ravel(), datasets, strict=False):
        own = {k: line for (drawn, k), line in lines.items() if drawn == dataset}
        _panel(ax, percentages, own, series, bool(options.get("log", False)))
        ax.set_title(material.label(dataset), loc="left")
    for ax in axes[:, 0]:
        ax.set_ylabel(str(option(options, "y_label", where)))
    for column in range(_COLUMNS):
        drawn = [ax for ax in axes[:, column] if ax.get_visible()]
        if drawn:
            drawn[-1].set_xlabel("Query variables, %")
            drawn[-1].tick_params(labelbottom=True)
    # One legend for all panels, from the panel with most lines.
    fullest = max(axes.ravel(), key=lambda ax: len(ax.get_lines()))
    figure.legend(*fullest.get_legend_handles_labels(), loc="outside upper center", ncols=6)
    return figure


def _panel(
    ax: Axes, percentages: list[int], lines: dict[int, np.ndarray], series: list[Options], log: bool
) -> None:
    for k, line in lines.items():
        ax.plot(
            percentages, line, lw=0.9, ms=2.6, color=CYCLE[k % 6], marker=MARKERS[k % 6],
            label=str(series[k]["head"]),
        )  # fmt: skip
    if log:
        ax.set_yscale("log")
        ax.yaxis.set_minor_formatter(NullFormatter())
    else:
        ax.yaxis.set_major_locator(MaxNLocator(4))
        staying = [line for k, line in lines.items() if not series[k].get("may_leave", False)]
        if staying:
            ax.set_ylim(*_limits(np.concatenate(staying), np.concatenate(list(lines.values()))))
    ax.set_xticks([p for p in percentages if p % 20 == 10])
    ax.grid(True)


def _limits(staying: np.ndarray, drawn: np.ndarray) -> tuple[float, float]:
    """Return the range of what has to stay in a panel, widened by what is drawn near it."""
    span = float(np.ptp(staying))
    low = max(float(drawn.min()), float(staying.min()) - span)
    high = min(float(drawn.max()), float(staying.max()) + span)
    margin = 0.05 * (high - low)
    return low - margin, high + margin
