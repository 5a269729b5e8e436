"""Figures of kind `structure`: the strongest couplings of a network, and the true edges."""

from collections.abc import Mapping
from dataclasses import dataclass

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from mnlearn.drawing.networks import (
    EXTRA,
    MISSED,
    draw_edges,
    draw_nodes,
    layout,
    short_names,
    sign_handles,
)
from mnlearn.drawing.style import GREY
from mnlearn_studies.report.figures.canvas import FigureEntry, new_figure
from mnlearn_studies.report.material import Material


@dataclass(frozen=True, kw_only=True)
class StructureFigure(FigureEntry):
    """The strongest couplings of a learned network, and the true edges if they are known.

    max_edges : if 0, the number of true edges, or 40.
    """

    kind_name = "structure"
    dataset: str
    method: str
    max_edges: int = 0

    def draw(self, material: Material) -> Figure | None:
        learned = material.structure(self.dataset, self.method)
        if learned is None:
            return None
        truth = material.truths.get(self.dataset)
        true_edges = set() if truth is None else set(truth.edges())
        found = learned.couplings
        strongest = sorted((e for e in found if found[e]), key=lambda e: (-abs(found[e]), e))
        kept = {e: found[e] for e in strongest[: self.max_edges or len(true_edges) or 40]}
        position = layout(len(learned.names), sorted(true_edges) or sorted(kept))
        figure, ax = new_figure("column", 3.3)
        ax.set_aspect("equal")
        ax.set_axis_off()
        ax.margins(0.07)
        draw_edges(ax, position, kept, true_edges)
        draw_nodes(ax, position, short_names(learned.names))
        handles = _structure_legend(kept, true_edges)
        figure.legend(handles=handles, loc="outside lower center", ncols=3 if true_edges else 2)
        return figure


def _structure_legend(
    kept: Mapping[tuple[int, int], float], true_edges: set[tuple[int, int]]
) -> list[Line2D]:
    signs = sign_handles()
    if not true_edges:
        return signs
    n_found = len(set(kept) & true_edges)
    # The legend fills its columns from the top; the signs come first.
    return [
        *signs,
        Line2D([], [], color="#222222", lw=1.8, label=f"found, {n_found}"),
        Line2D([], [], color=GREY, lw=0.9, ls=MISSED, label=f"missed, {len(true_edges) - n_found}"),
        Line2D([], [], color="#222222", lw=1.8, ls=EXTRA, label=f"extra, {len(kept) - n_found}"),
    ]
