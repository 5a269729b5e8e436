"""Tables of the study `lem`: the axes and the times of Figure 2 of its paper, beside ours."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from mnlearn_studies.datasets.sample_names import parse_sample
from mnlearn_studies.report.material import Column, Material
from mnlearn_studies.report.statistics import UNITS
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
from mnlearn_studies.study.published import Number, Place, Source

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

    features : of the paper. n_vars : our binary columns; None if the dataset is not scored.
    published, seconds : the paper's minutes and our seconds by method of ours; ours are means over
    the samples that were timed.
    """

    dataset: str
    label: str
    features: Number
    n_vars: int | None
    published: Column
    seconds: Mapping[str, float]


def published_axes(material: Material) -> dict[str, tuple[Number, Number]]:
    """Return the ends of the paper's vertical axis by dataset."""
    low, high = (material.numbers(AXES.source("", end)) for end in ("axis_low", "axis_high"))
    return {dataset: (low[dataset], high[dataset]) for dataset in low}


def list_times(material: Material) -> list[TimeRow]:
    """Return a row for each dataset of the published table of times."""
    minutes = {
        method: material.numbers(TIMES.source(theirs, "minutes_learn"))
        for method, (_, theirs) in TIMED.items()
    }
    seconds = {method: _timed(material, "seconds_learn", [method]) for method in TIMED}
    columns = _timed(material, "n_vars", material.scores["method"].unique())
    return [
        TimeRow(
            dataset,
            material.label(dataset),
            number,
            int(columns[dataset]) if dataset in columns else None,
            {method: of[dataset] for method, of in minutes.items() if dataset in of},
            {method: of[dataset] for method, of in seconds.items() if dataset in of},
        )
        for dataset, number in material.numbers(TIMES.source("", "n_atomic_features")).items()
    ]


def _timed(material: Material, quantity: str, methods: Iterable[str]) -> dict[str, float]:
    """Return the means over the folds of the size that the paper has minutes of."""
    found: dict[str, list[float]] = {}
    for method in methods:
        for dataset, number in material.ours(method, quantity).items():
            sample = parse_sample(dataset)
            if sample is not None and sample.size == TIMED_SIZE and sample.fold is not None:
                found.setdefault(sample.base, []).append(number.value)
    return {base: sum(values) / len(values) for base, values in found.items()}


class Times(TableEntry):
    """The published minutes of learning beside our seconds.

    Datasets that we do not have are marked.
    """

    kind_name = "lem.times"
    records = ("times",)

    def tabulate(self, material: Material) -> Table:
        rows = list_times(material)
        heads, n = [head for head, _ in TIMED.values()], len(TIMED)
        missing = [row.label for row in rows if row.dataset in UNAVAILABLE]
        named: dict[str, list[str]] = {}
        for row in rows:
            for number in row.published.values():
                if number.note and number.value != LIMIT:
                    named.setdefault(number.note, []).append(row.label)
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
            body=tuple(map(_time_row, rows)),
            notes=(
                f"The paper ended each learner after {LIMIT:,.0f} minutes; where it did, the ratio "
                "is a lower bound. Our seconds are of the chosen model alone, on one thread.",
                f"{', '.join(missing)}: the data are not at hand.",
                *(f"{', '.join(dict.fromkeys(of))}: {note}." for note, of in named.items()),
            ),
        )


def _time_row(row: TimeRow) -> Row:
    minutes = [number_cell(row.published.get(method), None) for method in TIMED]
    minutes = [
        Cell(f"{cell.text} (limit)", cell.value) if cell.value == LIMIT else cell
        for cell in minutes
    ]
    seconds, ratios = [], []
    for method in TIMED:
        ours, theirs = row.seconds.get(method), row.published.get(method)
        seconds.append(Cell() if ours is None else value_cell(ours, None, method))
        ratio = 60 * theirs.value / ours if theirs and ours else None
        ratios.append(Cell() if ratio is None else value_cell(ratio, None, method))
    columns = "" if row.n_vars is None else f"{row.n_vars}"
    return Row(
        (
            Cell(row.label, row.dataset),
            number_cell(row.features, None),
            Cell("not available" if row.dataset in UNAVAILABLE else columns, row.n_vars),
            *(*minutes, *seconds, *ratios),
        ),
        (row.dataset,),
    )


class Units(TableEntry):
    """Per dataset the published axis and how many of our means over folds lie within it."""

    kind_name = "lem.units"
    records = ("likelihoods",)

    def tabulate(self, material: Material) -> Table:
        points = [
            (source.method, sample.base, number.value)
            for source in _POINTS
            for dataset, number in material.numbers(source).items()
            if (sample := parse_sample(dataset)) is not None and sample.fold is None
        ]
        rows = []
        axes = published_axes(material)
        # The paper's axis holds the 37 variables.
        if any(base == "alarm_groups" for _, base, _ in points):
            axes = {"alarm_groups": axes["alarm"], **axes}
        for dataset, ends in axes.items():
            found = [(method, value) for method, base, value in points if base == dataset]
            methods = tuple(dict.fromkeys(method for method, _ in found))
            cells = [label_cell(material, dataset), *(number_cell(end, None) for end in ends)]
            if found:
                cells.append(count_cell(len(found), *methods))
            else:
                missing = "not available" if dataset in UNAVAILABLE else ""
                cells += [Cell(missing), *[Cell()] * (2 * len(UNITS))]
            for factor in UNITS.values() if found else ():
                scaled = [factor * value for _, value in found]
                inside = sum(ends[0].value <= value <= ends[1].value for value in scaled)
                span = f"{min(scaled):.1f} to {max(scaled):.1f}"
                cells += [Cell(span, span, methods=methods), count_cell(inside, *methods)]
            rows.append(Row(tuple(cells), (dataset,)))
        heads = [head for unit in UNITS for head in (f"range, {unit}", f"inside, {unit}")]
        names = [name for unit in UNITS for name in (f"range_{unit}", f"inside_{unit}")]
        return Table(
            columns=("dataset", "axis_low", "axis_high", "points", *names),
            header=(("dataset", "axis from", "to", "points", *heads),),
            body=tuple(rows),
            notes=(
                "A point is the mean test log-likelihood of one method at one size of the training "
                "data. Of each unit: the lowest and the highest point, and how many points lie "
                "within the published axis.",
            ),
        )
