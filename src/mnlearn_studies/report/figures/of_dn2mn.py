"""Figure of the study `dn2mn`: what conversion costs, as in Figure 1 of its paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from mnlearn.drawing.style import DPI, GREY
from mnlearn_studies.report.figures.canvas import WIDTHS, empty, look_of
from mnlearn_studies.report.figures.differences import (
    Panel,
    Variant,
    differences_per_variable,
)
from mnlearn_studies.report.material import Material
from mnlearn_studies.study.published import NamedSource

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANELS = (
    Panel("variants_tree", NamedSource("dn_tree", "pll"), "Probability trees"),
    Panel("variants_lr", NamedSource("dn_lr", "pll"), "Logistic regressions"),
)
# The conversions that the paper compares.
VARIANTS = (
    Variant("mode-one", "1. one order, one instance"),
    Variant("mode-pair", "2. two opposite orders, one instance"),
    Variant("marginals-one", "3. one order, expectation"),
    Variant("marginals-pair", "4. two opposite orders, expectation"),
    Variant("marginals-rotations", "5. all rotations, expectation"),
    Variant("marginals-both-rotations", "6. all rotations of two opposite orders, expectation"),
)
# Share of a cluster's width that its bars fill.
_FILLED = 0.84

Losses = Mapping[str, Mapping[str, float]]


def draw_conversion_loss(material: Material) -> Figure:
    """Draw the loss of conversions, compared with the network they convert, as clusters of bars.

    The loss is the score of the original network minus that of the converted network, divided by
    the number of variables; smaller is better. Each cluster is scaled so that its tallest bar has
    height one. The largest loss stands above the cluster.

    References
    ----------
    Lowd, "Closed-form learning of Markov networks from dependency networks", UAI 2012, Section 6.3
    and Figure 1.
    """
    from matplotlib.figure import Figure
    from matplotlib.patches import Patch

    drawn = [(panel, compute_losses(material, panel)) for panel in PANELS]
    datasets = [d for d in material.datasets if any(d in found for _, found in drawn)]
    if not datasets:
        return empty()
    figure = Figure((WIDTHS["page"], 2.9), dpi=DPI, layout="constrained")
    axes = figure.subplots(1, len(drawn), sharey=True, squeeze=False)[0]
    names = [variant.name for variant in VARIANTS]
    for ax, (panel, found) in zip(axes, drawn, strict=True):
        _draw_clusters(ax, datasets, found, names)
        ax.set_title(panel.head, loc="left", pad=10)
        ax.set_xticks(
            range(len(datasets)),
            [material.label(d) for d in datasets],
            rotation=40,
            ha="right",
            rotation_mode="anchor",
            fontsize=6.5,
        )
    axes[0].set_ylabel("loss of PLL per variable / largest")
    handles = [
        Patch(color=look_of(i)[0], lw=0, label=variant.head) for i, variant in enumerate(VARIANTS)
    ]
    figure.legend(handles=handles, loc="outside upper center", ncols=3, columnspacing=1.4)
    return figure


def compute_losses(
    material: Material, panel: Panel, variants: Sequence[Variant] = VARIANTS
) -> dict[str, dict[str, float]]:
    """Return the loss per variable by dataset and variant; see `differences_per_variable`."""
    found = differences_per_variable(material, panel, variants, "pll")
    return {
        dataset: {name: -difference for name, difference in own.items()}
        for dataset, own in found.items()
    }


def _draw_clusters(ax: Axes, datasets: Sequence[str], found: Losses, names: Sequence[str]) -> None:
    """Draw a cluster of bars per dataset, with its largest loss above it."""
    from matplotlib.ticker import FuncFormatter

    width = _FILLED / len(names)
    for place, dataset in enumerate(datasets):
        loss = found.get(dataset, {})
        if not loss:
            continue
        largest = max(loss.values())
        # If every conversion is better than the original network, the longest bar sets the scale.
        scale = largest if largest > 0 else max(abs(x) for x in loss.values()) or 1.0
        for i, name in enumerate(names):
            if name in loss:
                x = place + (i - (len(names) - 1) / 2) * width
                ax.bar(x, loss[name] / scale, width, color=look_of(i)[0], lw=0, zorder=3)
        ax.annotate(
            f"{largest:.3f}".replace("-", "−"),
            (place, max(largest / scale, 0.0)),
            (0, 3),
            textcoords="offset points",
            ha="center",
            va="bottom",
            fontsize=5.5,
        )
    ax.axhline(0, color=GREY, lw=0.7, zorder=4)
    ax.grid(True, axis="y")
    ax.yaxis.set_major_formatter(FuncFormatter(lambda v, _: f"{v:g}".replace("-", "−")))
    ax.set_xlim(-0.6, len(datasets) - 0.4)
    ax.tick_params(axis="x", length=0)
