"""Tables of kind `averages`: a quantity averaged over groups of variants and all datasets."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from mnlearn_studies.report.by_variant import ByVariant, complete_datasets, numbers_by_variant
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
from mnlearn_studies.report.tables.table import Cell, Material, Row, Table, number_cell, value_cell
from mnlearn_studies.study.published import Number, Source, lookup


def tabulate_averages(material: Material, options: Options) -> Table:
    """Return the mean of a quantity over the variants of each group and over the datasets.

    Only datasets that have every variant of the table count, so that all means are over the same
    datasets. A column has the ratio of each mean to the first mean of its parameter.

    Parameters
    ----------
    material : Material
        Scores and published numbers.
    options : mapping
        method; quantity; decimals; published (study and table of the published means, if any: those
        of the dataset `mean` and of the quantity `<quantity>_<name>`); parameters, each with a
        `head` and `values`, each value with a `name`, a `head` and the `variants` to average.
    """
    method, quantity = (str(options[key]) for key in ("method", "quantity"))
    parameters = options["parameters"]
    variants = [
        str(v)
        for parameter in parameters
        for value in parameter["values"]
        for v in value["variants"]
    ]
    found = numbers_by_variant(material.scores, method, quantity, variants)
    complete = complete_datasets(found, material.datasets)
    rows = []
    for parameter in parameters:
        values = parameter["values"]
        ours = [_mean(found, value["variants"], complete) for value in values]
        theirs = [
            _published(material.published, options, f"{quantity}_{value['name']}")
            for value in values
        ]
        for value, mean, number in zip(values, ours, theirs, strict=True):
            cells = (
                Cell(str(parameter["head"]), str(parameter["head"])),
                Cell(str(value["head"]), str(value["name"])),
                *_pair(mean, ours[0], int(options.get("decimals", 2)), method),
                *_pair(number, theirs[0], None, ""),
                Cell(str(len(value["variants"])), len(value["variants"])),
            )
            rows.append(Row(cells, tuple(complete)))
    return Table(
        columns=("parameter", "value", "mean", "ratio", "published", "published_ratio", "variants"),
        header=(
            ("", "", "ours", "ours", "published", "published", ""),
            ("parameter", "value", "mean", "ratio", "mean", "ratio", "settings"),
        ),
        alignment="llrrrrr",
        body=tuple(rows) if complete else (),
        notes=(f"Means over {len(complete)} datasets.",) if complete else (),
    )


def _mean(found: ByVariant, variants: Sequence[object], datasets: Sequence[str]) -> Number | None:
    if not datasets:
        return None
    values = [found[str(v)][d].value for v in variants for d in datasets]
    return Number(float(np.mean(values)))


def _published(published: pd.DataFrame, options: Options, quantity: str) -> Number | None:
    if "published" not in options:
        return None
    place = {key: str(value) for key, value in options["published"].items()}
    found = lookup(published, Source(str(options["method"]), quantity, **place))
    return found.get("mean")


def _pair(
    number: Number | None, first: Number | None, decimals: int | None, method: str
) -> tuple[Cell, Cell]:
    """Return the cell of a mean, and the cell of its ratio to the first mean."""
    if number is None or first is None or not first.value:
        return number_cell(number, decimals, method), Cell(method=method)
    ratio = value_cell(number.value / first.value, 2, method)
    return number_cell(number, decimals, method), ratio


AVERAGES = Kind(
    tabulate_averages,
    {
        "method": needed(TEXT),
        "quantity": needed(TEXT),
        "decimals": DECIMALS,
        "published": mapping(PLACE),
        "parameters": needed(PARAMETERS),
    },
)
