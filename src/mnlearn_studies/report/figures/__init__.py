"""Figures of a study: drawn by kind, written as PDF and PNG; equal figures give equal bytes.

Each kind is a dataclass in a file of this package, whose fields are its options; a figure that only
one study has is a function in the file of this study. See `KINDS` and `OF_STUDIES`.
"""

from collections.abc import Callable

from matplotlib.figure import Figure

from mnlearn.drawing.style import render, style
from mnlearn.runtime.files import write_bytes
from mnlearn_studies.report.figures.against_time import Growth, Pareto
from mnlearn_studies.report.figures.canvas import FigureEntry
from mnlearn_studies.report.figures.of_lem import draw_learning_curves
from mnlearn_studies.report.figures.query_curves import QueryCurves
from mnlearn_studies.report.figures.reproduction import (
    Differences,
    Reproduction,
    draw_conversion_loss,
    draw_distances,
)
from mnlearn_studies.report.figures.scatter import Scatter
from mnlearn_studies.report.figures.structure import StructureFigure
from mnlearn_studies.report.material import Material, Options, chosen_products

# Figures that one study has; they take no options.
OF_STUDIES: dict[str, Callable[[Material], Figure]] = {
    "dn2mn.conversion_loss": draw_conversion_loss,
    "frontier.distances": draw_distances,
    "lem.learning_curves": draw_learning_curves,
}
# Imported by name, so that digests of this code cover all kinds (see `runtime.code_digest`).
KINDS: dict[str, type[FigureEntry]] = {
    "scatter": Scatter,
    "structure": StructureFigure,
    "reproduction": Reproduction,
    "differences": Differences,
    "growth": Growth,
    "pareto": Pareto,
    "query_curves": QueryCurves,
    **dict.fromkeys(OF_STUDIES, FigureEntry),
}


def draw(material: Material, product: Options) -> Figure:
    """Return the figure of one entry of a study; see `Material.of_entry`."""
    entry, material = material.of_entry("figures", product, KINDS)
    of_study = OF_STUDIES.get(entry.kind)
    with style():
        return entry.draw(material) if of_study is None else of_study(material)


def write_figures(material: Material, only: list[str] | None = None) -> None:
    """Draw the figures of a study, all or those in `only`, as `<name>.pdf` and `.png`."""
    for product in chosen_products(material.study, "figures", only):
        pdf, png = render(draw(material, product))
        write_bytes(material.folder / "figures" / f"{product['name']}.pdf", pdf)
        write_bytes(material.folder / "figures" / f"{product['name']}.png", png)
