"""Figures of a study: drawn by kind, written as PDF and PNG; equal figures give equal bytes.

Each kind is a dataclass in a file of this package, whose fields are its options.
"""

from matplotlib.figure import Figure

from mnlearn.drawing.style import render, style
from mnlearn.runtime.files import write_bytes
from mnlearn_studies.report.figures.canvas import FigureEntry
from mnlearn_studies.report.material import Material, Options, chosen_products
from mnlearn_studies.study.kinds import load_kinds

KINDS = {each.kind_name: each for each in load_kinds(__name__, FigureEntry)}


def draw(material: Material, product: Options) -> Figure:
    """Return the figure of one entry of a study; see `Material.of_entry`."""
    entry, material = material.of_entry("figures", product, KINDS)
    with style():
        return entry.draw(material)


def write_figures(material: Material, only: list[str] | None = None) -> None:
    """Draw the figures of a study, all or those in `only`, as `<name>.pdf` and `.png`."""
    for product in chosen_products(material.study, "figures", only):
        pdf, png = render(draw(material, product))
        write_bytes(material.folder / "figures" / f"{product['name']}.pdf", pdf)
        write_bytes(material.folder / "figures" / f"{product['name']}.png", png)
