"""Figure of the study `lem`: test log-likelihood against the size of the training data."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, NullLocator
from numpy.typing import NDArray

from mnlearn.drawing.style import CYCLE, GREY
from mnlearn_studies.datasets.sample_names import parse_sample
from mnlearn_studies.report.figures.canvas import (
    FigureEntry,
    in_words,
    legend_of_lines,
    look_of,
    panel_grid,
    visible_range,
)
from mnlearn_studies.report.material import Material
from mnlearn_studies.report.statistics import UNITS
from mnlearn_studies.report.tables.of_lem import (
    LIMIT,
    TIMED,
    UNAVAILABLE,
    TimeRow,
    list_times,
    published_axes,
)
from mnlearn_studies.study.published import Number, Source

_BITS = UNITS["bits"]


@dataclass(frozen=True)
class CurveSeries:
    """A line of the panels.

    may_leave : the vertical axis covers the other lines and as much again above and below. instead
    : if any, the panels of the series, with the dataset that it is drawn from in each.
    """

    head: str
    source: Source
    colour: int
    dashed: bool = False
    may_leave: bool = False
    instead: Mapping[str, str] = field(default_factory=dict)


# Datasets in the order of the paper.
PANELS = ("alarm", "traffic", "temperature", "msnbc", "adult")
# The axis of Alarm holds log-likelihoods of its 37 variables, in bits.
_VARIABLES = {"alarm": "alarm_groups", "msnbc": "msnbc", "adult": "adult"}
SERIES = (
    CurveSeries("LEM", Source("lem_paper", "ll"), 0, instead=_VARIABLES),
    CurveSeries("LEM, settings chosen", Source("lem", "ll"), 0, dashed=True, instead=_VARIABLES),
    CurveSeries("junction tree", Source("junction_tree", "ll"), 4, instead=_VARIABLES),
    CurveSeries("Chow-Liu", Source("chow_liu", "ll"), 2, instead=_VARIABLES),
    CurveSeries(
        "LEM, 148 columns", Source("lem_paper", "ll"), 5, may_leave=True, instead={"alarm": "alarm"}
    ),
    *(
        CurveSeries(
            f"{head}, {estimate}",
            Source(method, quantity),
            colour,
            dashed=quantity == "ll_annealed",
            may_leave=True,
        )
        for head, method, colour in (("DL", "dl", 1), ("L1", "l1", 3))
        for estimate, quantity in (("BP", "ll_beliefs"), ("AIS", "ll_annealed"))
    ),
)


@dataclass(frozen=True)
class _Curve:
    """One series in one panel: its sizes, and the mean, lowest and highest fold of each."""

    series: CurveSeries
    size: NDArray[np.float64]
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]


class LearningCurves(FigureEntry):
    """One panel per dataset, lettered as in the paper, and a panel with the table of times.

    A line joins the means over folds; bars go from the lowest to the highest fold. The left axis is
    in nats, the right one in bits, along which a grey bar marks the range of the paper's axis. The
    panel of a dataset that is not at hand says so.
    """

    kind_name = "lem.learning_curves"

    def draw(
        self,
        material: Material,
        panels: Sequence[str] = PANELS,
        series: Sequence[CurveSeries] = SERIES,
    ) -> Figure | None:
        curves = {panel: _curves(material, panel, series) for panel in panels}
        axes_of = published_axes(material)
        if not any(curves.values()):
            return None
        figure, axes = panel_grid(len(panels) + 1, 0.5, 1.9)
        for number, (ax, panel) in enumerate(zip(axes, panels, strict=False)):
            ax.set_title(f"({chr(ord('a') + number)}) {material.label(panel)}", loc="left")
            if curves[panel]:
                _draw_panel(ax, curves[panel], axes_of.get(panel))
            else:
                _write_inside(
                    ax, "the data are\nnot at hand" if panel in UNAVAILABLE else "No results yet."
                )
        last = axes[len(panels)]
        last.set_title(f"({chr(ord('a') + len(panels))}) Minutes; ours below", loc="left")
        _draw_times(last, list_times(material))
        legend_of_lines(figure, [one.head for one in series], ncols=5, columnspacing=1.4)
        return figure


def _curves(material: Material, panel: str, series: Iterable[CurveSeries]) -> list[_Curve]:
    found = []
    for one in series:
        base = one.instead.get(panel) if one.instead else panel
        by_size: dict[int, list[float]] = {}
        for dataset, score in material.numbers(one.source).items():
            sample = parse_sample(dataset)
            if sample is not None and sample.fold is not None and sample.base == base:
                by_size.setdefault(sample.size, []).append(score.value)
        if by_size:
            sizes = sorted(by_size)
            folds = [np.array(by_size[size]) for size in sizes]
            mean, low, high = (np.array([f(v) for v in folds]) for f in (np.mean, np.min, np.max))
            found.append(_Curve(one, np.array(sizes, float), mean, low, high))
    return found


def _draw_panel(ax: Axes, curves: list[_Curve], published: tuple[Number, Number] | None) -> None:
    for curve in curves:
        one = curve.series
        colour, marker = look_of(one.colour)
        ax.errorbar(
            curve.size, curve.mean, [curve.mean - curve.low, curve.high - curve.mean],
            lw=0.9, ms=2.6, elinewidth=0.6, capsize=1.2, capthick=0.6, color=colour,
            marker=marker, ls="--" if one.dashed else "-",
        )[0].set_label(one.head)  # fmt: skip
    ax.set_xscale("log")
    ax.set_xlim(curves[0].size.min() / 1.3, curves[0].size.max() * 1.3)
    ax.set_xticks([100, 1000, 10000])
    ax.xaxis.set_major_formatter(in_words)
    ax.xaxis.set_minor_locator(NullLocator())
    staying = [c for c in curves if not c.series.may_leave] or curves
    ax.set_ylim(*visible_range(_ends(staying), _ends(curves)))
    ax.yaxis.set_major_locator(MaxNLocator(5))
    ax.grid(True)
    ax.set_xlabel("training examples")
    ax.set_ylabel("nats")
    bits = ax.secondary_yaxis(
        "right", functions=(lambda x: np.asarray(x) * _BITS, lambda x: np.asarray(x) / _BITS)
    )
    bits.yaxis.set_major_locator(MaxNLocator(5))
    bits.set_ylabel("bits")
    if published is not None:
        _mark_published(ax, [end.value for end in published])


def _mark_published(ax: Axes, published: Sequence[float]) -> None:
    """Draw the range of the paper's axis, in bits, along the right axis, where it is visible."""
    ends = np.clip([end / _BITS for end in published], *ax.get_ylim())
    if ends[0] < ends[1]:
        ax.plot(
            [1, 1], ends, transform=ax.get_yaxis_transform(), color=GREY, lw=3.0, alpha=0.45,
            solid_capstyle="butt", clip_on=False, zorder=1, label="_axis",
        )  # fmt: skip


