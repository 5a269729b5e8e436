"""Figures of kind `learning_curves`: test log-likelihood against the size of the training data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mnlearn.drawing.style import CYCLE, DPI, GREY
from mnlearn_studies.datasets.sample_names import parse_sample
from mnlearn_studies.report.figures.canvas import NOTHING, WIDTHS, Material, empty, look_of
from mnlearn_studies.report.figures.ranges import visible_range
from mnlearn_studies.report.options import (
    FLAG,
    MAPPING,
    NAMES,
    NUMBER,
    PLACE,
    SOURCE,
    TEXT,
    WHOLE,
    Kind,
    Options,
    listed,
    mapping,
    needed,
)
from mnlearn_studies.report.statistics import UNITS
from mnlearn_studies.report.tables.training_times import TIMES, TimeRow, list_times
from mnlearn_studies.study.published import Source, lookup

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLUMNS = 3
_BITS = UNITS["bits"]


@dataclass(frozen=True)
class _Curve:
    """One series in one panel: its sizes, and the mean, lowest and highest fold of each."""

    series: int
    size: NDArray[np.float64]
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


def draw_learning_curves(material: Material, options: Options) -> Figure:
    """Draw one panel per dataset, lettered as in the paper, and a panel with the table of times.

    A line joins the means over folds; bars go from the lowest to the highest fold. The left axis is
    in nats, the right one in bits. A grey bar along each axis marks the range of the paper's axis,
    read in the unit of that axis.

    Parameters
    ----------
    material : Material
        Scores of the study.
    options : mapping
        - panels: datasets in the order of the paper; one that the study calls unavailable gets a
          panel that says so;
        - series, each with head, method and quantity, and optionally `dashed`; `may_leave`: the
          vertical axis covers the other lines and as much again above and below; `instead`: the
          series is drawn in the panels of these datasets only, from the dataset given for each;
        - axes: study and table of the published ends, `axis_low` and `axis_high`;
        - times, for the last panel: see `training_times.list_times`; and limit, the published
          minutes that stand for an end by the time limit.
    """
    from matplotlib.figure import Figure

    panels = [str(name) for name in options["panels"]]
    curves = {panel: _curves(material, options, panel) for panel in panels}
    if not any(curves.values()):
        return empty(options, NOTHING)
    n_rows = -(-(len(panels) + 1) // _COLUMNS)
    figure = Figure((WIDTHS["page"], 0.5 + 1.9 * n_rows), dpi=DPI, layout="constrained")
    axes = figure.subplots(n_rows, _COLUMNS, squeeze=False).ravel()
    for number, (ax, panel) in enumerate(zip(axes, panels, strict=False)):
        ax.set_title(f"({chr(ord('a') + number)}) {material.label(panel)}", loc="left")
        if curves[panel]:
            _draw_panel(
                ax, curves[panel], options["series"], _published_axis(material, options, panel)
            )
        else:
            unavailable = panel in material.study.content.get("unavailable", [])
            _write_inside(ax, "the data are\nnot public" if unavailable else NOTHING)
    last = axes[len(panels)]
    last.set_title(f"({chr(ord('a') + len(panels))}) Minutes; ours below", loc="left")
    spec = options["times"]
    rows = list_times(material.scores, material.published, material.labels, spec)
    _draw_times(last, rows, spec, float(options["limit"]))
    for ax in axes[len(panels) + 1 :]:
        ax.set_visible(False)
    handles = {line.get_label(): line for ax in axes for line in ax.get_lines()}
    heads = [str(one["head"]) for one in options["series"] if str(one["head"]) in handles]
    figure.legend(
        [handles[head] for head in heads], heads, loc="outside upper center", ncols=5,
        columnspacing=1.4,
    )  # fmt: skip
    return figure


def _curves(material: Material, options: Options, panel: str) -> list[_Curve]:
    """Return the curves of a panel: every series that is scored on its dataset."""
    found = []
    for number, one in enumerate(options["series"]):
        base = one["instead"].get(panel) if "instead" in one else panel
        by_size: dict[int, list[float]] = {}
        for dataset, score in material.numbers(one, material.where(options)).items():
            sample = parse_sample(dataset)
            if sample is not None and sample.fold is not None and sample.base == base:
                by_size.setdefault(sample.size, []).append(score.value)
        if by_size:
            sizes = sorted(by_size)
            folds = [np.array(by_size[size]) for size in sizes]
            mean, low, high = (np.array([f(v) for v in folds]) for f in (np.mean, np.min, np.max))
            found.append(_Curve(number, np.array(sizes, float), mean, low, high))
    return found


def _published_axis(material: Material, options: Options, panel: str) -> tuple[float, float] | None:
    """Return the ends of the paper's vertical axis; None if there is no such panel."""
    axes = options["axes"]
    ends = []
    for quantity in ("axis_low", "axis_high"):
        source = Source("", quantity, study=str(axes["study"]), table=str(axes["table"]))
        found = lookup(material.published, source)
        if panel not in found:
            return None
        ends.append(found[panel].value)
    return ends[0], ends[1]


