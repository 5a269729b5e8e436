"""Text forms of a dataset: Libra's (`0,1,1`, optional `weight|` prefix), and tables as text."""

import csv
import io
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.cell_texts import MISSING_TEXTS, RawColumn, number_of, separator_of
from mnlearn.data.dataset import Dataset, merge_rows
from mnlearn.runtime.decompression import DEFAULT_LIMIT, ExpansionLimit, read_limited
from mnlearn.runtime.errors import InputError, name_data
from mnlearn.runtime.files import split_lines, write_text
from mnlearn.runtime.names import check_names
from mnlearn.variables.schema import binary_schema

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


_ZERO, _ONE, _COMMA, _NEWLINE = (ord(c) for c in "01,\n")


def load_benchmark(path: Path | str, limit: ExpansionLimit = DEFAULT_LIMIT) -> Dataset:
    """Read text of 0 and 1 as it is; `data.examples` reads files of people.

    The records of studies depend on this function and so not on how files of people are read.

    Parameters
    ----------
    path : path-like
        The file, which may be compressed (`.gz`, `.xz`).
    limit : ExpansionLimit
        How far a compressed file may expand.

    Raises
    ------
    InputError
        The file is missing, truncated, ragged, empty or not binary, or expands beyond the limit;
        the sentence names the line.

    """
    content = read_limited(path, limit)
    matrix = parse_plain(content)
    if matrix is not None:
        return merge_rows(matrix)
    return parse_lines(Path(path), list(split_lines(decode_text(content, path))))


def decode_text(content: bytes, path: Path | str) -> str:
    """Return the text of a file.

    Raises
    ------
    InputError
        The bytes are not UTF-8; the sentence gives the place.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"is not a text file (byte {error.start}).", where=path) from error


def parse_plain(content: bytes) -> NDArray[np.uint8] | None:
    """Return the matrix of a file of lines `0,1,…,0` and nothing else, else None."""
    width = content.find(b"\n") + 1
    if width < 2 or width % 2 or len(content) % width:
        return None
    cells = np.frombuffer(content, np.uint8).reshape(-1, width)
    values, separators = cells[:, 0::2], cells[:, 1::2]
    if not ((values == _ZERO) | (values == _ONE)).all():
        return None
    if not ((separators[:, :-1] == _COMMA).all() and (separators[:, -1] == _NEWLINE).all()):
        return None
    return values - _ZERO


def parse_lines(path: Path, lines: list[str]) -> Dataset:
    """Parse with weights, headers, quotes, blanks and CRLF; name the line of the first fault."""
    while lines and not lines[-1].strip():
        lines.pop()
    names = _parse_header(lines[0], f"{path}, line 1") if lines else None
    first = 0 if names is None else 1
    values = bytearray()
    weights: list[float] = []
    n_vars = len(names) if names else 0
    for number, line in enumerate(lines[first:], start=first + 1):
        where = f"{path}, line {number}"
        if not line.strip():
            raise InputError(f"{where}: is empty; expected one example a line.")
        weight, bar, example = line.rpartition("|")
        weights.append(_parse_weight(weight, where) if bar else 1.0)
        cells = _split_cells(example, where)
        n_vars = n_vars or len(cells)
        if len(cells) != n_vars:
            raise InputError(f"{where}: expected {n_vars} values as before, got {len(cells)}.")
        for column, cell in enumerate(cells, start=1):
            if cell not in ("0", "1"):
                fault = f"expected 0 or 1, got {_shorten(cell)}."
                raise InputError(fault, where=path, line=number, column=column)
        values += "".join(cells).encode()
    if not weights:
        raise InputError(f"{path}: holds no examples.")
    matrix = np.frombuffer(values, np.uint8).reshape(len(weights), n_vars) - _ZERO
    with name_data(path):
        return merge_rows(matrix, np.array(weights), binary_schema(n_vars, names))


def _split_cells(line: str, where: str) -> list[str]:
    try:
        return [
            cell.strip() for cell in next(csv.reader([line], skipinitialspace=True, strict=True))
        ]
    except csv.Error as error:
        raise InputError(f"{where}: is not CSV: {error}.") from error


def _shorten(cell: str) -> str:
    return repr(cell) if len(cell) <= 40 else f"{cell[:40]!r} and {len(cell) - 40} more characters"


def _parse_header(line: str, where: str) -> tuple[str, ...] | None:
    """Return the names in a first line, or None if it is an example.

    A line with a cell that is a value, or with a weight, is an example, perhaps a damaged one.
    """
    if "|" in line or not line.strip():
        return None
    cells = _split_cells(line, where)
    if any(map(_is_number, cells)):
        return None
    return check_names(cells, where)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _parse_weight(text: str, where: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = -1.0
    if not 0 < weight < float("inf"):
        raise InputError(f"{where}: expected a positive weight before |, got {_shorten(text)}.")
    return weight


def save_text(data: Dataset, path: Path | str) -> None:
    """Write Libra's text form, one line per example in the order in which they were given.

    Rows whose weight is not their number of examples are written once with a `weight|` prefix.

    Raises
    ------
    InputError
        The file cannot be written, or its header would be read as something else.

    """
    lines = [",".join("01"[value] for value in row) for row in data.rows.tolist()]
    if data.is_weighted:
        text = "".join(f"{w:.17g}|{line}\n" for w, line in zip(data.weight, lines, strict=True))
    else:
        text = "".join(f"{lines[i]}\n" for i in data.row_of)
    header = io.StringIO()
    if data.names:
        # Quoted names survive commas. A name that is a number is one only if all are quoted.
        of_numbers = any(map(_is_number, data.names))
        csv.writer(
            header, lineterminator="", quoting=csv.QUOTE_ALL if of_numbers else csv.QUOTE_MINIMAL
        ).writerow(data.names)
        first_line = header.getvalue()
        if len(split_lines(first_line)) > 1:
            is_read = False
        elif of_numbers:
            is_header = not data.is_weighted and has_quoted_numbers([first_line, lines[0]])
            is_read = is_header and _split_cells(first_line, str(path)) == list(data.names)
        else:
            is_read = _parse_header(first_line, str(path)) == data.names
        if not is_read:
            raise InputError(f"{path}: the names of the variables cannot be written as a header.")
        header.write("\n")
    write_text(path, header.getvalue() + text)
