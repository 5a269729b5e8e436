"""Entries of a study's lists of tables, figures and claims: their kinds, options and datasets."""

from collections.abc import Mapping
from typing import Any, Protocol

import pandas as pd

from mnlearn.runtime.errors import InputError
from mnlearn_studies.report.options import ANYTHING, Keys, Options, check_options
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.reading import Part, place_name, read

Labels = Mapping[str, str]
# Options of every table and figure; the schema of studies says what they have to be.
PRODUCT: Keys = dict.fromkeys(("name", "kind", "title", "caption", "datasets"), ANYTHING)


class _HasOptions(Protocol):
    @property
    def options(self) -> Keys: ...


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


def check_entry(
    study: Study, list_name: str, entry: Options, kinds: Mapping[str, _HasOptions], common: Keys
) -> None:
    """Refuse an entry of an unknown kind, or with options that its kind does not read.

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
    common : mapping of str to Form
        The options of every entry of the list.

    Raises
    ------
    InputError
        See `options.check_options`; or the kind is unknown.
    """
    if entry["kind"] not in kinds:
        name = entry.get("name", entry.get("id"))
        raise InputError(
            f"study {study.name}, {list_name}, {name}: kind {entry['kind']!r} is none of "
            f"{', '.join(kinds)}."
        )
    known = {**common, **kinds[entry["kind"]].options}
    check_options(entry, known, place_name(study.name, list_name, entry))


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
