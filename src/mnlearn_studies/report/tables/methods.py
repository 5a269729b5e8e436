"""Tables that compare methods: their ranks, their differences by example, and their spread."""

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Annotated

import numpy as np
from scipy import stats

from mnlearn.learning.ising.comparison import holm
from mnlearn.runtime.names import counted
from mnlearn_studies.report.material import Columns, Material, best_variant
from mnlearn_studies.report.statistics import LEVEL, friedman, wilcoxon
from mnlearn_studies.report.tables.columns import RankedColumn
from mnlearn_studies.report.tables.table import (
    Cell,
    Row,
    Table,
    TableEntry,
    count_cell,
    label_cell,
    number_cell,
    significant,
    value_cell,
)
from mnlearn_studies.study.published import Number
from mnlearn_studies.study.reading import at_least


@dataclass(frozen=True, kw_only=True)
class Ranks(TableEntry):
    """The mean rank of each method, and p-values of all pairs adjusted for their number."""

    kind_name = "ranks"
    columns: Annotated[tuple[RankedColumn, ...], at_least(3)]

    def tabulate(self, material: Material) -> Table:
        heads = [c.head for c in self.columns]
        sources = [c.source for c in self.columns if c.source]
        # Ranks and adjusted p-values depend on all methods.
        ours = tuple(source.method for source in sources if not source.is_published)
        data = [material.numbers(source) for source in sources]
        datasets = material.in_all(data)
        rows: list[Row] = []
        notes: tuple[str, ...] = ("Too few datasets are scored.",)
        if len(datasets) >= 2:
            values = np.array([[found[d].value for found in data] for d in datasets])
            ranked = friedman(values)
            pairs = list(combinations(range(len(heads)), 2))
            found = [wilcoxon(values[:, i], values[:, j]).p for i, j in pairs]
            p = dict(zip(pairs, holm(found), strict=True))
            n_best = (values == values.max(axis=1, keepdims=True)).sum(axis=0)
            for i in np.argsort(ranked.mean, kind="stable").tolist():
                cells = [Cell(heads[i], heads[i]), value_cell(float(ranked.mean[i]), 2, *ours)]
                cells.append(count_cell(n_best[i], *ours))
                cells += [
                    Cell("–") if i == j else _p_cell(p[min(i, j), max(i, j)], ours)
                    for j in range(len(heads))
                ]
                rows.append(Row(tuple(cells), tuple(datasets)))
            friedman_p = "< 0.0001" if ranked.p < 1e-4 else f"= {significant(ranked.p)}"
            notes = (
                f"{len(datasets)} datasets. Friedman's test: p {friedman_p}. Mean ranks that "
                f"differ by less than {ranked.critical_difference:.2f} are not told apart by "
                f"Nemenyi's test at {LEVEL:g}.",
                "The other columns: two-sided Wilcoxon signed-rank tests of each pair, p adjusted "
                f"by Holm's rule for the {len(pairs)} pairs; bold at {LEVEL:g}.",
            )
        return Table(
            columns=("method", "mean_rank", "best_on", *(f"p_against_{head}" for head in heads)),
            header=(("method", "mean rank", "best on", *heads),),
            body=tuple(rows),
            notes=notes,
        )


def _p_cell(p: float, methods: tuple[str, ...]) -> Cell:
    text = "< 0.0001" if p < 1e-4 else significant(p)
    return Cell(text, float(p), bold=p <= LEVEL, methods=methods)


@dataclass(frozen=True, kw_only=True)
class Paired(TableEntry):
    """Mean differences of a score over test examples with paired standard errors.

    A difference is bold if it differs from 0 at `LEVEL` by a two-sided z-test; p-values are
    adjusted by Holm's rule for all differences of the table.

    against : labels of other methods, which the study pairs with the method.
    """

    kind_name = "paired"
    records = ("paired",)
    method: str
    against: tuple[str, ...]
    quantity: str = "cmll"

    def tabulate(self, material: Material) -> Table:
        method, others = self.method, self.against
        data = {o: material.ours(method, f"{self.quantity}_less_{o}") for o in others}
        datasets = material.in_any(data.values())
        found = {(d, o): data[o][d] for d in datasets for o in others if d in data[o]}
        z = [abs(n.value / n.stderr) if n.stderr else 0.0 for n in found.values()]
        adjusted = holm([2 * float(stats.norm.sf(value)) for value in z])
        is_told = {place: p <= LEVEL for place, p in zip(found, adjusted, strict=True)}
        rows = []
        for d in datasets:
            cells = [
                self._cell(found.get((d, other)), is_told.get((d, other), False), other)
                for other in others
            ]
            rows.append(Row((label_cell(material, d), *cells), (d,)))
        notes = []
        for other in others:
            own = [place for place in found if place[1] == other]
            told = [found[place].value > 0 for place in own if is_told[place]]
            notes.append(
                f"Against {other}: significantly better on {counted(sum(told), 'dataset')}, worse "
                f"on {len(told) - sum(told)}, of {len(own)}."
            )
        names = tuple(f"less_{other}" for other in others)
        return Table(
            columns=("dataset", *names),
            header=(("dataset", *(f"less {other}" for other in others)),),
            body=tuple(rows),
            notes=tuple(notes),
            with_stderr=names,
        )

    def _cell(self, number: Number | None, bold: bool, other: str) -> Cell:
        if number is None:
            return Cell(methods=(self.method,))
        text = f"{number.value:+.3f}"
        if number.stderr is not None:
            text += f" ± {number.stderr:.3f}"
        methods = (self.method, other)
        return Cell(text, number.value, bold, methods=methods, stderr=number.stderr)


