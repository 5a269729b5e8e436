"""CSV files with categorical columns, as tables of numbered values."""

import csv
import io
from array import array
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.cell_texts import MISSING_TEXTS, RawColumn, separator_of, some_of
from mnlearn.data.reading import Reading
from mnlearn.data.row_names import names_rows
from mnlearn.runtime.decompression import ExpansionLimit, open_bytes
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.names import check_names
from mnlearn.runtime.progress import say

# A line names columns of more values than this.
_MANY = 10
_MISSING = MISSING_TEXTS | {"?"}


class CategoryTable(NamedTuple):
    """A CSV file whose cells are numbered by their values.

    values : for each column, its different values in order of appearance.
    first_line : for each of these values, the line that it appears on first.
    codes : int32, shape (n_lines, n_columns). The number of the value of each cell.
    """

    header: list[str]
    values: list[list[str]]
    first_line: list[list[int]]
    codes: NDArray[np.int32]


def read_variables(path: Path | str, limit: ExpansionLimit, reading: Reading) -> CategoryTable:
    """Read the columns of a CSV file that are variables; a line says which are not."""
    table = read_table(path, limit, None, reading.leave_out)
    for name in reading.keep:
        if name not in table.header:
            raise InputError(f"{path}, {reading.option('keep')}: there is no column {name!r}.")
    columns = [
        RawColumn(name, values, table.codes[:, v])
        for v, (name, values) in enumerate(zip(table.header, table.values, strict=True))
    ]
    is_row_name = [
        names_rows(columns, v, column.texts, reading, str(path)) for v, column in enumerate(columns)
    ]
    kept = [v for v, left_out in enumerate(is_row_name) if not left_out]
    if not kept:
        raise InputError(f"{path}: holds no variables.")
    if table.header[kept[0]] == "":
        raise InputError(f"{path}, line 1, column 1: has no name.")
    left_out = [repr(table.header[v]) for v, left_out in enumerate(is_row_name) if left_out]
    if left_out:
        say(f"{path}: left out {some_of(left_out)}, which numbers the rows.")
    many = [f"{columns[v].name!r} ({len(columns[v].texts)})" for v in kept]
    many = [text for text, v in zip(many, kept, strict=True) if len(columns[v].texts) > _MANY]
    if many:
        say(
            f"{path}: a column for each value of {some_of(many)}; "
            f"{reading.option('leave_out')} leaves out what is no variable, such as dates."
        )
    return _take_columns(table, kept)


def _take_columns(table: CategoryTable, kept: Sequence[int]) -> CategoryTable:
    header = [table.header[v] for v in kept]
    values = [table.values[v] for v in kept]
    lines = [table.first_line[v] for v in kept]
    return CategoryTable(header, values, lines, table.codes[:, kept])


def _choose_columns(
    path: Path | str, header: Sequence[str], wanted: Sequence[str] | None, leave_out: Sequence[str]
) -> list[int]:
    """Return which columns of a file are read: those wanted, in their order, or all but some."""
    # A first column without a name may number the rows.
    check_names([header[0] or "row.names", *header[1:]], f"{path}, line 1")
    if wanted is None:
        for name in leave_out:
            if name not in header:
                raise InputError(f"{path}, --leave-out: there is no column {name!r}.")
        return [v for v, name in enumerate(header) if name not in leave_out]
    if not set(wanted) <= set(header):
        raise InputError(
            f"{path}, line 1: expected the columns {', '.join(wanted)}; got {', '.join(header)}."
        )
    others = [repr(name) for name in header if name and name not in wanted]
    if others:
        verb = "is" if len(others) == 1 else "are"
        say(f"{path}: left out {some_of(others)}, which {verb} not needed.")
    return [header.index(name) for name in wanted]


def read_table(
    path: Path | str,
    limit: ExpansionLimit,
    wanted: Sequence[str] | None,
    leave_out: Sequence[str] = (),
) -> CategoryTable:
    """Read a CSV file line by line; refuse ragged lines and missing cells.

    wanted, leave_out : the columns to read, in this order, or all but some.
    """
    header: list[str] = []
    table = _Numbering(path)
    with open_bytes(path, limit) as file:
        text = io.TextIOWrapper(file, "utf-8-sig", newline="")
        # Errors count the lines that were read.
        reader = csv.reader(())
        try:
            first = [next(text, ""), next(text, "")]
            separator = separator_of(first)
            reader = csv.reader(
                chain(first, text), delimiter=separator, strict=True,
                skipinitialspace=separator != "\t",
            )  # fmt: skip
            for cells in reader:
                if not header:
                    header = [cell.strip() for cell in cells]
                    if header:
                        table.begin(header, _choose_columns(path, header, wanted, leave_out))
                elif cells:
                    table.add(cells, reader.line_num)
        except csv.Error as error:
            raise InputError(f"{path}, line {reader.line_num}: is not CSV: {error}.") from error
        except UnicodeDecodeError as error:
            # Compressed files cannot tell where they are.
            start = file.tell() - len(error.object) if file.seekable() else None
            place = "" if start is None else f" (byte {start + error.start})"
            raise InputError(f"{path}: is not a text file{place}.") from error
    if not table.n_lines:
        raise InputError(f"{path}: holds no examples below a header.")
    return table.finish()


class _Numbering:
    """Numbers the values of each column as lines come in.

    Only the different values are kept as text, and whatever is wrong with a value is found when
    it first appears.
    """

    def __init__(self, path: Path | str) -> None:
        self._path = path
        self._header: list[str] = []
        self._n_cells = 0
        self._kept: list[int] = []
        # The code of a cell as it is written, blanks included.
        self._code: list[dict[str, int]] = []
        self._values: list[list[str]] = []
        self._first_line: list[list[int]] = []
        self._codes = array("i")
        self.n_lines = 0

    def begin(self, header: list[str], kept: list[int]) -> None:
        """Take the names of the columns, and the numbers of those that are kept."""
        self._n_cells, self._kept = len(header), kept
        self._header = [header[v] for v in kept]
        self._code = [{} for _ in kept]
        self._values = [[] for _ in kept]
        self._first_line = [[] for _ in kept]

    def add(self, cells: Sequence[str], line: int) -> None:
        """Take the cells of one line."""
        if len(cells) != self._n_cells:
            raise InputError(
                f"{self._path}, line {line}: expected {self._n_cells} values as in the "
                f"header, got {len(cells)}."
            )
        for c, (code, v) in enumerate(zip(self._code, self._kept, strict=True)):
            cell = cells[v]
            k = code.get(cell)
            self._codes.append(self._number(c, cell, line) if k is None else k)
        self.n_lines += 1

    def _number(self, c: int, cell: str, line: int) -> int:
        """Return the code of a cell of column `c` that was not written like this before."""
        code, value = self._code[c], cell.strip()
        if value.lower() in _MISSING:
            raise InputError(
                f"{self._path}, line {line}, column {self._header[c]!r}: is missing ({value!r}); "
                "fill it in, leave the line out or give missing values a name of their own."
            )
        if value not in code:
            code[value] = len(self._values[c])
            self._values[c].append(value)
            self._first_line[c].append(line)
        code[cell] = code[value]
        return code[value]

    def finish(self) -> CategoryTable:
        """Return the table of the lines so far."""
        codes = np.frombuffer(self._codes, np.int32).reshape(self.n_lines, len(self._header))
        return CategoryTable(self._header, self._values, self._first_line, codes)
