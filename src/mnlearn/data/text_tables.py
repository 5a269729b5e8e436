"""Tables in text files, with and without a header, as pandas, R and people write them."""

import csv
import io
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.column_checks import NAMELESS, notes_on_dummies
from mnlearn.data.columns import Column
from mnlearn.data.dataset import Dataset
from mnlearn.data.rules import Rules
from mnlearn.data.tables import Table, read_columns
from mnlearn.data.text import parse_plain
from mnlearn.data.text_checks import (
    Cells,
    refuse_digits,
    refuse_names_again,
    refuse_new_values,
    refuse_one_column,
)
from mnlearn.data.text_lines import SPACE, Lines, separator_of, tidy_lines
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import write_text
from mnlearn.runtime.names import check_names, guarded, unguarded
from mnlearn.variables.matching import MISSING_TEXTS, is_missing, number_of, shorten
from mnlearn.variables.schema import Schema, binary_schema

_NAMES = {
    ",": ",",
    ";": ", separated by semicolons,",
    "\t": ", separated by tabs,",
    SPACE: ", separated by spaces,",
}
# Qualtrics writes the texts of the questions and such marks below the names.
_QUALTRICS = '{"ImportId"'
# Of fewer rows, a column of 0 and 1 may number them.
_FEW_ROWS = 2
_ABOVE = "delete what stands above the names of the columns"
# What stands between the weight of a row and its cells.
_WEIGHED = "|"


class TableFile(NamedTuple):
    """The columns of a file, named if `is_named`, and the lines and the weights of its rows."""

    path: Path
    columns: Sequence[Column]
    is_named: bool
    lines: Sequence[int] | None
    weight: NDArray[np.float64] | None = None
    notes: tuple[str, ...] = ()
    has_baskets: bool = False

    def read(self, rules: Rules, schema: Schema | None = None) -> Table:
        """Return the variables and cells; by a schema if it is given."""
        file = self
        if schema is None and self.lines is not None and not self.has_baskets:
            refuse_one_column(self.columns, rules, self.path)
        if schema is not None and self.has_baskets:
            # Items that no row has.
            given = {column.name for column in self.columns}
            none = np.zeros(len(self.columns[0].codes), np.int32)
            absent = [Column(name, ["0"], none) for name in schema.names if name not in given]
            file = self._replace(columns=[*self.columns, *absent])
        return read_columns(file.columns, rules, str(self.path), file._place, self.is_named, schema)

    def _place(self, row: int, column: int) -> str:
        # The first column may number the rows, without a name of its own.
        name = self.columns[column].name
        label = repr(name) if self.is_named and name else column + 1
        return f"{name_row(self.path, self.lines, row)}, column {label}"


def name_row(path: Path | str, lines: Sequence[int] | None, row: int) -> str:
    """Return the place of a row, counted from 0, by its line in a text file."""
    return f"{path}, row {row + 1}" if lines is None else f"{path}, line {lines[row]}"


def parse_table(texts: Sequence[str], path: Path, *, keep_empty: bool = False) -> TableFile:
    """Return the columns of lines of text; `keep_empty` keeps rows without any value."""
    where = str(path)
    lines = tidy_lines(texts, where)
    weight: list[float] | None = None
    if lines.separator != _WEIGHED and _has_weights(lines.texts):
        weight, lines = _take_weights(lines, where)
    cells = _cells_of(lines, where)
    cells, questions = _without_questions(cells)
    notes = [*lines.notes, *questions]
    if weight is None:
        cells, dropped = without_empty(cells, keep_empty)
        notes += dropped
    if not cells.rows:
        raise InputError(f"{where}: holds no examples below a first line of names.")
    refuse_names_again(cells, where)
    refuse_new_values(cells, where)
    columns = _columns_of(cells, lines.separator)
    refuse_digits(columns, cells, where)
    if cells.header is not None:
        # R's write.table names no column of row names.
        first, *names = (column.name for column in columns)
        if "" in names:
            place = f"{where}, line {lines.first}"
            raise InputError(NAMELESS, where=place, column=names.index("") + 2)
        check_names([first or "row.names", *names], f"{where}, line {lines.first}")
    weights = None if weight is None else np.array(weight)
    is_named = cells.header is not None
    return TableFile(path, columns, is_named, cells.lines, weights, tuple(notes))


def _take_weights(lines: Lines, where: str) -> tuple[list[float], Lines]:
    """Return the weights before `|`, 1 where a line has none, and the lines without them."""
    divided = [text.partition("|") for text in lines.texts]
    rest = [
        example if bar else text
        for text, (_, bar, example) in zip(lines.texts, divided, strict=True)
    ]
    bare = Lines(rest, lines.first, separator_of(rest), lines.notes)
    has_names = not divided[0][1] and (
        _is_header(next(rows_of(lines, where))[1]) or _has_quoted_numbers(bare)
    )
    weights = [
        _parse_weight(weight, f"{where}, line {number}") if bar else 1.0
        for number, (weight, bar, _) in enumerate(divided, start=lines.first)
    ]
    return weights[has_names:], bare


