"""Tables of the study `gssl`: what the hyperparameters of GSSL do."""

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

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
from mnlearn_studies.study.published import Place

_GSSL = "gssl"
# Parts of the names of variants, START-GENERATED-THRESHOLD, with their headings.
_STARTS = {"full": "all their values", "positive": "their ones"}
_GENERATED = {
    "500000": "0.5 million",
    "1000000": "1 million",
    "2000000": "2 million",
    "5000000": "5 million",
}
_THRESHOLDS = ("1", "2", "5")
# The paper leaves out 5 million features with a threshold of 1.
_NOT_LEARNED = {f"{start}-5000000-1" for start in _STARTS}
_DECIMALS = 2


@dataclass(frozen=True)
class Value:
    """A value of a hyperparameter, its headings and name, and the variants that have it."""

    parameter: str
    name: str
    head: str
    variants: tuple[str, ...]


_PARTS = (
    *(("features generated", f"generated_{n}", head, _STARTS, [n], _THRESHOLDS)
      for n, head in _GENERATED.items()),
    *(("threshold", f"threshold_{t}", t, _STARTS, _GENERATED, [t]) for t in _THRESHOLDS),
    *(("examples become", s, head, [s], _GENERATED, _THRESHOLDS) for s, head in _STARTS.items()),
)  # fmt: skip
VALUES = tuple(
    Value(parameter, name, head, tuple(v for v in variants if v not in _NOT_LEARNED))
    for parameter, name, head, *of in _PARTS
    for variants in [map("-".join, product(*of))]
)


def _numbers(material: Material, values: Iterable[Value], quantity: str) -> Columns:
    variants = [variant for value in values for variant in value.variants]
    return material.by_variant(_GSSL, quantity, variants)


def _of_values(
    values: Sequence[Value], rows: Sequence[Row], before: Sequence[str], after: Sequence[str]
) -> Table:
    return Table(
        columns=(*before, *(value.name for value in values), *after),
        header=(
            (*[""] * len(before), *(value.parameter for value in values), *[""] * len(after)),
            (*before, *(value.head for value in values), *after),
        ),
        body=tuple(rows),
    )


class Effects(TableEntry):
    """How far the best model with each value is below the best of all, in per cent.

    Models are compared by their validation score. Footers have the medians, and on how many
    datasets each value is the best; several are if they tie. Only datasets that have every variant
    are shown.
    """

    kind_name = "gssl.effects"

    def tabulate(self, material: Material, values: Sequence[Value] = VALUES) -> Table:
        found = _numbers(material, values, "validation")
        datasets = material.in_all(found.values())
        rows, below = [], []
        for dataset in datasets:
            best = max(column[dataset].value for column in found.values())
            of_value = (max(found[v][dataset].value for v in value.variants) for value in values)
            line = [100 * (best - score) / abs(best) for score in of_value]
            cells = (
                value_cell(x, _DECIMALS, _GSSL)
                if x
                else Cell("best", 0.0, bold=True, methods=(_GSSL,))
                for x in line
            )
            rows.append(Row((label_cell(material, dataset), *cells), (dataset,)))
            below.append(line)
        if datasets:
            medians = (value_cell(x, _DECIMALS, _GSSL) for x in np.median(below, axis=0))
            counts = (count_cell(n, _GSSL) for n in (np.array(below) == 0).sum(axis=0))
            rows.append(Row((Cell("median"), *medians), tuple(datasets), footer=True))
            rows.append(Row((Cell("best on"), *counts), tuple(datasets), footer=True))
        return _of_values(values, rows, ["dataset"], [])


class CmllByValue(TableEntry):
    """The test CMLL of the model that validation chooses among those with each value.

    Other columns have the score of the model chosen of all, and the published score. Only datasets
    on which every variant has the test score are shown.
    """

    kind_name = "gssl.cmll_by_value"

    def tabulate(self, material: Material, values: Sequence[Value] = VALUES) -> Table:
        validation, test = (_numbers(material, values, q) for q in ("validation", "cmll"))
        chosen = material.ours(_GSSL, "cmll")
        published = material.numbers(Place("gssl", "2").source(_GSSL, "cmll"))
        rows = []
        for dataset in material.in_all(test.values()):
            best = [best_variant(validation, dataset, value.variants) for value in values]
            found = [chosen[dataset], *(test[variant][dataset] for variant in best)]
            highest = max(number.value for number in found)
            cells = [
                dataclasses.replace(
                    number_cell(number, _DECIMALS, _GSSL), bold=number.value == highest
                )
                for number in found
            ]
            cells.append(number_cell(published.get(dataset), _DECIMALS))
            rows.append(Row((label_cell(material, dataset), *cells), (dataset,)))
        return _of_values(values, rows, ["dataset", "chosen"], ["published"])
