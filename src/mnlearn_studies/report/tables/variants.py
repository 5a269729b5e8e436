"""Tables of the variants of a method, such as its feature conversions."""

from dataclasses import dataclass, replace

import numpy as np

from mnlearn_studies.report.material import Columns, Material, best_variant
from mnlearn_studies.report.tables.table import (
    Cell,
    Row,
    Table,
    TableEntry,
    count_cell,
    label_cell,
    number_cell,
    value_cell,
)
from mnlearn_studies.study.reading import Decimals


@dataclass(frozen=True, kw_only=True)
class Variants(TableEntry):
    """One row per variant of a method, averaged over the datasets that have all variants.

    variants : their order; that of the scores if not given.
    """

    method: str
    variants: tuple[str, ...] | None = None
    decimals: Decimals = 3

    def tabulate(self, material: Material) -> Table:
        method, variants = self.method, material.variants(self.method, self.variants)
        data = {
            quantity: material.by_variant(method, quantity, variants)
            for quantity in ("cmll", "pll", "n_features", "mean_length", "validation")
        }
        datasets = material.in_all(data["cmll"].values())
        chosen = [best_variant(data["validation"], dataset) for dataset in datasets]

        def mean(quantity: str, variant: str, decimals: int) -> Cell:
            found = data[quantity][variant]
            values = [found[d].value for d in datasets if d in found]
            return value_cell(float(np.mean(values)), decimals, method) if values else Cell()

        rows = []
        for variant in variants:
            cells = [Cell(variant, variant)]
            for quantity in ("cmll", "pll"):
                n_best = sum(variant in _best(data[quantity], d) for d in datasets)
                cells.append(mean(quantity, variant, self.decimals))
                cells.append(count_cell(n_best, method))
            cells.append(count_cell(chosen.count(variant), method))
            cells.append(mean("n_features", variant, 0))
            cells.append(mean("mean_length", variant, 2))
            rows.append(cells)
        for column in (1, 2, 3, 4):
            embolden(rows, column)
        note = (
            f"Means over {len(datasets)} datasets. A dataset on which several conversions tie "
            "counts for each of them; chosen: by validation score."
        )
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
            body=tuple(Row(tuple(cells), tuple(datasets)) for cells in rows),
            notes=(note,) if datasets else (),
        )


def _best(found: Columns, dataset: str) -> set[str]:
    """Return the variants with the highest number on a dataset; several if they tie."""
    values = {v: column[dataset].value for v, column in found.items() if dataset in column}
    return {v for v, value in values.items() if value == max(values.values())}


def embolden(rows: list[list[Cell]], column: int) -> None:
    """Make the highest numbers of a column bold, as the column shows them, unless it has one."""
    shown = [float(cells[column].text) for cells in rows if cells[column].text]
    for cells in rows:
        text = cells[column].text
        if len(shown) > 1 and text and float(text) == max(shown):
            cells[column] = replace(cells[column], bold=True)


@dataclass(frozen=True, kw_only=True)
class VariantsByDataset(Variants):
    """The score of every variant on every dataset; an asterisk marks the chosen variant."""

    quantity: str = "cmll"

    def tabulate(self, material: Material) -> Table:
        method, variants = self.method, material.variants(self.method, self.variants)
        found = material.by_variant(method, self.quantity, variants)
        validation = material.by_variant(method, "validation", variants)
        rows = []
        for dataset in material.in_any(found.values()):
            chosen = best_variant(validation, dataset)
            numbers = [number_cell(found[v].get(dataset), self.decimals, method) for v in variants]
            best = max(float(cell.text) for cell in numbers if cell.text)
            cells = [
                replace(cell, text=cell.text + "*" * (v == chosen), bold=float(cell.text) == best)
                if cell.text
                else cell
                for v, cell in zip(variants, numbers, strict=True)
            ]
            last = Cell(chosen, chosen, methods=(method,))
            rows.append(Row((label_cell(material, dataset), *cells, last), (dataset,)))
        note = "Bold: the best on test data; *: the one chosen on validation data."
        return Table(
            columns=("dataset", *variants, "chosen"),
            header=(("dataset", *variants, "chosen"),),
            alignment="l" + "r" * len(variants) + "l",
            body=tuple(rows),
            notes=(note,) if rows else (),
        )
