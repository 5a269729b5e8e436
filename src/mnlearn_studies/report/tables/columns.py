"""Columns of a table with a row per dataset: ours, published, or computed from two others."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mnlearn.runtime.errors import InputError
from mnlearn_studies.report.products import Labels, Material
from mnlearn_studies.report.statistics import Comparison, geometric_mean, wilcoxon
from mnlearn_studies.report.tables.table import (
    Cell,
    Row,
    TableEntry,
    number_cell,
    significant,
    value_cell,
)
from mnlearn_studies.study.published import Number, Source, TableName, paired
from mnlearn_studies.study.reading import Decimals, Pair

Data = Mapping[str, Mapping[str, Number]]
# How a column is computed from two others, by the key of its options.
COMPUTED = {
    "minus": lambda x, y: x - y,
    "over": lambda x, y: x / y if y else None,
    "percent_less": lambda x, y: 100 * (1 - x / y) if y else None,
    "exceeds": lambda x, y: float(x > y),
}


@dataclass(frozen=True, kw_only=True)
class Column:
    """A column: the keys of a source, or one of four keys with the names of two other columns.

    Attributes
    ----------
    name, head, group : str
        Name in the CSV file, heading (the name, if empty), and heading above a group of columns.
    method, quantity, variant, study, table : str
        Where the numbers come from; see `study.published.Source`.
    minus, over, percent_less, exceeds : (str, str) or None
        Two columns, of which the numbers are computed: their difference; their ratio; by how many
        per cent the first is less than the second; whether the first is larger.
    decimals : int or None
        None for those of the table.
    significant : bool
        Whether numbers have three significant digits instead of decimals.
    rank : str
        The best of all columns of equal rank is bold; empty for none.
    lower : bool
        Whether lower is better.
    stderr : bool
        Whether standard errors are shown.
    scientific : bool
        Whether numbers have one digit and a power of ten.
    """

    name: str
    head: str = ""
    group: str = ""
    method: str | None = None
    quantity: str | None = None
    variant: str = ""
    study: str = ""
    table: TableName = ""
    minus: Pair | None = None
    over: Pair | None = None
    percent_less: Pair | None = None
    exceeds: Pair | None = None
    decimals: Decimals | None = None
    significant: bool = False
    rank: str = ""
    lower: bool = False
    stderr: bool = False
    scientific: bool = False

    def check(self, where: str) -> None:
        """Refuse a column without numbers, or with options that contradict each other."""
        given = [key for key in COMPUTED if getattr(self, key)]
        if len(given) > 1:
            fault = f"expected one of {', '.join(COMPUTED)}, got {' and '.join(given)}."
            raise InputError(fault, where=where)
        for key in ("minus", "stderr"):
            if self.significant and getattr(self, key):
                fault = f"expected decimals in a column with {key!r}."
                raise InputError(fault, where=f"{where}, significant")
        for key in ("method", "quantity"):
            if not given and getattr(self, key) is None:
                raise InputError(f"expected the key {key!r}.", where=where)
        if self.study and not self.table:
            raise InputError("expected the key 'table'.", where=where)

    @property
    def title(self) -> str:
        """The heading."""
        return self.head or self.name

    @property
    def computed(self) -> tuple[str, str, str] | None:
        """The key of `COMPUTED` and the names of two columns; None for a column of numbers."""
        return next(((key, *getattr(self, key)) for key in COMPUTED if getattr(self, key)), None)

    @property
    def source(self) -> Source | None:
        """Where the numbers come from; None for a computed column."""
        if self.method is None or self.quantity is None or self.computed:
            return None
        return Source(self.method, self.quantity, self.variant, self.study, self.table)

    @property
    def is_published(self) -> bool:
        """Whether the numbers are those of a paper."""
        return self.source is not None and self.source.is_published

    def rounded(self, value: float) -> float:
        """Return a value as the column displays it."""
        if self.decimals is None:
            return float(significant(value))
        return round(value, self.decimals)


@dataclass(frozen=True, kw_only=True)
class RankedColumn(Column):
    """A column of a method that is ranked, with its heading. It may be one of another table."""

    name: str = ""

    def check(self, where: str) -> None:
        """Refuse a column without a heading or a source; see `Column.check`."""
        super().check(where)
        if not self.head:
            raise InputError("expected the key 'head'.", where=where)
        if self.source is None:
            raise InputError("expected a column of numbers, not a computed one.", where=where)


@dataclass(frozen=True, kw_only=True)
class OfColumns(TableEntry):
    """Options of tables with columns.

    Attributes
    ----------
    columns : tuple of Column
        The columns.
    decimals : int
        Number of decimals of columns that do not say.
    mean, geometric_mean : tuple of str
        Names of columns to average over the datasets that have them all.
    tests : tuple of (str, str)
        Names of columns that Wilcoxon's test compares.
    """

    columns: tuple[Column, ...]
    decimals: Decimals = 3
    mean: tuple[str, ...] = ()
    geometric_mean: tuple[str, ...] = ()
    tests: tuple[Pair, ...] = ()

    def check(self, where: str) -> None:
        """Refuse names of no column, or of a column that is computed later."""
        used = [name for c in self.columns for name in (c.computed or ())[1:]]
        used += [*self.mean, *self.geometric_mean, *(name for pair in self.tests for name in pair)]
        for match in getattr(self, "matches", ()):
            used += [match] if isinstance(match, str) else match
        known = {c.name for c in self.columns}
        for name in used:
            if name not in known:
                raise InputError(f"no column is named {name!r}.", where=where)
        waiting = {c.name for c in self.columns if c.computed}
        for c in self.columns:
            key, *parts = c.computed or ("",)
            for name in parts:
                if name in waiting:
                    fault = (
                        "expected columns of numbers or columns that are computed before it, got "
                        f"{name!r}."
                    )
                    raise InputError(fault, where=f"{where}, column {c.name}, {key}")
            waiting.discard(c.name)

    @property
    def shown(self) -> list[Column]:
        """The columns with their decimals; None stands for three significant digits."""
        decimals = {c: self.decimals if c.decimals is None else c.decimals for c in self.columns}
        return [
            dataclasses.replace(c, decimals=None if c.significant else decimals[c])
            for c in self.columns
        ]

    def mean_rows(
        self, datasets: Sequence[str], columns: Sequence[Column], data: Data, *before: Cell
    ) -> list[Row]:
        """Return footers with the means of some columns over the datasets that have them all.

        A column without any number leaves out no dataset. before : cells between the heading of a
        row and the columns.
        """
        rows = []
        for kind, names in (("mean", self.mean), ("geometric_mean", self.geometric_mean)):
            averaged = [name for name in names if data[name]]
            complete = [d for d in datasets if all(d in data[name] for name in averaged)]
            cells = [Cell(f"{kind.replace('_', ' ')} of {len(complete)}"), *before]
            for c in columns:
                values = [data[c.name][d].value for d in complete if c.name in averaged]
                if values and kind == "geometric_mean" and min(values) <= 0.0:
                    fault = f"geometric_mean: expected numbers above 0 in column {c.name}."
                    raise InputError(fault)
                cells.append(_mean_cell(values, kind, c, columns))
            if names and datasets:
                rows.append(Row(tuple(cells), tuple(complete), footer=True))
        return rows


def _mean_cell(
    values: Sequence[float], kind: str, column: Column, columns: Sequence[Column]
) -> Cell:
    if not values:
        return Cell()
    mean = float(np.mean(values)) if kind == "mean" else geometric_mean(values)
    cell = value_cell(mean, column.decimals)
    if column.minus:
        cell = dataclasses.replace(cell, text=f"{mean:+.{column.decimals}f}")
    return _of_methods(cell, column, columns)


def column_data(columns: Sequence[Column], material: Material) -> Data:
    """Return the numbers of all columns by name and dataset, those of computed columns included."""
    data = {c.name: material.numbers(c.source) for c in columns if c.source}
    for c in columns:
        if c.computed:
            key, a, b = c.computed
            pairs = paired(data[a], data[b], data[a], as_printed=False)
            values = {d: COMPUTED[key](x, y) for d, x, y in pairs}
            data[c.name] = {d: Number(v) for d, v in values.items() if v is not None}
    return data


def titles(columns: Sequence[Column]) -> dict[str, str]:
    """Return how sentences name each column: by heading, and by group if headings repeat."""
    heads = [c.title for c in columns]
    return {
        c.name: f"{c.title} ({c.group})" if c.group and heads.count(c.title) > 1 else c.title
        for c in columns
    }


def column_cells(dataset: str, columns: Sequence[Column], data: Data) -> list[Cell]:
    """Return the cells of a dataset's row; the best of each rank is bold."""
    best = _best(dataset, columns, data)
    cells = []
    for c in columns:
        number = data[c.name].get(dataset)
        cell = _of_methods(number_cell(number, c.decimals), c, columns)
        if c.minus and cell.value is not None:
            cell = dataclasses.replace(cell, text=f"{cell.value:+.{c.decimals}f}")
        if c.exceeds and cell.value is not None:
            cell = dataclasses.replace(cell, text="yes" if cell.value else "no")
        if c.stderr and number is not None and number.stderr is not None:
            text = f"{cell.text} ± {number.stderr:.{c.decimals}f}"
            cell = dataclasses.replace(cell, text=text, stderr=number.stderr)
        if c.scientific and cell.value is not None:
            cell = dataclasses.replace(cell, text=f"{cell.value:.0e}" if cell.value else "0")
        cells.append(dataclasses.replace(cell, bold=c.name in best))
    return cells


