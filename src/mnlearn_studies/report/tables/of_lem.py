"""Tables of the study `lem`: the axes and the times of Figure 2 of its paper, beside ours."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import pandas as pd

from mnlearn_studies.datasets.sample_names import parse_sample
from mnlearn_studies.report.products import Labels, Material
from mnlearn_studies.report.statistics import UNITS
from mnlearn_studies.report.tables.table import (
    Cell,
    Row,
    Table,
    label_cell,
    number_cell,
    value_cell,
)
from mnlearn_studies.study.published import Number, Place, Source, numbers

# The published ends of the vertical axes, and the published features and minutes.
AXES, TIMES = Place("lem", "2"), Place("lem", "2f")
# Heading of each method of ours and its name in the paper.
TIMED = {"dl": ("DL", "dl"), "l1": ("L1", "l1"), "lem_paper": ("LEM", "lem")}
# The size of the training data that the paper has minutes of.
TIMED_SIZE = 10000
# The published minutes that stand for an end by the time limit.
LIMIT = 1440.0
UNAVAILABLE = ("traffic", "temperature")
# What is within the published axes or not.
_POINTS = (
    Source("lem_paper", "ll"),
    Source("dl", "ll_beliefs"),
    Source("l1", "ll_beliefs"),
    Source("junction_tree", "ll"),
)


@dataclass(frozen=True)
class TimeRow:
    """The times on one dataset.

    Attributes
    ----------
    dataset, label : str
        Name of the dataset and its name for readers.
    features : Number
        Number of atomic features in the paper.
    n_vars : int or None
        Number of our binary columns; None if the dataset is not scored.
    published : mapping of str to Number
        Published minutes by method of ours.
    seconds : mapping of str to float
        Our seconds by method, the mean over the samples that were timed.
    """

    dataset: str
    label: str
    features: Number
    n_vars: int | None
    published: Mapping[str, Number]
    seconds: Mapping[str, float]


def published_axes(published: pd.DataFrame) -> dict[str, tuple[Number, Number]]:
    """Return the ends of the paper's vertical axis by dataset."""
    low, high = (
        numbers(published.iloc[:0], published, AXES.source("", quantity))
        for quantity in ("axis_low", "axis_high")
    )
    return {dataset: (low[dataset], high[dataset]) for dataset in low}


def list_times(
    scores: pd.DataFrame, published: pd.DataFrame, labels: Labels, size: int = TIMED_SIZE
) -> list[TimeRow]:
    """Return a row for each dataset of the published table of times."""

    def printed(method: str, quantity: str) -> dict[str, Number]:
        return numbers(scores, published, TIMES.source(method, quantity))

    minutes = {method: printed(theirs, "minutes_learn") for method, (_, theirs) in TIMED.items()}
    seconds = {method: _of_size(scores, "seconds_learn", size, [method]) for method in TIMED}
    columns = _of_size(scores, "n_vars", size, scores["method"].unique())
    return [
        TimeRow(
            dataset,
            labels.get(dataset, dataset),
            number,
            int(columns[dataset]) if dataset in columns else None,
            {method: of[dataset] for method, of in minutes.items() if dataset in of},
            {method: of[dataset] for method, of in seconds.items() if dataset in of},
        )
        for dataset, number in printed("", "n_atomic_features").items()
    ]


def _of_size(
    scores: pd.DataFrame, quantity: str, size: int, methods: Iterable[str]
) -> dict[str, float]:
    """Return the mean of a quantity over the folds of one size that have it, by base."""
    found: dict[str, list[float]] = {}
    for method in methods:
        for dataset, number in numbers(scores, scores.iloc[:0], Source(method, quantity)).items():
            sample = parse_sample(dataset)
            if sample is not None and sample.size == size and sample.fold is not None:
                found.setdefault(sample.base, []).append(number.value)
    return {base: sum(values) / len(values) for base, values in found.items()}


