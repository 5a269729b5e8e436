"""CSV files with categorical columns, and how they become binary data (one-hot)."""

import csv
import io
from array import array
from collections import Counter
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.cell_texts import MISSING_TEXTS, separator_of
from mnlearn.data.dataset import Dataset, merge_rows
from mnlearn.runtime.decompression import DEFAULT_LIMIT, ExpansionLimit, open_bytes
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_json
from mnlearn.runtime.names import check_names

MAX_CATEGORIES = 100
_MISSING = MISSING_TEXTS | {"?"}


class Column(TypedDict):
    """How one categorical column becomes binary variables.

    Attributes
    ----------
    column : str
        Its name in the header.
    categories : list of str
        All its values, in order.
    variables : list of str
        Names of the binary variables that stand for it.
    indicated : list of str
        The value that each of these variables indicates.

    """

    column: str
    categories: list[str]
    variables: list[str]
    indicated: list[str]


class Encoding(TypedDict):
    """How the columns of a CSV file become binary variables; plain values, ready for JSON."""

    kind: str
    columns: list[Column]


class _Table(NamedTuple):
    """A CSV file whose cells are numbered by their values.

    values : for each column, its different values in order of appearance.
    first_line : for each of these values, the line that it appears on first.
    codes : int32, shape (n_lines, n_columns). The number of the value of each cell.
    """

    header: list[str]
    values: list[list[str]]
    first_line: list[list[int]]
    codes: NDArray[np.int32]


def read_one_hot(
    path: Path | str, max_categories: int = MAX_CATEGORIES, limit: ExpansionLimit = DEFAULT_LIMIT
) -> tuple[Dataset, Encoding]:
    """Return a CSV file with categorical columns as binary data, and how it was encoded.

    See `find_encoding` for the variables, the parameters and what is refused.
    """
    table = _read_table(path, limit)
    encoding = _choose_encoding(path, table.header, table.values, max_categories)
    return _encode_table(path, table, encoding), encoding


def find_encoding(
    paths: Sequence[Path | str],
    max_categories: int = MAX_CATEGORIES,
    limit: ExpansionLimit = DEFAULT_LIMIT,
) -> Encoding:
    """Return how to make the columns of CSV files binary, from all values that occur in them.

    A column of more than two values becomes one variable `column=value` for each, and these are a
    group of the dataset; one of two values becomes one variable for the second; one that never
    changes is kept as one variable.
    Numbers are in numeric order, everything else in alphabetic order. A column of 0 and 1 keeps
    its name and values.

    Parameters
    ----------
    paths : sequence of path-like
        Files with the same header.
    max_categories : int
        Most values of one column.
    limit : ExpansionLimit
        How far a compressed file may expand.

    Raises
    ------
    InputError
        A file is unreadable or ragged, a cell is missing, the headers differ, a column has more
        than `max_categories` values, or two variables would have the same name.

    """
    header: list[str] = []
    found: list[dict[str, None]] = []
    for path in paths:
        table = _read_table(path, limit)
        if not header:
            header, found = table.header, [{} for _ in table.header]
        _check_header(path, table.header, header)
        for seen, values in zip(found, table.values, strict=True):
            seen.update(dict.fromkeys(values))
    return _choose_encoding(paths[0], header, [list(seen) for seen in found], max_categories)


def _choose_encoding(
    path: Path | str, header: Sequence[str], values: Sequence[Sequence[str]], max_categories: int
) -> Encoding:
    """Return the encoding of columns that have these values; `path` names the file in errors."""
    columns = [_encode_column(*column) for column in zip(header, values, strict=True)]
    for column in columns:
        if len(column["categories"]) > max_categories:
            raise InputError(
                f"{path}, column {column['column']!r}: has {len(column['categories'])} "
                f"different values, more than {max_categories}; group them or leave it out."
            )
    counts = Counter(name for column in columns for name in column["variables"])
    name, n_times = counts.most_common(1)[0]
    if n_times > 1:
        raise InputError(f"{path}: {n_times} variables would be called {name!r}; rename a column.")
    return {"kind": "one-hot", "columns": columns}


def _encode_column(name: str, values: Sequence[str]) -> Column:
    categories = _sort_values(values)
    if set(values) <= {"0", "1"}:
        variables, indicated = [name], ["1"]
    else:
        indicated = categories[1:] if len(categories) == 2 else categories
        variables = [f"{name}={value}" for value in indicated]
    return {
        "column": name,
        "categories": categories,
        "variables": variables,
        "indicated": indicated,
    }


def _sort_values(values: Sequence[str]) -> list[str]:
    """Return numbers in numeric order, anything else in alphabetic order."""
    try:
        return sorted(values, key=lambda value: (float(value), value))
    except ValueError:
        return sorted(values)


