"""CSV files as pandas, R and people write them: 1.0, True, yes, 1/2, and columns that number rows.

A column is read only if one reading of its values is possible. What was read otherwise than as
written is told in one line.
"""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mnlearn.runtime.errors import InputError

# Words for 0 and 1, in any capitals.
_WORDS = (("false", "true"), ("no", "yes"), ("n", "y"), ("f", "t"))
# Headers of the column of row numbers that pandas and R write, and of columns that name people.
_INDEX = ("", "unnamed: 0", "index", "rownames", "row.names")
_ID = re.compile(
    r"(.*[_. ])?(id|no|nr|number|case|subject|participant|respondent)|.*[a-z]ID", re.IGNORECASE
)


@dataclass(frozen=True, eq=False)
class Table:
    """A file as 0 and 1, the names of its columns, and a line on what was not read as written."""

    matrix: NDArray[np.uint8]
    names: list[str]
    note: str | None


@dataclass
class _Column:
    """How one column is read: the value that counts as 1, None for a column that is left out."""

    name: str
    one: str | None
    bits: list[bool]


def read_table(path: Path | str, lines: Sequence[str]) -> Table | None:
    """Return a CSV file with a header as 0 and 1; None if its columns cannot be told.

    Parameters
    ----------
    path : path-like
        Named in messages.
    lines : sequence of str
        The lines of the file; the first has the names of the columns.

    Raises
    ------
    InputError
        Columns have 1 and 2, and another one has 0, or only 1, which could be 0 or 1.
    """
    last = max((k for k, line in enumerate(lines) if line.strip()), default=-1)
    try:
        cells = [
            [cell.strip() for cell in row]
            for row in csv.reader(lines[: last + 1], skipinitialspace=True, strict=True)
        ]
    except csv.Error:
        return None
    if len(cells) < 2 or any(len(row) != len(cells[0]) for row in cells):
        return None
    header, *rows = cells
    if any(_number(name) is not None for name in header):
        return None
    columns = [
        _read_column(name, values, place == 0)
        for place, (name, values) in enumerate(zip(header, zip(*rows, strict=True), strict=True))
    ]
    found = [column for column in columns if column is not None]
    if len(found) < len(columns):
        return None
    kept = [column for column in found if column.one is not None]
    if not kept:
        return None
    _check_ones_and_twos(path, kept)
    matrix = np.array([column.bits for column in kept], np.uint8).T
    return Table(np.ascontiguousarray(matrix), [column.name for column in kept], _note(path, found))


def _read_column(name: str, values: Sequence[str], first: bool) -> _Column | None:
    """Return how a column is read; None if that cannot be told."""
    different = len(set(values)) == len(values)
    if first and name.lower() in _INDEX and different:
        return _Column(name, None, [])
    numbers = [_number(value) for value in values]
    distinct = set(numbers)
    if None not in distinct:
        if distinct <= {0.0, 1.0} and name:
            return _Column(name, "1", [number == 1 for number in numbers])
        if distinct <= {1.0, 2.0} and name:
            return _Column(name, "2", [number == 2 for number in numbers])
    else:
        words = [value.lower() for value in values]
        for zero, one in _WORDS:
            if set(words) <= {zero, one}:
                return _Column(name, one, [word == one for word in words])
    if different and len(values) > 2 and _ID.fullmatch(name):
        return _Column(name, None, [])
    return None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def _check_ones_and_twos(path: Path | str, columns: Sequence[_Column]) -> None:
    """Refuse columns of 1 and 2 beside columns of 0 and 1, and beside columns of ones."""
    twos = [column.name for column in columns if column.one == "2"]
    if not twos:
        return
    for column in columns:
        if column.one == "1" and not all(column.bits):
            raise InputError(
                f"{path}, column {twos[0]!r}: has 1 and 2, but {column.name!r} has 0 and 1; "
                "expected 0 and 1 in all columns."
            )
        if column.one == "1" and all(column.bits):
            raise InputError(
                f"{path}, column {column.name!r}: has only 1, which could be 0 or 1, because other "
                "columns have 1 and 2; write all columns with 0 and 1."
            )


def _note(path: Path | str, columns: Sequence[_Column]) -> str | None:
    """Return one line on columns that are left out, and on values that count as 1."""
    left_out = [repr(column.name) for column in columns if column.one is None]
    parts = [f"left out {', '.join(left_out)}, which numbers the rows"] if left_out else []
    for one in ("true", "yes", "y", "t", "2"):
        names = [column.name for column in columns if column.one == one]
        if names:
            listed = ", ".join(names[:5]) + (", ..." if len(names) > 5 else "")
            parts.append(f"{one} counts as 1 in {len(names)} columns ({listed})")
    return f"{path}: {'; '.join(parts)}." if parts else None