def _cells_of(lines: Lines, where: str) -> Cells:
    """Return the cells of lines; refuse a line that is empty, too long or too short, or no CSV."""
    rows: list[list[str]] = []
    begins: list[int] = []
    width: set[int] = set()
    has_names = False
    for begin, row in rows_of(lines, where):
        if len(row) < 2 and not row[0] and max(width, default=1) > 1:
            # A row of one column may be a missing cell.
            advice = _ABOVE if len(rows) == 1 == len(rows[0]) else None
            fault = "is empty; expected one example a line."
            raise InputError(fault, where=where, line=begin, advice=advice)
        if not rows:
            has_names = _is_header(row) or _has_quoted_numbers(lines)
            # Rows below a header may begin with a name of the row, or end with a separator.
            width = {len(row), len(row) + has_names}
        elif len(row) in width:
            width = {len(row)}
        else:
            _refuse_ragged(row, min(width), lines, f"{where}, line {begin}")
        rows.append(row)
        begins.append(begin)
    if not has_names:
        return Cells(None, rows, begins)
    return Cells(rows[0], rows[1:], begins[1:])


def rows_of(lines: Lines, where: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line of each row and its cells, at least one."""
    reader = lines.reader()
    while True:
        begin = lines.first + reader.line_num
        try:
            row = next(reader, None)
        except csv.Error as error:
            advice = "a cell in quotation marks ends with one, and has those inside it twice"
            fault = f"is not CSV: {error}."
            raise InputError(fault, where=where, line=begin, advice=advice) from error
        if row is None:
            return
        yield begin, [unguarded(cell) for cell in row] or [""]


def _refuse_ragged(row: list[str], width: int, lines: Lines, where: str) -> None:
    separated = _NAMES.get(lines.separator, f", separated by {lines.separator},")
    widths = {text.count(lines.separator) for text in lines.texts}
    # Many different lengths are those of lists.
    advice = (
        "a file of lists of items is read with --baskets, or baskets=True in Python"
        if len(widths) > 3
        else None
    )
    if width == 1:
        advice = _ABOVE
    fault = f"expected {width} values as before{separated} got {len(row)}."
    raise InputError(fault, where=where, advice=advice)


def _without_questions(cells: Cells) -> tuple[Cells, list[str]]:
    """Return cells without the lines in which Qualtrics describes columns, and what to say."""
    for k, row in enumerate(cells.rows[:2]):
        if row[0].startswith(_QUALTRICS):
            kept = Cells(cells.header, cells.rows[k + 1 :], cells.lines[k + 1 :])
            return kept, [f"left out {k + 1} lines of Qualtrics below the names"]
    return cells, []


def without_empty(cells: Cells, keep_empty: bool) -> tuple[Cells, list[str]]:
    """Return cells without rows and nameless columns in which nothing stands, and what to say."""
    notes = []
    kept = [k for k, row in enumerate(cells.rows) if any(row) or len(row) < 2 or keep_empty]
    empty = [line for row, line in zip(cells.rows, cells.lines, strict=True) if not any(row)]
    if kept and len(kept) < len(cells.rows):
        n = len(cells.rows) - len(kept)
        notes.append(f"left out {n} rows without any value, the first in line {empty[0]}")
        cells = Cells(cells.header, [cells.rows[k] for k in kept], [cells.lines[k] for k in kept])
    header = cells.header
    if header is None or not cells.rows or len(header) > len(cells.rows[0]):
        return cells, notes
    # Names stand over the last columns if the names of the rows have none.
    shift = len(cells.rows[0]) - len(header)
    bare = [c for c, name in enumerate(header) if not name]
    unused = {c for c in bare if not any(row[c + shift] for row in cells.rows)}
    if not unused:
        return cells, notes
    notes.append(f"left out {len(unused)} empty columns without a name")
    rows = [[cell for c, cell in enumerate(row, -shift) if c not in unused] for row in cells.rows]
    header = [name for c, name in enumerate(header) if c not in unused]
    return Cells(header, rows, cells.lines), notes


def _columns_of(cells: Cells, separator: str) -> list[Column]:
    """Return the columns of cells; numbers are the names of those of a table without names."""
    header, rows = cells.header, cells.rows
    if header is None:
        header = [str(v + 1) for v in range(len(rows[0]))]
    elif len(rows[0]) == len(header) + 1 and not any(row[-1] for row in rows):
        # Each row ends with a separator.
        rows = [row[:-1] for row in rows]
    elif len(rows[0]) == len(header) + 1:
        # R's write.table names no column of row names.
        header = ["", *header]
    if separator == ";":
        rows = [[_with_point(cell) for cell in row] for row in rows]
    return [_numbered(*column) for column in zip(header, zip(*rows, strict=True), strict=True)]


def _has_quoted_numbers(lines: Lines) -> bool:
    """Tell whether a first line has quoted names, some numbers, above what is none or unquoted."""
    texts = lines.texts
    if len(texts) < 2 or not texts[0].lstrip().startswith('"'):
        return False
    separator = re.escape(lines.separator)
    quoted = r'\s*"[^"]*"\s*'
    if not re.fullmatch(f"{quoted}({separator}{quoted})*", texts[0]):
        return False
    names = re.findall('"([^"]*)"', texts[0])
    below = re.findall(rf'(?:^|{separator})(\s*"(?:[^"]|"")*"\s*|[^{separator}]*)', texts[1])
    # R's write.table names no column of row names.
    below = below[max(0, len(below) - len(names)) :]
    numbers = [k for k, name in enumerate(names[: len(below)]) if number_of(name) is not None]
    return bool(numbers) and not any(_is_quoted_number(below[k]) for k in numbers)


def _is_quoted_number(cell: str) -> bool:
    text = cell.strip()
    return text.startswith('"') and number_of(text.strip('"')) is not None


def _has_weights(texts: Sequence[str]) -> bool:
    """Tell whether examples begin with a number and `|`; other texts may have the sign too."""
    marked = [text for text in texts[:2] if _WEIGHED in text]
    are_numbers = [number_of(text.partition(_WEIGHED)[0]) is not None for text in marked]
    if any(mark in text for text in marked for mark in _NAMES if mark != SPACE):
        return any(are_numbers)
    # The sign may separate the cells.
    return all(are_numbers) and {text.count(_WEIGHED) for text in marked} == {1}


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


def _parse_weight(text: str, where: str) -> float:
    """Return the number before `|`; refuse what is no positive one."""
    weight = number_of(text)
    if weight is None or weight <= 0:
        raise InputError(f"{where}: expected a positive weight before |, got {shorten(text)}.")
    return weight


def plain_table(content: bytes) -> Table | None:
    """Return the table of a text of 0 and 1, perhaps below a line of names; None if it is none."""
    matrix, names = parse_plain(content), None
    if matrix is None:
        first, _, rest = content.partition(b"\n")
        matrix = parse_plain(rest if rest.endswith(b"\n") else rest + b"\n")
        if matrix is None or len(matrix) <= _FEW_ROWS:
            return None
        try:
            names = names_of_line(first)
        except ValueError:
            return None
        if len(names) != matrix.shape[1]:
            return None
    schema = binary_schema(matrix.shape[1], names)
    return Table(schema, matrix, notes=tuple(notes_on_dummies(schema, matrix)))


def names_of_line(line: bytes) -> tuple[str, ...]:
    """Return the names in the first line of a table; ValueError if they are not plain ones."""
    line = line.removeprefix(b"\xef\xbb\xbf")
    names = tuple(cell.strip() for cell in line.decode().rstrip("\r\n").split(","))
    is_plain = all(name and name == unguarded(name) for name in names)
    if b'"' in line or b"|" in line or b"#" in line or not is_plain or not _is_header(names):
        raise ValueError
    return names


def save_text(data: Dataset, path: Path | str) -> None:
    """Write the states of examples as text, one line for each in the order of the examples.

    Rows whose weight is not their number of examples are written once with a `weight|` prefix.
    """
    lines = _lines_of(data, path)
    if data.is_weighted:
        text = "".join(f"{w:.17g}|{line}\n" for w, line in zip(data.weight, lines, strict=True))
    else:
        text = "".join(f"{lines[i]}\n" for i in data.row_of)
    numbers = all(number_of(text) is not None for v in data.schema for text in v.texts)
    # Without a header, a first line of words would be read as one.
    first = lines[0 if data.is_weighted else data.row_of[0]]
    header = _header_of(data.schema, first, path) if data.schema.is_named or not numbers else ""
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
    texts = [np.array(list(map(guarded, v.texts)), object) for v in data.schema]
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
    ).writerow(map(guarded, schema.names))
    first_line = header.getvalue().removesuffix("\n")
    try:
        table = parse_table([first_line, line], Path(path))
    except InputError:
        table = None
    names = None if table is None else tuple(column.name for column in table.columns)
    if table is None or not table.is_named or names != schema.names or "\n" in first_line:
        raise InputError(f"{path}: the names of the variables cannot be written as a header.")
    return header.getvalue()
