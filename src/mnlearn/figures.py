"""Figures of a study: drawn by kind, written as PDF and PNG with the same bytes every time."""

import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib as mpl
import networkx as nx
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, Patch
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

from mnlearn.cells import CHOSEN, model_path
from mnlearn.errors import InputError
from mnlearn.files import write_bytes
from mnlearn.models.files import load_model
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.published import Number, Source, numbers, paired, source, tidy_scores
from mnlearn.study import Study
from mnlearn.tables import check_kind, chosen_products, scored

# Okabe and Ito's colours, which the colour-blind can tell apart.
BLUE, ORANGE, GREEN, VERMILION, PURPLE, SKY = (
    *("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9"),
)
GREY, SHADE, BAND = "#666666", "#F1F5F9", "#CFE3F2"
# Dashes of true edges that were not learned, and of learned ones that are not true.
MISSED, EXTRA = (0, (3, 2)), (0, (1, 1.2))
CYCLE = (BLUE, VERMILION, GREEN, ORANGE, PURPLE, SKY)
MARKERS = ("o", "s", "^", "D", "v", "P")

# Widths in inches of one column and of a page of a two-column paper.
WIDTHS = {"column": 3.4, "page": 7.0}
DPI = 200

STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 7.5,
    "axes.labelsize": 7.5,
    "axes.titlesize": 8,
    "xtick.labelsize": 7,
    "ytick.labelsize": 7,
    "legend.fontsize": 7,
    "legend.frameon": False,
    "legend.handletextpad": 0.4,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.axisbelow": True,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "grid.color": "#E6E6E6",
    "grid.linewidth": 0.5,
    "lines.linewidth": 1.0,
    "pdf.fonttype": 42,
    "axes.unicode_minus": True,
}


@dataclass(frozen=True)
class Material:
    """What a figure is drawn from.

    scores : the study's own, tidy. model_folder : holds <dataset>/<method>/<variant>.npz.
    truths : the networks that datasets were sampled from, by dataset.
    """

    study: Study
    scores: pd.DataFrame
    published: pd.DataFrame
    labels: Mapping[str, str]
    model_folder: Path
    truths: Mapping[str, MarkovNetwork]

    @property
    def datasets(self) -> list[str]:
        """Datasets with scores, in the order of the study."""
        return scored(self.scores, self.labels)

    def label(self, dataset: str) -> str:
        """Return the name of a dataset for readers."""
        return self.labels.get(dataset, dataset)

    def numbers(self, spec: Mapping[str, Any], where: str) -> dict[str, Number]:
        """Return the numbers by dataset of the source that an option describes."""
        return numbers(self.scores, self.published, source(spec, where))

    def model(self, dataset: str, method: str, variant: str = CHOSEN) -> Any:
        """Return a model of the study, or None if it has not been learned."""
        path = model_path(self.model_folder / dataset / method, variant)
        return load_model(path) if path.exists() else None

    def n_vars(self, dataset: str, method: str) -> int | None:
        """Return the number of variables of a dataset, as printed or else as in its model."""
        printed = self.published[
            (self.published["dataset"] == dataset) & (self.published["quantity"] == "n_vars")
        ]
        if len(printed):
            return int(printed["value"].iloc[0])
        model = self.model(dataset, method)
        return None if model is None else int(model.n_vars)


Options = Mapping[str, Any]
Kind = Callable[[Material, Options], Figure]


def _where(material: Material, options: Options) -> str:
    return f"study {material.study.name}, figure {options['name']}"


def _option(material: Material, options: Options, key: str) -> Any:
    if key not in options:
        raise InputError(f"{_where(material, options)}: expected the key {key!r}.")
    return options[key]


def new_figure(options: Options, default: str, height: float) -> tuple[Figure, Axes]:
    """Return an empty figure; `width` in the options is column or page.

    Raises
    ------
    InputError
        The width is neither.

    """
    width = options.get("width", default)
    if width not in WIDTHS:
        raise InputError(f"figure {options['name']}, width: expected {' or '.join(WIDTHS)}.")
    figure = Figure((WIDTHS[width], height), dpi=DPI, layout="constrained")
    return figure, figure.add_subplot()


