"""CSV files with categorical columns, and how they become binary data (one-hot)."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.category_tables import CategoryTable, read_table, read_variables
from mnlearn.data.dataset import Dataset, merge_rows
from mnlearn.data.reading import Reading
from mnlearn.runtime.decompression import DEFAULT_LIMIT, ExpansionLimit
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_json
from mnlearn.variables.schema import binary_schema

MAX_CATEGORIES = 100


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


def read_one_hot(
    path: Path | str,
    max_categories: int = MAX_CATEGORIES,
    limit: ExpansionLimit = DEFAULT_LIMIT,
    reading: Reading | None = None,
) -> tuple[Dataset, Encoding]:
    """Return a CSV file with categorical columns as binary data, and how it was encoded.

    `reading` says which columns are no variables, or are some although they look like row numbers.
    See `find_encoding` for the variables, the other parameters and what is refused.
    """
    table = read_variables(path, limit, Reading() if reading is None else reading)
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
    its name and values. Columns that number or name the rows of the first file are left out.

    Parameters
    ----------
    paths : sequence of path-like
        Files with the same columns.
    max_categories : int
        Most values of one column.
    limit : ExpansionLimit
        How far a compressed file may expand.

    Raises
    ------
    InputError
        A file is unreadable or ragged, a cell is missing, the columns differ, a column has more
        than `max_categories` values, or two variables would have the same name.

    """
    header: list[str] = []
    found: list[dict[str, None]] = []
    for path in paths:
        if not header:
            table = read_variables(path, limit, Reading())
            header, found = table.header, [{} for _ in table.header]
        else:
            table = read_table(path, limit, header)
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
                f"different values, more than {max_categories}; group them or leave it out with "
                "--leave-out."
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
        The file; its header names the columns of the encoding, in any order. Others are left out.
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
    table = read_table(path, limit, [column["column"] for column in encoding["columns"]])
    return _encode_table(path, table, encoding)


def _encode_table(path: Path | str, table: CategoryTable, encoding: Encoding) -> Dataset:
    columns = encoding["columns"]
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
        rows = np.hstack(blocks)
        return merge_rows(rows, schema=binary_schema(rows.shape[1], names)).with_groups(groups)
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
    if not isinstance(columns, list) or not columns or value.get("kind") != "one-hot":
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
