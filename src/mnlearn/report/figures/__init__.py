"""Figures of a study: drawn by kind, written as PDF and PNG; equal figures give equal bytes.

Each kind is a function in a file of its own; `KINDS` names them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.report.figures.accuracy_time import draw_accuracy_time
from mnlearn.report.figures.canvas import Kind, Material, render, style
from mnlearn.report.figures.conversion_loss import draw_conversion_loss
from mnlearn.report.figures.critical_difference import draw_critical_difference
from mnlearn.report.figures.differences import draw_differences
from mnlearn.report.figures.distances import draw_distances
from mnlearn.report.figures.growth import draw_growth
from mnlearn.report.figures.learning_curves import draw_learning_curves
from mnlearn.report.figures.pareto import draw_pareto
from mnlearn.report.figures.query_curves import draw_query_curves
from mnlearn.report.figures.reproduction import draw_reproduction
from mnlearn.report.figures.scatter import draw_scatter
from mnlearn.report.figures.structure import draw_structure
from mnlearn.report.figures.variants import draw_variants
from mnlearn.report.products import Options, check_kind, chosen_products, shown_labels
from mnlearn.runtime.files import write_bytes
from mnlearn.study.definition import Study
from mnlearn.study.mentions import check_sources
from mnlearn.study.published import tidy_scores

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Imported by name, so that digests of this code cover all kinds (see `runtime.code_digest`).
KINDS: dict[str, Kind] = {
    "scatter": draw_scatter,
    "accuracy_time": draw_accuracy_time,
    "variants": draw_variants,
    "structure": draw_structure,
    "reproduction": draw_reproduction,
    "differences": draw_differences,
    "conversion_loss": draw_conversion_loss,
    "distances": draw_distances,
    "growth": draw_growth,
    "learning_curves": draw_learning_curves,
    "critical_difference": draw_critical_difference,
    "pareto": draw_pareto,
    "query_curves": draw_query_curves,
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
    check_kind(material.study, "figures", product, KINDS)
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
        return KINDS[product["kind"]](material, product)


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