def _of_methods(cell: Cell, column: Column, columns: Sequence[Column]) -> Cell:
    """Return a cell with our methods that the numbers of its column depend on."""
    used = (column.name, *(column.computed or ()))
    sources = [c.source for c in columns if c.name in used and c.source]
    methods = dict.fromkeys(source.method for source in sources if not source.is_published)
    first, *others = methods or ("",)
    return dataclasses.replace(cell, method=first, others=tuple(others))


def _best(dataset: str, columns: Sequence[Column], data: Data) -> set[str]:
    """Return the columns that are best of their rank; several if they show equal numbers."""
    best: set[str] = set()
    for rank in {c.rank for c in columns if c.rank}:
        group = [c for c in columns if c.rank == rank and dataset in data[c.name]]
        shown = {
            c.name: c.rounded(data[c.name][dataset].value) * (-1 if c.lower else 1) for c in group
        }
        if len(shown) > 1:
            best |= {name for name, value in shown.items() if value == max(shown.values())}
    return best


def wilcoxon_notes(
    columns: Sequence[Column],
    data: Data,
    pairs: Iterable[Sequence[str]],
    datasets: Sequence[str],
) -> list[str]:
    """Return a sentence on Wilcoxon's test for each pair of columns that share a dataset.

    The first column wins where its value is better: higher, or lower if the column says that lower
    is better.
    """
    title = titles(columns)
    by_name = {c.name: c for c in columns}
    out = []
    for a, b in pairs:
        sign = -1 if by_name[a].lower else 1
        values = [(sign * x, sign * y) for _, x, y in paired(data[a], data[b], datasets)]
        if values:
            first, second = zip(*values, strict=True)
            out.append(_text(wilcoxon(first, second), title[a], title[b]))
    return out


