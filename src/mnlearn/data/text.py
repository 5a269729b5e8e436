"""Text of 0 and 1 as Libra writes it: `0,1,1`."""

import re
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset, merge_rows
from mnlearn.runtime.decompression import DEFAULT_LIMIT, ExpansionLimit, read_limited
from mnlearn.runtime.errors import InputError

_ZERO, _ONE, _COMMA, _NEWLINE = (ord(c) for c in "01,\n")
_LINE = re.compile("[01](,[01])*")


def load_benchmark(path: Path | str, limit: ExpansionLimit = DEFAULT_LIMIT) -> Dataset:
    """Read text of 0 and 1 as it is; `data.examples` reads files of people.

    The records of studies depend on this function and so not on how files of people are read.
    """
    content = read_limited(path, limit)
    lines = content.replace(b"\r\n", b"\n").rstrip(b"\n") + b"\n"
    matrix = parse_plain(lines)
    if matrix is None:
        _refuse(lines.decode("utf-8", "backslashreplace").splitlines(), path)
    return merge_rows(matrix)


def _refuse(lines: list[str], path: Path | str) -> NoReturn:
    """Refuse lines that are not 0 and 1 with commas between them, or not equally many."""
    width = len(lines[0])
    for number, line in enumerate(lines, start=1):
        if not _LINE.fullmatch(line) or len(line) != width:
            expected = "expected 0 and 1 with commas between them, as many as in line 1, got"
            raise InputError(f"{expected} {line[:40]!r}.", where=path, line=number)
    raise AssertionError("a file without a fault is read")


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
