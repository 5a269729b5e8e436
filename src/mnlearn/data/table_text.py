"""Tables as text: what separates their cells, whether they have a header, and what is wrong."""

import csv
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mnlearn.data.cell_texts import MISSING_TEXTS, RawColumn, number_of, separator_of
from mnlearn.runtime.errors import InputError

_NAMES = {";": ", separated by semicolons,", "\t": ", separated by tabs,"}


class TextTable(NamedTuple):
    """The columns of a table, whether they have names, and the line of the first row."""

    columns: list[RawColumn]
    has_names: bool
    first_line: int


def columns_of(lines: Sequence[str]) -> TextTable | None:
    """Return the columns of lines of text; None if the lines are no table."""
    lines = _without_empty_end(lines)
    if not lines or _has_weights(lines):
        return None
    separator = separator_of(lines)
    try:
        cells = [[cell.strip() for cell in row] for row in _reader_of(lines, separator)]
    except csv.Error:
        return None
    has_names = _is_header(cells[0]) or has_quoted_numbers(lines)
    header, rows = (cells[0], cells[1:]) if has_names else ([], cells)
    if not rows or len({len(row) for row in rows}) > 1 or not rows[0]:
        return None
    if has_names and len(rows[0]) == len(header) + 1 and not any(row[-1] for row in rows):
        # Each row ends with a separator.
        rows = [row[:-1] for row in rows]
    if has_names and len(rows[0]) == len(header) + 1:
        # R's write.table names no column of row names.
        header = ["", *header]
    if not has_names:
        header = [str(v + 1) for v in range(len(rows[0]))]
    if len(header) != len(rows[0]):
        return None
    if separator == ";":
        rows = [[_with_point(cell) for cell in row] for row in rows]
    columns = [_numbered(*column) for column in zip(header, zip(*rows, strict=True), strict=True)]
    return TextTable(columns, has_names, 2 if has_names else 1)


def check_rows(lines: Sequence[str], where: str) -> None:
    """Refuse lines that are no table because a row is empty, too long or too short, or no CSV.

    Lines with weights are left to those who read them. `where` is the name of the file.

    Raises
    ------
    InputError
        The sentence names the first line that is wrong.
    """
    lines = _without_empty_end(lines)
    if not lines or _has_weights(lines):
        return
    separator = separator_of(lines)
    reader = _reader_of(lines, separator)
    widths: list[int] = []
    while True:
        begun = reader.line_num + 1
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise InputError(f"{where}, line {begun}: is not CSV: {error}.") from error
        if row is None:
            return
        if not any(map(str.strip, row)) and len(row) < 2:
            # A row of one column may be a missing cell.
            if widths and widths[0] > 1:
                fault = "is empty; expected one example a line."
                raise InputError(f"{where}, line {begun}: {fault}")
        elif not widths:
            has_names = _is_header([cell.strip() for cell in row]) or has_quoted_numbers(lines)
            # Rows below a header may begin with a name of the row, or end with a separator.
            widths = [len(row), len(row) + has_names]
        elif len(row) in widths:
            widths = [len(row)]
        else:
            raise InputError(
                f"{where}, line {begun}: expected {widths[0]} values as before"
                f"{_NAMES.get(separator, ',')} got {len(row)}."
            )


def has_quoted_numbers(lines: Sequence[str]) -> bool:
    """Tell whether a first line has names that are numbers: quotes, which the next line lacks."""
    if len(lines) < 2 or not lines[0].lstrip().startswith('"'):
        return False
    separator = re.escape(separator_of(lines))
    quoted = r'\s*"[^"]*"\s*'
    if not re.fullmatch(f"{quoted}({separator}{quoted})*", lines[0]):
        return False
    cells = re.findall('"([^"]*)"', lines[0])
    # R quotes the names of rows.
    next_cells = lines[1].split(separator_of(lines))[1 if cells[0] == "" else 0 :]
    has_number = any(number_of(cell) is not None for cell in cells)
    return has_number and not any('"' in cell for cell in next_cells)


def _without_empty_end(lines: Sequence[str]) -> Sequence[str]:
    last = max((k for k, line in enumerate(lines) if line.strip()), default=-1)
    return lines[: last + 1]


def _has_weights(lines: Sequence[str]) -> bool:
    return any("|" in line for line in lines[:2])


def _reader_of(lines: Sequence[str], separator: str) -> Any:
    # Quoted names may have line breaks.
    ended = (f"{line}\n" for line in lines)
    # A tab is a space, so that skipping spaces would skip empty cells.
    return csv.reader(ended, delimiter=separator, skipinitialspace=separator != "\t", strict=True)


def _with_point(cell: str) -> str:
    """Return a number with a decimal comma as one with a point, and other texts as they are."""
    number = cell.replace(",", ".")
    return cell if number_of(number) is None else number


def _is_header(cells: Sequence[str]) -> bool:
    """Tell whether a first line has names: no cell is a number, and one is not a missing cell."""
    if all(cell.lower() in MISSING_TEXTS or cell == "?" for cell in cells):
        return False
    return all(number_of(cell) is None for cell in cells)


def _numbered(name: str, cells: Sequence[str]) -> RawColumn:
    """Return a column whose different texts are numbered in order of appearance."""
    number: dict[str, int] = {}
    codes = np.array([number.setdefault(cell, len(number)) for cell in cells], np.int32)
    return RawColumn(name, list(number), codes)