def _empty(options: Options, why: str) -> Figure:
    """Return a figure that says why it shows nothing, so that a report is never incomplete."""
    figure, ax = new_figure(options, "column", 1.2)
    ax.set_axis_off()
    ax.text(0.5, 0.5, why, ha="center", va="center", color=GREY, transform=ax.transAxes)
    return figure


NOTHING = "No results yet."


# --- labels without overlap ---------------------------------------------------------------------


def place_labels(
    figure: Figure,
    ax: Axes,
    points: NDArray[np.float64],
    texts: Sequence[str],
    obstacles: Sequence[Bbox] = (),
    line: NDArray[np.float64] | None = None,
) -> None:
    """Write a text beside each point, away from other points and texts; far ones get a line.

    points : float64, shape (n, 2), in data coordinates. obstacles : boxes in pixels to avoid.
    line : points in data coordinates along a line to avoid if it can be. The limits of the
    axes must be final.
    """
    figure.draw_without_rendering()
    along = ax.transData.transform(line if line is not None else np.zeros((0, 2)))
    pixels = ax.transData.transform(points)
    frame = ax.get_window_extent()
    taken = list(obstacles)
    radius = figure.dpi * 0.025
    # Crowded points have the fewest places to choose from.
    distances = np.linalg.norm(pixels[:, None] - pixels[None], axis=2)
    crowding = np.sort(distances, axis=1)[:, : min(4, len(points))].sum(axis=1)
    for i in np.argsort(crowding, kind="stable"):
        text = ax.annotate(
            texts[i],
            points[i],
            (0, 0),
            textcoords="offset pixels",
            fontsize=6,
            color="#333333",
            va="center",
            ha="center",
        )
        text.set_in_layout(False)
        size = text.get_window_extent()
        place, box = _best_place(pixels[i], size, pixels, taken, frame, radius, along)
        taken.append(box)
        points_per_pixel = 72 / figure.dpi
        offset = (place - pixels[i]) * points_per_pixel
        text.remove()
        nearest = np.clip(pixels[i], [box.x0, box.y0], [box.x1, box.y1])
        far = np.linalg.norm(nearest - pixels[i]) > 2.4 * radius
        final = ax.annotate(
            texts[i],
            points[i],
            tuple(offset),
            textcoords="offset points",
            fontsize=6,
            color="#333333",
            va="center",
            ha="center",
            arrowprops={
                "arrowstyle": "-",
                "color": "#999999",
                "lw": 0.4,
                "shrinkA": 0,
                "shrinkB": 2,
            }
            if far
            else None,
        )
        final.set_in_layout(False)


def _best_place(
    point: NDArray[np.float64],
    size: Bbox,
    pixels: NDArray[np.float64],
    taken: Sequence[Bbox],
    frame: Bbox,
    radius: float,
    line: NDArray[np.float64],
) -> tuple[NDArray[np.float64], Bbox]:
    """Return the centre of a text and its box, the cheapest of places around its point."""
    half = np.array([size.width, size.height]) / 2
    best: tuple[float, NDArray[np.float64], Bbox] | None = None
    for distance in radius * np.array([1.4, 2.2, 3.2, 4.5, 6, 8, 10, 13, 16]):
        for angle in np.deg2rad(np.arange(0, 360, 15)):
            direction = np.array([np.cos(angle), np.sin(angle)])
            # The edge of the box that faces the point is what stands `distance` away from it.
            centre = (
                point
                + direction * distance
                + np.sign(np.round(direction, 6)) * half * (np.abs(direction) ** 0.5)
            )
            box = Bbox([centre - half - 1, centre + half + 1])
            cost = distance / radius + _overlap(box, taken, pixels, frame, radius)
            cost += 0.6 * _inside(line, box, 1.0).sum()
            if best is None or cost < best[0]:
                best = (cost, centre, box)
    assert best is not None
    return best[1], best[2]


def _inside(points: NDArray[np.float64], box: Bbox, margin: float) -> NDArray[np.bool_]:
    low = np.array([box.x0, box.y0]) - margin
    high = np.array([box.x1, box.y1]) + margin
    return np.asarray(((points > low) & (points < high)).all(axis=1))


