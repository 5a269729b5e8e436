"""Tables of kind `effects`: what each value of a parameter costs a method, by dataset."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from mnlearn.products import Labels, Options, option, scored
from mnlearn.published import Number, Source, numbers
from mnlearn.tables.table import Cell, Row, Table, label_cell, value_cell


def effects(
    scores: pd.DataFrame, published: pd.DataFrame, labels: Labels, study: str, options: Options
) -> Table:
    """Return how far the best model with each value of a parameter is below the best of all.

    In per cent of the best; a footer has medians, and on how many datasets a value is the best
    (several if they tie). Only datasets that have every variant are shown.
    options: method; quantity (validation); decimals; parameters, each with a `head` and
    `values`, each of these with a `name`, a `head` and the `variants` that have it.
    """
    where = f"table {options['name']} of study {study}"
    method = str(option(options, "method", where))
    quantity, decimals = str(options.get("quantity", "validation")), int(options.get("decimals", 2))
    values = [
        (str(parameter["head"]), value, [str(v) for v in option(value, "variants", where)])
        for parameter in option(options, "parameters", where)
        for value in option(parameter, "values", where)
    ]
    found: dict[str, Mapping[str, Number]] = {
        variant: numbers(scores, published, Source(method, quantity, variant))
        for _, _, variants in values
        for variant in variants
    }
    datasets = [d for d in scored(scores, labels) if all(d in column for column in found.values())]
    short = np.array(
        [[_short(found, variants, dataset) for _, _, variants in values] for dataset in datasets]
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
        columns=("dataset", *(str(option(value, "name", where)) for _, value, _ in values)),
        header=(
            ("", *(head for head, _, _ in values)),
            ("dataset", *(str(option(value, "head", where)) for _, value, _ in values)),
        ),
        alignment="l" + "r" * len(values),
        body=tuple(rows),
    )


def _short(found: Mapping[str, Mapping[str, Number]], variants: list[str], dataset: str) -> float:
    """Return how far the best of some variants is below the best of all, in per cent of it."""
    best = max(column[dataset].value for column in found.values())
    return 100 * (best - max(found[variant][dataset].value for variant in variants)) / abs(best)


def _cell(short: float, decimals: int, method: str) -> Cell:
    if short == 0:
        return Cell("best", 0.0, bold=True, method=method)
    return value_cell(short, decimals, method)
