"""Content of files: atomic writing, and reading through compression."""

import csv
import gzip
import hashlib
import io
import json
import lzma
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mnlearn.runtime.atomic import atomic_path
from mnlearn.runtime.decompression import read_limited
from mnlearn.runtime.errors import InputError

# str.splitlines also splits at vertical tabs, form feeds, U+2028 and more.
_LINE_END = re.compile("\r\n|\n|\r")


def write_text(path: Path | str, text: str) -> None:
    """Write `text` to `path` atomically, in UTF-8; compressed as in `write_bytes`."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path | str, content: bytes) -> None:
    """Write `content` to `path` atomically, compressed if it ends in `.xz` or `.gz`."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(compress_for(path, content))


def compress_for(path: Path | str, content: bytes) -> bytes:
    """Return `content`, compressed if `path` ends in `.xz` or `.gz`."""
    suffix = Path(path).suffix
    if suffix == ".xz":
        return lzma.compress(content)
    return gzip.compress(content, mtime=0) if suffix == ".gz" else content


def write_csv(path: Path | str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as CSV; see `to_csv`."""
    write_text(path, to_csv(rows))


def to_csv(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return rows as the text of a CSV file.

    The columns are all keys, in the order in which they appear. A cell is empty if the row has no
    such key, or if the value is None or NaN.
    """
    rows = list(rows)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        # Only NaN differs from itself.
        writer.writerow({name: value if value == value else None for name, value in row.items()})
    return text.getvalue()


def write_json(path: Path | str, value: Any) -> None:
    """Write `value` as JSON: sorted keys, two-space indentation, no NaN."""
    write_text(path, json.dumps(value, indent=2, sort_keys=True, allow_nan=False) + "\n")


def read_bytes(path: Path | str) -> bytes:
    """Return the content of `path`, decompressed if it ends in `.xz` or `.gz`.

    Raises
    ------
    InputError
        The file is missing, unreadable, not in the compression its suffix names, or expands
        beyond the limit of `mnlearn.runtime.decompression`.

    """
    return read_limited(path)


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read_text(path: Path | str) -> str:
    """Return the content of `path` as UTF-8 text; see `read_bytes`."""
    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not a text file (byte {error.start}).") from error


def split_lines(text: str) -> list[str]:
    """Return the lines of a text, which end in LF, CR LF or CR and in nothing else."""
    lines = _LINE_END.split(text)
    return lines if lines[-1] else lines[:-1]


def read_table(path: Path | str, columns: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the rows of a tab-separated file with a header: their place for messages, and cells.

    Raises
    ------
    InputError
        The header differs from `columns`, or a line has another number of values.
    """
    lines = split_lines(read_text(path))
    if not lines or lines[0].split("\t") != list(columns):
        raise InputError(
            f"{path}, line 1: expected the tab-separated columns {', '.join(columns)}."
        )
    for number, line in enumerate(lines[1:], start=2):
        where, cells = f"{path}, line {number}", line.split("\t")
        if len(cells) != len(columns):
            raise InputError(
                f"{where}: expected {len(columns)} tab-separated values, got {len(cells)}."
            )
        yield where, dict(zip(columns, cells, strict=True))


def read_json(path: Path | str) -> Any:
    """Return the JSON value in `path`."""
    try:
        return decode_json(read_text(path), str(path))
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {error.lineno}: is not JSON: {error.msg}.") from error


def decode_json(text: str, where: str) -> Any:
    """Return the JSON value in a text.

    Raises
    ------
    json.JSONDecodeError
        The text is not JSON.
    InputError
        Brackets are nested too deeply, or a number has too many digits; the sentence begins with
        `where`.
    """
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        raise
    except RecursionError as error:
        raise InputError(f"{where}: its brackets are nested too deeply.") from error
    except ValueError as error:
        raise InputError(
            f"{where}: expected numbers of at most {sys.get_int_max_str_digits()} digits."
        ) from error
