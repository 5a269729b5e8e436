"""Axes with one row per dataset."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mnlearn_studies.report.figures.canvas import Material

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
