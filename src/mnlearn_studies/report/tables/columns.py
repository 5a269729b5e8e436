"""Columns of a table with a row per dataset: ours, published, or computed from two others."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from mnlearn.runtime.errors import InputError
from mnlearn_studies.report.column_options import COMPUTED
from mnlearn_studies.report.options import Options
from mnlearn_studies.report.products import Labels
from mnlearn_studies.report.statistics import Comparison, geometric_mean, wilcoxon
from mnlearn_studies.report.tables.table import (
    Cell,
    Material,
    Row,
    number_cell,
    significant,
    value_cell,
)
from mnlearn_studies.study.published import Number, Source, paired, source

Data = Mapping[str, Mapping[str, Number]]


@dataclass(frozen=True)
class Column:
    """A column, as its options describe it; see `column`.

    Attributes
    ----------
    name, head, group : str
        Name in the CSV file, heading, and heading above a group of columns.
    decimals : int or None
        None for three significant digits.
    source : Source or None
        Where the numbers come from; None for a computed column.
    computed : (str, str, str) or None
        The key of `COMPUTED` and the names of two columns.
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
    head: str
    group: str
    decimals: int | None
    source: Source | None
    computed: tuple[str, str, str] | None
    rank: str
    lower: bool
    stderr: bool
    scientific: bool

    @property
    def is_published(self) -> bool:
        """Whether the numbers are those of a paper."""
        return self.source is not None and self.source.is_published

    def rounded(self, value: float) -> float:
        """Return a value as the column displays it."""
        if self.decimals is None:
            return float(significant(value))
        return round(value, self.decimals)


def column(spec: Options, where: str, decimals: int) -> Column:
    """Return the column that options describe.

    Parameters
    ----------
    spec : mapping
        name; either the keys of a source (see `study.published.source`), or one of the keys below
        with the names of two columns; head; group; decimals; significant (three significant digits
        instead of decimals); rank (the best of equal rank is bold); lower (lower is better);
        stderr; scientific (one digit and a power of ten).

        - minus: the difference of the two;
        - over: their ratio;
        - percent_less: by how many per cent the first is less than the second;
        - exceeds: whether the first is larger.
    where : str
        Name of the table, for error messages.
    decimals : int
        Number of decimals if `spec` has none.

    Raises
    ------
    InputError
        The source lacks a key, or options contradict each other.
    """
    name = str(spec["name"])
    here = f"{where}, column {name}"
    found = [(key, str(spec[key][0]), str(spec[key][1])) for key in COMPUTED if key in spec]
    computed = found[0] if found else None
    if len(found) > 1:
        given = " and ".join(key for key, _, _ in found)
        raise InputError(f"{here}: expected one of {', '.join(COMPUTED)}, got {given}.")
    for key in ("minus", "stderr"):
        if spec.get("significant") and spec.get(key):
            raise InputError(f"{here}, significant: expected decimals in a column with {key!r}.")
    return Column(
        name=name,
        head=str(spec.get("head", name)),
        group=str(spec.get("group", "")),
        decimals=None if spec.get("significant") else int(spec.get("decimals", decimals)),
        source=None if computed else source(spec, here),
        computed=computed,
        rank=str(spec.get("rank", "")),
        lower=bool(spec.get("lower", False)),
        stderr=bool(spec.get("stderr", False)),
        scientific=bool(spec.get("scientific", False)),
    )


def check_names(columns: Sequence[Column], options: Options, where: str) -> None:
    """Raise InputError unless every column that the options name exists, and is computed before."""
    used = [name for c in columns if c.computed for name in c.computed[1:]]
    used += [name for key in ("mean", "geometric_mean", "matches") for name in options.get(key, [])]
    used += [name for pair in options.get("tests", []) for name in pair]
    known = {c.name for c in columns}
    for name in used:
        if name not in known:
            raise InputError(f"{where}: no column is named {name!r}.")
    waiting = {c.name for c in columns if c.computed}
    for c in columns:
        key, *parts = c.computed or ("",)
        for name in parts:
            if name in waiting:
                raise InputError(
                    f"{where}, column {c.name}, {key}: expected columns of numbers or columns "
                    f"that are computed before it, got {name!r}."
                )
        waiting.discard(c.name)


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
    heads = [c.head for c in columns]
    return {
        c.name: f"{c.head} ({c.group})" if c.group and heads.count(c.head) > 1 else c.head
        for c in columns
    }


def column_cells(dataset: str, columns: Sequence[Column], data: Data) -> list[Cell]:
    """Return the cells of a dataset's row; the best of each rank is bold."""
    best = _best(dataset, columns, data)
    cells = []
    for c in columns:
        number = data[c.name].get(dataset)
        cell = _of_methods(number_cell(number, c.decimals), c, columns)
        if c.computed and c.computed[0] == "minus" and cell.value is not None:
            cell = dataclasses.replace(cell, text=f"{cell.value:+.{c.decimals}f}")
        if c.computed and c.computed[0] == "exceeds" and cell.value is not None:
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


def mean_row(
    datasets: Sequence[str],
    columns: Sequence[Column],
    data: Data,
    averaged: Sequence[str],
    *,
    kind: str,
    before: Sequence[Cell] = (),
) -> Row:
    """Return a footer with the means of some columns over the datasets that have them all.

    A column without any number leaves out no dataset.

    Parameters
    ----------
    datasets : sequence of str
        Datasets of the table.
    columns : sequence of Column
        Columns of the table.
    data : mapping
        See `column_data`.
    averaged : sequence of str
        Names of the columns to average.
    kind : {"mean", "geometric_mean"}
        Which mean.
    before : sequence of Cell
        Cells between the heading of the row and the columns.
    """
    averaged = [name for name in averaged if data[name]]
    complete = [d for d in datasets if all(d in data[name] for name in averaged)]
    cells = [Cell(f"{kind.replace('_', ' ')} of {len(complete)}"), *before]
    for c in columns:
        cell = Cell()
        if c.name in averaged and complete:
            values = [data[c.name][d].value for d in complete]
            if kind == "geometric_mean" and min(values) <= 0.0:
                raise InputError(f"geometric_mean: expected numbers above 0 in column {c.name}.")
            mean = float(np.mean(values)) if kind == "mean" else geometric_mean(values)
            cell = value_cell(mean, c.decimals)
            if c.computed and c.computed[0] == "minus":
                cell = dataclasses.replace(cell, text=f"{mean:+.{c.decimals}f}")
            cell = _of_methods(cell, c, columns)
        cells.append(cell)
    return Row(tuple(cells), tuple(complete), footer=True)


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
        if c.computed and c.computed[0] == "exceeds":
            found = [data[c.name][d].value for d in datasets if d in data[c.name]]
            if found:
                out.append(f"{c.head}: yes on {sum(found):.0f} of {len(found)} datasets.")
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