def _overlap(
    box: Bbox, taken: Sequence[Bbox], pixels: NDArray[np.float64], frame: Bbox, radius: float
) -> float:
    """Return a penalty for what a box covers: texts, points, the outside of the axes."""
    cost = 0.0
    for other in taken:
        width = min(box.x1, other.x1) - max(box.x0, other.x0)
        height = min(box.y1, other.y1) - max(box.y0, other.y0)
        if width > 0 and height > 0:
            cost += 60 + width * height / 10
    cost += 25 * _inside(pixels, box, radius).sum()
    outside = max(frame.x0 - box.x0, box.x1 - frame.x1, frame.y0 - box.y0, box.y1 - frame.y1, 0)
    return float(cost + (1000 + outside if outside else 0))


# --- scatter ------------------------------------------------------------------------------------


def scatter(material: Material, options: Options) -> Figure:
    """Draw one method against another, a point per dataset.

    options: x, y (sources, each with a head), quantity (its name), per_variable (divide by the
    number of variables), linear (no logarithmic axes), width. Log-likelihoods are shown with
    their sign reversed; the shaded side is where y is better.
    """
    where = _where(material, options)
    x_spec, y_spec = (_option(material, options, axis) for axis in "xy")
    x, y = material.numbers(x_spec, where), material.numbers(y_spec, where)
    points, texts, shown = [], [], []
    for dataset, a, b in paired(x, y, material.datasets, as_printed=False):
        n_vars = material.n_vars(dataset, str(y_spec["method"]))
        if options.get("per_variable") and n_vars is None:
            continue
        divisor = n_vars if options.get("per_variable") and n_vars else 1
        points.append((-a / divisor, -b / divisor))
        texts.append(material.label(dataset))
        shown.append(dataset)
    if not points:
        return _empty(options, NOTHING)
    differences = [np.sign(a - b) for _, a, b in paired(x, y, shown)]
    better = (differences.count(1), differences.count(-1))
    return _scatter(options, np.array(points), texts, x_spec, y_spec, better)


def _scatter(
    options: Options,
    points: NDArray[np.float64],
    texts: Sequence[str],
    x_spec: Options,
    y_spec: Options,
    better: tuple[int, int],
) -> Figure:
    figure, ax = new_figure(options, "column", 3.3)
    heads = [str(spec.get("head", spec["method"])) for spec in (x_spec, y_spec)]
    low, high = _square_limits(points, log=not options.get("linear"))
    if not options.get("linear"):
        ax.set_xscale("log")
        ax.set_yscale("log")
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}"))
            axis.set_minor_locator(NullLocator())
    ax.set_xlim(low, high)
    ax.set_ylim(low, high)
    ax.set_aspect("equal")
    ax.fill_between([low, high], [low, low], [low, high], color=SHADE, lw=0, zorder=0)
    ax.plot([low, high], [low, high], color=GREY, lw=0.7, zorder=1)
    ax.scatter(points[:, 0], points[:, 1], s=13, color=BLUE, lw=0.4, ec="white", zorder=3)
    per = " per variable" if options.get("per_variable") else ""
    quantity = options.get("quantity", y_spec["quantity"])
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
    log = not options.get("linear")
    line = low * (high / low) ** steps if log else low + (high - low) * steps
    boxes = [corner.get_window_extent() for corner in corners]
    place_labels(figure, ax, points, texts, boxes, np.hstack([line, line]))
    return figure


def _square_limits(points: NDArray[np.float64], log: bool) -> tuple[float, float]:
    low, high = float(points.min()), float(points.max())
    if log:
        margin = max((high / low) ** 0.09, 1.12)
        return low / margin, high * margin
    margin = 0.09 * (high - low) or 0.1
    return low - margin, high + margin


# --- accuracy against time ----------------------------------------------------------------------


