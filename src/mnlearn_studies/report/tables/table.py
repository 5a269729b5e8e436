"""A table, independent of how it is rendered, and what its cells are made from."""

import dataclasses
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np

from mnlearn_studies.report.material import Material
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
    """One number or word of a table: the text for a reader, and the value in the CSV file.

    methods : ours that the number depends on, by which `mark_stale` finds it. stderr : has a column
    of its own in the CSV file.
    """

    text: str = ""
    value: float | int | str | None = None
    bold: bool = False
    stale: bool = False
    methods: tuple[str, ...] = ()
    stderr: float | None = None


@dataclass(frozen=True)
class Row:
    """One row of a table: a cell per column, and the datasets of the numbers.

    footer : whether the row summarises others; the CSV file leaves it out.
    """

    cells: tuple[Cell, ...]
    datasets: tuple[str, ...] = ()
    footer: bool = False


@dataclass(frozen=True, kw_only=True)
class Table:
    """A table, independent of how it is rendered.

    - columns: their names in the CSV file; with_stderr: those whose standard errors have a column
      of their own there.
    - header: rows of headings. In all but the last row, equal neighbours are one heading.
    - alignment: `l` or `r` for each column; if empty, all but the first are on the right.
    - caption, notes: the text above the table, and sentences below it.
    """

    columns: tuple[str, ...]
    header: tuple[tuple[str, ...], ...]
    body: tuple[Row, ...]
    alignment: str = ""
    notes: tuple[str, ...] = ()
    with_stderr: tuple[str, ...] = ()
    caption: str = ""
    name: str = ""

    @property
    def sides(self) -> str:
        """`l` or `r` for each column."""
        return self.alignment or "l" + "r" * (len(self.columns) - 1)


@dataclass(frozen=True, kw_only=True)
class TableEntry(Product):
    """A table of a study, of a kind that derives from this class.

    kind_name : what the study writes under `kind`. records : the kinds of records, besides cells,
    that such tables show without naming their quantities.
    """

    kind_name: ClassVar[str]
    records: ClassVar[tuple[str, ...]] = ()

    def tabulate(self, material: Material) -> Table:
        """Return the table. Each kind writes this."""
        raise NotImplementedError


def label_cell(material: Material, dataset: str) -> Cell:
    """Return the first cell of a dataset's row: its label, and its name in the CSV."""
    return Cell(material.label(dataset), dataset)


def number_cell(number: Number | None, decimals: int | None, *methods: str) -> Cell:
    """Return the cell of a number; a published number keeps the digits of its paper."""
    if number is None:
        return Cell(methods=methods)
    if number.printed is not None:
        return Cell(number.printed, number.value)
    return value_cell(number.value, decimals, *methods)


def value_cell(value: float, decimals: int | None, *methods: str) -> Cell:
    """Return the cell of a value; without `decimals` it shows three significant digits."""
    text = significant(value) if decimals is None else f"{value:.{decimals}f}"
    whole = decimals == 0 and value == int(value)
    return Cell(text, int(value) if whole else value, methods=methods)


def count_cell(count: int, *methods: str) -> Cell:
    """Return the cell of a whole number."""
    return Cell(f"{count:,}", int(count), methods=methods)


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
    for row in table.body:
        cells = (
            dataclasses.replace(
                cell,
                stale=bool(cell.text) and not stale.isdisjoint(product(row.datasets, cell.methods)),
            )
            for cell in row.cells
        )
        body.append(dataclasses.replace(row, cells=tuple(cells)))
    is_marked = any(cell.stale for row in body for cell in row.cells)
    notes = (*table.notes, STALE_NOTE) if is_marked else table.notes
    return dataclasses.replace(table, body=tuple(body), notes=notes)