def _draw_panel(
    ax: Axes,
    curves: list[_Curve],
    series: list[Options],
    published: tuple[float, float] | None,
) -> None:
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

    for curve in curves:
        one = series[curve.series]
        colour, marker = look_of(int(one.get("colour", curve.series)))
        ax.errorbar(
            curve.size, curve.mean, [curve.mean - curve.low, curve.high - curve.mean],
            lw=0.9, ms=2.6, elinewidth=0.6, capsize=1.2, capthick=0.6, color=colour,
            marker=marker, ls="--" if one.get("dashed") else "-",
        )[0].set_label(str(one["head"]))  # fmt: skip
    ax.set_xscale("log")
    ax.set_xlim(curves[0].size.min() / 1.3, curves[0].size.max() * 1.3)
    ax.set_xticks([100, 1000, 10000])
    ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}"))
    ax.xaxis.set_minor_locator(NullLocator())
    staying = [c for c in curves if not series[c.series].get("may_leave")] or curves
    ax.set_ylim(*visible_range(_ends(staying), _ends(curves)))
    ax.yaxis.set_major_locator(MaxNLocator(5))
    ax.grid(True)
    ax.set_xlabel("training examples")
    ax.set_ylabel("nats")
    bits = ax.secondary_yaxis("right", functions=(_to_bits, _to_nats))
    bits.yaxis.set_major_locator(MaxNLocator(5))
    bits.set_ylabel("bits")
    if published is not None:
        _mark_published(ax, published)


def _to_bits(nats: ArrayLike) -> NDArray[np.float64]:
    return np.asarray(nats, float) * _BITS


def _to_nats(bits: ArrayLike) -> NDArray[np.float64]:
    return np.asarray(bits, float) / _BITS


def _mark_published(ax: Axes, published: tuple[float, float]) -> None:
    """Draw the range of the paper's axis along both axes, each in its unit, where it is visible."""
    low, high = ax.get_ylim()
    for x, factor in ((0.0, 1.0), (1.0, 1.0 / _BITS)):
        ends = np.clip([factor * end for end in published], low, high)
        if ends[0] < ends[1]:
            ax.plot(
                [x, x], ends, transform=ax.get_yaxis_transform(), color=GREY, lw=3.0, alpha=0.45,
                solid_capstyle="butt", clip_on=False, zorder=1, label="_axis",
            )  # fmt: skip


def _ends(curves: list[_Curve]) -> NDArray[np.float64]:
    """Return both ends of all bars."""
    return np.concatenate([end for curve in curves for end in (curve.low, curve.high)])


def _write_inside(ax: Axes, text: str) -> None:
    """Write why a panel is empty."""
    ax.set_xticks([])
    ax.set_yticks([])
    ax.text(0.5, 0.5, text, ha="center", va="center", color=GREY, transform=ax.transAxes)


def _draw_times(ax: Axes, rows: list[TimeRow], spec: Options, limit: float) -> None:
    """Write the published minutes and our seconds as a table."""
    methods = [(str(m["method"]), str(m["head"])) for m in spec["methods"]]
    ax.set_axis_off()
    x = [0.0, 0.46, *np.linspace(0.66, 1.02, len(methods))]
    step = 1.0 / (2 * len(rows) + 2.5)

    def write(row: float, texts: list[str], colour: str) -> None:
        for k, text in enumerate(texts):
            side = "left" if k == 0 else "right"
            ax.text(
                x[k], 1.0 - step * (row + 0.5), text, ha=side, va="center", fontsize=6,
                color=colour, transform=ax.transAxes, clip_on=False,
            )  # fmt: skip

    write(0, ["", "features", *(head for _, head in methods)], "#000000")
    ax.plot([0, 1.02], [1 - step] * 2, color=GREY, lw=0.5, transform=ax.transAxes, clip_on=False)
    for number, row in enumerate(rows):
        features = "" if row.features is None else str(row.features.printed)
        minutes = [_minutes(row, m, limit) for m, _ in methods]
        write(1.3 + 2 * number, [row.label, features, *minutes], "#000000")
        ours = ["", "" if row.n_vars is None else str(row.n_vars)]
        found = [_short_time(row.seconds[m]) if m in row.seconds else "–" for m, _ in methods]
        write(2.2 + 2 * number, [*ours, *found], CYCLE[0])


def _minutes(row: TimeRow, method: str, limit: float) -> str:
    if method not in row.published:
        return "–"
    number = row.published[method]
    return f"{number.printed}*" if number.value == limit else str(number.printed)


def _short_time(seconds: float) -> str:
    """Return a time in two digits, with its unit."""
    return f"{seconds:.2g} s" if seconds >= 0.1 else f"{1000 * seconds:.2g} ms"


LEARNING_CURVES = Kind(
    draw_learning_curves,
    {
        "panels": needed(NAMES),
        "series": needed(
            listed(
                {
                    **SOURCE,
                    "head": needed(TEXT),
                    "colour": WHOLE,
                    "dashed": FLAG,
                    "may_leave": FLAG,
                    "instead": MAPPING,
                }
            )
        ),
        "axes": needed(mapping(PLACE)),
        "times": needed(mapping(TIMES)),
        "limit": needed(NUMBER),
    },
)
