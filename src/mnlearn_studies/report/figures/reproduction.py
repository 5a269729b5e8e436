"""Ours against published by dataset: differences with the sampling error, distances to the best."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import NullLocator
from numpy.typing import NDArray

from mnlearn.drawing.style import BAND, BLUE, GREY, VERMILION
from mnlearn_studies.report.figures.canvas import (
    FigureEntry,
    dataset_rows,
    legend_above,
    look_of,
    marks,
    sheet,
    with_minus,
)
from mnlearn_studies.report.material import Material
from mnlearn_studies.study.published import NamedSource, Place, paired


@dataclass(frozen=True, kw_only=True)
class Reproduction(FigureEntry):
    """Ours minus published per dataset in per cent, as lollipops with the sampling error.

    Bars and bands reach two standard errors or standard deviations to either side. A point that is
    far from the others is an arrow with its value.

    a, b : ours and the published numbers. spread : a source whose standard error is the standard
    deviation over random partitions.
    """

    kind_name = "reproduction"
    a: NamedSource
    b: NamedSource
    spread: NamedSource | None = None

    def draw(self, material: Material) -> Figure | None:
        ours, theirs = material.numbers(self.a), material.numbers(self.b)
        spread = material.numbers(self.spread) if self.spread else {}
        pairs = paired(ours, theirs, material.datasets, as_printed=False)
        if not pairs:
            return None
        datasets = [d for d, _, _ in pairs]
        scale = np.array([100 / abs(b) for _, _, b in pairs])
        difference = np.array([a - b for _, a, b in pairs]) * scale
        error, band = (
            2 * scale * np.array([(of[d].stderr or 0.0) if d in of else 0.0 for d in datasets])
            for of in (ours, spread)
        )
        figure, ax = dataset_rows(material, datasets, "column", 0.75)
        limit = _robust_limit(np.abs(difference) + np.maximum(error, band))
        rows, inside = np.arange(len(datasets)), np.abs(difference) <= limit
        if band.any():
            ax.barh(rows, 2 * band, 0.62, difference - band, color=BAND, lw=0, zorder=2)
        colour = np.where(difference >= 0, BLUE, VERMILION)
        reach = np.clip(difference, -limit, limit)
        ax.hlines(rows, 0, reach, color=colour, lw=1.1, zorder=3)
        ax.errorbar(
            difference[inside], rows[inside], xerr=error[inside], fmt="none", ecolor=GREY,
            elinewidth=0.7, capsize=1.6, capthick=0.7, zorder=4,
        )  # fmt: skip
        ax.scatter(reach[inside], rows[inside], s=13, color=colour[inside], lw=0, zorder=5)
        for row in rows[~inside].tolist():
            _draw_arrow(ax, float(reach[row]), row, float(difference[row]), str(colour[row]))
        ax.axvline(0, color=GREY, lw=0.7, zorder=2)
        ax.set_xlim(-limit * 1.04, limit * 1.04)
        handles: list[Any] = [
            Line2D([], [], color=GREY, lw=0.7, marker="|", ms=4, label="±2 standard errors")
        ]
        if band.any():
            handles.append(Patch(color=BAND, lw=0, label="±2 sd over query groups"))
        legend_above(figure, handles, ncols=2, columnspacing=1)
        ax.set_xlabel("ours − published, %")
        return figure


def _draw_arrow(ax: Axes, x: float, row: int, value: float, colour: str) -> None:
    """Draw a point off the scale: an arrow head at the edge, with the value beside it."""
    marker, inward, side = (">", -7, "right") if x > 0 else ("<", 7, "left")
    ax.scatter(x, row, s=18, marker=marker, color=colour, lw=0, zorder=5)
    ax.annotate(
        f"{value:+.1f}".replace("-", "−"), (x, row), (inward, 0), textcoords="offset points",
        ha=side, va="center", fontsize=6, color=colour,
        bbox={"fc": "white", "ec": "none", "pad": 0.6}, zorder=6,
    )  # fmt: skip


def _robust_limit(reach: NDArray[np.float64]) -> float:
    """Return the limit of the axis: the farthest point, unless a few are three times as far."""
    far = np.sort(reach)
    last = len(far) - 1
    for skipped in range(min(3, last)):
        if far[last - skipped] > 3 * far[last - skipped - 1]:
            return float(far[last - skipped - 1]) * 1.05 or 1.0
    return float(far[last]) * 1.05 or 1.0


# Our methods in study `frontier` with their headings, and the published methods of which the best
# counts.
FRONTIER = {
    "mixture": "mixture of trees",
    "hclt": "HCLT",
    "acmn_mixture": "mixture of ACMN",
    "acmn": "ACMN",
    "acbn": "ACBN",
    "ltm": "LTM",
    "lem": "LEM",
}
LATER = (
    *("hclt", "learnspn", "prometheus", "learnrp_100", "learnrp_f"),
    *("strudel_ensemble", "learnpsdd_ensemble", "xpc_ensemble"),
)
# What is farther below, in per cent, is an arrow at the edge.
SHOWN = 8.0


class Distances(FigureEntry):
    """A mark per model and dataset: its score above the best published one, in per cent."""

    kind_name = "frontier.distances"

    def draw(self, material: Material) -> Figure | None:
        ours = {head: material.ours(method, "ll") for method, head in FRONTIER.items()}
        theirs = [material.numbers(Place("later", "ll").source(method, "ll")) for method in LATER]
        best = {d: max(one[d].value for one in theirs if d in one) for d in material.in_any(theirs)}
        datasets = [d for d in material.in_any(ours.values()) if d in best]
        if not datasets:
            return None
        figure, ax = dataset_rows(material, datasets, "page", 0.9)
        for number, (head, numbers) in enumerate(ours.items()):
            rows = np.array([i for i, d in enumerate(datasets) if d in numbers], np.int64)
            if not len(rows):
                continue
            of_row = [(numbers[datasets[i]].value, best[datasets[i]]) for i in rows]
            percent = np.array([100 * (value - other) / abs(other) for value, other in of_row])
            near = percent >= -SHOWN
            colour, marker = look_of(number)
            ax.scatter(
                percent[near], rows[near], s=22, marker=marker, color=colour, lw=0, label=head,
                zorder=3,
            )  # fmt: skip
            ax.scatter(
                np.full((~near).sum(), -SHOWN), rows[~near], s=14, marker="<", fc="none", ec=colour,
                lw=0.7, zorder=3,
            )  # fmt: skip
        ax.axvline(0, color=GREY, lw=0.8, zorder=2)
        ax.set_xlim(left=-1.04 * SHOWN)
        ax.set_xlabel("test LL above the best published, %")
        legend_above(figure, ncols=4, columnspacing=1.4)
        return figure


# Up to this difference per variable the vertical axis of `Differences` is linear.
LINEAR = 0.001
# By dataset and variant.
Points = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Panel:
    """A method whose variants are compared with a reference; its head is the method if empty."""

    method: str
    reference: NamedSource
    head: str = ""


@dataclass(frozen=True)
class Variant:
    """A variant of the methods of a figure; its head is the name if empty."""

    name: str
    head: str = ""


@dataclass(frozen=True, kw_only=True)
class Differences(FigureEntry):
    """How much better than a reference the variants of methods are, one panel per method.

    Differences are divided by the number of variables; above 0 a variant is better than the
    reference. The vertical axis is linear up to `LINEAR` and logarithmic beyond.
    """

    kind_name = "differences"
    panels: tuple[Panel, ...]
    variants: tuple[Variant, ...]
    quantity: str = "pll"

    def draw(self, material: Material) -> Figure | None:
        names = [variant.name for variant in self.variants]
        drawn = [per_variable(material, panel, names, self.quantity) for panel in self.panels]
        datasets = material.in_any(drawn)
        if not datasets:
            return None
        figure = sheet("page", 0.5 + 1.75 * len(drawn))
        axes = figure.subplots(len(drawn), 1, sharex=True, squeeze=False)[:, 0]
        for ax, panel, points in zip(axes, self.panels, drawn, strict=True):
            self._draw_panel(ax, datasets, points)
            ax.set_title(panel.head or panel.method, loc="left")
            ax.set_ylabel(f"Δ{self.quantity.upper()} per variable")
        axes[-1].set_xticks(
            range(len(datasets)), [material.label(d) for d in datasets], rotation=25, ha="right"
        )
        handles = marks(variant.head or variant.name for variant in self.variants)
        legend_above(figure, handles, ncols=len(handles), columnspacing=1.2)
        return figure

    def _draw_panel(self, ax: Axes, datasets: Sequence[str], points: Points) -> None:
        reach = max((abs(x) for of in points.values() for x in of.values()), default=LINEAR)
        reach = max(reach, LINEAR)
        ax.axhline(0, color=GREY, lw=0.7, zorder=2)
        for i, variant in enumerate(self.variants):
            offset = (i - (len(self.variants) - 1) / 2) * 0.11
            shown = [
                (d + offset, points[name][variant.name])
                for d, name in enumerate(datasets)
                if variant.name in points.get(name, {})
            ]
            if shown:
                x, y = np.array(shown).T
                colour, marker = look_of(i)
                ax.scatter(x, y, s=13, lw=0, color=colour, marker=marker, zorder=3)
        for boundary in np.arange(len(datasets) - 1) + 0.5:
            ax.axvline(boundary, color="#E6E6E6", lw=0.5, zorder=1)
        ax.set_yscale("symlog", linthresh=LINEAR, linscale=1.0)
        ticks = [t * LINEAR for t in (-1000, -100, -10, -1, 0, 1, 10, 100, 1000)]
        ax.set_yticks([t for t in ticks if abs(t) <= 3 * reach])
        ax.yaxis.set_major_formatter(with_minus)
        ax.yaxis.set_minor_locator(NullLocator())
        ax.set_ylim(-1.6 * reach, 1.6 * reach)
        ax.set_xlim(-0.6, len(datasets) - 0.4)
        ax.grid(True, axis="y")
        ax.tick_params(axis="x", length=0)


def per_variable(
    material: Material, panel: Panel, variants: Sequence[str], quantity: str, sign: int = 1
) -> dict[str, dict[str, float]]:
    """Return score less reference per variable, by dataset and variant; sign : -1 turns it."""
    reference = material.numbers(panel.reference)
    out: dict[str, dict[str, float]] = {}
    for variant, column in material.by_variant(panel.method, quantity, variants).items():
        for dataset, number in column.items():
            n_vars = material.n_vars(dataset)
            if dataset in reference and n_vars:
                difference = (number.value - reference[dataset].value) / n_vars
                out.setdefault(dataset, {})[variant] = sign * difference
    return out


# The panels of the figure of study `dn2mn`, and the conversions that its paper compares.
PANELS = (
    Panel("variants_tree", NamedSource("dn_tree", "pll"), "Probability trees"),
    Panel("variants_lr", NamedSource("dn_lr", "pll"), "Logistic regressions"),
)
VARIANTS = {
    "mode-one": "1. one order, one instance",
    "mode-pair": "2. two opposite orders, one instance",
    "marginals-one": "3. one order, expectation",
    "marginals-pair": "4. two opposite orders, expectation",
    "marginals-rotations": "5. all rotations, expectation",
    "marginals-both-rotations": "6. all rotations of two opposite orders, expectation",
}


class ConversionLoss(FigureEntry):
    """The loss of conversions as clusters of bars (Lowd 2012, Section 6.3 and Figure 1).

    The loss is the score of the original network minus that of the converted one, per variable.
    Each cluster is scaled to its tallest bar, above which its loss stands.
    """

    kind_name = "dn2mn.conversion_loss"

    def draw(self, material: Material) -> Figure | None:
        drawn = [per_variable(material, panel, list(VARIANTS), "pll", sign=-1) for panel in PANELS]
        datasets = material.in_any(drawn)
        if not datasets:
            return None
        figure = sheet("page", 2.9)
        axes = figure.subplots(1, len(drawn), sharey=True, squeeze=False)[0]
        for ax, panel, found in zip(axes, PANELS, drawn, strict=True):
            _draw_clusters(ax, datasets, found)
            ax.set_title(panel.head, loc="left", pad=10)
            ax.set_xticks(
                range(len(datasets)), [material.label(d) for d in datasets],
                rotation=40, ha="right", rotation_mode="anchor", fontsize=6.5,
            )  # fmt: skip
        axes[0].set_ylabel("loss of PLL per variable / largest")
        heads = VARIANTS.values()
        handles = [Patch(color=look_of(i)[0], lw=0, label=head) for i, head in enumerate(heads)]
        legend_above(figure, handles, ncols=3, columnspacing=1.4)
        return figure


def _draw_clusters(ax: Axes, datasets: Sequence[str], found: Points) -> None:
    """Draw a cluster of bars per dataset, with its largest loss above it."""
    # The bars fill this share of a cluster's width.
    width = 0.84 / len(VARIANTS)
    for place, dataset in enumerate(datasets):
        loss = found.get(dataset, {})
        if not loss:
            continue
        largest = max(loss.values())
        # If every conversion is better than the original network, the longest bar sets the scale.
        scale = largest if largest > 0 else max(abs(x) for x in loss.values()) or 1.0
        for i, name in enumerate(VARIANTS):
            if name in loss:
                x = place + (i - (len(VARIANTS) - 1) / 2) * width
                ax.bar(x, loss[name] / scale, width, color=look_of(i)[0], lw=0, zorder=3)
        ax.annotate(
            f"{largest:.3f}".replace("-", "−"), (place, max(largest / scale, 0.0)), (0, 3),
            textcoords="offset points", ha="center", va="bottom", fontsize=5.5,
        )  # fmt: skip
    ax.axhline(0, color=GREY, lw=0.7, zorder=4)
    ax.grid(True, axis="y")
    ax.yaxis.set_major_formatter(with_minus)
    ax.set_xlim(-0.6, len(datasets) - 0.4)
    ax.tick_params(axis="x", length=0)
