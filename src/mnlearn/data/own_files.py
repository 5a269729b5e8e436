"""A person's own data: three files or one to be split, binary or categorical."""

import csv
import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypedDict

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset, merge_rows
from mnlearn.data.splits import SPLITS, split_examples
from mnlearn.data.text import load_dataset
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_json, read_text
from mnlearn.runtime.random_streams import stream

DEFAULT_FRACTIONS = (0.7, 0.1, 0.2)
MAX_CATEGORIES = 100
MISSING = frozenset(("", "?", "na", "n/a", "nan", "null"))


class Column(TypedDict):
    """How one categorical column becomes binary variables.

    column : its name in the header.
    categories : all its values, in order.
    variables : names of the binary variables that stand for it.
    indicated : the value that each of these variables indicates.
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
    """A CSV file: its header, the cells of the other lines, and the numbers of these lines."""

    header: list[str]
    rows: list[list[str]]
    line: list[int]


def load_local(
    train: Path | str,
    valid: Path | str | None = None,
    test: Path | str | None = None,
    fractions: Sequence[float] = DEFAULT_FRACTIONS,
    seed: int = 0,
    encoding: Encoding | None = None,
) -> tuple[Dataset, Dataset, Dataset]:
    """Return training, validation and test data of a person's own files.

    train, valid, test : three files, or `train` alone, whose examples are then split at random.
    fractions, seed : shares of the three parts and the seed of the split of one file.
    encoding : how to read categorical CSV files (see `find_encoding`); binary files if not given.

    Raises
    ------
    InputError
        A file is unreadable, two of the three are given, or they differ in their variables.

    """
    if (valid is None) != (test is None):
        raise InputError(
            f"{train}: expected a validation and a test file with it, or neither to split it."
        )
    if valid is None or test is None:
        data = _read(train, encoding)
        return split_examples(data, fractions, stream(seed, "local", "split"))
    paths = (train, valid, test)
    data_of = dict(zip(SPLITS, (_read(path, encoding) for path in paths), strict=True))
    named = next((s for s in SPLITS if data_of[s].names is not None), "train")
    names = data_of[named].names
    path_of = dict(zip(SPLITS, paths, strict=True))
    for split in SPLITS:
        _check_same_variables(path_of[named], data_of[named], path_of[split], data_of[split])
    a, b, c = (replace(data_of[split], names=names) for split in SPLITS)
    return a, b, c


def _read(path: Path | str, encoding: Encoding | None) -> Dataset:
    return load_dataset(path) if encoding is None else encode(path, encoding)


def _check_same_variables(
    path: Path | str, data: Dataset, other_path: Path | str, other: Dataset
) -> None:
    """Raise InputError unless both have the same number of variables and, if any, names."""
    if other.n_vars != data.n_vars:
        raise InputError(
            f"{other_path}: expected {data.n_vars} variables as in {path}, got {other.n_vars}."
        )
    if data.names is None or other.names is None:
        return
    for position, (name, other_name) in enumerate(
        zip(data.names, other.names, strict=True), start=1
    ):
        if name != other_name:
            raise InputError(
                f"{other_path}: expected {name!r} as column {position} as in {path}, "
                f"got {other_name!r}."
            )


def one_hot(path: Path | str, max_categories: int = MAX_CATEGORIES) -> tuple[Dataset, Encoding]:
    """Return a CSV file with categorical columns as binary data, and how they were encoded.

    See `find_encoding` for the variables and `encode` for what is refused.
    """
    encoding = find_encoding([path], max_categories)
    return encode(path, encoding), encoding


def find_encoding(paths: Sequence[Path | str], max_categories: int = MAX_CATEGORIES) -> Encoding:
    """Return how to make the columns of CSV files binary, from all values that occur in them.

    A column of more than two values becomes one variable `column=value` for each; one of two
    values becomes one variable for the second; one that never changes is kept as one variable.
    Numbers are in numeric order, everything else in alphabetic order. A column of 0 and 1 keeps
    its name and values.

    Raises
    ------
    InputError
        A file is unreadable or ragged, a cell is missing, the headers differ, a column has more
        than `max_categories` values, or two variables would have the same name.

    """
    header: list[str] = []
    found: list[set[str]] = []
    for path in paths:
        table = _read_table(path)
        if not header:
            header, found = table.header, [set() for _ in table.header]
        _check_header(path, table.header, header)
        for c, cells in enumerate(zip(*table.rows, strict=True)):
            found[c].update(cells)
    columns = [_encode_column(name, values) for name, values in zip(header, found, strict=True)]
    for column in columns:
        if len(column["categories"]) > max_categories:
            raise InputError(
                f"{paths[0]}, column {column['column']!r}: has {len(column['categories'])} "
                f"different values, more than {max_categories}; group them or leave it out."
            )
    counts = Counter(name for column in columns for name in column["variables"])
    name, n_times = counts.most_common(1)[0]
    if n_times > 1:
        raise InputError(
            f"{paths[0]}: {n_times} variables would be called {name!r}; rename a column."
        )
    return {"kind": "one-hot", "columns": columns}


def _encode_column(name: str, values: set[str]) -> Column:
    categories = _in_order(values)
    if values <= {"0", "1"}:
        return {
            "column": name,
            "categories": categories,
            "variables": [name],
            "indicated": ["1"],
        }
    indicated = categories[1:] if len(categories) == 2 else categories
    return {
        "column": name,
        "categories": categories,
        "variables": [f"{name}={value}" for value in indicated],
        "indicated": indicated,
    }


def _in_order(values: set[str]) -> list[str]:
    """Return numbers in numeric order, anything else in alphabetic order."""
    try:
        return sorted(values, key=lambda value: (float(value), value))
    except ValueError:
        return sorted(values)


def encode(path: Path | str, encoding: Encoding) -> Dataset:
    """Return a CSV file with categorical columns as binary data.

    Raises
    ------
    InputError
        The file is unreadable or ragged, a cell is missing, or a column or value is not in the
        encoding; the sentence names the line.

    """
    columns = encoding["columns"]
    table = _read_table(path)
    _check_header(path, table.header, [column["column"] for column in columns])
    blocks: list[NDArray[np.bool_]] = []
    for c, column in enumerate(columns):
        code = {value: k for k, value in enumerate(column["categories"])}
        cells = [row[c] for row in table.rows]
        codes = np.array([code.get(cell, -1) for cell in cells])
        if (codes < 0).any():
            i = int(np.argmin(codes))
            raise InputError(
                f"{path}, line {table.line[i]}, column {column['column']!r}: expected one of the "
                f"values {', '.join(column['categories'])}; got {cells[i]!r}."
            )
        # A column that is 0 throughout indicates a 1 that is not among its categories.
        indicated = np.array([code.get(value, -2) for value in column["indicated"]])
        blocks.append(codes[:, None] == indicated)
    names = tuple(name for column in columns for name in column["variables"])
    return merge_rows(np.hstack(blocks), names=names)


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
        if not isinstance(column, dict) or set(column) != set(Column.__annotations__):
            raise InputError(
                f"{path}, column {number}: expected the keys {', '.join(Column.__annotations__)}."
            )
    return {"kind": "one-hot", "columns": columns}


def _check_header(path: Path | str, header: Sequence[str], expected: Sequence[str]) -> None:
    if list(header) != list(expected):
        raise InputError(
            f"{path}, line 1: expected the columns {', '.join(expected)}; got {', '.join(header)}."
        )


def _read_table(path: Path | str) -> _Table:
    """Read a CSV file; refuse ragged lines and missing cells."""
    text = read_text(path).removeprefix("\ufeff")
    reader = csv.reader(io.StringIO(text, newline=""), strict=True, skipinitialspace=True)
    header: list[str] = []
    rows: list[list[str]] = []
    numbers: list[int] = []
    try:
        for line in reader:
            cells = [cell.strip() for cell in line]
            if not header:
                header = cells
                _check_names(path, header)
            elif cells:
                _check_cells(path, reader.line_num, header, cells)
                rows.append(cells)
                numbers.append(reader.line_num)
    except csv.Error as error:
        raise InputError(f"{path}, line {reader.line_num}: is not CSV: {error}.") from error
    if not rows:
        raise InputError(f"{path}: holds no examples below a header.")
    return _Table(header, rows, numbers)


def _check_names(path: Path | str, header: Sequence[str]) -> None:
    for position, name in enumerate(header, start=1):
        if not name:
            raise InputError(f"{path}, line 1, column {position}: has no name.")
        if name in header[: position - 1]:
            raise InputError(f"{path}, line 1: two columns are called {name!r}.")


def _check_cells(
    path: Path | str, number: int, header: Sequence[str], cells: Sequence[str]
) -> None:
    if len(cells) != len(header):
        raise InputError(
            f"{path}, line {number}: expected {len(header)} values as in the header, "
            f"got {len(cells)}."
        )
    for name, cell in zip(header, cells, strict=True):
        if cell.lower() in MISSING:
            raise InputError(
                f"{path}, line {number}, column {name!r}: is missing ({cell!r}); fill it in, "
                "leave the line out or give missing values a name of their own."
            )
