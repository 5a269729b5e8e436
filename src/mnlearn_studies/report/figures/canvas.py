"""What all figures share: colours, sizes, axes, legends."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullFormatter
from numpy.typing import NDArray

from mnlearn.drawing.style import CYCLE, DPI, MARKERS
from mnlearn_studies.report.material import Material
from mnlearn_studies.study.content import Product

# Widths in inches: one column, and the page of a two-column paper.
WIDTHS = {"column": 3.4, "page": 7.0}
Width = Literal["column", "page"]
# Panels side by side on a page.
COLUMNS = 3


@dataclass(frozen=True, kw_only=True)
class FigureEntry(Product):
    """A figure of a study; `kind_name` is what the study writes under `kind`."""

    kind_name: ClassVar[str]

    def draw(self, material: Material) -> Figure | None:
        """Return the figure; None if there is nothing to draw yet. Each kind writes this."""
        raise NotImplementedError


def look_of(number: int) -> tuple[str, str]:
    """Return the colour and the marker of a series by its number; they repeat after eight."""
    return CYCLE[number % len(CYCLE)], MARKERS[number % len(MARKERS)]


def sheet(width: Width, height: float) -> Figure:
    """Return an empty figure; the height is in inches."""
    return Figure((WIDTHS[width], height), dpi=DPI, layout="constrained")


def new_figure(width: Width, height: float) -> tuple[Figure, Axes]:
    """Return an empty figure and its axes."""
    figure = sheet(width, height)
    return figure, figure.add_subplot()


def panel_grid(n: int, extra: float, height: float, **more: Any) -> tuple[Figure, list[Axes]]:
    """Return a page with the axes of `n` panels in rows of `COLUMNS`; heights in inches."""
    n_rows = -(-n // COLUMNS)
    figure = sheet("page", extra + height * n_rows)
    axes = figure.subplots(n_rows, COLUMNS, squeeze=False, **more).ravel().tolist()
    for ax in axes[n:]:
        ax.set_visible(False)
    return figure, axes


def dataset_rows(
    material: Material, datasets: Sequence[str], width: Width, extra: float
) -> tuple[Figure, Axes]:
    """Return a figure whose vertical axis has one row per dataset, the first on top.

    extra : the height of all else, in inches.
    """
    figure, ax = new_figure(width, max(1.5, extra + 0.165 * len(datasets)))
    ax.set_yticks(range(len(datasets)), [material.label(d) for d in datasets])
    ax.set_ylim(len(datasets) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)
    ax.grid(True, axis="both")
    return figure, ax


def legend_above(figure: Figure, handles: Iterable[Any] | None = None, **more: Any) -> None:
    """Write the legend above the axes; without handles, that of all labelled artists."""
    given = {} if handles is None else {"handles": list(handles)}
    figure.legend(loc="outside upper center", **given, **more)


def legend_of_lines(figure: Figure, heads: Iterable[str], **more: Any) -> None:
    """Write one legend for all panels, with the headings of the lines that some panel has."""
    lines = {line.get_label(): line for ax in figure.axes for line in ax.get_lines()}
    drawn = [head for head in heads if head in lines]
    legend_above(figure, [lines[head] for head in drawn], labels=drawn, **more)


def marks(heads: Iterable[str]) -> list[Line2D]:
    """Return the entries of a legend for series that are marked by their number."""
    looks = ((look_of(number), head) for number, head in enumerate(heads))
    return [Line2D([], [], ls="", ms=4, color=c, marker=m, label=head) for (c, m), head in looks]


def with_minus(value: float, _: object = None) -> str:
    """Return a number for an axis, with the sign for minus."""
    return f"{value:g}".replace("-", "−")


def in_words(value: float, _: object = None) -> str:
    """Return a number for a logarithmic axis without powers of ten."""
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"


def set_seconds(ax: Axes) -> None:
    """Make the horizontal axis one of seconds."""
    ax.set_xscale("log")
    ax.xaxis.set_major_formatter(in_words)
    ax.xaxis.set_minor_formatter(NullFormatter())


def visible_range(staying: NDArray[np.float64], drawn: NDArray[np.float64]) -> tuple[float, float]:
    """Return the range of the `staying` values, which must be visible.

    All `drawn` values extend it by at most its own width on each side.
    """
    span = float(np.ptp(staying))
    low = max(float(drawn.min()), float(staying.min()) - span)
    high = min(float(drawn.max()), float(staying.max()) + span)
    margin = 0.05 * (high - low) or 1.0
    return low - margin, high + margin
