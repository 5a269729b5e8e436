"""Tables of a study: built by kind, rendered as CSV, Markdown and LaTeX."""

import csv
import dataclasses
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mnlearn.errors import InputError
from mnlearn.files import write_text
from mnlearn.published import Number, Source, numbers, paired, source, tidy_scores
from mnlearn.statistics import Comparison, geometric_mean, wilcoxon
from mnlearn.study import Study

DAGGER = "†"
STALE_NOTE = f"{DAGGER} The sources have changed since this number was made."
EMPTY_NOTE = "Nothing has been scored yet."


@dataclass(frozen=True)
class Cell:
    """One number or word of a table.

    text : what a reader sees; empty for a missing value. value : what the CSV holds.
    method : whose number it is, to mark it when stale; empty for published ones.
    stderr : standard error, shown behind ± when the column shows it.
    """

    text: str = ""
    value: float | int | str | None = None
    bold: bool = False
    stale: bool = False
    method: str = ""
    stderr: float | None = None


@dataclass(frozen=True)
class Row:
    """One row. datasets : whose numbers it shows. footer : left out of the CSV."""

    cells: tuple[Cell, ...]
    datasets: tuple[str, ...] = ()
    footer: bool = False


@dataclass(frozen=True)
class Table:
    """A table, independent of how it is rendered.

    columns : names in the CSV. header : rows of headings above the columns; in all but the
    last, equal neighbours are one heading. alignment : `l` or `r` per column. with_stderr :
    columns whose standard errors stand in the CSV, in a column of their own.
    """

    columns: tuple[str, ...]
    header: tuple[tuple[str, ...], ...]
    alignment: str
    body: tuple[Row, ...]
    caption: str = ""
    notes: tuple[str, ...] = ()
    with_stderr: tuple[str, ...] = ()


Labels = Mapping[str, str]
Options = Mapping[str, Any]
Kind = Callable[[pd.DataFrame, pd.DataFrame, Labels, str, Options], Table]


def number_cell(number: Number | None, decimals: int | None, method: str = "") -> Cell:
    """Return the cell of a number; a printed one keeps the paper's digits."""
    if number is None:
        return Cell(method=method)
    if number.printed is not None:
        return Cell(number.printed, number.value)
    return value_cell(number.value, decimals, method)


def value_cell(value: float, decimals: int | None, method: str = "") -> Cell:
    """Return the cell of a value; without decimals it shows three significant digits."""
    text = significant(value) if decimals is None else f"{value:.{decimals}f}"
    return Cell(text, int(value) if decimals == 0 and value == int(value) else value, method=method)


def significant(value: float, digits: int = 3) -> str:
    """Return a positive number with some significant digits, never in exponent form."""
    if value == 0 or not np.isfinite(value):
        return f"{value:.0f}"
    decimals = digits - 1 - int(np.floor(np.log10(abs(value))))
    return f"{round(value, decimals):.{max(0, min(decimals, 6))}f}"


def label_cell(dataset: str, labels: Labels) -> Cell:
    """Return the first cell of a dataset's row: its label, and its name in the CSV."""
    return Cell(labels.get(dataset, dataset), dataset)


def scored(scores: pd.DataFrame, labels: Labels) -> list[str]:
    """Return the datasets with scores, in the order of the labels, then of the scores."""
    present = list(dict.fromkeys(scores["dataset"]))
    known = [dataset for dataset in labels if dataset in present]
    return known + [dataset for dataset in present if dataset not in labels]


def _text(comparison: Comparison, first: str, second: str) -> str:
    how = "exact" if comparison.exact else "normal approximation"
    return (
        f"{first} against {second}: {comparison.wins} wins, {comparison.ties} ties, "
        f"{comparison.losses} losses on {comparison.n} datasets; "
        f"two-sided Wilcoxon signed-rank p = {significant(comparison.p)} ({how})."
    )


# --- compare ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Column:
    """A column of a `compare` table, as its options describe it."""

    name: str
    head: str
    group: str
    decimals: int
    source: Source | None
    minus: tuple[str, str] | None
    rank: str
    lower: bool
    stderr: bool


