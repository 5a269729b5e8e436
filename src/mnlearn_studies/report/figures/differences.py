"""Scores of variants minus a reference, per variable and dataset; what conversions cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mnlearn.drawing.style import GREY
from mnlearn_studies.report.figures.canvas import (
    FigureEntry,
    empty,
    legend_above,
    look_of,
    marks,
    sheet,
    with_minus,
)
from mnlearn_studies.report.material import Material
from mnlearn_studies.study.published import NamedSource
from mnlearn_studies.study.reading import Positive

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

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
    reference. The vertical axis is linear up to `linear` and logarithmic beyond.
    """

    panels: tuple[Panel, ...]
    variants: tuple[Variant, ...]
    quantity: str = "pll"
    linear: Positive = 0.001

    def draw(self, material: Material) -> Figure:
        names = [variant.name for variant in self.variants]
        drawn = [per_variable(material, panel, names, self.quantity) for panel in self.panels]
        datasets = material.in_any(drawn)
        if not datasets:
            return empty()
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
        from matplotlib.ticker import NullLocator

        linear = self.linear
        reach = max((abs(x) for of in points.values() for x in of.values()), default=linear)
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
        ax.set_yscale("symlog", linthresh=linear, linscale=1.0)
        ticks = [t * linear for t in (-1000, -100, -10, -1, 0, 1, 10, 100, 1000) if abs(t) <= 1000]
        ax.set_yticks([t for t in ticks if abs(t) <= 3 * max(reach, linear)])
        ax.yaxis.set_major_formatter(with_minus)
        ax.yaxis.set_minor_locator(NullLocator())
        ax.set_ylim(-1.6 * max(reach, linear), 1.6 * max(reach, linear))
        ax.set_xlim(-0.6, len(datasets) - 0.4)
        ax.grid(True, axis="y")
        ax.tick_params(axis="x", length=0)


def per_variable(
    material: Material, panel: Panel, variants: Sequence[str], quantity: str, sign: int = 1
) -> dict[str, dict[str, float]]:
    """Return score less reference, divided by the number of variables, by dataset and variant.

    Datasets without scores are left out. sign : -1 for reference less score.
    """
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


def draw_conversion_loss(material: Material) -> Figure:
    """Draw the loss of conversions as clusters of bars (Lowd 2012, Section 6.3 and Figure 1).

    The loss is the score of the original network minus that of the converted one, per variable.
    Each cluster is scaled to its tallest bar, above which its loss stands.
    """
    from matplotlib.patches import Patch

    drawn = [per_variable(material, panel, list(VARIANTS), "pll", sign=-1) for panel in PANELS]
    datasets = material.in_any(drawn)
    if not datasets:
        return empty()
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
