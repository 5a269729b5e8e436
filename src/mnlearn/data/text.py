"""Text of 0 and 1 as Libra writes it: `0,1,1`, with a `weight|` prefix if need be."""

import csv
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset, merge_rows
from mnlearn.runtime.decompression import DEFAULT_LIMIT, ExpansionLimit, read_limited
from mnlearn.runtime.errors import InputError, name_data
from mnlearn.runtime.files import decode_text, split_lines
from mnlearn.runtime.names import check_names
from mnlearn.variables.schema import binary_schema

_ZERO, _ONE, _COMMA, _NEWLINE = (ord(c) for c in "01,\n")


def load_benchmark(path: Path | str, limit: ExpansionLimit = DEFAULT_LIMIT) -> Dataset:
    """Read text of 0 and 1 as it is; `data.examples` reads files of people.

    The records of studies depend on this function and so not on how files of people are read.

    Parameters
    ----------
    path : path-like
        The file, which may be compressed (`.gz`, `.xz`, `.bz2`).
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
        weights.append(parse_weight(weight, where) if bar else 1.0)
        cells = split_cells(example, where)
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


def split_cells(line: str, where: str) -> list[str]:
    """Return the cells of a line that commas separate."""
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
    cells = split_cells(line, where)
    if any(map(_is_number, cells)):
        return None
    return check_names(cells, where)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def parse_weight(text: str, where: str) -> float:
    """Return the number before `|`; refuse what is no positive one."""
    try:
        weight = float(text)
    except ValueError:
        weight = -1.0
    if not 0 < weight < float("inf"):
        raise InputError(f"{where}: expected a positive weight before |, got {_shorten(text)}.")
    return weight
