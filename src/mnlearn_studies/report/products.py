"""Entries of a study's lists of tables, figures and claims: their kinds, options and datasets."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from mnlearn.runtime.errors import InputError
from mnlearn_studies.study.content import Product
from mnlearn_studies.study.definition import Study
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


def shown_labels(entry: Product, labels: Labels, where: str) -> Labels:
    """Return the labels of the datasets that an entry shows: all, or those of its `datasets`.

    Raises
    ------
    InputError
        The entry names a dataset that has no label; `where` names the entry in the sentence.
    """
    if entry.datasets is None:
        return labels
    for dataset in entry.datasets:
        if dataset not in labels:
            raise InputError(f"no {dataset!r} in the study.", where=f"{where}, datasets")
    return {dataset: label for dataset, label in labels.items() if dataset in entry.datasets}


def list_scored(scores: pd.DataFrame, labels: Labels) -> list[str]:
    """Return the datasets with scores, in the order of the labels and then of the scores."""
    present = list(dict.fromkeys(scores["dataset"]))
    known = [dataset for dataset in labels if dataset in present]
    return known + [dataset for dataset in present if dataset not in labels]
