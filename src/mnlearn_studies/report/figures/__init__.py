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


def draw(material: Material, product: Options) -> Figure | None:
    """Return the figure of one entry of a study; None if there is nothing to draw yet."""
    entry, material = material.of_entry("figures", product, KINDS)
    with style():
        return entry.draw(material)


def write_figures(material: Material, only: list[str] | None = None) -> None:
    """Draw the figures of a study, all or those in `only`, as `<name>.pdf` and `.png`.

    Where there is nothing to draw, the files of an earlier run are removed.
    """
    for product in chosen_products(material.study, "figures", only):
        figure = draw(material, product)
        rendered = (None, None) if figure is None else render(figure)
        for suffix, content in zip(("pdf", "png"), rendered, strict=True):
            path = material.folder / "figures" / f"{product['name']}.{suffix}"
            if content is None:
                path.unlink(missing_ok=True)
            else:
                write_bytes(path, content)
