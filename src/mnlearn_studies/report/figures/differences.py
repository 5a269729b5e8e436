"""Figures of kind `differences`: scores of variants minus a reference, per variable and dataset."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from mnlearn.drawing.style import DPI, GREY
from mnlearn_studies.report.figures.canvas import (
    WIDTHS,
    FigureEntry,
    empty,
    look_of,
)
from mnlearn_studies.report.material import Material
from mnlearn_studies.study.published import NamedSource, Source
from mnlearn_studies.study.reading import Positive

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


Points = dict[str, dict[str, float]]


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
        """Return the figure."""
        from matplotlib.figure import Figure
        from matplotlib.lines import Line2D

        variants, quantity = self.variants, self.quantity
        drawn = [
            (panel, differences_per_variable(material, panel, variants, quantity))
            for panel in self.panels
        ]
        datasets = [d for d in material.datasets if any(d in p for _, p in drawn)]
        if not datasets:
            return empty()
        height = 0.5 + 1.75 * len(drawn)
        figure = Figure((WIDTHS["page"], height), dpi=DPI, layout="constrained")
        axes = figure.subplots(len(drawn), 1, sharex=True, squeeze=False)[:, 0]
        for ax, (panel, points) in zip(axes, drawn, strict=True):
            _draw_panel(ax, datasets, points, variants, linear=self.linear)
            ax.set_title(panel.head or panel.method, loc="left")
            ax.set_ylabel(f"Δ{quantity.upper()} per variable")
        axes[-1].set_xticks(
            range(len(datasets)), [material.label(d) for d in datasets], rotation=25, ha="right"
        )
        handles = [
            Line2D([], [], ls="", ms=4, color=colour, marker=marker, label=v.head or v.name)
            for (colour, marker), v in ((look_of(i), v) for i, v in enumerate(variants))
        ]
        figure.legend(
            handles=handles, loc="outside upper center", ncols=len(variants), columnspacing=1.2
        )
        return figure


def _draw_panel(
    ax: Axes, datasets: list[str], points: Points, variants: Sequence[Variant], *, linear: float
) -> None:
    from matplotlib.ticker import FuncFormatter, NullLocator

    reach = max((abs(x) for of in points.values() for x in of.values()), default=linear)
    ax.axhline(0, color=GREY, lw=0.7, zorder=2)
    for i, variant in enumerate(variants):
        offset = (i - (len(variants) - 1) / 2) * 0.11
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
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}".replace("-", "−")))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.set_ylim(-1.6 * max(reach, linear), 1.6 * max(reach, linear))
    ax.set_xlim(-0.6, len(datasets) - 0.4)
    ax.grid(True, axis="y")
    ax.tick_params(axis="x", length=0)


def differences_per_variable(
    material: Material, panel: Panel, variants: Sequence[Variant], quantity: str
) -> Points:
    """Return score less reference, divided by the number of variables, by dataset and variant.

    Datasets without scores are left out.

    Parameters
    ----------
    material : Material
        Scores of the study and numbers of variables.
    panel : Panel
        The method and the reference.
    variants : sequence of Variant
        Variants of the method.
    quantity : str
        The score, in nats per example.
    """
    reference = material.numbers(panel.reference)
    out: Points = {}
    for variant in variants:
        source = Source(panel.method, quantity, variant.name)
        for dataset, number in material.numbers(source).items():
            n_vars = material.n_vars(dataset)
            if dataset in reference and n_vars:
                difference = (number.value - reference[dataset].value) / n_vars
                out.setdefault(dataset, {})[variant.name] = difference
    return out
