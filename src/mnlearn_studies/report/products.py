"""Entries of a study's lists of tables, figures and claims: their kinds, options and datasets."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import pandas as pd

from mnlearn.runtime.errors import InputError
from mnlearn_studies.study.content import Product
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.published import Number, Source, numbers
from mnlearn_studies.study.reading import Part, place_name, read

Labels = Mapping[str, str]
# An entry as the YAML file has it.
Options = Mapping[str, Any]


def chosen_products(study: Study, list_name: str, only: list[str] | None) -> list[dict[str, Any]]:
    """Return the entries of a study's list of tables or figures: all, or those named in `only`.

    Raises
    ------
    InputError
        The list has no entry of a name.
    """
    products = list(study.content[list_name])
    names = [product["name"] for product in products]
    for name in only or ():
        if name not in names:
            raise InputError(
                f"study {study.name}, {list_name}: no {name!r}; there are {', '.join(names)}."
            )
    return [product for product in products if only is None or product["name"] in only]


def read_entry(
    study: Study, list_name: str, entry: Mapping[str, Any], kinds: Mapping[str, type[Part]]
) -> Part:
    """Return an entry of a study as the dataclass of its kind.

    Parameters
    ----------
    study : Study
        The study.
    list_name : {"tables", "figures", "claims"}
        The list that the entry is in.
    entry : mapping
        The entry.
    kinds : mapping
        All kinds of the list by name.

    Raises
    ------
    InputError
        See `reading.read`; or the kind is unknown.
    """
    place = place_name(study.name, list_name, entry)
    if entry["kind"] not in kinds:
        raise InputError(f"kind {entry['kind']!r} is none of {', '.join(kinds)}.", where=place)
    return read(kinds[entry["kind"]], entry, place)


@dataclass(frozen=True)
class Material:
    """What tables and figures are made from.

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
    """

    study: Study
    scores: pd.DataFrame
    published: pd.DataFrame
    labels: Labels

    @property
    def datasets(self) -> list[str]:
        """Datasets with scores, in the order of the study."""
        return self.list_scored(self.scores)

    def list_scored(self, scores: pd.DataFrame) -> list[str]:
        """Return the datasets with scores, in the order of the labels and then of the scores."""
        present = list(dict.fromkeys(scores["dataset"]))
        known = [dataset for dataset in self.labels if dataset in present]
        return known + [dataset for dataset in present if dataset not in self.labels]

    def label(self, dataset: str) -> str:
        """Return the name of a dataset for readers."""
        return self.labels.get(dataset, dataset)

    def numbers(self, source: Source) -> dict[str, Number]:
        """Return the numbers of a source by dataset, ours or published."""
        return numbers(self.scores, self.published, source)

    def shown(self, entry: Product, list_name: str) -> Self:
        """Return the material of the datasets that an entry shows: all, or its `datasets`.

        Raises
        ------
        InputError
            The entry of the list names a dataset that has no label.
        """
        if entry.datasets is None:
            return self
        for dataset in entry.datasets:
            if dataset not in self.labels:
                place = place_name(self.study.name, list_name, {"name": entry.name}, ["datasets"])
                raise InputError(f"no {dataset!r} in the study.", where=place)
        labels = {d: label for d, label in self.labels.items() if d in entry.datasets}
        scores = self.scores[self.scores["dataset"].isin(list(labels))]
        return dataclasses.replace(self, scores=scores, labels=labels)
