"""Figures of a study: drawn by kind, written as PDF and PNG; equal figures give equal bytes.

Each kind is a dataclass in a file of this package, whose fields are its options; a figure that only
one study has is a function in the file of this study. See `KINDS` and `OF_STUDIES`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from mnlearn.drawing.style import render, style
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.runtime.files import write_bytes
from mnlearn_studies.report.figures.canvas import FigureEntry, Material
from mnlearn_studies.report.figures.differences import Differences
from mnlearn_studies.report.figures.growth import Growth
from mnlearn_studies.report.figures.of_dn2mn import draw_conversion_loss
from mnlearn_studies.report.figures.of_dtsl import draw_accuracy_time, draw_conversions
from mnlearn_studies.report.figures.of_frontier import draw_distances
from mnlearn_studies.report.figures.of_gssl import draw_critical_difference
from mnlearn_studies.report.figures.of_lem import draw_learning_curves
from mnlearn_studies.report.figures.pareto import Pareto
from mnlearn_studies.report.figures.query_curves import QueryCurves
from mnlearn_studies.report.figures.reproduction import Reproduction
from mnlearn_studies.report.figures.scatter import Scatter
from mnlearn_studies.report.figures.structure import StructureFigure
from mnlearn_studies.report.products import chosen_products, read_entry
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.mentions import check_sources
from mnlearn_studies.study.published import tidy_scores

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Figures that one study has; they take no options.
OF_STUDIES: dict[str, Callable[[Material], Figure]] = {
    "dn2mn.conversion_loss": draw_conversion_loss,
    "dtsl.accuracy_time": draw_accuracy_time,
    "dtsl.conversions": draw_conversions,
    "frontier.distances": draw_distances,
    "gssl.critical_difference": draw_critical_difference,
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


def draw(material: Material, product: Mapping[str, Any]) -> Figure:
    """Return the figure of one entry of a study.

    Parameters
    ----------
    material : Material
        What figures are drawn from.
    product : mapping
        The entry; its option `datasets` restricts the figure to these datasets.

    Raises
    ------
    InputError
        The entry is of an unknown kind, its options are not what the kind expects, or it names a
        quantity that there is not.
    """
    study = material.study
    entry = read_entry(study, "figures", product, KINDS)
    check_sources(
        study.name,
        study.content,
        "figures",
        product,
        scores=material.scores,
        published=material.published,
    )
    material = material.shown(entry, "figures")
    of_study = OF_STUDIES.get(entry.kind)
    with style():
        return entry.draw(material) if of_study is None else of_study(material)


def write_figures(
    study: Study,
    scores: pd.DataFrame,
    published: pd.DataFrame,
    labels: Mapping[str, str],
    *,
    folder: Path,
    structure_folder: Path,
    truths: Mapping[str, MarkovNetwork] | None = None,
    only: list[str] | None = None,
) -> None:
    """Draw the figures of a study and write them as `<name>.pdf` and `.png`.

    Parameters
    ----------
    study, scores, published, labels
        See `report.tables.make_tables`.
    folder : Path
        Where the files go.
    structure_folder : Path
        Has records of `write_structure` as <dataset>/<method>.json.
    truths : mapping of str to MarkovNetwork, optional
        The networks that datasets were sampled from.
    only : list of str, optional
        Names of the figures to draw; all if not given.

    Raises
    ------
    InputError
        See `report.products.chosen_products` and `draw`; or the record of a structure is malformed.
    """
    ordered = study.labels(labels)
    own = tidy_scores(scores[scores["study"] == study.name])
    material = Material(study, own, published, ordered, structure_folder, truths or {})
    for product in chosen_products(study, "figures", only):
        pdf, png = render(draw(material, product))
        write_bytes(folder / f"{product['name']}.pdf", pdf)
        write_bytes(folder / f"{product['name']}.png", png)
