"""Tables of kinds `variants` and `variants_by_dataset`: feature conversions of a method."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mnlearn_studies.report.by_variant import (
    ByVariant,
    best_variants,
    chosen_variant,
    complete_datasets,
    numbers_by_variant,
    variants_of,
)
from mnlearn_studies.report.products import Material
from mnlearn_studies.report.tables.table import (
    Cell,
    Row,
    Table,
    TableEntry,
    label_cell,
    number_cell,
    value_cell,
)
from mnlearn_studies.study.published import Number
from mnlearn_studies.study.reading import Decimals

# Decimals of the quantities of a variant beside its scores.
_OTHER_PLACES = {"n_features": 0, "mean_length": 2}


@dataclass(frozen=True, kw_only=True)
class Variants(TableEntry):
    """One row per variant of a method, averaged over the datasets that have all variants.

    variants : their order; that of the scores if not given.
    """

    method: str
    variants: tuple[str, ...] | None = None
    decimals: Decimals = 3

    def tabulate(self, material: Material) -> Table:
        """Return the table."""
        method = self.method
        quantities = {"cmll": self.decimals, "pll": self.decimals, **_OTHER_PLACES}
        scores = material.scores
        variants = variants_of(scores, method, self.variants)
        data = {
            quantity: numbers_by_variant(scores, method, quantity, variants)
            for quantity in quantities
        }
        validation = numbers_by_variant(scores, method, "validation", variants)
        complete = complete_datasets(data["cmll"], material.datasets)
        chosen = [chosen_variant(validation, dataset) for dataset in complete]
        rows = [
            _row(variant, data, quantities, complete, _count_cell(chosen.count(variant), method))
            for variant in variants
        ]
        heads = ("conversion", "mean", "best on", "mean", "best on", "chosen on")
        return Table(
            columns=(
                *("variant", "mean_cmll", "best_by_cmll", "mean_pll", "best_by_pll", "chosen"),
                *("mean_n_features", "mean_length"),
            ),
            header=(
                ("", "CMLL", "CMLL", "PLL", "PLL", "", "features", "features"),
                (*heads, "mean number", "mean length"),
            ),
            alignment="l" + "r" * 7,
            body=tuple(_embolden(rows, (1, 2, 3, 4))),
            notes=(
                f"Means over {len(complete)} datasets. A dataset on which several conversions tie "
                "counts for each of them; chosen: by validation score.",
            )
            if complete
            else (),
        )


def _row(
    variant: str,
    data: Mapping[str, ByVariant],
    places: Mapping[str, int],
    datasets: Sequence[str],
    chosen: Cell,
) -> Row:
    """Return the row of a variant.

    data : by quantity. places : decimals of each quantity. datasets : those of all means. chosen :
    on how many of them validation chose the variant.
    """
    method = chosen.method
    means = {
        quantity: _mean_cell([data[quantity][variant].get(d) for d in datasets], decimals, method)
        for quantity, decimals in places.items()
    }
    best = {
        quantity: _count_cell(
            sum(variant in best_variants(data[quantity], d) for d in datasets), method
        )
        for quantity in ("cmll", "pll")
    }
    cells = (
        Cell(variant, variant),
        *(means["cmll"], best["cmll"], means["pll"], best["pll"], chosen),
        *(means["n_features"], means["mean_length"]),
    )
    return Row(cells, tuple(datasets))


@dataclass(frozen=True, kw_only=True)
class VariantsByDataset(Variants):
    """The score of every variant on every dataset; an asterisk marks the chosen variant."""

    quantity: str = "cmll"

    def tabulate(self, material: Material) -> Table:
        """Return the table."""
        method = self.method
        variants = variants_of(material.scores, method, self.variants)
        by_variant = numbers_by_variant(material.scores, method, self.quantity, variants)
        validation = numbers_by_variant(material.scores, method, "validation", variants)
        rows = []
        for dataset in material.datasets:
            if not any(dataset in found for found in by_variant.values()):
                continue
            chosen = chosen_variant(validation, dataset)
            cells = [
                number_cell(found.get(dataset), self.decimals, method)
                for found in by_variant.values()
            ]
            shown = [float(cell.text) for cell in cells if cell.text]
            cells = [
                dataclasses.replace(
                    cell,
                    text=cell.text + ("*" if variant == chosen and cell.text else ""),
                    bold=bool(cell.text) and float(cell.text) == max(shown),
                )
                for variant, cell in zip(by_variant, cells, strict=True)
            ]
            row = (label_cell(material, dataset), *cells, Cell(chosen, chosen, method=method))
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


def _mean_cell(found: list[Number | None], decimals: int, method: str) -> Cell:
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
