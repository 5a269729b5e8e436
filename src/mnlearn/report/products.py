"""Entries of a study's lists of tables, figures and claims: their kinds, options and datasets."""

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from mnlearn.runtime.errors import InputError
from mnlearn.study.definition import Study

Labels = Mapping[str, str]
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


def check_kind(study: Study, list_name: str, entry: Options, kinds: Iterable[str]) -> None:
    """Raise InputError unless the kind of the entry is one of `kinds`."""
    if entry["kind"] not in kinds:
        name = entry.get("name", entry.get("id"))
        raise InputError(
            f"study {study.name}, {list_name}, {name}: kind {entry['kind']!r} is none of "
            f"{', '.join(kinds)}."
        )


def option(entry: Options, key: str, where: str) -> Any:
    """Return an option of an entry.

    Raises
    ------
    InputError
        The entry lacks it; `where` names the entry in the sentence.
    """
    if key not in entry:
        raise InputError(f"{where}: expected the key {key!r}.")
    return entry[key]


def shown_labels(entry: Options, labels: Labels, where: str) -> Labels:
    """Return the labels of the datasets that an entry shows: all, or those of its `datasets`.

    Raises
    ------
    InputError
        The entry names a dataset that has no label; `where` names the entry in the sentence.
    """
    if "datasets" not in entry:
        return labels
    for dataset in entry["datasets"]:
        if dataset not in labels:
            raise InputError(f"{where}, datasets: no {dataset!r} in the study.")
    return {dataset: label for dataset, label in labels.items() if dataset in entry["datasets"]}


def list_scored(scores: pd.DataFrame, labels: Labels) -> list[str]:
    """Return the datasets with scores, in the order of the labels and then of the scores."""
    present = list(dict.fromkeys(scores["dataset"]))
    known = [dataset for dataset in labels if dataset in present]
    return known + [dataset for dataset in present if dataset not in labels]
