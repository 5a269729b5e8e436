"""Figures of a study: drawn by kind, written as PDF and PNG; equal figures give equal bytes.

Each kind is a function with its options in a file of its own; `KINDS` names them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from mnlearn.drawing.style import render, style
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.runtime.files import write_bytes
from mnlearn_studies.report.figures.accuracy_time import ACCURACY_TIME
from mnlearn_studies.report.figures.canvas import Material
from mnlearn_studies.report.figures.conversion_loss import CONVERSION_LOSS
from mnlearn_studies.report.figures.critical_difference import CRITICAL_DIFFERENCE
from mnlearn_studies.report.figures.differences import DIFFERENCES
from mnlearn_studies.report.figures.distances import DISTANCES
from mnlearn_studies.report.figures.growth import GROWTH
from mnlearn_studies.report.figures.learning_curves import LEARNING_CURVES
from mnlearn_studies.report.figures.pareto import PARETO
from mnlearn_studies.report.figures.query_curves import QUERY_CURVES
from mnlearn_studies.report.figures.reproduction import REPRODUCTION
from mnlearn_studies.report.figures.scatter import SCATTER
from mnlearn_studies.report.figures.structure import STRUCTURE
from mnlearn_studies.report.figures.variants import VARIANTS
from mnlearn_studies.report.options import Kind, Options
from mnlearn_studies.report.products import PRODUCT, check_entry, chosen_products, shown_labels
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.mentions import check_sources
from mnlearn_studies.study.published import tidy_scores

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Imported by name, so that digests of this code cover all kinds (see `runtime.code_digest`).
KINDS: dict[str, Kind[Material, Figure]] = {
    "scatter": SCATTER,
    "accuracy_time": ACCURACY_TIME,
    "variants": VARIANTS,
    "structure": STRUCTURE,
    "reproduction": REPRODUCTION,
    "differences": DIFFERENCES,
    "conversion_loss": CONVERSION_LOSS,
    "distances": DISTANCES,
    "growth": GROWTH,
    "learning_curves": LEARNING_CURVES,
    "critical_difference": CRITICAL_DIFFERENCE,
    "pareto": PARETO,
    "query_curves": QUERY_CURVES,
}


def draw(material: Material, product: Options) -> Figure:
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
    check_entry(material.study, "figures", product, KINDS, PRODUCT)
    check_sources(
        material.study.name,
        material.study.content,
        "figures",
        product,
        scores=material.scores,
        published=material.published,
    )
    labels = shown_labels(product, material.labels, material.where(product))
    if "datasets" in product:
        scores = material.scores[material.scores["dataset"].isin(list(labels))]
        material = dataclasses.replace(material, scores=scores, labels=labels)
    with style():
        return KINDS[product["kind"]].make(material, product)


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
        See `report.tables.write_tables`.
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
