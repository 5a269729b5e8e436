"""Text forms of a dataset: Libra's (`0,1,1`, optional `weight|` prefix) and CSV with a header."""

import csv
import io
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset, load_npz, merge_rows
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_bytes, write_text

_ZERO, _ONE, _COMMA, _NEWLINE = (ord(c) for c in "01,\n")


def load_dataset(path: Path | str) -> Dataset:
    """Read a dataset by suffix: `.npz`, `.csv` (header row), else Libra's text form.

    `.gz` and `.xz` of the text forms are read as well. A first line without any number in it is
    a header.

    Raises
    ------
    InputError
        The file is missing, truncated, ragged, empty or not binary; the sentence names the line.

    """
    path = Path(path)
    if path.suffix == ".npz":
        return load_npz(path)
    content = read_bytes(path)
    matrix = _parse_plain(content)
    if matrix is not None:
        return merge_rows(matrix)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not a text file (byte {error.start}).") from error
    return _parse_lines(path, text)


def _parse_plain(content: bytes) -> NDArray[np.uint8] | None:
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


def _parse_lines(path: Path, text: str) -> Dataset:
    """Parse with weights, headers, quotes, blanks and CRLF; name the line of the first fault."""
    lines = text.splitlines()
    names = _parse_header(path, lines[0]) if lines else None
    first = 0 if names is None else 1
    rows: list[list[str]] = []
    weights: list[float] = []
    n_vars = len(names) if names else 0
    for number, line in enumerate(lines[first:], start=first + 1):
        if not line.strip():
            if any(rest.strip() for rest in lines[number:]):
                raise InputError(f"{path}, line {number}: is empty; expected one example a line.")
            break
        weight, bar, values = line.rpartition("|")
        weights.append(_parse_weight(path, number, weight) if bar else 1.0)
        cells = _cells(values)
        n_vars = n_vars or len(cells)
        if len(cells) != n_vars:
            raise InputError(
                f"{path}, line {number}: expected {n_vars} values as before, got {len(cells)}."
            )
        for position, cell in enumerate(cells, start=1):
            if cell not in ("0", "1"):
                raise InputError(
                    f"{path}, line {number}, column {position}: expected 0 or 1, got {cell!r}."
                )
        rows.append(cells)
    if not rows:
        raise InputError(f"{path}: holds no examples.")
    return merge_rows(np.array(rows) == "1", np.array(weights), names)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in next(csv.reader([line], skipinitialspace=True))]


def _parse_header(path: Path, line: str) -> tuple[str, ...] | None:
    """Return the names in a first line, or None if it is an example.

    A line with a cell that is a value, or with a weight, is an example, perhaps a damaged one.
    """
    cells = _cells(line) if line.strip() else []
    if not cells or "|" in line or any(cell in ("0", "1") for cell in cells):
        return None
    if any(_is_number(cell) for cell in cells):
        return None
    if len(set(cells)) < len(cells):
        raise InputError(f"{path}, line 1: two columns have the same name.")
    return tuple(cells)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _parse_weight(path: Path, number: int, text: str) -> float:
    try:
        weight = float(text)
    except ValueError:
        weight = -1.0
    if not 0 < weight < float("inf"):
        raise InputError(
            f"{path}, line {number}: expected a positive weight before |, got {text!r}."
        )
    return weight


def save_text(data: Dataset, path: Path | str) -> None:
    """Write Libra's text form, one line per example in the order of the source.

    Rows whose weight is not their number of examples are written once with a `weight|` prefix.
    """
    lines = [",".join("01"[value] for value in row) for row in data.rows.tolist()]
    counts = np.bincount(data.row_of, minlength=data.n_rows)
    if np.array_equal(counts, data.weight):
        text = "".join(f"{lines[i]}\n" for i in data.row_of)
    else:
        text = "".join(f"{w:.17g}|{line}\n" for w, line in zip(data.weight, lines, strict=True))
    header = io.StringIO()
    if data.names:
        # Quoted names survive commas; a name that looks like a value cannot be told from one.
        csv.writer(header, lineterminator="\n").writerow(data.names)
        if _parse_header(Path(path), header.getvalue()) != data.names:
            raise InputError(f"{path}: the names of the variables cannot be written as a header.")
    write_text(path, header.getvalue() + text)
