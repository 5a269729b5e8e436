"""What all figures share: scores and structures, colours, sizes, axes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from mnlearn.drawing.style import CYCLE, DPI, GREY, MARKERS
from mnlearn_studies.report.material import Material
from mnlearn_studies.study.content import Product
from mnlearn_studies.study.published import NamedSource

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Widths in inches: one column, and the page of a two-column paper.
WIDTHS = {"column": 3.4, "page": 7.0}
Width = Literal["column", "page"]
NOTHING = "No results yet."


@dataclass(frozen=True, kw_only=True)
class FigureEntry(Product):
    """A figure of a study, of a kind that derives from this class; see `figures.KINDS`."""

    def draw(self, material: Material) -> Figure:
        """Return the figure."""
        raise NotImplementedError


@dataclass(frozen=True)
class Series:
    """A series of scores against seconds."""

    head: str
    score: NamedSource
    seconds: NamedSource


def look_of(number: int) -> tuple[str, str]:
    """Return the colour and the marker of a series by its number; they repeat after eight."""
    return CYCLE[number % len(CYCLE)], MARKERS[number % len(MARKERS)]


def new_figure(width: Width, height: float) -> tuple[Figure, Axes]:
    """Return an empty figure and its axes; the height is in inches."""
    from matplotlib.figure import Figure

    figure = Figure((WIDTHS[width], height), dpi=DPI, layout="constrained")
    return figure, figure.add_subplot()


def empty(why: str = NOTHING, width: Width = "column") -> Figure:
    """Return a figure that says why it shows nothing, so that a report is always complete."""
    figure, ax = new_figure(width, 1.2)
    ax.set_axis_off()
    ax.text(0.5, 0.5, why, ha="center", va="center", color=GREY, transform=ax.transAxes)
    return figure


def set_dataset_rows(ax: Axes, material: Material, datasets: Sequence[str]) -> None:
    """Give the vertical axis one row per dataset, the first on top."""
    ax.set_yticks(range(len(datasets)), [material.label(d) for d in datasets])
    ax.set_ylim(len(datasets) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.grid(True, axis="both")


def row_height(n_rows: int, extra: float) -> float:
    """Return the height in inches of a figure with rows; `extra` is the height of all else."""
    return max(1.5, extra + 0.165 * n_rows)


def visible_range(staying: NDArray[np.float64], drawn: NDArray[np.float64]) -> tuple[float, float]:
    """Return the range of the values that must be visible, extended by other values near it.

    Parameters
    ----------
    staying : ndarray of float64
        The values that must be visible, in any order.
    drawn : ndarray of float64
        All values. They extend the range by at most its own width on each side.
    """
    span = float(np.ptp(staying))
    low = max(float(drawn.min()), float(staying.min()) - span)
    high = min(float(drawn.max()), float(staying.max()) + span)
    margin = 0.05 * (high - low) or 1.0
    return low - margin, high + margin
