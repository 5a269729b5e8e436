"""Tables of kinds `effects` and `scores_by_value`: what the parameters of a method do."""

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mnlearn.report.products import Labels, Options, list_scored, option
from mnlearn.report.tables.quantities import look_up_printed
from mnlearn.report.tables.table import Cell, Row, Table, label_cell, number_cell, value_cell
from mnlearn.study.published import Number, Source, numbers

ByVariant = Mapping[str, Mapping[str, Number]]


@dataclass(frozen=True)
class Value:
    """A column: a value of a parameter, and the variants of the method that have it."""

    parameter: str
    name: str
    head: str
    variants: tuple[str, ...]


def tabulate_effects(
    scores: pd.DataFrame, published: pd.DataFrame, labels: Labels, study: str, options: Options
) -> Table:
    """Return how far the best model with each value of a parameter is below the best of all.

    In per cent of the best; a footer has medians, and on how many datasets a value is the best
    (several if they tie). Only datasets that have every variant are shown.
    options: method; quantity (validation); decimals; parameters, each with a `head` and
    `values`, each of these with a `name`, a `head` and the `variants` that have it.
    """
    method = str(option(options, "method", f"table {options['name']} of study {study}"))
    quantity, decimals = str(options.get("quantity", "validation")), int(options.get("decimals", 2))
    values = _values(options, study)
    found = _by_variant(scores, published, values, method, quantity)
    datasets = _complete(found, list_scored(scores, labels))
    short = np.array(
        [[_short(found, value.variants, dataset) for value in values] for dataset in datasets]
    )

    rows = []
    for dataset, line in zip(datasets, short, strict=True):
        cells = (_cell(x, decimals, method) for x in line)
        rows.append(Row((label_cell(dataset, labels), *cells), (dataset,)))
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


def tabulate_scores_by_value(
    scores: pd.DataFrame, published: pd.DataFrame, labels: Labels, study: str, options: Options
) -> Table:
    """Return the test score of the model that validation chooses among those with each value.

    Beside it the score of the model chosen of all, and the published one. Only datasets on which
    every variant has the test score are shown.
    options: method; quantity (cmll); decimals; parameters as for `effects`; published (study,
    table and method of the printed scores), if any.
    """
    method = str(option(options, "method", f"table {options['name']} of study {study}"))
    quantity, decimals = str(options.get("quantity", "cmll")), int(options.get("decimals", 2))
    values = _values(options, study)
    validation = _by_variant(scores, published, values, method, "validation")
    test = _by_variant(scores, published, values, method, quantity)
    chosen = numbers(scores, published, Source(method, quantity))
    printed = look_up_printed(published, options, {"published": quantity})
    rows = []
    for dataset in _complete(test, list_scored(scores, labels)):
        best = [_chosen(validation, value.variants, dataset) for value in values]
        found = [chosen[dataset], *(test[variant][dataset] for variant in best)]
        highest = max(number.value for number in found)
        cells = [
            dataclasses.replace(number_cell(number, decimals, method), bold=number.value == highest)
            for number in found
        ]
        cells += [number_cell(column.get(dataset), decimals) for column in printed.values()]
        rows.append(Row((label_cell(dataset, labels), *cells), (dataset,)))
    return Table(
        columns=("dataset", "chosen", *(value.name for value in values), *printed),
        header=(
            ("", "", *(value.parameter for value in values), *("" for _ in printed)),
            ("dataset", "chosen", *(value.head for value in values), *printed),
        ),
        alignment="l" + "r" * (1 + len(values) + len(printed)),
        body=tuple(rows),
    )


def _values(options: Options, study: str) -> list[Value]:
    """Return the values of the options' parameters, one after the other."""
    where = f"table {options['name']} of study {study}"
    return [
        Value(
            str(option(parameter, "head", where)),
            str(option(value, "name", where)),
            str(option(value, "head", where)),
            tuple(str(variant) for variant in option(value, "variants", where)),
        )
        for parameter in option(options, "parameters", where)
        for value in option(parameter, "values", where)
    ]


def _by_variant(
    scores: pd.DataFrame,
    published: pd.DataFrame,
    values: Iterable[Value],
    method: str,
    quantity: str,
) -> ByVariant:
    """Return a quantity of every variant that has one of the values, by variant and dataset."""
    return {
        variant: numbers(scores, published, Source(method, quantity, variant))
        for value in values
        for variant in value.variants
    }


def _complete(found: ByVariant, datasets: Iterable[str]) -> list[str]:
    """Return the datasets on which every variant has a number."""
    return [d for d in datasets if all(d in column for column in found.values())]


def _chosen(validation: ByVariant, variants: Iterable[str], dataset: str) -> str:
    return max(variants, key=lambda variant: validation[variant][dataset].value)


def _short(found: ByVariant, variants: Iterable[str], dataset: str) -> float:
    """Return how far the best of some variants is below the best of all, in per cent of it."""
    best = max(column[dataset].value for column in found.values())
    return 100 * (best - max(found[variant][dataset].value for variant in variants)) / abs(best)


def _cell(short: float, decimals: int, method: str) -> Cell:
    if short == 0:
        return Cell("best", 0.0, bold=True, method=method)
    return value_cell(short, decimals, method)