def _ends(curves: list[_Curve]) -> NDArray[np.float64]:
    return np.concatenate([end for curve in curves for end in (curve.low, curve.high)])


def _write_inside(ax: Axes, text: str) -> None:
    ax.set_xticks([])
    ax.set_yticks([])
    ax.text(0.5, 0.5, text, ha="center", va="center", color=GREY, transform=ax.transAxes)


def _draw_times(ax: Axes, rows: list[TimeRow]) -> None:
    ax.set_axis_off()
    x = [0.0, 0.46, *np.linspace(0.66, 1.02, len(TIMED))]
    step = 1.0 / (2 * len(rows) + 2.5)

    def write(row: float, texts: list[str], colour: str) -> None:
        for k, text in enumerate(texts):
            side = "left" if k == 0 else "right"
            ax.text(
                x[k], 1.0 - step * (row + 0.5), text, ha=side, va="center", fontsize=6,
                color=colour, transform=ax.transAxes, clip_on=False,
            )  # fmt: skip

    write(0, ["", "features", *(head for head, _ in TIMED.values())], "#000000")
    ax.plot([0, 1.02], [1 - step] * 2, color=GREY, lw=0.5, transform=ax.transAxes, clip_on=False)
    for number, row in enumerate(rows):
        minutes = [row.published.get(method) for method in TIMED]
        texts = [f"{m.printed}{'*' * (m.value == LIMIT)}" if m else "–" for m in minutes]
        write(1.3 + 2 * number, [row.label, str(row.features.printed), *texts], "#000000")
        ours = ["", "" if row.n_vars is None else str(row.n_vars)]
        found = [_short_time(row.seconds[m]) if m in row.seconds else "–" for m in TIMED]
        write(2.2 + 2 * number, [*ours, *found], CYCLE[0])


def _short_time(seconds: float) -> str:
    """Return a time in two digits, with its unit."""
    return f"{seconds:.2g} s" if seconds >= 0.1 else f"{1000 * seconds:.2g} ms"
