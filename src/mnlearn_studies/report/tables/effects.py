"""Tables of kinds `effects` and `scores_by_value`: what the hyperparameters of a method do."""

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from mnlearn_studies.report.by_variant import (
    ByVariant,
    chosen_variant,
    complete_datasets,
    numbers_by_variant,
)
from mnlearn_studies.report.options import (
    DECIMALS,
    PARAMETERS,
    PLACE,
    TEXT,
    Kind,
    Options,
    mapping,
    needed,
)
from mnlearn_studies.report.tables.quantities import look_up_published
from mnlearn_studies.report.tables.table import (
    Cell,
    Material,
    Row,
    Table,
    number_cell,
    value_cell,
)
from mnlearn_studies.study.published import Number, Source


@dataclass(frozen=True)
class Value:
    """A column: a value of a hyperparameter.

    Attributes
    ----------
    parameter : str
        Heading of the hyperparameter.
    name, head : str
        Name of the value in the CSV file, and its heading.
    variants : tuple of str
        The variants of the method that have the value.
    """

    parameter: str
    name: str
    head: str
    variants: tuple[str, ...]


def tabulate_effects(material: Material, options: Options) -> Table:
    """Return how far the best model with each value is below the best of all, in per cent.

    Footers have the medians, and on how many datasets each value is the best; several are if they
    tie. Only datasets that have every variant are shown.

    Parameters
    ----------
    material : Material
        Scores of the study.
    options : mapping
        method; quantity (validation); decimals; parameters, each with a `head` and `values`, each
        value with a `name`, a `head` and the `variants` that have it.
    """
    method = str(options["method"])
    quantity, decimals = str(options.get("quantity", "validation")), int(options.get("decimals", 2))
    values = _values(options)
    found = _numbers(material, values, method, quantity)
    datasets = complete_datasets(found, material.datasets)
    short = np.array(
        [[_short(found, value.variants, dataset) for value in values] for dataset in datasets]
    )

    rows = []
    for dataset, line in zip(datasets, short, strict=True):
        cells = (_cell(x, decimals, method) for x in line)
        rows.append(Row((material.label_cell(dataset), *cells), (dataset,)))
    if datasets:
        medians = (value_cell(x, decimals, method) for x in np.median(short, axis=0))
        counts = (Cell(str(n), int(n), method=method) for n in (short == 0).sum(axis=0))
        rows.append(Row((Cell("median"), *medians), tuple(datasets), footer=True))
        rows.append(Row((Cell("best on"), *counts), tuple(datasets), footer=True))
    return Table(
        columns=("dataset", *(value.name for value in values)),
        header=(
            ("", *(value.parameter for value in values)),
            ("dataset", *(value.head for value in values)),
        ),
        alignment="l" + "r" * len(values),
        body=tuple(rows),
    )


def tabulate_scores_by_value(material: Material, options: Options) -> Table:
    """Return the test score of the model that validation chooses among those with each value.

    Other columns have the score of the model chosen of all, and the published score. Only datasets
    on which every variant has the test score are shown.

    Parameters
    ----------
    material : Material
        Scores and published numbers.
    options : mapping
        method; quantity (cmll); decimals; parameters as for `tabulate_effects`; published (study,
        table and method of the published scores), if any.
    """
    method = str(options["method"])
    quantity, decimals = str(options.get("quantity", "cmll")), int(options.get("decimals", 2))
    values = _values(options)
    validation = _numbers(material, values, method, "validation")
    test = _numbers(material, values, method, quantity)
    chosen = material.numbers(Source(method, quantity))
    published = look_up_published(material.published, options, {"published": quantity})
    rows = []
    for dataset in complete_datasets(test, material.datasets):
        best = [chosen_variant(validation, dataset, value.variants) for value in values]
        found = [chosen[dataset], *(test[variant][dataset] for variant in best)]
        highest = max(number.value for number in found)
        cells = [
            dataclasses.replace(number_cell(number, decimals, method), bold=number.value == highest)
            for number in found
        ]
        cells += [number_cell(column.get(dataset), decimals) for column in published.values()]
        rows.append(Row((material.label_cell(dataset), *cells), (dataset,)))
    return Table(
        columns=("dataset", "chosen", *(value.name for value in values), *published),
        header=(
            ("", "", *(value.parameter for value in values), *("" for _ in published)),
            ("dataset", "chosen", *(value.head for value in values), *published),
        ),
        alignment="l" + "r" * (1 + len(values) + len(published)),
        body=tuple(rows),
    )


def _values(options: Options) -> list[Value]:
    """Return the values of all hyperparameters, in the order of the options."""
    return [
        Value(
            str(parameter["head"]),
            str(value["name"]),
            str(value["head"]),
            tuple(str(variant) for variant in value["variants"]),
        )
        for parameter in options["parameters"]
        for value in parameter["values"]
    ]


def _numbers(
    material: Material, values: Iterable[Value], method: str, quantity: str
) -> dict[str, dict[str, Number]]:
    """Return a quantity of every variant that has one of the values, by variant and dataset."""
    variants = [variant for value in values for variant in value.variants]
    return numbers_by_variant(material.scores, method, quantity, variants)


def _short(found: ByVariant, variants: Iterable[str], dataset: str) -> float:
    """Return by how many per cent the best of some variants is below the best of all."""
    best = max(column[dataset].value for column in found.values())
    return 100 * (best - max(found[variant][dataset].value for variant in variants)) / abs(best)


def _cell(short: float, decimals: int, method: str) -> Cell:
    if short == 0:
        return Cell("best", 0.0, bold=True, method=method)
    return value_cell(short, decimals, method)


_OPTIONS = {
    "method": needed(TEXT),
    "quantity": TEXT,
    "decimals": DECIMALS,
    "parameters": needed(PARAMETERS),
}
EFFECTS = Kind(tabulate_effects, _OPTIONS)
SCORES_BY_VALUE = Kind(
    tabulate_scores_by_value,
    {**_OPTIONS, "published": mapping({**PLACE, "method": needed(TEXT)})},
)
