"""Tables of the study `gssl`: what the hyperparameters of GSSL do."""

import dataclasses
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from mnlearn_studies.report.material import Columns, Material, best_variant
from mnlearn_studies.report.tables.table import (
    Cell,
    Row,
    Table,
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
# Heading of each setting that validation chooses, with its quantity.
_SETTINGS = {
    "start": "chosen_initial_positive",
    "generated": "chosen_n_generated",
    "threshold": "chosen_threshold",
}
# Grid points that the paper leaves out have all these values.
_WITHOUT = {"chosen_n_generated": 5000000.0, "chosen_threshold": 1.0}
_DECIMALS = 2


@dataclass(frozen=True)
class Value:
    """A value of a hyperparameter, with the variants of the method that have it.

    parameter, head : headings of the hyperparameter and the value. name : that in the CSV file.
    """

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
    Value(parameter, name, head, tuple(map("-".join, product(*of))))
    for parameter, name, head, *of in _PARTS
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


def tabulate_effects(material: Material, values: Sequence[Value] = VALUES) -> Table:
    """Return how far the best model with each value is below the best of all, in per cent.

    Models are compared by their validation score. Footers have the medians, and on how many
    datasets each value is the best; several are if they tie. Only datasets that have every variant
    are shown.
    """
    found = _numbers(material, values, "validation")
    datasets = material.in_all(found.values())
    rows, below = [], []
    for dataset in datasets:
        best = max(column[dataset].value for column in found.values())
        of_value = (max(found[v][dataset].value for v in value.variants) for value in values)
        line = [100 * (best - score) / abs(best) for score in of_value]
        cells = (
            value_cell(x, _DECIMALS, _GSSL) if x else Cell("best", 0.0, bold=True, methods=(_GSSL,))
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


def tabulate_cmll_by_value(material: Material, values: Sequence[Value] = VALUES) -> Table:
    """Return the test CMLL of the model that validation chooses among those with each value.

    Other columns have the score of the model chosen of all, and the published score. Only datasets
    on which every variant has the test score are shown.
    """
    validation, test = (_numbers(material, values, q) for q in ("validation", "cmll"))
    chosen = material.ours(_GSSL, "cmll")
    published = material.numbers(Place("gssl", "2").source(_GSSL, "cmll"))
    rows = []
    for dataset in material.in_all(test.values()):
        best = [best_variant(validation, dataset, value.variants) for value in values]
        found = [chosen[dataset], *(test[variant][dataset] for variant in best)]
        highest = max(number.value for number in found)
        cells = [
            dataclasses.replace(number_cell(number, _DECIMALS, _GSSL), bold=number.value == highest)
            for number in found
        ]
        cells.append(number_cell(published.get(dataset), _DECIMALS))
        rows.append(Row((label_cell(material, dataset), *cells), (dataset,)))
    return _of_values(values, rows, ["dataset", "chosen"], ["published"])


def tabulate_choices(material: Material) -> Table:
    """Return the settings that validation chooses of all grid points, and without the dearest.

    The paper leaves out 5 million features with a threshold of 1. Footers count on how many
    datasets each number of features was chosen, and in how many choices of the paper.
    """
    wanted = [*_SETTINGS.values(), "validation"]
    own = material.scores[(material.scores["method"] == _GSSL) & (material.scores["variant"] != "")]
    # In the order of the scores: of equal points, the first is chosen.
    points = own.pivot_table("value", ["dataset", "variant"], "quantity", sort=False)
    points = points.reindex(columns=wanted).dropna(subset="validation")
    is_left_out = (points[list(_WITHOUT)] == pd.Series(_WITHOUT)).all(axis=1)
    chosen = [
        of.loc[of.groupby("dataset")["validation"].idxmax()]
        .droplevel("variant")
        .reindex(material.list_scored(own))
        for of in (points, points[~is_left_out])
    ]
    rows = []
    for dataset in material.list_scored(own):
        cells = [cell for side in chosen for cell in _choice_cells(side.loc[dataset])]
        rows.append(Row((label_cell(material, dataset), *cells), (dataset,)))
    theirs = material.numbers(Place("gssl", "5").source(_GSSL, "n_generated"))
    shown = [row.datasets[0] for row in rows]
    for value in map(int, _GENERATED if rows else ()):
        published = sum(theirs[d].value == value for d in shown if d in theirs)
        cells = [Cell(f"{value:,} chosen on (published: {published})")]
        for side in chosen:
            counted = count_cell((side["chosen_n_generated"] == value).sum(), _GSSL)
            cells += [Cell(), counted, Cell(), Cell()]
        rows.append(Row(tuple(cells), tuple(shown), footer=True))
    heads = [*_SETTINGS, "validation PLL"]
    names, width = [*_SETTINGS, "validation"], len(heads)
    return Table(
        columns=("dataset", *names, *(f"{name}_without" for name in names)),
        header=(
            ("", *["all points"] * width, *["without 5 million, threshold 1"] * width),
            ("dataset", *heads, *heads),
        ),
        body=tuple(rows),
    )


def _choice_cells(point: pd.Series) -> list[Cell]:
    if pd.isna(point["validation"]):
        return [Cell()] * len(point)
    start, generated, threshold, score = point
    word = "ones" if start else "all values"
    return [
        Cell(word, word, methods=(_GSSL,)),
        *(count_cell(int(value), _GSSL) for value in (generated, threshold)),
        value_cell(score, 3, _GSSL),
    ]
