"""Figure of the study `gssl`: mean ranks of the learners, and which differ significantly.

See Demsar, "Statistical comparisons of classifiers over multiple data sets", JMLR 7 (2006),
Section 3.2.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mnlearn.drawing.style import BLUE, GREY
from mnlearn_studies.report.figures.canvas import empty, new_figure
from mnlearn_studies.report.material import Material
from mnlearn_studies.report.statistics import friedman
from mnlearn_studies.study.published import Source

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEARNERS = {"gssl": "GSSL", "l1": "L1", "dtsl": "DTSL", "blm": "BLM"}


def draw_critical_difference(material: Material) -> Figure:
    """Draw the mean rank of each learner by test CMLL.

    Bars join learners that Nemenyi's test does not tell apart at 0.05.
    """
    data = [material.numbers(Source(method, "cmll")) for method in LEARNERS]
    datasets = [d for d in material.datasets if all(d in found for found in data)]
    if len(datasets) < 2:
        return empty(width="page")
    values = np.array([[found[d].value for found in data] for d in datasets])
    ranked = friedman(values)
    order = np.argsort(ranked.mean, kind="stable")
    mean, heads = ranked.mean[order], [list(LEARNERS.values())[i] for i in order]
    groups = find_runs(mean, ranked.critical_difference)
    n, half = len(mean), (len(mean) + 1) // 2
    depth = 0.32 * len(groups) + 0.5 * half
    figure, ax = new_figure("page", 0.9 + 0.36 * depth)
    ax.set_axis_off()
    ax.set_xlim(0.2, n + 0.8)
    ax.set_ylim(-depth - 0.5, 1.5)
    ax.plot([1, n], [0, 0], color="black", lw=0.8)
    for tick in range(1, n + 1):
        ax.plot([tick, tick], [0, 0.14], color="black", lw=0.8)
        ax.text(tick, 0.24, str(tick), ha="center", va="bottom")
    ax.plot([1, 1 + ranked.critical_difference], [1.05, 1.05], color=GREY, lw=1.2)
    ax.text(
        1 + ranked.critical_difference + 0.04,
        1.05,
        f"critical difference {ranked.critical_difference:.2f}",
        color=GREY,
        va="center",
    )
    for number, (rank, head) in enumerate(zip(mean.tolist(), heads, strict=True)):
        left = number < half
        level = number if left else n - 1 - number
        y = -0.32 * len(groups) - 0.5 * (level + 1)
        edge = 0.75 if left else n + 0.25
        ax.plot([rank, rank, edge], [0, y, y], color="black", lw=0.6)
        ax.plot(rank, 0, "o", ms=3, color="black")
        ax.text(
            edge + (-0.04 if left else 0.04),
            y,
            f"{head} ({rank:.2f})",
            ha="right" if left else "left",
            va="center",
        )
    for number, (first, last) in enumerate(groups):
        y = -0.3 * (number + 1)
        ax.plot([mean[first] - 0.03, mean[last] + 0.03], [y, y], color=BLUE, lw=2.5)
    return figure


def find_runs(mean: NDArray[np.float64], critical: float) -> list[tuple[int, int]]:
    """Return (first, last) of the longest runs of ascending ranks less than `critical` apart."""
    runs: list[tuple[int, int]] = []
    for first in range(len(mean)):
        last = int(np.flatnonzero(mean - mean[first] < critical)[-1])
        if last > first and (not runs or last > runs[-1][1]):
            runs.append((first, last))
    return runs
