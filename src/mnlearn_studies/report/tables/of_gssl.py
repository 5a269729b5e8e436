"""Tables of the study `gssl`: what the hyperparameters of GSSL do."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from mnlearn_studies.report.by_variant import (
    ByVariant,
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
    label_cell,
    number_cell,
    value_cell,
)
from mnlearn_studies.study.published import Number, Place, Source

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
_COUNTED = "generated"
# Grid points that the paper leaves out have all these values.
_WITHOUT = {"chosen_n_generated": 5000000.0, "chosen_threshold": 1.0}
_DECIMALS = 2

# Numbers by quantity and dataset.
_Found = Mapping[str, Mapping[str, Number]]


@dataclass(frozen=True)
class Value:
    """A value of a hyperparameter.

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


def _values(generated: Iterable[str], starts: Iterable[str] = _STARTS) -> tuple[Value, ...]:
    """Return the values of the hyperparameters in variants with these numbers of features."""
    generated = tuple(generated)

    def of(*parts: Iterable[str]) -> tuple[str, ...]:
        return tuple(map("-".join, product(*parts)))

    return (
        *(
            Value(
                "features generated", f"generated_{n}", _GENERATED[n], of(_STARTS, [n], _THRESHOLDS)
            )
            for n in generated
        ),
        *(
            Value("threshold", f"threshold_{t}", t, of(_STARTS, generated, [t]))
            for t in _THRESHOLDS
        ),
        *(
            Value("examples become", start, _STARTS[start], of([start], generated, _THRESHOLDS))
            for start in starts
        ),
    )


VALUES = _values(_GENERATED)
# The paper has the seconds of these.
AVERAGED = _values(list(_GENERATED)[:3], starts=())


def _numbers(material: Material, values: Iterable[Value], quantity: str) -> ByVariant:
    """Return a quantity of every variant that has one of the values, by variant and dataset."""
    variants = [variant for value in values for variant in value.variants]
    return numbers_by_variant(material.scores, _GSSL, quantity, variants)


def tabulate_effects(material: Material, values: Sequence[Value] = VALUES) -> Table:
    """Return how far the best model with each value is below the best of all, in per cent.

    Models are compared by their validation score. Footers have the medians, and on how many
    datasets each value is the best; several are if they tie. Only datasets that have every variant
    are shown.
    """
    found = _numbers(material, values, "validation")
    datasets = complete_datasets(found, material.datasets)
    below = np.array(
        [[_below(found, value.variants, dataset) for value in values] for dataset in datasets]
    )
    rows = []
    for dataset, line in zip(datasets, below, strict=True):
        cells = (
            value_cell(x, _DECIMALS, _GSSL) if x else Cell("best", 0.0, bold=True, method=_GSSL)
            for x in line
        )
        rows.append(Row((label_cell(material, dataset), *cells), (dataset,)))
    if datasets:
        medians = (value_cell(x, _DECIMALS, _GSSL) for x in np.median(below, axis=0))
        counts = (Cell(str(n), int(n), method=_GSSL) for n in (below == 0).sum(axis=0))
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


def _below(found: ByVariant, variants: Iterable[str], dataset: str) -> float:
    """Return by how many per cent the best of some variants is below the best of all."""
    best = max(column[dataset].value for column in found.values())
    return 100 * (best - max(found[variant][dataset].value for variant in variants)) / abs(best)


def tabulate_cmll_by_value(material: Material, values: Sequence[Value] = VALUES) -> Table:
    """Return the test CMLL of the model that validation chooses among those with each value.

    Other columns have the score of the model chosen of all, and the published score. Only datasets
    on which every variant has the test score are shown.
    """
    validation, test = (_numbers(material, values, q) for q in ("validation", "cmll"))
    chosen = material.numbers(Source(_GSSL, "cmll"))
    published = material.numbers(Place("gssl", "2").source(_GSSL, "cmll"))
    rows = []
    for dataset in complete_datasets(test, material.datasets):
        best = [chosen_variant(validation, dataset, value.variants) for value in values]
        found = [chosen[dataset], *(test[variant][dataset] for variant in best)]
        highest = max(number.value for number in found)
        cells = [
            dataclasses.replace(number_cell(number, _DECIMALS, _GSSL), bold=number.value == highest)
            for number in found
        ]
        cells.append(number_cell(published.get(dataset), _DECIMALS))
        rows.append(Row((label_cell(material, dataset), *cells), (dataset,)))
    return Table(
        columns=("dataset", "chosen", *(value.name for value in values), "published"),
        header=(
            ("", "", *(value.parameter for value in values), ""),
            ("dataset", "chosen", *(value.head for value in values), "published"),
        ),
        alignment="l" + "r" * (2 + len(values)),
        body=tuple(rows),
    )


