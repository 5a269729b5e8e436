"""Tables of kind `compare`: datasets by columns, ours, published or the difference of two."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from mnlearn.errors import InputError
from mnlearn.products import Labels, Options, scored
from mnlearn.published import Number, Source, numbers, paired, source
from mnlearn.statistics import Comparison, geometric_mean, wilcoxon
from mnlearn.tables.table import Cell, Row, Table, label_cell, number_cell, significant, value_cell


@dataclass(frozen=True)
class _Column:
    """A column of a `compare` table, as its options describe it."""

    name: str
    head: str
    group: str
    decimals: int
    source: Source | None
    minus: tuple[str, str] | None
    over: tuple[str, str] | None
    rank: str
    lower: bool
    stderr: bool
    scientific: bool


def _column(spec: Options, where: str, decimals: int) -> _Column:
    if "name" not in spec:
        raise InputError(f"{where}: a column has no name.")
    name = str(spec["name"])
    here = f"{where}, column {name}"
    minus, over = (_two_names(spec, key, here) for key in ("minus", "over"))
    return _Column(
        name=name,
        head=str(spec.get("head", name)),
        group=str(spec.get("group", "")),
        decimals=int(spec.get("decimals", decimals)),
        source=None if minus or over else source(spec, here),
        minus=minus,
        over=over,
        rank=str(spec.get("rank", "")),
        lower=bool(spec.get("lower", False)),
        stderr=bool(spec.get("stderr", False)),
        scientific=bool(spec.get("scientific", False)),
    )


def _two_names(spec: Options, key: str, where: str) -> tuple[str, str] | None:
    """Return the columns that a column is computed of, or None."""
    names = spec.get(key)
    if names is None:
        return None
    if not isinstance(names, list) or len(names) != 2:
        raise InputError(f"{where}, {key}: expected the names of two columns.")
    return str(names[0]), str(names[1])


def compare(
    scores: pd.DataFrame, published: pd.DataFrame, labels: Labels, study: str, options: Options
) -> Table:
    """Return datasets by columns, each column ours, published or computed of two.

    options: columns, each with a name and the keys of a source (see `published.source`), or
    `minus` or `over` (two names, whose difference or ratio it is), and of head, group, decimals,
    rank (the best of equal rank is bold), lower (lower is better), stderr, scientific (one digit
    and the power of ten); decimals of all; mean
    or geometric_mean (names of the columns to average, over the datasets that have them all);
    tests (pairs of names to compare).
    """
    where = f"table {options['name']} of study {study}"
    columns = [_column(c, where, int(options.get("decimals", 3))) for c in options["columns"]]
    by_name = {column.name: column for column in columns}
    for name in _names_used(columns, options):
        if name not in by_name:
            raise InputError(f"{where}: no column is named {name!r}.")
    data = {c.name: numbers(scores, published, c.source) for c in columns if c.source}
    for c in columns:
        if c.minus:
            data[c.name] = _difference(data[c.minus[0]], data[c.minus[1]])
        if c.over:
            data[c.name] = _ratio(data[c.over[0]], data[c.over[1]])
    ours = [c.name for c in columns if c.source and not c.source.is_published]
    datasets = [d for d in scored(scores, labels) if any(d in data[name] for name in ours)]
    body = [_compare_row(d, columns, data, labels) for d in datasets]
    body += [
        _mean_row(datasets, columns, data, options[kind], kind)
        for kind in ("mean", "geometric_mean")
        if kind in options and datasets
    ]
    title = _titles(columns)
    tests = [
        _text(wilcoxon(*_values(data[a], data[b], datasets)), title[a], title[b])
        for a, b in options.get("tests", [])
        if datasets
    ]
    return Table(
        columns=("dataset", *by_name),
        header=_header(columns),
        alignment="l" + "r" * len(columns),
        body=tuple(body),
        notes=(*tests, *_printed_notes(columns, title, data, datasets, labels)),
        with_stderr=tuple(c.name for c in columns if c.stderr),
    )


def _names_used(columns: Sequence[_Column], options: Options) -> list[str]:
    used = [name for column in columns for name in column.minus or column.over or ()]
    used += options.get("mean", []) + options.get("geometric_mean", [])
    return used + [name for pair in options.get("tests", []) for name in pair]


def _titles(columns: Sequence[_Column]) -> dict[str, str]:
    """Return what sentences call each column: its heading, and its group where headings repeat."""
    heads = [column.head for column in columns]
    return {
        c.name: f"{c.head} ({c.group})" if c.group and heads.count(c.head) > 1 else c.head
        for c in columns
    }


def _difference(a: Mapping[str, Number], b: Mapping[str, Number]) -> dict[str, Number]:
    return {d: Number(x - y) for d, x, y in paired(a, b, a, as_printed=False)}


def _ratio(a: Mapping[str, Number], b: Mapping[str, Number]) -> dict[str, Number]:
    return {d: Number(x / y) for d, x, y in paired(a, b, a, as_printed=False) if y}


def _values(
    a: Mapping[str, Number], b: Mapping[str, Number], datasets: Iterable[str]
) -> tuple[list[float], list[float]]:
    pairs = paired(a, b, datasets)
    return [x for _, x, _ in pairs], [y for _, _, y in pairs]


def _text(comparison: Comparison, first: str, second: str) -> str:
    how = "exact" if comparison.exact else "normal approximation"
    return (
        f"{first} against {second}: {comparison.wins} wins, {comparison.ties} ties, "
        f"{comparison.losses} losses on {comparison.n} datasets; "
        f"two-sided Wilcoxon signed-rank p = {significant(comparison.p)} ({how})."
    )


def _header(columns: Sequence[_Column]) -> tuple[tuple[str, ...], ...]:
    heads = ("dataset", *(column.head for column in columns))
    if any(column.group for column in columns):
        return (("", *(column.group for column in columns)), heads)
    return (heads,)


def _compare_row(
    dataset: str,
    columns: Sequence[_Column],
    data: Mapping[str, Mapping[str, Number]],
    labels: Labels,
) -> Row:
    best = _best(dataset, columns, data)
    cells = [label_cell(dataset, labels)]
    for column in columns:
        number = data[column.name].get(dataset)
        method = "" if column.source and column.source.is_published else _method(column, columns)
        cell = number_cell(number, column.decimals, method)
        if column.minus and cell.value is not None:
            cell = dataclasses.replace(cell, text=f"{cell.value:+.{column.decimals}f}")
        if column.stderr and number is not None and number.stderr is not None:
            text = f"{cell.text} ± {number.stderr:.{column.decimals}f}"
            cell = dataclasses.replace(cell, text=text, stderr=number.stderr)
        if column.scientific and cell.value is not None:
            cell = dataclasses.replace(cell, text=f"{cell.value:.0e}" if cell.value else "0")
        cells.append(dataclasses.replace(cell, bold=column.name in best))
    return Row(tuple(cells), (dataset,))


def _method(column: _Column, columns: Sequence[_Column]) -> str:
    """Return the method behind a column; that of a difference is its first of ours."""
    if column.source:
        return column.source.method
    used = column.minus or column.over or ()
    parts = [c for c in columns if c.name in used and c.source]
    return next((c.source.method for c in parts if c.source and not c.source.is_published), "")


def _best(
    dataset: str, columns: Sequence[_Column], data: Mapping[str, Mapping[str, Number]]
) -> set[str]:
    """Return the columns that are best of their rank; ties as displayed are all best."""
    best: set[str] = set()
    for rank in {column.rank for column in columns if column.rank}:
        group = [c for c in columns if c.rank == rank and dataset in data[c.name]]
        shown = {
            c.name: round(data[c.name][dataset].value, c.decimals) * (-1 if c.lower else 1)
            for c in group
        }
        if len(shown) > 1:
            best |= {name for name, value in shown.items() if value == max(shown.values())}
    return best


def _mean_row(
    datasets: Sequence[str],
    columns: Sequence[_Column],
    data: Mapping[str, Mapping[str, Number]],
    averaged: Sequence[str],
    kind: str,
) -> Row:
    complete = [d for d in datasets if all(d in data[name] for name in averaged)]
    cells = [Cell(f"{kind.replace('_', ' ')} of {len(complete)}")]
    for column in columns:
        cell = Cell()
        if column.name in averaged and complete:
            values = [data[column.name][d].value for d in complete]
            mean = float(np.mean(values)) if kind == "mean" else geometric_mean(values)
            cell = value_cell(mean, column.decimals)
            if column.minus:
                cell = dataclasses.replace(cell, text=f"{mean:+.{column.decimals}f}")
            if column.source is None or not column.source.is_published:
                cell = dataclasses.replace(cell, method=_method(column, columns))
        cells.append(cell)
    return Row(tuple(cells), tuple(complete), footer=True)


def _printed_notes(
    columns: Sequence[_Column],
    title: Mapping[str, str],
    data: Mapping[str, Mapping[str, Number]],
    datasets: Sequence[str],
    labels: Labels,
) -> list[str]:
    """Return what is odd about the printed numbers of a table."""
    notes = []
    for column in columns:
        for dataset in datasets:
            number = data[column.name].get(dataset)
            if column.source and column.source.is_published and number and number.note:
                label = labels.get(dataset, dataset)
                notes.append(f"{label}, {title[column.name]} {number.printed}: {number.note}.")
    return notes