def _column(spec: Options, where: str, decimals: int) -> _Column:
    if "name" not in spec:
        raise InputError(f"{where}: a column has no name.")
    name = str(spec["name"])
    here = f"{where}, column {name}"
    minus = spec.get("minus")
    if minus is not None and (not isinstance(minus, list) or len(minus) != 2):
        raise InputError(f"{here}, minus: expected the names of two columns.")
    return _Column(
        name=name,
        head=str(spec.get("head", name)),
        group=str(spec.get("group", "")),
        decimals=int(spec.get("decimals", decimals)),
        source=None if minus else source(spec, here),
        minus=(str(minus[0]), str(minus[1])) if minus else None,
        rank=str(spec.get("rank", "")),
        lower=bool(spec.get("lower", False)),
        stderr=bool(spec.get("stderr", False)),
    )


def compare(
    scores: pd.DataFrame, published: pd.DataFrame, labels: Labels, study: str, options: Options
) -> Table:
    """Return datasets by columns, each column ours, published or the difference of two.

    options: columns, each with a name and the keys of a source (see `published.source`) or
    `minus` (two names), and of head, group, decimals, rank (the best of equal rank is bold),
    lower (lower is better), stderr; decimals of all; mean (names of the columns to average,
    over the datasets that have them all); tests (pairs of names to compare).
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
    ours = [c.name for c in columns if c.source and not c.source.is_published]
    datasets = [d for d in scored(scores, labels) if any(d in data[name] for name in ours)]
    body = [_compare_row(d, columns, data, labels) for d in datasets]
    if "mean" in options and datasets:
        body.append(_mean_row(datasets, columns, data, options["mean"]))
    tests = [
        _text(wilcoxon(*_values(data[a], data[b], datasets)), by_name[a].head, by_name[b].head)
        for a, b in options.get("tests", [])
        if datasets
    ]
    return Table(
        columns=("dataset", *by_name),
        header=_header(columns),
        alignment="l" + "r" * len(columns),
        body=tuple(body),
        notes=(*tests, *_printed_notes(columns, data, datasets, labels)),
        with_stderr=tuple(c.name for c in columns if c.stderr),
    )


def _names_used(columns: Sequence[_Column], options: Options) -> list[str]:
    used = [name for column in columns for name in column.minus or ()]
    used += options.get("mean", [])
    return used + [name for pair in options.get("tests", []) for name in pair]


def _difference(a: Mapping[str, Number], b: Mapping[str, Number]) -> dict[str, Number]:
    return {d: Number(x - y) for d, x, y in paired(a, b, a, as_printed=False)}


def _values(
    a: Mapping[str, Number], b: Mapping[str, Number], datasets: Iterable[str]
) -> tuple[list[float], list[float]]:
    pairs = paired(a, b, datasets)
    return [x for _, x, _ in pairs], [y for _, _, y in pairs]


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
        cells.append(dataclasses.replace(cell, bold=column.name in best))
    return Row(tuple(cells), (dataset,))


def _method(column: _Column, columns: Sequence[_Column]) -> str:
    """Return the method behind a column; that of a difference is its first of ours."""
    if column.source:
        return column.source.method
    parts = [c for c in columns if column.minus and c.name in column.minus and c.source]
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
) -> Row:
    complete = [d for d in datasets if all(d in data[name] for name in averaged)]
    cells = [Cell(f"mean of {len(complete)}")]
    for column in columns:
        cell = Cell()
        if column.name in averaged and complete:
            mean = float(np.mean([data[column.name][d].value for d in complete]))
            cell = value_cell(mean, column.decimals)
            if column.minus:
                cell = dataclasses.replace(cell, text=f"{mean:+.{column.decimals}f}")
            if column.source is None or not column.source.is_published:
                cell = dataclasses.replace(cell, method=_method(column, columns))
        cells.append(cell)
    return Row(tuple(cells), tuple(complete), footer=True)


def _printed_notes(
    columns: Sequence[_Column],
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
                notes.append(f"{label}, {column.head} {number.printed}: {number.note}.")
    return notes


# --- feature conversions ------------------------------------------------------------------------


def _variants_of(scores: pd.DataFrame, options: Options) -> list[str]:
    """Return the variants of the method in the order asked for, else of the scores."""
    found = scores[(scores["method"] == options["method"]) & (scores["variant"] != "")]
    present = list(dict.fromkeys(found["variant"]))
    return [v for v in options.get("variants", present) if v in present]


def _by_variant(
    scores: pd.DataFrame, options: Options, quantity: str
) -> dict[str, dict[str, Number]]:
    """Return the numbers of every variant by dataset."""
    method = str(options["method"])
    return {
        variant: numbers(scores, scores.iloc[:0], Source(method, quantity, variant))
        for variant in _variants_of(scores, options)
    }


def best_variants(by_variant: Mapping[str, Mapping[str, Number]], dataset: str) -> set[str]:
    """Return the variants with the highest value on a dataset; several if they tie."""
    values = {v: found[dataset].value for v, found in by_variant.items() if dataset in found}
    return {v for v, value in values.items() if value == max(values.values())}


def _complete(by_variant: Mapping[str, Mapping[str, Number]], datasets: list[str]) -> list[str]:
    return [d for d in datasets if by_variant and all(d in f for f in by_variant.values())]


def variants(
    scores: pd.DataFrame, published: pd.DataFrame, labels: Labels, study: str, options: Options
) -> Table:
    """Return one row per variant of a method, averaged over the datasets that have them all.

    options: method; variants (their order); decimals.
    """
    method = str(options["method"])
    quantities = {
        "cmll": int(options.get("decimals", 3)),
        "pll": int(options.get("decimals", 3)),
        "n_features": 0,
        "mean_length": 2,
        "seconds_weights": None,
    }
    data = {quantity: _by_variant(scores, options, quantity) for quantity in quantities}
    complete = _complete(data["cmll"], scored(scores, labels))
    chosen = [_chosen_variant(scores, options, dataset) for dataset in complete]
    rows = []
    for variant in data["cmll"]:
        means = {
            quantity: _mean_cell([data[quantity][variant].get(d) for d in complete], places, method)
            for quantity, places in quantities.items()
        }
        best = {
            quantity: _count_cell(
                sum(variant in best_variants(data[quantity], d) for d in complete), method
            )
            for quantity in ("cmll", "pll")
        }
        cells = (
            Cell(variant, variant),
            *(means["cmll"], best["cmll"], means["pll"], best["pll"]),
            _count_cell(chosen.count(variant), method),
            *(means["n_features"], means["mean_length"], means["seconds_weights"]),
        )
        rows.append(Row(cells, tuple(complete)))
    heads = ("conversion", "mean", "best on", "mean", "best on", "chosen on")
    return Table(
        columns=(
            *("variant", "mean_cmll", "best_by_cmll", "mean_pll", "best_by_pll", "chosen"),
            *("mean_n_features", "mean_length", "mean_seconds_weights"),
        ),
        header=(
            ("", "CMLL", "CMLL", "PLL", "PLL", "", "features", "features", ""),
            (*heads, "mean number", "mean length", "weights, s"),
        ),
        alignment="l" + "r" * 8,
        body=tuple(_embolden(rows, (1, 2, 3, 4))),
        notes=(
            f"Means over {len(complete)} datasets. A dataset on which several conversions tie "
            "counts for each of them; chosen: by validation score.",
        )
        if complete
        else (),
    )


def _mean_cell(found: list[Number | None], decimals: int | None, method: str) -> Cell:
    values = [number.value for number in found if number is not None]
    if not values:
        return Cell(method=method)
    return value_cell(float(np.mean(values)), decimals, method)


def _count_cell(count: int, method: str) -> Cell:
    return Cell(str(count), count, method=method)


def _embolden(rows: list[Row], columns: Iterable[int]) -> list[Row]:
    """Return the rows with the highest value of each column bold, as it is displayed."""
    cells = [list(row.cells) for row in rows]
    for column in columns:
        shown = [float(c[column].text) for c in cells if c[column].text]
        for row in cells:
            if len(shown) > 1 and row[column].text and float(row[column].text) == max(shown):
                row[column] = dataclasses.replace(row[column], bold=True)
    return [dataclasses.replace(row, cells=tuple(c)) for row, c in zip(rows, cells, strict=True)]


def _chosen_variant(scores: pd.DataFrame, options: Options, dataset: str) -> str:
    """Return the variant chosen on validation data: the first with the highest score."""
    by_variant = _by_variant(scores, options, "validation")
    values = {v: found[dataset].value for v, found in by_variant.items() if dataset in found}
    return max(values, key=lambda variant: values[variant]) if values else ""


def variants_by_dataset(
    scores: pd.DataFrame, published: pd.DataFrame, labels: Labels, study: str, options: Options
) -> Table:
    """Return the score of every variant on every dataset; an asterisk marks the chosen one.

    options: method; variants (their order); quantity (cmll); decimals.
    """
    method = str(options["method"])
    by_variant = _by_variant(scores, options, str(options.get("quantity", "cmll")))
    decimals = int(options.get("decimals", 3))
    rows = []
    for dataset in scored(scores, labels):
        if not any(dataset in found for found in by_variant.values()):
            continue
        chosen = _chosen_variant(scores, options, dataset)
        cells = [number_cell(found.get(dataset), decimals, method) for found in by_variant.values()]
        shown = [float(cell.text) for cell in cells if cell.text]
        cells = [
            dataclasses.replace(
                cell,
                text=cell.text + ("*" if variant == chosen and cell.text else ""),
                bold=bool(cell.text) and float(cell.text) == max(shown),
            )
            for variant, cell in zip(by_variant, cells, strict=True)
        ]
        row = (label_cell(dataset, labels), *cells, Cell(chosen, chosen, method=method))
        rows.append(Row(row, (dataset,)))
    return Table(
        columns=("dataset", *by_variant, "chosen"),
        header=(("dataset", *by_variant, "chosen"),),
        alignment="l" + "r" * len(by_variant) + "l",
        body=tuple(rows),
        notes=("Bold: the best on test data; *: the one chosen on validation data.",)
        if rows
        else (),
    )


# --- times and sizes ----------------------------------------------------------------------------

_SECONDS = {
    "structure": "seconds_structure",
    "weights": "seconds_weights",
    "total": "seconds_learn",
    "tuning": "seconds_tuning",
    "inference": "seconds_inference",
}
_PRINTED_SECONDS = ("structure", "weights", "total")


def times(
    scores: pd.DataFrame, published: pd.DataFrame, labels: Labels, study: str, options: Options
) -> Table:
    """Return the seconds of a method by step, beside the published ones and their ratio.

    options: method; published (study, table and method of the printed seconds), if any.
    """
    method = str(options["method"])
    ours = {
        step: numbers(scores, published, Source(method, quantity))
        for step, quantity in _SECONDS.items()
    }
    theirs = _printed(published, options, {s: _SECONDS[s] for s in _PRINTED_SECONDS})
    ratios: dict[str, float] = {}
    rows = []
    for dataset in (d for d in scored(scores, labels) if d in ours["total"]):
        cells = [label_cell(dataset, labels)]
        cells += [number_cell(found.get(dataset), None, method) for found in ours.values()]
        if theirs:
            cells += [number_cell(found.get(dataset), None) for found in theirs.values()]
            total = theirs["total"].get(dataset)
            if total is not None and ours["total"][dataset].value > 0:
                ratios[dataset] = total.value / ours["total"][dataset].value
            ratio = ratios.get(dataset)
            cells.append(Cell() if ratio is None else value_cell(ratio, None, method))
        rows.append(Row(tuple(cells), (dataset,)))
    if ratios:
        mean = value_cell(geometric_mean(list(ratios.values())), None, method)
        blank = [Cell()] * (len(_SECONDS) + len(theirs))
        cells = [Cell(f"geometric mean of {len(ratios)}"), *blank, mean]
        rows.append(Row(tuple(cells), tuple(ratios), footer=True))
    upper = ["", *(["seconds, ours"] * len(ours)), *(["seconds, published"] * len(theirs))]
    lower = ["dataset", *ours, *theirs]
    names = ["dataset", *_SECONDS.values(), *(f"published_{_SECONDS[step]}" for step in theirs)]
    if theirs:
        upper.append("")
        lower.append("published / ours")
        names.append("published_over_ours")
    return Table(
        columns=tuple(names),
        header=(tuple(upper), tuple(lower)),
        alignment="l" + "r" * (len(names) - 1),
        body=tuple(rows),
        notes=(
            "Seconds of one thread; total is structure and weights of the chosen model, tuning "
            "the whole grid. The published seconds are those of another machine.",
        )
        if theirs
        else ("Seconds of one thread; tuning is the whole grid.",),
    )


def _printed(
    published: pd.DataFrame, options: Options, quantities: Mapping[str, str]
) -> dict[str, dict[str, Number]]:
    """Return the published numbers that stand beside ours, none if the options name no table."""
    if "published" not in options:
        return {}
    spec = options["published"]
    where = f"table {options['name']}, published"
    return {
        name: numbers(published.iloc[:0], published, source({**spec, "quantity": q}, where))
        for name, q in quantities.items()
    }


_SIZES = {
    "generated": ("n_features_generated", 0),
    "kept": ("n_features", 0),
    "mean length": ("mean_length", 2),
}


def sizes(
    scores: pd.DataFrame, published: pd.DataFrame, labels: Labels, study: str, options: Options
) -> Table:
    """Return the number and length of a method's features beside the published ones.

    options: method; published (study, table and method of the printed sizes), if any.
    """
    method = str(options["method"])
    ours = {
        name: numbers(scores, published, Source(method, quantity))
        for name, (quantity, _) in _SIZES.items()
    }
    theirs = _printed(published, options, {name: q for name, (q, _) in _SIZES.items()})
    rows = []
    differences = []
    for dataset in (d for d in scored(scores, labels) if d in ours["kept"]):
        cells = [label_cell(dataset, labels)]
        cells += [
            number_cell(found.get(dataset), _SIZES[name][1], method) for name, found in ours.items()
        ]
        if theirs:
            cells += [number_cell(found.get(dataset), None) for found in theirs.values()]
            cell = _size_difference(ours["generated"], theirs["generated"], dataset, method)
            cells.append(cell)
            differences += [cell.value] if cell.value is not None else []
        rows.append(Row(tuple(cells), (dataset,)))
    names = [quantity for quantity, _ in _SIZES.values()]
    upper = ["", *(["features, ours"] * len(ours)), *(["features, published"] * len(theirs))]
    columns = ["dataset", *names, *(f"published_{_SIZES[name][0]}" for name in theirs)]
    notes = ["Generated: before weight learning; kept: weights other than 0 after it."]
    lower = ["dataset", *ours, *theirs]
    if theirs:
        upper.append("")
        lower.append("difference")
        columns.append("difference")
        notes.append(
            f"Difference: generated features, ours less published; = marks the "
            f"{differences.count(0)} exact matches of {len(differences)}."
        )
    return Table(
        columns=tuple(columns),
        header=(tuple(upper), tuple(lower)),
        alignment="l" + "r" * (len(columns) - 1),
        body=tuple(rows),
        notes=tuple(notes),
    )


def _size_difference(
    ours: Mapping[str, Number], theirs: Mapping[str, Number], dataset: str, method: str
) -> Cell:
    if dataset not in ours or dataset not in theirs:
        return Cell(method=method)
    difference = round(ours[dataset].value - theirs[dataset].value)
    return Cell(f"{difference:+d}" if difference else "=", difference, method=method)


KINDS: dict[str, Kind] = {
    "compare": compare,
    "variants": variants,
    "variants_by_dataset": variants_by_dataset,
    "times": times,
    "sizes": sizes,
}


# --- rendering ----------------------------------------------------------------------------------


def mark_stale(table: Table, stale: AbstractSet[tuple[str, str]]) -> Table:
    """Return the table with a dagger on every number of a stale (dataset, method)."""
    body = []
    any_stale = False
    for row in table.body:
        cells = []
        for cell in row.cells:
            old = bool(cell.text) and any((d, cell.method) in stale for d in row.datasets)
            any_stale |= old
            cells.append(dataclasses.replace(cell, stale=old))
        body.append(dataclasses.replace(row, cells=tuple(cells)))
    notes = (*table.notes, STALE_NOTE) if any_stale else table.notes
    return dataclasses.replace(table, body=tuple(body), notes=notes)


def to_csv(table: Table) -> str:
    """Return the table for programs: full precision, no footers, a column that tells staleness."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    header: list[str] = []
    for name in table.columns:
        header += [name, f"{name}_stderr"] if name in table.with_stderr else [name]
    writer.writerow([*header, "stale"])
    for row in table.body:
        if row.footer:
            continue
        line: list[str] = []
        for name, cell in zip(table.columns, row.cells, strict=True):
            line.append(_plain(cell.value))
            if name in table.with_stderr:
                line.append(_plain(cell.stderr))
        writer.writerow([*line, "yes" if any(cell.stale for cell in row.cells) else ""])
    return text.getvalue()