def accuracy_time(material: Material, options: Options) -> Figure:
    """Draw scores above those of a baseline against seconds, a mark per method and dataset.

    options: baseline (a source), series (each with head, score and seconds, two sources),
    quantity, relative (per cent of the baseline), width. Published series are hollow.
    """
    where = _where(material, options)
    baseline = material.numbers(_option(material, options, "baseline"), where)
    figure, ax = new_figure(options, "page", 3.2)
    relative = bool(options.get("relative"))
    drawn: list[tuple[NDArray[np.float64], str, str, bool, str]] = []
    colours: dict[str, tuple[str, str]] = {}
    for series in _option(material, options, "series"):
        score = material.numbers(series["score"], where)
        seconds = material.numbers(series["seconds"], where)
        xy = np.array(
            [
                (seconds[d].value, _above(score[d].value, baseline[d].value, relative))
                for d in material.datasets
                if d in score and d in seconds and d in baseline and seconds[d].value > 0
            ]
        ).reshape(-1, 2)
        if not len(xy):
            continue
        method = str(series["score"]["method"])
        hollow = "study" in series["score"]
        colour, marker = colours.setdefault(
            method, (CYCLE[len(colours) % 6], MARKERS[len(colours) % 6])
        )
        drawn.append((xy, colour, marker, hollow, str(series["head"])))
    if not drawn:
        return _empty(options, NOTHING)
    ax.set_xscale("log")
    off_scale: list[tuple[float, float, str]] = []
    low, high = _robust_range(np.concatenate([xy[:, 1] for xy, *_ in drawn]))
    for xy, colour, marker, hollow, label in drawn:
        inside = (xy[:, 1] >= low) & (xy[:, 1] <= high)
        face = "none" if hollow else colour
        x, y = xy[inside].T
        ax.scatter(x, y, s=16, lw=0.8, marker=marker, fc=face, ec=colour, label=label, zorder=3)
        off_scale += [(a, b, colour) for a, b in xy[~inside].tolist()]
    _off_scale(ax, off_scale, low, high)
    ax.set_ylim(low, high)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:,.0f}" if v >= 1 else f"{v:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.grid(True)
    ax.margins(x=0.04)
    ax.axhline(0, color=GREY, lw=0.7, zorder=1)
    ax.set_xlabel("learning time, seconds")
    unit = "%" if relative else "nats"
    base = options["baseline"].get("head", options["baseline"]["method"])
    ax.set_ylabel(f"{options.get('quantity', 'score')} above {base}, {unit}")
    figure.legend(loc="outside upper center", ncols=len(drawn), columnspacing=1.4)
    return figure


def _robust_range(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return limits that hold nearly all values and 0, and all unless some are far away."""
    first, last = np.quantile(values, [0.05, 0.95])
    room = 0.6 * (last - first) or 1.0
    low = min(float(values[values >= first - room].min()), 0.0)
    high = max(float(values[values <= last + room].max()), 0.0)
    margin = 0.08 * (high - low) or 1.0
    return low - margin, high + margin


def _off_scale(
    ax: Axes, points: Sequence[tuple[float, float, str]], low: float, high: float
) -> None:
    """Draw points (x, y, colour) outside the vertical limits: a triangle at the edge, the value.

    Values of neighbours are stacked.
    """
    inset = 0.015 * (high - low)
    for up in (False, True):
        level, previous = 0, 0.0
        for x, y, colour in sorted(p for p in points if (p[1] > high) == up):
            level = level + 1 if previous and np.log10(x / previous) < 0.2 else 0
            previous = x
            edge, sign = (high - inset, -1) if up else (low + inset, 1)
            ax.scatter(x, edge, s=20, marker="^" if up else "v", color=colour, zorder=5)
            ax.annotate(
                f"{y:.0f}".replace("-", "−"),
                (x, edge),
                (0, sign * (8 + 7.5 * level)),
                textcoords="offset points",
                ha="center",
                va="center",
                fontsize=6,
                color=colour,
                bbox={"fc": "white", "ec": "none", "pad": 0.4},
                zorder=4,
            )


def _above(value: float, baseline: float, relative: bool) -> float:
    return 100 * (value - baseline) / abs(baseline) if relative else value - baseline


# --- rows of datasets ---------------------------------------------------------------------------


def _dataset_rows(ax: Axes, material: Material, datasets: Sequence[str]) -> None:
    """Make the vertical axis one line per dataset, the first on top."""
    ax.set_yticks(range(len(datasets)), [material.label(d) for d in datasets])
    ax.set_ylim(len(datasets) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.grid(True, axis="both")


def _row_height(n_rows: int, extra: float) -> float:
    return max(1.5, extra + 0.165 * n_rows)


def variants(material: Material, options: Options) -> Figure:
    """Draw how far each variant of a method is below the best, per dataset, in per cent.

    options: method, variants (their order), quantity, width. A ring marks the variant chosen
    on validation data.
    """
    method, quantity = _option(material, options, "method"), options.get("quantity", "cmll")
    found = material.scores
    present = list(dict.fromkeys(found[found["method"] == method]["variant"]))
    names = [v for v in options.get("variants", sorted(present)) if v and v in present]
    data = {v: _of_variant(material, method, quantity, v) for v in names}
    validation = {v: _of_variant(material, method, "validation", v) for v in names}
    datasets = [
        d for d in material.datasets if any(d in by_dataset for by_dataset in data.values())
    ]
    if not datasets:
        return _empty(options, NOTHING)
    figure, ax = new_figure(options, "page", _row_height(len(datasets), 0.85))
    _dataset_rows(ax, material, datasets)
    below: list[float] = []
    for row, dataset in enumerate(datasets):
        values = {v: data[v][dataset].value for v in names if dataset in data[v]}
        tuned = {v: validation[v][dataset].value for v in names if dataset in validation[v]}
        chosen = max(tuned, key=lambda v: tuned[v]) if tuned else None
        best = max(values.values())
        for v, value in values.items():
            x = 100 * (value - best) / abs(best)
            below.append(x)
            number = names.index(v)
            # Apart within the row, so that equal values do not hide each other.
            y = row + (number - (len(names) - 1) / 2) * 0.13
            colour, marker = CYCLE[number % 6], MARKERS[number % 6]
            ax.scatter(x, y, s=12, lw=0, color=colour, marker=marker, zorder=3, clip_on=False)
            if v == chosen:
                ax.scatter(x, y, s=42, fc="none", ec="#222222", lw=0.6, zorder=4, clip_on=False)
    _below_axis(ax, min(below))
    ax.set_xlabel(f"{quantity.upper()} below the best conversion, %")
    handles = [
        Line2D([], [], ls="", ms=4, color=CYCLE[i % 6], marker=MARKERS[i % 6], label=v)
        for i, v in enumerate(names)
    ]
    ring = Line2D([], [], ls="", marker="o", ms=6, mfc="none", mec="#222222", mew=0.6)
    ring.set_label("chosen on validation")
    figure.legend(
        handles=[*handles, ring],
        loc="outside upper center",
        ncols=len(names) + 1,
        columnspacing=1.2,
    )
    return figure


def _of_variant(material: Material, method: str, quantity: str, variant: str) -> dict[str, Number]:
    return numbers(material.scores, material.published, Source(method, quantity, variant))


def _below_axis(ax: Axes, lowest: float) -> None:
    """Make the axis linear near 0 and logarithmic below, where the differences spread widely."""
    threshold = 0.5
    if lowest < -4 * threshold:
        ax.set_xscale("symlog", linthresh=threshold, linscale=0.8)
        decades = [t for t in (0, -0.25, -0.5, -1, -2, -5, -10, -20, -50) if t >= lowest * 1.05]
        ax.set_xticks(decades)
        ax.xaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}".replace("-", "−")))
        ax.xaxis.set_minor_locator(NullLocator())
    ax.set_xlim(min(lowest * 1.15, -0.1), -lowest * 0.002 + 0.03)


def reproduction(material: Material, options: Options) -> Figure:
    """Draw ours less published per dataset as lollipops with the sampling error.

    options: a (ours), b (published), spread (a source whose standard error is the standard
    deviation over random partitions), relative (per cent of the published), width. Bars and
    bands reach two standard errors or deviations to either side; a far point is an arrow.
    """
    where = _where(material, options)
    ours = material.numbers(_option(material, options, "a"), where)
    theirs = material.numbers(_option(material, options, "b"), where)
    spread = material.numbers(options["spread"], where) if "spread" in options else {}
    pairs = paired(ours, theirs, material.datasets, as_printed=False)
    if not pairs:
        return _empty(options, NOTHING)
    datasets = [d for d, _, _ in pairs]
    scale = np.array([100 / abs(b) if options.get("relative") else 1.0 for _, _, b in pairs])
    difference = np.array([a - b for _, a, b in pairs]) * scale
    error = 2 * scale * np.array([ours[d].stderr or 0.0 for d in datasets])
    band = 2 * scale * np.array([(spread[d].stderr or 0) if d in spread else 0 for d in datasets])
    figure, ax = new_figure(options, "column", _row_height(len(datasets), 0.75))
    _dataset_rows(ax, material, datasets)
    limit = _robust_limit(np.abs(difference) + np.maximum(error, band))
    rows = np.arange(len(datasets))
    inside = np.abs(difference) <= limit
    if band.any():
        ax.barh(rows, 2 * band, 0.62, difference - band, color=BAND, lw=0, zorder=2)
    colour = np.where(difference >= 0, BLUE, VERMILION)
    reach = np.clip(difference, -limit, limit)
    ax.hlines(rows, 0, reach, color=colour, lw=1.1, zorder=3)
    ax.errorbar(
        difference[inside],
        rows[inside],
        xerr=error[inside],
        fmt="none",
        ecolor=GREY,
        elinewidth=0.7,
        capsize=1.6,
        capthick=0.7,
        zorder=4,
    )
    ax.scatter(reach[inside], rows[inside], s=13, color=colour[inside], lw=0, zorder=5)
    for row in rows[~inside]:
        _arrow(ax, float(reach[row]), int(row), float(difference[row]), str(colour[row]))
    ax.axvline(0, color=GREY, lw=0.7, zorder=2)
    ax.set_xlim(-limit * 1.04, limit * 1.04)
    bar = Line2D([], [], color=GREY, lw=0.7, marker="|", ms=4, label="±2 standard errors")
    handles = [bar, Patch(color=BAND, lw=0, label="±2 sd over query groups")]
    figure.legend(
        handles=handles[: 2 if band.any() else 1],
        loc="outside upper center",
        ncols=2,
        columnspacing=1,
    )
    ax.set_xlabel(f"ours − published, {'%' if options.get('relative') else 'nats'}")
    return figure


def _arrow(ax: Axes, x: float, row: int, value: float, colour: str) -> None:
    """Draw a point off the scale: an arrow head at the edge with the value before it."""
    right = x > 0
    ax.scatter(x, row, s=18, marker=">" if right else "<", color=colour, lw=0, zorder=5)
    ax.annotate(
        f"{value:+.1f}".replace("-", "−"),
        (x, row),
        (-7 if right else 7, 0),
        textcoords="offset points",
        ha="right" if right else "left",
        va="center",
        fontsize=6,
        color=colour,
        bbox={"fc": "white", "ec": "none", "pad": 0.6},
        zorder=6,
    )


def _robust_limit(reach: NDArray[np.float64]) -> float:
    """Return how far the axis goes: the farthest point, unless few are three times as far."""
    far = np.sort(reach)
    last = len(far) - 1
    for skipped in range(min(3, last)):
        if far[last - skipped] > 3 * far[last - skipped - 1]:
            return float(far[last - skipped - 1]) * 1.05 or 1.0
    return float(far[last]) * 1.05 or 1.0


# --- structure ----------------------------------------------------------------------------------


def couplings(network: MarkovNetwork) -> dict[tuple[int, int], float]:
    """Return the pairwise couplings of a network: its energy in products of -1 and 1 variables.

    A feature of k literals adds its weight over 2 ** k to every pair, with the sign of the
    product of the two values; unlike `MarkovNetwork.edges`, no pair of a feature drops out.
    """
    out: dict[tuple[int, int], float] = {}
    for f in range(len(network.features)):
        literals = network.features.literals(f)
        share = float(network.weight[f]) / 2 ** len(literals)
        if not np.isfinite(share):
            continue
        for a, (u, u_value) in enumerate(literals):
            for v, v_value in literals[a + 1 :]:
                out[u, v] = out.get((u, v), 0.0) + (share if u_value == v_value else -share)
    return out


def structure(material: Material, options: Options) -> Figure:
    """Draw the strongest couplings of a learned network, beside the true edges if known.

    options: dataset, method, variant, max_edges (as many as the true network has, else 40),
    width.
    """
    dataset, method = (str(_option(material, options, key)) for key in ("dataset", "method"))
    network = material.model(dataset, method, str(options.get("variant", CHOSEN)))
    if network is None:
        return _empty(options, NOTHING)
    if not isinstance(network, MarkovNetwork):
        raise InputError(f"{_where(material, options)}: {method} does not learn Markov networks.")
    truth = material.truths.get(dataset)
    true_edges = set() if truth is None else set(truth.edges())
    found = couplings(network)
    strongest = sorted((e for e in found if found[e]), key=lambda e: (-abs(found[e]), e))
    kept = {e: found[e] for e in strongest[: options.get("max_edges", len(true_edges) or 40)]}
    position = _layout(network.n_vars, sorted(true_edges) or sorted(kept))
    figure, ax = new_figure(options, "column", 3.3)
    ax.set_aspect("equal")
    ax.set_axis_off()
    ax.margins(0.07)
    _draw_edges(ax, position, kept, true_edges)
    _draw_nodes(ax, position, _short_names(network))
    handles = _structure_legend(kept, true_edges)
    figure.legend(handles=handles, loc="outside lower center", ncols=3 if true_edges else 2)
    return figure


def _layout(n_vars: int, edges: Sequence[tuple[int, int]]) -> NDArray[np.float64]:
    """Return a position per variable, shape (n_vars, 2), such that neighbours stand together."""
    graph = nx.Graph()
    graph.add_nodes_from(range(n_vars))
    graph.add_edges_from(edges)
    steps = {u: dict(by_v) for u, by_v in nx.all_pairs_shortest_path_length(graph)}
    # Variables that no path joins stand a little farther apart than any that one does.
    apart = 1.2 + max(max(by_v.values()) for by_v in steps.values())
    distance = {u: {v: steps[u].get(v, apart) for v in graph} for u in graph}
    start = nx.circular_layout(graph)
    placed = nx.kamada_kawai_layout(graph, dist=distance, pos=start)
    position = np.array([placed[v] for v in range(n_vars)])
    return _upright(position - position.mean(axis=0), edges)


def _upright(
    position: NDArray[np.float64], edges: Sequence[tuple[int, int]]
) -> NDArray[np.float64]:
    """Return the positions turned so that most edges are level or plumb, as far as they agree."""
    steps = np.array([position[v] - position[u] for u, v in edges]).reshape(-1, 2)
    # Four times the angle is the same for directions a right angle apart.
    turn = np.angle(np.exp(4j * np.arctan2(steps[:, 1], steps[:, 0])).sum()) / 4
    cosine, sine = np.cos(turn), np.sin(turn)
    return position @ np.array([[cosine, -sine], [sine, cosine]])


def _draw_edges(
    ax: Axes,
    position: NDArray[np.float64],
    kept: Mapping[tuple[int, int], float],
    true_edges: set[tuple[int, int]],
) -> None:
    largest = max((abs(value) for value in kept.values()), default=1.0)
    for edge in sorted(true_edges - set(kept)):
        _draw_edge(ax, position, edge, GREY, 0.9, MISSED)
    for edge, value in sorted(kept.items(), key=lambda item: abs(item[1])):
        extra = bool(true_edges) and edge not in true_edges
        colour = BLUE if value > 0 else VERMILION
        width = 0.6 + 2.6 * abs(value) / largest
        _draw_edge(ax, position, edge, colour, width, EXTRA if extra else "-")


def _draw_edge(
    ax: Axes,
    position: NDArray[np.float64],
    edge: tuple[int, int],
    colour: str,
    width: float,
    dashes: Any,
) -> None:
    """Draw an edge, bent if straight it would run through another variable."""
    start, end = position[edge[0]], position[edge[1]]
    others = np.delete(position, edge, axis=0)
    along = end - start
    length = float(np.linalg.norm(along))
    share = np.clip((others - start) @ along / length**2, 0, 1)
    distance = np.linalg.norm(others - start - share[:, None] * along, axis=1)
    near = len(others) > 0 and distance.min() < 0.06 * float(np.ptp(position, axis=0).max())
    ax.add_patch(
        FancyArrowPatch(
            tuple(start),
            tuple(end),
            arrowstyle="-",
            connectionstyle=f"arc3,rad={0.28 if near else 0}",
            shrinkA=0,
            shrinkB=0,
            color=colour,
            lw=width,
            ls=dashes,
            capstyle="round" if dashes == "-" else "butt",
            zorder=2,
        )
    )


def _draw_nodes(ax: Axes, position: NDArray[np.float64], names: Sequence[str]) -> None:
    longest = max(len(name) for name in names)
    size = 110 if longest <= 3 else 190
    x, y = position.T
    ax.scatter(x, y, s=size, color="white", edgecolors="#444444", linewidths=0.7, zorder=3)
    for place, name in zip(position.tolist(), names, strict=True):
        ax.text(place[0], place[1], name, ha="center", va="center_baseline", fontsize=5.8, zorder=4)


def _short_names(network: MarkovNetwork) -> list[str]:
    """Return labels that fit a node: names less their common beginning, or numbers from 1."""
    names = network.names or tuple(str(v + 1) for v in range(network.n_vars))
    common = names[0]
    for name in names:
        while not name.startswith(common):
            common = common[:-1]
    # A digit shared by all names is a part of numbers, not of a prefix.
    prefix = common.rstrip("0123456789")
    short = [name[len(prefix) :].replace("_", ",") or name for name in names]
    return [name if len(name) <= 5 else name[:4] + "…" for name in short]


def _structure_legend(
    kept: Mapping[tuple[int, int], float], true_edges: set[tuple[int, int]]
) -> list[Line2D]:
    signs = [
        Line2D([], [], color=BLUE, lw=1.8, label="positive"),
        Line2D([], [], color=VERMILION, lw=1.8, label="negative"),
    ]
    if not true_edges:
        return signs
    n_found = len(set(kept) & true_edges)
    # Columns fill from the top: sign beside sign, and the outcomes after them.
    return [
        *signs,
        Line2D([], [], color="#222222", lw=1.8, label=f"found, {n_found}"),
        Line2D([], [], color=GREY, lw=0.9, ls=MISSED, label=f"missed, {len(true_edges) - n_found}"),
        Line2D([], [], color="#222222", lw=1.8, ls=EXTRA, label=f"extra, {len(kept) - n_found}"),
    ]


KINDS: dict[str, Kind] = {
    "scatter": scatter,
    "accuracy_time": accuracy_time,
    "variants": variants,
    "structure": structure,
    "reproduction": reproduction,
}


# --- writing ------------------------------------------------------------------------------------


def draw(material: Material, product: Options) -> Figure:
    """Return the figure of one entry of a study.

    Raises
    ------
    InputError
        The entry is of an unknown kind or its options are not what the kind expects.

    """
    check_kind(material.study, "figures", product, KINDS)
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.rcParams.update(STYLE)
        return KINDS[product["kind"]](material, product)


def render(figure: Figure) -> tuple[bytes, bytes]:
    """Return a figure as PDF and as PNG; equal figures give equal bytes."""
    out = []
    for suffix, metadata in (("pdf", {"CreationDate": None}), ("png", {"Software": None})):
        content = io.BytesIO()
        with mpl.rc_context():
            mpl.rcdefaults()
            mpl.rcParams.update(STYLE)
            figure.savefig(content, format=suffix, dpi=DPI, metadata=metadata)
        out.append(content.getvalue())
    return out[0], out[1]


def write_figures(
    study: Study,
    scores: pd.DataFrame,
    published: pd.DataFrame,
    labels: Mapping[str, str],
    folder: Path,
    model_folder: Path,
    truths: Mapping[str, MarkovNetwork] | None = None,
    only: list[str] | None = None,
) -> None:
    """Draw the figures of a study and write them to `folder` as `<name>.pdf` and `.png`.

    model_folder : holds the models as <dataset>/<method>/<variant or 'chosen'>.npz. truths :
    the networks that datasets were sampled from. For the others see `tables.write_tables`.

    Raises
    ------
    InputError
        See `tables.chosen_products` and `draw`; or a model file is malformed.

    """
    ordered = {dataset: labels.get(dataset, dataset) for dataset in study.datasets}
    own = tidy_scores(scores[scores["study"] == study.name])
    material = Material(study, own, published, ordered, model_folder, truths or {})
    for product in chosen_products(study, "figures", only):
        pdf, png = render(draw(material, product))
        write_bytes(folder / f"{product['name']}.pdf", pdf)
        write_bytes(folder / f"{product['name']}.png", png)
