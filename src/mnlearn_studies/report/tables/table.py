"""A table, independent of how it is rendered, and what its cells are made from."""

import dataclasses
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import product
from typing import Any

import numpy as np

from mnlearn_studies.report.products import Material
from mnlearn_studies.study.content import Product
from mnlearn_studies.study.published import Number

DAGGER = "†"
# Below this, digits behind the point would be counted and not read.
_SMALL = 1e-6
STALE_NOTE = (
    f"{DAGGER} The code, the data or the settings have changed since this number was computed."
)


@dataclass(frozen=True)
class Cell:
    """One number or word of a table.

    Attributes
    ----------
    text : str
        What a reader sees; empty for a missing value.
    value : float, int, str or None
        What the CSV file has.
    bold : bool
        Whether the text is bold.
    stale : bool
        Whether the number is marked as stale.
    method : str
        The method of the number, by which `mark_stale` finds it; empty for published numbers.
    stderr : float or None
        Standard error, in a column of its own in the CSV file.
    others : tuple of str
        Other methods that the number depends on, as a difference does.
    """

    text: str = ""
    value: float | int | str | None = None
    bold: bool = False
    stale: bool = False
    method: str = ""
    stderr: float | None = None
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Row:
    """One row of a table.

    Attributes
    ----------
    cells : tuple of Cell
        One cell per column.
    datasets : tuple of str
        Datasets of the numbers.
    footer : bool
        Whether the row summarises others; the CSV file leaves it out.
    """

    cells: tuple[Cell, ...]
    datasets: tuple[str, ...] = ()
    footer: bool = False


@dataclass(frozen=True)
class Table:
    """A table, independent of how it is rendered.

    Attributes
    ----------
    columns : tuple of str
        Names in the CSV file.
    header : tuple of tuple of str
        Rows of headings. In all but the last row, equal neighbours are one heading.
    alignment : str
        `l` or `r` for each column.
    body : tuple of Row
        The rows.
    caption : str
        Text above the table.
    notes : tuple of str
        Sentences below the table.
    with_stderr : tuple of str
        Columns whose standard errors have a column of their own in the CSV file.
    name : str
        Name of its files without suffix.
    """

    columns: tuple[str, ...]
    header: tuple[tuple[str, ...], ...]
    alignment: str
    body: tuple[Row, ...]
    caption: str = ""
    notes: tuple[str, ...] = ()
    with_stderr: tuple[str, ...] = ()
    name: str = ""


@dataclass(frozen=True)
class Trace:
    """The largest of a `quantity`, a column of the trace of a `method`, over some grid points.

    Attributes
    ----------
    name : str
        Name of the number.
    equal, at_least : mapping
        The values, and the smallest values, that a point has to have, by parameter.
    """

    method: str
    quantity: str
    name: str
    equal: Mapping[str, Any] = field(default_factory=dict)
    at_least: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class TableEntry(Product):
    """A table of a study, of a kind that derives from this class; see `tables.KINDS`.

    traces : numbers that only the traces of tuning have, see `traces.trace_numbers`.
    """

    traces: tuple[Trace, ...] = ()

    def tabulate(self, material: Material) -> Table:
        """Return the table."""
        raise NotImplementedError


def label_cell(material: Material, dataset: str) -> Cell:
    """Return the first cell of a dataset's row: its label, and its name in the CSV."""
    return Cell(material.label(dataset), dataset)


def number_cell(number: Number | None, decimals: int | None, method: str = "") -> Cell:
    """Return the cell of a number; a published number keeps the digits of its paper."""
    if number is None:
        return Cell(method=method)
    if number.printed is not None:
        return Cell(number.printed, number.value)
    return value_cell(number.value, decimals, method)


def value_cell(value: float, decimals: int | None, method: str = "") -> Cell:
    """Return the cell of a value; without `decimals` it shows three significant digits."""
    text = significant(value) if decimals is None else f"{value:.{decimals}f}"
    return Cell(text, int(value) if decimals == 0 and value == int(value) else value, method=method)


def significant(value: float) -> str:
    """Return a number with three significant digits, in exponent form below a millionth."""
    if value == 0 or not np.isfinite(value):
        return f"{value:.0f}"
    if abs(value) < _SMALL:
        return f"{value:.2e}"
    decimals = 2 - int(np.floor(np.log10(abs(value))))
    return f"{round(value, decimals):.{max(0, decimals)}f}"


def mark_stale(table: Table, stale: AbstractSet[tuple[str, str]]) -> Table:
    """Return the table with a dagger on every number that depends on a stale (dataset, method)."""
    body = []
    any_stale = False
    for row in table.body:
        cells = []
        for cell in row.cells:
            used = product(row.datasets, (cell.method, *cell.others))
            old = bool(cell.text) and not stale.isdisjoint(used)
            any_stale |= old
            cells.append(dataclasses.replace(cell, stale=old))
        body.append(dataclasses.replace(row, cells=tuple(cells)))
    notes = (*table.notes, STALE_NOTE) if any_stale else table.notes
    return dataclasses.replace(table, body=tuple(body), notes=notes)