def tabulate_weight_seconds(material: Material, values: Sequence[Value] = AVERAGED) -> Table:
    """Return the mean seconds of weight learning over the variants with each value and datasets.

    Only datasets that have every variant of the table count, so that all means are over the same
    datasets. A column has the ratio of each mean to the first mean of its parameter.
    """
    quantity = "mean_seconds_weights"
    found = _numbers(material, values, quantity)
    complete = complete_datasets(found, material.datasets)
    rows = []
    first: dict[str, tuple[Number, Number | None]] = {}
    for value in values if complete else ():
        seconds = [found[v][d].value for v in value.variants for d in complete]
        ours = Number(float(np.mean(seconds)))
        theirs = material.numbers(Place("gssl", "text").source(_GSSL, f"{quantity}_{value.name}"))
        published = theirs.get("mean")
        first.setdefault(value.parameter, (ours, published))
        cells = (
            Cell(value.parameter, value.parameter),
            Cell(value.head, value.name),
            *_with_ratio(ours, first[value.parameter][0], _GSSL),
            *_with_ratio(published, first[value.parameter][1], ""),
            Cell(str(len(value.variants)), len(value.variants)),
        )
        rows.append(Row(cells, tuple(complete)))
    return Table(
        columns=("parameter", "value", "mean", "ratio", "published", "published_ratio", "variants"),
        header=(
            ("", "", "ours", "ours", "published", "published", ""),
            ("parameter", "value", "mean", "ratio", "mean", "ratio", "settings"),
        ),
        alignment="llrrrrr",
        body=tuple(rows),
        notes=(f"Means over {len(complete)} datasets.",) if complete else (),
    )


def _with_ratio(number: Number | None, first: Number | None, method: str) -> tuple[Cell, Cell]:
    """Return the cell of a mean, and the cell of its ratio to the first mean."""
    if number is None or first is None or not first.value:
        return number_cell(number, _DECIMALS, method), Cell(method=method)
    ratio = value_cell(number.value / first.value, 2, method)
    return number_cell(number, _DECIMALS, method), ratio


def tabulate_choices(material: Material) -> Table:
    """Return the settings that validation chooses of all grid points, and without the dearest.

    The paper leaves out 5 million features with a threshold of 1. Footers count on how many
    datasets each number of features was chosen, and in how many choices of the paper.
    """
    scores = material.scores
    own = scores[(scores["method"] == _GSSL) & (scores["variant"] != "")]
    wanted = ("validation", *_SETTINGS.values())
    variants = [
        {q: material.numbers(Source(_GSSL, q, variant)) for q in wanted}
        for variant in variants_of(scores, _GSSL)
    ]
    rows, chosen = [], {}
    for dataset in material.list_scored(own):
        sides = [_best(variants, dataset, without) for without in ({}, _WITHOUT)]
        cells = [cell for side in sides for cell in _choice_cells(side, dataset)]
        rows.append(Row((label_cell(material, dataset), *cells), (dataset,)))
        chosen[dataset] = sides
    names, heads = [*_SETTINGS, "validation"], [*_SETTINGS, "validation PLL"]
    width = len(heads)
    return Table(
        columns=("dataset", *names, *(f"{name}_without" for name in names)),
        header=(
            ("", *["all points"] * width, *["without 5 million, threshold 1"] * width),
            ("dataset", *heads, *heads),
        ),
        alignment="l" + "r" * 2 * width,
        body=(*rows, *_count_choices(chosen, material)),
    )


def _best(variants: Iterable[_Found], dataset: str, without: Mapping[str, float]) -> _Found:
    """Return the numbers of the variant that validation prefers; the first of equals wins.

    without : variants that have all these values are left out; none are if it is empty.
    """
    best: _Found = {}
    for found in variants:
        has = (dataset in found[q] and found[q][dataset].value == v for q, v in without.items())
        if dataset not in found["validation"] or (without and all(has)):
            continue
        if not best or found["validation"][dataset].value > best["validation"][dataset].value:
            best = found
    return best


def _choice_cells(found: _Found, dataset: str) -> list[Cell]:
    cells = []
    for name, quantity in _SETTINGS.items():
        number = found.get(quantity, {}).get(dataset)
        if number is None:
            cells.append(Cell(method=_GSSL))
        elif name == "start":
            word = "ones" if number.value else "all values"
            cells.append(Cell(word, word, method=_GSSL))
        else:
            cells.append(Cell(f"{int(number.value):,}", int(number.value), method=_GSSL))
    score = found.get("validation", {}).get(dataset)
    return [*cells, Cell(method=_GSSL) if score is None else value_cell(score.value, 3, _GSSL)]


def _count_choices(chosen: Mapping[str, Sequence[_Found]], material: Material) -> list[Row]:
    """Return a row per number of features: on how many datasets it was chosen."""
    quantity, place = _SETTINGS[_COUNTED], list(_SETTINGS).index(_COUNTED)
    theirs = material.numbers(Place("gssl", "5").source(_GSSL, "n_generated"))
    width, rows = len(_SETTINGS) + 1, []
    for value in map(int, _GENERATED if chosen else ()):
        published = sum(theirs[d].value == value for d in chosen if d in theirs)
        cells = [Cell(f"{value:,} chosen on (published: {published})"), *[Cell()] * 2 * width]
        for side in range(2):
            values = (
                sides[side].get(quantity, {}).get(dataset) for dataset, sides in chosen.items()
            )
            n = sum(number is not None and number.value == value for number in values)
            cells[1 + side * width + place] = Cell(str(n), n, method=_GSSL)
        rows.append(Row(tuple(cells), tuple(chosen), footer=True))
    return rows
