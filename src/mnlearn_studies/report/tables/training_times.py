"""Tables of kind `training_times`: published minutes of learning beside our seconds.

They are those in which a paper learns at one size of the training data.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from mnlearn_studies.datasets.sample_names import parse_sample
from mnlearn_studies.report.options import (
    NAMES,
    NUMBER,
    PLACE,
    TEXT,
    WHOLE,
    Keys,
    Kind,
    Options,
    listed,
    mapping,
    needed,
)
from mnlearn_studies.report.products import Labels
from mnlearn_studies.report.tables.table import Cell, Material, Row, Table, number_cell, value_cell
from mnlearn_studies.study.published import Number, Source, lookup, numbers

TIMES: Keys = {
    **PLACE,
    "size": needed(WHOLE),
    "methods": needed(listed(dict.fromkeys(("head", "method", "published"), needed(TEXT)))),
    "unavailable": NAMES,
}


@dataclass(frozen=True)
class TimeRow:
    """The times on one dataset.

    Attributes
    ----------
    dataset, label : str
        Name of the dataset and its name for readers.
    unavailable : bool
        Whether the options call the dataset unavailable.
    features : Number or None
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
    unavailable: bool
    features: Number | None
    n_vars: int | None
    published: Mapping[str, Number]
    seconds: Mapping[str, float]


def list_times(
    scores: pd.DataFrame, published: pd.DataFrame, labels: Labels, options: Options
) -> list[TimeRow]:
    """Return a row for each dataset of a published table of times.

    Parameters
    ----------
    scores, published : pandas.DataFrame
        Our scores and the published numbers.
    labels : mapping of str to str
        Names of datasets for readers.
    options : mapping
        study, table : where the published minutes are. size : number of training examples.
        methods : each with head, method (ours) and published (its name among the published).
        unavailable : datasets that are not public, if any.
    """
    place = {"study": str(options["study"]), "table": str(options["table"])}
    size, methods = int(options["size"]), options["methods"]
    features = lookup(published, Source("", "n_atomic_features", **place))
    minutes = {
        m["method"]: lookup(published, Source(str(m["published"]), "minutes_learn", **place))
        for m in methods
    }
    seconds = {m: _of_size(scores, "seconds_learn", size, [m]) for m in minutes}
    columns = _of_size(scores, "n_vars", size, list(scores["method"].unique()))
    return [
        TimeRow(
            dataset,
            labels.get(dataset, dataset),
            dataset in options.get("unavailable", ()),
            number,
            int(columns[dataset]) if dataset in columns else None,
            {m: of_method[dataset] for m, of_method in minutes.items() if dataset in of_method},
            {m: of_method[dataset] for m, of_method in seconds.items() if dataset in of_method},
        )
        for dataset, number in features.items()
    ]


def _of_size(
    scores: pd.DataFrame, quantity: str, size: int, methods: list[str]
) -> dict[str, float]:
    """Return the mean of a quantity over the folds of one size that have it, by base."""
    values: dict[str, list[float]] = {}
    for method in methods:
        for dataset, number in numbers(scores, scores.iloc[:0], Source(method, quantity)).items():
            sample = parse_sample(dataset)
            if sample is not None and sample.size == size and sample.fold is not None:
                values.setdefault(sample.base, []).append(number.value)
    return {base: sum(of_base) / len(of_base) for base, of_base in values.items()}


def tabulate_training_times(material: Material, options: Options) -> Table:
    """Return a row per dataset of the published table; datasets that we do not have are marked.

    Parameters
    ----------
    material : Material
        Scores and published numbers.
    options : mapping
        times (see `list_times`); limit, the published minutes that stand for an end
        by the time limit.
    """
    spec = options["times"]
    limit = float(options["limit"])
    rows = list_times(material.scores, material.published, material.labels, spec)
    methods = [(str(m["method"]), str(m["head"])) for m in spec["methods"]]
    n = len(methods)
    return Table(
        columns=(
            *("dataset", "features_published", "columns"),
            *(f"{m}_minutes_published" for m, _ in methods),
            *(f"{m}_seconds" for m, _ in methods),
            *(f"{m}_published_over_ours" for m, _ in methods),
        ),
        header=(
            (
                *("", "features", "features"),
                *["minutes, published"] * n,
                *["seconds, ours"] * n,
                *["published / ours"] * n,
            ),
            ("dataset", "published", "ours", *[head for _, head in methods] * 3),
        ),
        alignment="l" + "r" * (2 + 3 * n),
        body=tuple(_row(row, [m for m, _ in methods], limit) for row in rows),
        notes=(*_notes(rows, limit),),
    )


def _row(row: TimeRow, methods: list[str], limit: float) -> Row:
    ours = "" if row.n_vars is None else f"{row.n_vars}"
    cells = [
        Cell(row.label, row.dataset),
        number_cell(row.features, None),
        Cell("not available" if row.unavailable else ours, row.n_vars),
    ]
    for m in methods:
        cell = number_cell(row.published.get(m), None)
        if cell.value == limit:
            cell = Cell(f"{cell.text} (limit)", cell.value)
        cells.append(cell)
    for m in methods:
        found = row.seconds.get(m)
        cells.append(Cell(method=m) if found is None else value_cell(found, None, m))
    for m in methods:
        if m in row.seconds and m in row.published and row.seconds[m] > 0:
            cells.append(value_cell(60 * row.published[m].value / row.seconds[m], None, m))
        else:
            cells.append(Cell(method=m))
    return Row(tuple(cells), (row.dataset,))


def _notes(rows: list[TimeRow], limit: float) -> list[str]:
    notes = [
        f"The paper ended each learner after {limit:,.0f} minutes; where it did, the ratio is a "
        "lower bound. Our seconds are of the chosen model alone, on one thread.",
    ]
    missing = [row.label for row in rows if row.unavailable]
    if missing:
        notes.append(f"{', '.join(missing)}: the data are not public.")
    named: dict[str, list[str]] = {}
    for row in rows:
        for number in row.published.values():
            if number.note and number.value != limit:
                named.setdefault(number.note, []).append(row.label)
    notes += [f"{', '.join(dict.fromkeys(of))}: {note}." for note, of in named.items()]
    return notes


TRAINING_TIMES = Kind(
    tabulate_training_times, {"times": needed(mapping(TIMES)), "limit": needed(NUMBER)}
)
