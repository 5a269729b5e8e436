"""What all figures share: scores and structures, colours, sizes, files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from mnlearn.drawing.style import CYCLE, DPI, GREY, MARKERS
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn_studies.records.files import find_version
from mnlearn_studies.records.kinds.structures import Structure, read_structure
from mnlearn_studies.report.options import SOURCE, TEXT, Options, mapping, needed, one_of
from mnlearn_studies.report.products import Labels, list_scored
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.published import Number, numbers, source

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Widths in inches: one column, and the page of a two-column paper.
WIDTHS = {"column": 3.4, "page": 7.0}
WIDTH = one_of(WIDTHS)
# Options of a series of scores against seconds.
SCORE_AND_SECONDS = {
    "head": needed(TEXT),
    "score": needed(mapping(SOURCE)),
    "seconds": needed(mapping(SOURCE)),
}
NOTHING = "No results yet."


@dataclass(frozen=True)
class Material:
    """What a figure is drawn from.

    Attributes
    ----------
    study : Study
        The study.
    scores : pandas.DataFrame
        The study's own scores, see `study.published.tidy_scores`.
    published : pandas.DataFrame
        The published numbers, see `study.published.load_published`.
    labels : mapping of str to str
        Names of the datasets for readers, in the order of the study.
    structure_folder : Path
        Has the couplings of learned networks, see `records.kinds.structures`.
    truths : mapping of str to MarkovNetwork
        The networks that datasets were sampled from.
    """

    study: Study
    scores: pd.DataFrame
    published: pd.DataFrame
    labels: Labels
    structure_folder: Path
    truths: Mapping[str, MarkovNetwork]

    @property
    def datasets(self) -> list[str]:
        """Datasets with scores, in the order of the study."""
        return list_scored(self.scores, self.labels)

    def label(self, dataset: str) -> str:
        """Return the name of a dataset for readers."""
        return self.labels.get(dataset, dataset)

    def where(self, options: Options) -> str:
        """Return the name of a figure, for error messages."""
        return f"study {self.study.name}, figure {options['name']}"

    def numbers(self, spec: Options, where: str) -> dict[str, Number]:
        """Return the numbers by dataset of the source that an option describes."""
        return numbers(self.scores, self.published, source(spec, where))

    def structure(self, dataset: str, method: str) -> Structure | None:
        """Return the couplings of a learned network; None if they are not recorded."""
        path = find_version(self.structure_folder, dataset, method, ".json")
        return None if path is None else read_structure(path)

    def n_vars(self, dataset: str) -> int | None:
        """Return a dataset's number of variables, published or else recorded; None if unknown."""
        printed = self.published[
            (self.published["dataset"] == dataset) & (self.published["quantity"] == "n_vars")
        ]
        if len(printed):
            return int(printed["value"].iloc[0])
        scores = self.scores
        ours = scores[(scores["dataset"] == dataset) & (scores["quantity"] == "n_vars")]
        return int(ours["value"].iloc[0]) if len(ours) else None


def look_of(number: int) -> tuple[str, str]:
    """Return the colour and the marker of a series by its number; they repeat after eight."""
    return CYCLE[number % len(CYCLE)], MARKERS[number % len(MARKERS)]


def new_figure(options: Options, default: str, height: float) -> tuple[Figure, Axes]:
    """Return an empty figure and its axes.

    Parameters
    ----------
    options : mapping
        width: "column" or "page".
    default : {"column", "page"}
        Width if the options have none.
    height : float
        In inches.
    """
    from matplotlib.figure import Figure

    figure = Figure((WIDTHS[options.get("width", default)], height), dpi=DPI, layout="constrained")
    return figure, figure.add_subplot()


def empty(options: Options, why: str) -> Figure:
    """Return a figure that says why it shows nothing, so that a report is always complete."""
    figure, ax = new_figure(options, "column", 1.2)
    ax.set_axis_off()
    ax.text(0.5, 0.5, why, ha="center", va="center", color=GREY, transform=ax.transAxes)
    return figure