def _plain(value: float | int | str | None) -> str:
    if value is None:
        return ""
    return repr(float(value)) if isinstance(value, float) else str(value)


def to_markdown(table: Table) -> str:
    """Return the table for readers: bold winners, numbers right aligned, notes below."""
    heads = [" ".join(part for part in parts if part) for parts in zip(*table.header, strict=True)]
    lines = [[_markdown_text(head) for head in heads]]
    lines += [[_markdown_cell(cell) for cell in row.cells] for row in table.body]
    widths = [max(3, *(len(line[c]) for line in lines)) for c in range(len(heads))]
    rule = [
        "-" * (width - 1) + ":" if side == "r" else "-" * width
        for side, width in zip(table.alignment, widths, strict=True)
    ]
    out = [f"{_markdown_text(table.caption)}\n"] if table.caption else []
    for line in (lines[0], rule, *lines[1:]):
        padded = [
            text.rjust(width) if side == "r" else text.ljust(width)
            for text, side, width in zip(line, table.alignment, widths, strict=True)
        ]
        out.append("| " + " | ".join(padded) + " |")
    out += [f"\n{_markdown_text(note)}" for note in _notes(table)]
    return "\n".join(out) + "\n"


def _notes(table: Table) -> tuple[str, ...]:
    return table.notes if table.body else (EMPTY_NOTE, *table.notes)


