"""Tables in text files, with and without a header, as pandas, R and people write them."""

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.columns import Column
from mnlearn.data.dataset import Dataset
from mnlearn.data.text import parse_plain, parse_weight, split_cells
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import write_text
from mnlearn.runtime.names import check_names
from mnlearn.variables.matching import MISSING_TEXTS, is_missing, number_of
from mnlearn.variables.schema import Schema

_NAMES = {";": ", separated by semicolons,", "\t": ", separated by tabs,"}
# What separates cells; the first that a line has, if nothing else decides.
_SEPARATORS = (",", ";", "\t")


class TextTable(NamedTuple):
    """The columns of a table in a text file.

    has_names : whether they have names. first_line : the line of the first row.
    weight : float64, shape (n_rows,); None if the rows have no weights.
    """

    columns: list[Column]
    has_names: bool
    first_line: int
    weight: NDArray[np.float64] | None = None


def separator_of(lines: Sequence[str]) -> str:
    """Return what separates the cells of a table: a comma, a semicolon or a tab.

    Of several that the first line has, it is the one that the next line has as often: a name may
    have a comma. The next line may have one more, for the name of a row or at its end.
    """
    # Quoted names may have commas.
    bare = [re.sub('"[^"]*"', "", line) for line in lines[:2]]
    found = [mark for mark in _SEPARATORS if bare and mark in bare[0]]
    if len(found) > 1 and len(bare) > 1:
        for more in (0, 1):
            fitting = [mark for mark in found if bare[1].count(mark) == bare[0].count(mark) + more]
            # Numbers may have decimal commas, and have no semicolons and tabs.
            if fitting:
                return fitting[-1]
    return found[0] if found else ","


def parse_table(lines: Sequence[str], where: str) -> TextTable:
    """Return the columns of lines of text, perhaps with weights.

    Raises
    ------
    InputError
        The lines are no table; the sentence names the file and the line.
    """
    lines = _without_empty_end(lines)
    if not lines:
        raise InputError(f"{where}: holds no examples.")
    weight: list[float] | None = None
    if _has_weights(lines):
        weight, lines = _take_weights(lines, where)
    check_rows(lines, where)
    table = columns_of(lines)
    if table is None:
        raise InputError(f"{where}: holds no examples below a first line of names.")
    if table.has_names:
        # R's write.table names no column of row names.
        first, *names = (column.name for column in table.columns)
        check_names([first or "row.names", *names], f"{where}, line 1")
    return table if weight is None else table._replace(weight=np.array(weight))


def _take_weights(lines: Sequence[str], where: str) -> tuple[list[float], list[str]]:
    """Return the weights before `|`, 1 where a line has none, and the lines without them."""
    divided = [line.partition("|") for line in lines]
    rest = [
        example if bar else line for line, (_, bar, example) in zip(lines, divided, strict=True)
    ]
    has_names = not divided[0][1] and (
        _is_header(split_cells(lines[0], f"{where}, line 1")) or has_quoted_numbers(rest)
    )
    weights = [
        parse_weight(weight, f"{where}, line {number}") if bar else 1.0
        for number, (weight, bar, _) in enumerate(divided, start=1)
    ]
    return weights[has_names:], rest


def columns_of(lines: Sequence[str]) -> TextTable | None:
    """Return the columns of lines of text; None if the lines are no table."""
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

    `where` is the name of the file.

    Raises
    ------
    InputError
        The sentence names the first line that is wrong.
    """
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
    """Tell whether examples begin with a number and `|`; other texts may have the sign too."""
    weights = [line.partition("|")[0] for line in lines[:2] if "|" in line]
    return any(number_of(weight) is not None for weight in weights)


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


def _numbered(name: str, cells: Sequence[str]) -> Column:
    """Return a column whose different texts are numbered in order of appearance."""
    number: dict[str, int] = {}
    codes = np.array([number.setdefault(cell, len(number)) for cell in cells], np.int32)
    return Column(name, list(number), codes)


def parse_named(content: bytes) -> tuple[tuple[str, ...], NDArray[np.uint8]] | None:
    """Return the names and the matrix of a file of a line of names above 0 and 1, else None."""
    first, _, rest = content.removeprefix(b"\xef\xbb\xbf").partition(b"\n")
    if b'"' in first or b"|" in first or not rest:
        return None
    matrix = parse_plain(rest if rest.endswith(b"\n") else rest + b"\n")
    if matrix is None:
        return None
    try:
        names = tuple(cell.strip() for cell in first.decode().rstrip("\r").split(","))
    except UnicodeDecodeError:
        return None
    return (names, matrix) if _is_header(names) and len(names) == matrix.shape[1] else None


def save_text(data: Dataset, path: Path | str) -> None:
    """Write the states of examples as text, one line for each in the order of the examples.

    Rows whose weight is not their number of examples are written once with a `weight|` prefix.

    Raises
    ------
    InputError
        The file cannot be written, or its header or a state would be read as something else.
    """
    lines = _lines_of(data, path)
    if data.is_weighted:
        text = "".join(f"{w:.17g}|{line}\n" for w, line in zip(data.weight, lines, strict=True))
    else:
        text = "".join(f"{lines[i]}\n" for i in data.row_of)
    numbers = all(number_of(text) is not None for v in data.schema for text in v.texts)
    # Without a header, a first line of words would be read as one.
    header = _header_of(data.schema, lines[0], path) if data.schema.is_named or not numbers else ""
    write_text(path, header + text)


def _lines_of(data: Dataset, path: Path | str) -> list[str]:
    """Return the states of each distinct row as a line."""
    for variable in data.schema:
        for text in variable.texts:
            if is_missing(text) or "\n" in text or _has_weights([text]):
                raise InputError(
                    f"{path}: the state {text!r} of {variable.name!r} would be read as something "
                    "else; expected an .npz file."
                )
    if data.schema.is_binary and all(v.texts == ("0", "1") for v in data.schema):
        return [",".join("01"[value] for value in row) for row in data.rows.tolist()]
    texts = [np.array(variable.texts, object) for variable in data.schema]
    values = data.schema.values(data.rows)
    cells = [own[values[:, v]].tolist() for v, own in enumerate(texts)]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(zip(*cells, strict=True))
    return out.getvalue().splitlines()


def _header_of(schema: Schema, line: str, path: Path | str) -> str:
    """Return the first line, of the names; quoted names survive commas."""
    # A name that is a number is one only if all are quoted.
    of_numbers = any(number_of(name) is not None for name in schema.names)
    header = io.StringIO()
    csv.writer(
        header, lineterminator="\n", quoting=csv.QUOTE_ALL if of_numbers else csv.QUOTE_MINIMAL
    ).writerow(schema.names)
    first_line = header.getvalue().removesuffix("\n")
    table = columns_of([first_line, line])
    names = None if table is None else tuple(column.name for column in table.columns)
    if table is None or not table.has_names or names != schema.names or "\n" in first_line:
        raise InputError(f"{path}: the names of the variables cannot be written as a header.")
    return header.getvalue()