def encode(path: Path | str, encoding: Encoding, limit: ExpansionLimit = DEFAULT_LIMIT) -> Dataset:
    """Return a CSV file with categorical columns as binary data.

    Parameters
    ----------
    path : path-like
        The file; its header names the columns of the encoding.
    encoding : Encoding
        As returned by `find_encoding` or `load_encoding`.
    limit : ExpansionLimit
        How far a compressed file may expand.

    Raises
    ------
    InputError
        The file is unreadable or ragged, a cell is missing, or a column or value is not in the
        encoding; the sentence names the line.

    """
    return _encode_table(path, _read_table(path, limit), encoding)


def _encode_table(path: Path | str, table: _Table, encoding: Encoding) -> Dataset:
    columns = encoding["columns"]
    _check_header(path, table.header, [column["column"] for column in columns])
    blocks: list[NDArray[np.bool_]] = []
    for c, column in enumerate(columns):
        known = set(column["categories"])
        for value, line in zip(table.values[c], table.first_line[c], strict=True):
            if value not in known:
                raise InputError(
                    f"{path}, line {line}, column {column['column']!r}: expected one of the "
                    f"values {', '.join(column['categories'])}; got {value!r}."
                )
        # A column that is 0 throughout indicates a 1 that is not among its values.
        code = {value: k for k, value in enumerate(table.values[c])}
        indicated = np.array([code.get(value, -1) for value in column["indicated"]])
        blocks.append(table.codes[:, c, None] == indicated)
    names = tuple(name for column in columns for name in column["variables"])
    ends = np.cumsum([block.shape[1] for block in blocks]).tolist()
    groups = [
        range(end - block.shape[1], end)
        for end, block, column in zip(ends, blocks, columns, strict=True)
        # An encoding that a person has written may leave values out.
        if block.shape[1] > 1 and sorted(column["indicated"]) == sorted(column["categories"])
    ]
    try:
        return merge_rows(np.hstack(blocks), names=names, groups=groups)
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def load_encoding(path: Path | str) -> Encoding:
    """Read an encoding that was saved as JSON.

    Raises
    ------
    InputError
        The file is unreadable or holds something else.

    """
    value = read_json(path)
    columns = value.get("columns") if isinstance(value, dict) else None
    if not isinstance(columns, list) or value.get("kind") != "one-hot":
        raise InputError(f"{path}: expected the encoding of a categorical file.")
    for number, column in enumerate(columns, start=1):
        _check_column(column, f"{path}, column {number}")
    return {"kind": "one-hot", "columns": columns}


def _check_column(column: object, where: str) -> None:
    """Refuse what is not a `Column`; `where` names it in errors."""
    keys = list(Column.__annotations__)
    if not isinstance(column, dict) or set(column) != set(keys):
        raise InputError(f"{where}: expected the keys {', '.join(keys)}.")
    lists = [column[key] for key in keys[1:]]
    texts = [column["column"], *(text for part in lists if isinstance(part, list) for text in part)]
    if not all(isinstance(part, list) for part in lists) or not all(
        isinstance(text, str) for text in texts
    ):
        raise InputError(f"{where}: expected a text as column and lists of texts as the rest.")
    if len(column["variables"]) != len(column["indicated"]):
        raise InputError(f"{where}: expected as many variables as indicated values.")


def _check_header(path: Path | str, header: Sequence[str], expected: Sequence[str]) -> None:
    if list(header) != list(expected):
        raise InputError(
            f"{path}, line 1: expected the columns {', '.join(expected)}; got {', '.join(header)}."
        )


def _read_table(path: Path | str, limit: ExpansionLimit) -> _Table:
    """Read a CSV file line by line; refuse ragged lines and missing cells."""
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
                    check_names(header, f"{path}, line 1")
                    table.begin(header)
                elif cells:
                    table.add(cells, reader.line_num)
        except csv.Error as error:
            raise InputError(f"{path}, line {reader.line_num}: is not CSV: {error}.") from error
        except UnicodeDecodeError as error:
            place = file.tell() - len(error.object) + error.start
            raise InputError(f"{path}: is not a text file (byte {place}).") from error
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
        # The code of a cell as it is written, blanks included.
        self._code: list[dict[str, int]] = []
        self._values: list[list[str]] = []
        self._first_line: list[list[int]] = []
        self._codes = array("i")
        self.n_lines = 0

    def begin(self, header: list[str]) -> None:
        """Take the names of the columns."""
        self._header = header
        self._code = [{} for _ in header]
        self._values = [[] for _ in header]
        self._first_line = [[] for _ in header]

    def add(self, cells: Sequence[str], line: int) -> None:
        """Take the cells of one line."""
        if len(cells) != len(self._header):
            raise InputError(
                f"{self._path}, line {line}: expected {len(self._header)} values as in the "
                f"header, got {len(cells)}."
            )
        for c, (code, cell) in enumerate(zip(self._code, cells, strict=True)):
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

    def finish(self) -> _Table:
        """Return the table of the lines so far."""
        codes = np.frombuffer(self._codes, np.int32).reshape(self.n_lines, len(self._header))
        return _Table(self._header, self._values, self._first_line, codes)