def _markdown_cell(cell: Cell) -> str:
    text = _markdown_text(cell.text) or "–"
    text = f"**{text}**" if cell.bold else text
    return text + DAGGER if cell.stale else text


def _markdown_text(text: str) -> str:
    for character in "\\|*_":
        text = text.replace(character, "\\" + character)
    return text


_LATEX = {
    "\\": r"\textbackslash{}",
    **{character: "\\" + character for character in "%_&#${}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "±": r"$\pm$",
    "−": "$-$",
    "×": r"$\times$",
    "–": "--",
    DAGGER: r"$^\dagger$",
}


def latex_text(text: str) -> str:
    """Return `text` with the characters escaped that mean something to LaTeX."""
    return "".join(_LATEX.get(character, character) for character in text)


def to_latex(table: Table) -> str:
    """Return a `table` environment to be read by a document that loads the package booktabs."""
    out = [
        r"% \usepackage{booktabs} in the preamble",
        r"\begin{table}",
        r"\centering",
    ]
    if table.caption:
        out.append(rf"\caption{{{latex_text(table.caption)}}}")
    out += [rf"\begin{{tabular}}{{{table.alignment}}}", r"\toprule"]
    for header in table.header[:-1]:
        out += _latex_upper_header(header)
    out += [" & ".join(latex_text(head) for head in table.header[-1]) + r" \\", r"\midrule"]
    for position, row in enumerate(table.body):
        if row.footer and position and not table.body[position - 1].footer:
            out.append(r"\midrule")
        out.append(" & ".join(_latex_cell(cell) for cell in row.cells) + r" \\")
    out += [r"\bottomrule", r"\end{tabular}"]
    if _notes(table):
        notes = r"\\".join(latex_text(note) for note in _notes(table))
        out.append(rf"\par\smallskip\parbox{{\linewidth}}{{\footnotesize {notes}}}")
    return "\n".join([*out, r"\end{table}"]) + "\n"


def _latex_upper_header(header: Sequence[str]) -> list[str]:
    """Return a row of headings over several columns, and the rules under them."""
    cells, rules = [], []
    first = 0
    while first < len(header):
        last = first
        while last + 1 < len(header) and header[last + 1] == header[first]:
            last += 1
        text = latex_text(header[first])
        cells.append(rf"\multicolumn{{{last - first + 1}}}{{c}}{{{text}}}")
        if text:
            rules.append(rf"\cmidrule(lr){{{first + 1}-{last + 1}}}")
        first = last + 1
    return [" & ".join(cells) + r" \\", *rules]


def _latex_cell(cell: Cell) -> str:
    if not cell.text:
        return "--"
    text = latex_text(cell.text)
    # A hyphen in front of a number is a minus sign.
    if isinstance(cell.value, int | float) and text.startswith("-"):
        text = "$-$" + text[1:]
    text = rf"\textbf{{{text}}}" if cell.bold else text
    return text + _LATEX[DAGGER] if cell.stale else text


# --- writing ------------------------------------------------------------------------------------


def chosen_products(study: Study, list_name: str, only: list[str] | None) -> list[dict[str, Any]]:
    """Return the entries of a study's list of tables or figures, all or those named.

    Raises
    ------
    InputError
        A name is none of the list.

    """
    products = list(study.content[list_name])
    names = [product["name"] for product in products]
    for name in only or ():
        if name not in names:
            raise InputError(
                f"study {study.name}, {list_name}: no {name!r}; there are {', '.join(names)}."
            )
    return [product for product in products if only is None or product["name"] in only]


def check_kind(study: Study, list_name: str, entry: Options, kinds: Iterable[str]) -> None:
    """Raise an InputError unless the entry's kind is one of `kinds`."""
    if entry["kind"] not in kinds:
        name = entry.get("name", entry.get("id"))
        raise InputError(
            f"study {study.name}, {list_name}, {name}: kind {entry['kind']!r} is none of "
            f"{', '.join(kinds)}."
        )


def make_table(
    study: Study,
    product: Options,
    scores: pd.DataFrame,
    published: pd.DataFrame,
    labels: Labels,
    stale: AbstractSet[tuple[str, str]] = frozenset(),
) -> Table:
    """Return the table of one entry of a study, with its caption and stale numbers marked.

    Raises
    ------
    InputError
        The entry is of an unknown kind or its options are not what the kind expects.

    """
    check_kind(study, "tables", product, KINDS)
    ordered = {dataset: labels.get(dataset, dataset) for dataset in study.datasets}
    scores = tidy_scores(scores[scores["study"] == study.name])
    table = KINDS[product["kind"]](scores, published, ordered, study.name, product)
    return mark_stale(dataclasses.replace(table, caption=str(product["caption"])), stale)


def write_tables(
    study: Study,
    scores: pd.DataFrame,
    published: pd.DataFrame,
    labels: Mapping[str, str],
    folder: Path,
    stale: AbstractSet[tuple[str, str]] = frozenset(),
    only: list[str] | None = None,
) -> None:
    """Write the tables of a study to `folder` as `<name>.csv`, `.md` and `.tex`.

    scores : as `cells.gather` returns them, or as read from its CSV. labels : names of the
    datasets for readers. stale : pairs (dataset, method). only : names of the tables to write.

    Raises
    ------
    InputError
        See `chosen_products` and `make_table`.

    """
    for product in chosen_products(study, "tables", only):
        table = make_table(study, product, scores, published, labels, stale)
        write_text(folder / f"{product['name']}.csv", to_csv(table))
        write_text(folder / f"{product['name']}.md", to_markdown(table))
        write_text(folder / f"{product['name']}.tex", to_latex(table))