def _text(comparison: Comparison, first: str, second: str) -> str:
    how = "exact" if comparison.exact else "normal approximation"
    return (
        f"{first} against {second}: {comparison.wins} wins, {comparison.ties} ties, "
        f"{comparison.losses} losses on {comparison.n} datasets; "
        f"two-sided Wilcoxon signed-rank p = {significant(comparison.p)} ({how})."
    )


def exceeding_notes(columns: Sequence[Column], data: Data, datasets: Sequence[str]) -> list[str]:
    """Return for each column of kind `exceeds` a sentence on how many datasets it says yes."""
    out = []
    for c in columns:
        if c.exceeds:
            found = [data[c.name][d].value for d in datasets if d in data[c.name]]
            if found:
                out.append(f"{c.title}: yes on {sum(found):.0f} of {len(found)} datasets.")
    return out


def published_notes(
    columns: Sequence[Column], data: Data, datasets: Sequence[str], labels: Labels
) -> list[str]:
    """Return the notes on published numbers.

    Columns whose numbers all have one note share a sentence, and so do datasets with the same
    number and note.
    """
    title = titles(columns)
    whole: dict[str, list[str]] = {}
    named: dict[tuple[str, str, str], list[str]] = {}
    for c in columns:
        numbers = {d: data[c.name][d] for d in datasets if d in data[c.name]}
        notes = {number.note for number in numbers.values()}
        if c.is_published and len(numbers) > 1 and len(notes) == 1 and notes != {""}:
            whole.setdefault(notes.pop(), []).append(title[c.name])
            continue
        for dataset, number in numbers.items():
            if c.is_published and number.note:
                key = (title[c.name], str(number.printed), number.note)
                named.setdefault(key, []).append(labels.get(dataset, dataset))
    return [f"{', '.join(of)}: {note}." for note, of in whole.items()] + [
        f"{', '.join(of)}, {name} {printed}: {note}." for (name, printed, note), of in named.items()
    ]


def match_notes(
    columns: Sequence[Column],
    data: Data,
    published: Data,
    pairs: Iterable[Pair],
    datasets: Sequence[str],
) -> list[str]:
    """Return for each pair of a column of ours and a published one how often they are equal."""
    title, out = titles(columns), []
    for ours, theirs in pairs:
        known = [dataset for dataset in datasets if dataset in published[theirs]]
        equal = sum(_equal(data[ours], published[theirs], dataset) for dataset in known)
        if known:
            out.append(
                f"{title[ours]}: ours is equal to the published number on {equal} of {len(known)} "
                "datasets."
            )
    return out


def _equal(ours: Mapping[str, Number], theirs: Mapping[str, Number], dataset: str) -> bool:
    return dataset in ours and round(ours[dataset].value, theirs[dataset].decimals or 0) == round(
        theirs[dataset].value, theirs[dataset].decimals or 0
    )
