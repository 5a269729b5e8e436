"""Tables of kinds `variants` and `variants_by_dataset`: feature conversions of a method."""

import dataclasses
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

from mnlearn.report.options import DECIMALS, NAMES, TEXT, Kind, Options, needed
from mnlearn.report.tables.table import (
    Cell,
    Material,
    Row,
    Table,
    number_cell,
    value_cell,
)
from mnlearn.study.published import Number, Source, numbers


def tabulate_variants(material: Material, options: Options) -> Table:
    """Return one row per variant of a method, averaged over the datasets that have all variants.

    Parameters
    ----------
    material : Material
        Scores of the study.
    options : mapping
        method; variants (their order); decimals.
    """
    method = str(options["method"])
    quantities = {
        "cmll": int(options.get("decimals", 3)),
        "pll": int(options.get("decimals", 3)),
        "n_features": 0,
        "mean_length": 2,
        "seconds_weights": None,
    }
    data = {quantity: _by_variant(material.scores, options, quantity) for quantity in quantities}
    complete = _complete(data["cmll"], material.datasets)
    chosen = [_chosen_variant(material.scores, options, dataset) for dataset in complete]
    rows = []
    for variant in data["cmll"]:
        means = {
            quantity: _mean_cell([data[quantity][variant].get(d) for d in complete], places, method)
            for quantity, places in quantities.items()
        }
        best = {
            quantity: _count_cell(
                sum(variant in best_variants(data[quantity], d) for d in complete), method
            )
            for quantity in ("cmll", "pll")
        }
        cells = (
            Cell(variant, variant),
            *(means["cmll"], best["cmll"], means["pll"], best["pll"]),
            _count_cell(chosen.count(variant), method),
            *(means["n_features"], means["mean_length"], means["seconds_weights"]),
        )
        rows.append(Row(cells, tuple(complete)))
    heads = ("conversion", "mean", "best on", "mean", "best on", "chosen on")
    return Table(
        columns=(
            *("variant", "mean_cmll", "best_by_cmll", "mean_pll", "best_by_pll", "chosen"),
            *("mean_n_features", "mean_length", "mean_seconds_weights"),
        ),
        header=(
            ("", "CMLL", "CMLL", "PLL", "PLL", "", "features", "features", ""),
            (*heads, "mean number", "mean length", "weights, s"),
        ),
        alignment="l" + "r" * 8,
        body=tuple(_embolden(rows, (1, 2, 3, 4))),
        notes=(
            f"Means over {len(complete)} datasets. A dataset on which several conversions tie "
            "counts for each of them; chosen: by validation score.",
        )
        if complete
        else (),
    )


def tabulate_variants_by_dataset(material: Material, options: Options) -> Table:
    """Return the score of every variant on every dataset; an asterisk marks the chosen variant.

    Parameters
    ----------
    material : Material
        Scores of the study.
    options : mapping
        method; variants (their order); quantity (cmll); decimals.
    """
    method = str(options["method"])
    by_variant = _by_variant(material.scores, options, str(options.get("quantity", "cmll")))
    decimals = int(options.get("decimals", 3))
    rows = []
    for dataset in material.datasets:
        if not any(dataset in found for found in by_variant.values()):
            continue
        chosen = _chosen_variant(material.scores, options, dataset)
        cells = [number_cell(found.get(dataset), decimals, method) for found in by_variant.values()]
        shown = [float(cell.text) for cell in cells if cell.text]
        cells = [
            dataclasses.replace(
                cell,
                text=cell.text + ("*" if variant == chosen and cell.text else ""),
                bold=bool(cell.text) and float(cell.text) == max(shown),
            )
            for variant, cell in zip(by_variant, cells, strict=True)
        ]
        row = (material.label_cell(dataset), *cells, Cell(chosen, chosen, method=method))
        rows.append(Row(row, (dataset,)))
    return Table(
        columns=("dataset", *by_variant, "chosen"),
        header=(("dataset", *by_variant, "chosen"),),
        alignment="l" + "r" * len(by_variant) + "l",
        body=tuple(rows),
        notes=("Bold: the best on test data; *: the one chosen on validation data.",)
        if rows
        else (),
    )


def _variants_of(scores: pd.DataFrame, options: Options) -> list[str]:
    """Return the variants of the method, in the order of the options or else of the scores."""
    found = scores[(scores["method"] == options["method"]) & (scores["variant"] != "")]
    present = list(dict.fromkeys(found["variant"]))
    return [v for v in options.get("variants", present) if v in present]


def _by_variant(
    scores: pd.DataFrame, options: Options, quantity: str
) -> dict[str, dict[str, Number]]:
    """Return the numbers of every variant by dataset."""
    method = str(options["method"])
    return {
        variant: numbers(scores, scores.iloc[:0], Source(method, quantity, variant))
        for variant in _variants_of(scores, options)
    }


def best_variants(by_variant: Mapping[str, Mapping[str, Number]], dataset: str) -> set[str]:
    """Return the variants with the highest value on a dataset; several if they tie."""
    values = {v: found[dataset].value for v, found in by_variant.items() if dataset in found}
    return {v for v, value in values.items() if value == max(values.values())}


def _complete(by_variant: Mapping[str, Mapping[str, Number]], datasets: list[str]) -> list[str]:
    return [d for d in datasets if by_variant and all(d in f for f in by_variant.values())]


def _mean_cell(found: list[Number | None], decimals: int | None, method: str) -> Cell:
    values = [number.value for number in found if number is not None]
    if not values:
        return Cell(method=method)
    return value_cell(float(np.mean(values)), decimals, method)


def _count_cell(count: int, method: str) -> Cell:
    return Cell(str(count), count, method=method)


def _embolden(rows: list[Row], columns: Iterable[int]) -> list[Row]:
    """Return the rows with the highest number of each column bold, as the column shows it."""
    cells = [list(row.cells) for row in rows]
    for column in columns:
        shown = [float(c[column].text) for c in cells if c[column].text]
        for row in cells:
            if len(shown) > 1 and row[column].text and float(row[column].text) == max(shown):
                row[column] = dataclasses.replace(row[column], bold=True)
    return [dataclasses.replace(row, cells=tuple(c)) for row, c in zip(rows, cells, strict=True)]


def _chosen_variant(scores: pd.DataFrame, options: Options, dataset: str) -> str:
    """Return the variant with the highest validation score; the first of equals wins."""
    by_variant = _by_variant(scores, options, "validation")
    values = {v: found[dataset].value for v, found in by_variant.items() if dataset in found}
    return max(values, key=lambda variant: values[variant]) if values else ""


_OPTIONS = {"method": needed(TEXT), "variants": NAMES, "decimals": DECIMALS}
VARIANTS = Kind(tabulate_variants, _OPTIONS)
VARIANTS_BY_DATASET = Kind(tabulate_variants_by_dataset, {**_OPTIONS, "quantity": TEXT})