# Columns of a spread: names in the CSV file, and headings.
_SPREAD = {
    "n": "models",
    "mean": "mean",
    "sd": "sd",
    "lowest": "lowest",
    "highest": "highest",
    "standard_error": "standard error",
    "sd_over_standard_error": "sd / standard error",
}


@dataclass(frozen=True)
class Group:
    """Methods that differ in one setting, and the heading of their rows."""

    head: str
    methods: Annotated[tuple[str, ...], at_least(2, "names")]


@dataclass(frozen=True, kw_only=True)
class Spread(TableEntry):
    """A row for each dataset and group of methods: mean and spread of a score over the methods.

    The standard deviation has the divisor n - 1. Beside it stand the standard error of a score over
    test examples, in the mean over the methods, and the ratio of the two. A group has no row on a
    dataset on which fewer than two of its methods have the score.
    """

    kind_name = "spread"
    quantity: str
    groups: tuple[Group, ...]

    def tabulate(self, material: Material) -> Table:
        listed = dict.fromkeys(name for group in self.groups for name in group.methods)
        data = {name: material.ours(name, self.quantity) for name in listed}
        rows = []
        for dataset in material.datasets:
            for group in self.groups:
                scores = [data[m][dataset] for m in group.methods if dataset in data[m]]
                if len(scores) > 1:
                    names = label_cell(material, dataset), Cell(group.head, group.head)
                    rows.append(Row((*names, *self._cells(scores, group.methods)), (dataset,)))
        return Table(
            columns=("dataset", "learner", *_SPREAD),
            header=(("dataset", "learner", *_SPREAD.values()),),
            alignment="ll" + "r" * len(_SPREAD),
            body=tuple(rows),
        )

    def _cells(self, scores: list[Number], methods: tuple[str, ...]) -> list[Cell]:
        values = np.array([score.value for score in scores])
        sd = float(values.std(ddof=1))
        shown = [float(values.mean()), sd, float(values.min()), float(values.max())]
        cells = [count_cell(len(scores), *methods)]
        cells += [value_cell(value, 4, *methods) for value in shown]
        errors = [score.stderr for score in scores if score.stderr is not None]
        if error := float(np.mean(errors)) if errors else 0.0:
            cells += [value_cell(error, 4, *methods), value_cell(sd / error, 2, *methods)]
        return cells + [Cell(methods=methods)] * (len(_SPREAD) - len(cells))


@dataclass(frozen=True, kw_only=True)
class Variants(TableEntry):
    """One row per variant of a method, averaged over the datasets that have all variants.

    variants : their order.
    """

    kind_name = "variants"
    method: str
    variants: tuple[str, ...]

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
                cells.append(mean(quantity, variant, 3))
                cells.append(count_cell(n_best, method))
            cells.append(count_cell(chosen.count(variant), method))
            cells.append(mean("n_features", variant, 0))
            cells.append(mean("mean_length", variant, 2))
            rows.append(cells)
        for column in (1, 2, 3, 4):
            embolden(rows, column)
        note = (
            f"Means over {counted(len(datasets), 'dataset')}. A dataset on which several "
            "conversions tie counts for each of them; chosen: by validation score."
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

    kind_name = "variants_by_dataset"
    quantity: str = "cmll"

    def tabulate(self, material: Material) -> Table:
        method, variants = self.method, material.variants(self.method, self.variants)
        found = material.by_variant(method, self.quantity, variants)
        validation = material.by_variant(method, "validation", variants)
        rows = []
        for dataset in material.in_any(found.values()):
            chosen = best_variant(validation, dataset)
            numbers = [number_cell(found[v].get(dataset), 3, method) for v in variants]
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