def tabulate_times(material: Material, size: int = TIMED_SIZE) -> Table:
    """Return the published minutes of learning beside our seconds.

    Datasets that we do not have are marked.
    """
    rows = list_times(material.scores, material.published, material.labels, size)
    heads, n = [head for head, _ in TIMED.values()], len(TIMED)
    return Table(
        columns=(
            *("dataset", "features_published", "columns"),
            *(f"{m}_minutes_published" for m in TIMED),
            *(f"{m}_seconds" for m in TIMED),
            *(f"{m}_published_over_ours" for m in TIMED),
        ),
        header=(
            (
                *("", "features", "features"),
                *["minutes, published"] * n,
                *["seconds, ours"] * n,
                *["published / ours"] * n,
            ),
            ("dataset", "published", "ours", *heads * 3),
        ),
        alignment="l" + "r" * (2 + 3 * n),
        body=tuple(map(_time_row, rows)),
        notes=(*_time_notes(rows),),
    )


def _time_row(row: TimeRow) -> Row:
    ours = "" if row.n_vars is None else f"{row.n_vars}"
    cells = [
        Cell(row.label, row.dataset),
        number_cell(row.features, None),
        Cell("not available" if row.dataset in UNAVAILABLE else ours, row.n_vars),
    ]
    for method in TIMED:
        cell = number_cell(row.published.get(method), None)
        if cell.value == LIMIT:
            cell = Cell(f"{cell.text} (limit)", cell.value)
        cells.append(cell)
    for method in TIMED:
        is_timed = method in row.seconds
        cells.append(
            value_cell(row.seconds[method], None, method) if is_timed else Cell(method=method)
        )
    for method in TIMED:
        seconds = row.seconds.get(method, 0.0)
        if method in row.published and seconds > 0:
            cells.append(value_cell(60 * row.published[method].value / seconds, None, method))
        else:
            cells.append(Cell(method=method))
    return Row(tuple(cells), (row.dataset,))


def _time_notes(rows: list[TimeRow]) -> list[str]:
    missing = [row.label for row in rows if row.dataset in UNAVAILABLE]
    named: dict[str, list[str]] = {}
    for row in rows:
        for number in row.published.values():
            if number.note and number.value != LIMIT:
                named.setdefault(number.note, []).append(row.label)
    return [
        f"The paper ended each learner after {LIMIT:,.0f} minutes; where it did, the ratio is a "
        "lower bound. Our seconds are of the chosen model alone, on one thread.",
        f"{', '.join(missing)}: the data are not public.",
        *(f"{', '.join(dict.fromkeys(of))}: {note}." for note, of in named.items()),
    ]


def tabulate_units(material: Material) -> Table:
    """Return per dataset the published axis and how many of our means over folds lie within it."""
    points = [
        (source.method, sample.base, number.value)
        for source in _POINTS
        for dataset, number in material.numbers(source).items()
        if (sample := parse_sample(dataset)) is not None and sample.fold is None
    ]
    rows = []
    for dataset, ends in published_axes(material.published).items():
        values = [(method, value) for method, base, value in points if base == dataset]
        rows.append(_unit_row(material, dataset, values, ends))
    heads = [head for unit in UNITS for head in (f"range, {unit}", f"inside, {unit}")]
    names = [name for unit in UNITS for name in (f"range_{unit}", f"inside_{unit}")]
    return Table(
        columns=("dataset", "axis_low", "axis_high", "points", *names),
        header=(("dataset", "axis from", "to", "points", *heads),),
        alignment="l" + "r" * (3 + len(names)),
        body=tuple(rows),
        notes=(
            "A point is the mean test log-likelihood of one method at one size of the training "
            "data. Of each unit: the lowest and the highest point, and how many points lie within "
            "the published axis.",
        ),
    )


def _unit_row(
    material: Material,
    dataset: str,
    values: list[tuple[str, float]],
    ends: tuple[Number, Number],
) -> Row:
    cells = [label_cell(material, dataset), *(number_cell(end, None) for end in ends)]
    if not values:
        missing = "not available" if dataset in UNAVAILABLE else ""
        cells += [Cell(missing), *[Cell()] * (2 * len(UNITS))]
        return Row(tuple(cells), (dataset,))
    method, *others = dict.fromkeys(method for method, _ in values)
    cells.append(Cell(str(len(values)), len(values), method=method, others=(*others,)))
    low, high = (end.value for end in ends)
    for factor in UNITS.values():
        scaled = [factor * value for _, value in values]
        inside = sum(low <= value <= high for value in scaled)
        span = f"{min(scaled):.1f} to {max(scaled):.1f}"
        cells += [
            Cell(text, value, method=method, others=(*others,))
            for text, value in ((span, span), (str(inside), inside))
        ]
    return Row(tuple(cells), (dataset,))
