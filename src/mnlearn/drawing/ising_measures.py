"""Figures on the variables of an Ising network, and on how stable the network is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mnlearn.drawing.networks import width_of
from mnlearn.drawing.style import BLUE, CYCLE, DPI, GREY, MARKERS, style
from mnlearn.learning.ising.network import case_drop_frame
from mnlearn.learning.ising.stability import LEAST_CORRELATION, CaseDropping, Differences

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Titles of the columns that are drawn.
_COLUMNS = {
    "strength": "strength",
    "expected_influence": "expected influence",
    "closeness": "closeness",
    "betweenness": "betweenness",
    "bridge_strength": "bridge strength",
    "normalised_accuracy": "predictability",
}
# More are not legible in one figure.
MAX_COMPARED = 40
# Longer names would leave no room for the axes.
_LONGEST = 30


def fitting(names: Sequence[str]) -> list[str]:
    """Return names beside an axis; long ones are cut, and have their numbers in the network."""
    return [
        name if len(name) <= _LONGEST else f"{v}  {name[: _LONGEST - 1]}…"
        for v, name in enumerate(names, start=1)
    ]


def draw_centrality(frame: pd.DataFrame) -> Figure:
    """Return a figure of the centrality and the predictability of all variables."""
    from matplotlib.figure import Figure

    place, names = np.arange(len(frame)), fitting(frame["variable"].tolist())
    with style(names):
        longest = max(map(width_of, names))
        shown = {column: title for column, title in _COLUMNS.items() if column in frame}
        size = (1.12 * len(shown) + 0.05 * longest, 0.8 + 0.15 * len(frame))
        figure = Figure(size, dpi=DPI, layout="constrained")
        panels = figure.subplots(1, len(shown), sharey=True)
        for ax, (column, title) in zip(panels, shown.items(), strict=True):
            ax.plot(frame[column], place, "o-", ms=3, lw=0.7, color=BLUE)
            ax.set_title(title)
            ax.grid(axis="y")
            ax.tick_params(axis="y", length=0)
            ax.locator_params(axis="x", nbins=3)
            if column == "expected_influence" and (frame[column] < 0).any():
                ax.axvline(0, color=GREY, lw=0.6)
        panels[0].set_yticks(place, names, parse_math=False)
        panels[0].set_ylim(len(frame) - 0.5, -0.5)
    return figure


def draw_case_dropping(cases: CaseDropping) -> Figure:
    """Return a figure of the correlation with the whole network by the share of examples kept."""
    from matplotlib.figure import Figure

    with style():
        figure = Figure((3.6, 2.6), dpi=DPI, layout="constrained")
        ax = figure.add_subplot()
        table = case_drop_frame(cases)
        for k, (measure, of_measure) in enumerate(table.groupby("measure", sort=False)):
            kept, colour = 100 * (1 - of_measure["dropped"]), CYCLE[k]
            label = f"{measure.replace('_', ' ')} (CS {cases.coefficient(measure):.2f})"
            low, high = of_measure["low"], of_measure["high"]
            ax.fill_between(kept, low, high, color=colour, alpha=0.15, lw=0)
            mean = of_measure["correlation"]
            ax.plot(kept, mean, color=colour, marker=MARKERS[k], ms=3, label=label)
        ax.axhline(LEAST_CORRELATION, color=GREY, lw=0.6, ls=(0, (3, 2)))
        ax.set_xlim(100, 22)
        ax.set_ylim(min(0.0, ax.get_ylim()[0]), 1.02)
        ax.set_xlabel("examples kept (%); correlation with the network of all")
        ax.set_ylabel("correlation")
        figure.legend(loc="outside lower center", ncols=1)
    return figure


def draw_differences(parts: Sequence[tuple[str, Sequence[str], Differences]]) -> Figure:
    """Return a figure of which numbers differ by the bootstrap, a panel for each part."""
    from matplotlib.figure import Figure

    every = [name for _, names, _ in parts for name in names]
    with style(every):
        sizes = [min(len(names), MAX_COMPARED) for _, names, _ in parts]
        longest = max(map(width_of, every), default=1)
        side = 0.9 + 0.13 * max([*sizes, 6]) + 0.05 * longest
        figure = Figure((side * len(parts), side), dpi=DPI, layout="constrained")
        panels = np.atleast_1d(figure.subplots(1, len(parts)))
        for ax, size, (title, names, found) in zip(panels, sizes, parts, strict=True):
            some = f", the first {size} of {len(names)}" if size < len(names) else ""
            ax.set_title(f"{title}{some}")
            _draw_matrix(ax, list(names)[:size], found)
        panels[0].figure.supxlabel("dark: the middle 95 % of the resamples exclude 0", size=7)
    return figure


def _draw_matrix(ax: Axes, names: list[str], found: Differences) -> None:
    """Draw a square for every two numbers: dark where they differ."""
    n = len(names)
    differs = np.zeros((n, n))
    inside = (found.first < n) & (found.second < n)
    first, second = found.first[inside], found.second[inside]
    differs[first, second] = differs[second, first] = found.differs[inside]
    np.fill_diagonal(differs, np.nan)
    if n:
        ax.imshow(differs, cmap="Greys", vmin=-0.18, vmax=1.3, aspect="equal")
    ax.set_xticks(np.arange(n), names, rotation=90, parse_math=False)
    ax.set_yticks(np.arange(n), names, parse_math=False)
    ax.set_xticks(np.arange(n + 1) - 0.5, minor=True)
    ax.set_yticks(np.arange(n + 1) - 0.5, minor=True)
    ax.grid(which="minor", color="white", lw=0.8)
    ax.tick_params(which="both", length=0)
    for spine in ax.spines.values():
        spine.set_visible(False)
