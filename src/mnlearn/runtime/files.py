"""Files that are complete or absent: atomic writing, and reading through compression."""

import csv
import errno
import gzip
import io
import json
import lzma
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mnlearn.runtime.decompression import read_limited
from mnlearn.runtime.errors import InputError

# The disk, the quota of the user or the largest file of the process is full.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def atomic_path(path: Path | str) -> Iterator[Path]:
    """Yield a temporary file beside `path` that takes its place when the block succeeds.

    If the block fails, `path` stays as it was and the temporary file is removed.

    Raises
    ------
    InputError
        The folder cannot be created, no file can be created in it, the disk is full, or `path` is
        a folder.
    """
    path = Path(path)
    temporary = path.parent / f".{path.name}.{uuid.uuid4().hex[:12]}"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # Unlike the private files of `tempfile`, this one gets the mode of every other new file.
        temporary.touch(exist_ok=False)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}.") from error
    try:
        yield temporary
        temporary.replace(path)
    except OSError as error:
        # An error of the block may concern another file.
        if error.errno not in _FULL and error.filename != str(temporary):
            raise
        raise InputError(f"{path}: cannot be written: {error.strerror}.") from error
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path | str, text: str) -> None:
    """Write `text` to `path` atomically, in UTF-8; compressed as in `write_bytes`."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path | str, content: bytes) -> None:
    """Write `content` to `path` atomically, compressed if it ends in `.xz` or `.gz`."""
    suffix = Path(path).suffix
    if suffix == ".xz":
        content = lzma.compress(content)
    elif suffix == ".gz":
        content = gzip.compress(content, mtime=0)
    with atomic_path(path) as temporary:
        temporary.write_bytes(content)


def write_csv(path: Path | str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as CSV.

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
    write_text(path, text.getvalue())


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


def read_text(path: Path | str) -> str:
    """Return the content of `path` as UTF-8 text; see `read_bytes`."""
    try:
        return read_bytes(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not a text file (byte {error.start}).") from error


def read_table(path: Path | str, columns: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the rows of a tab-separated file with a header: their place for messages, and cells.

    Raises
    ------
    InputError
        The header differs from `columns`, or a line has another number of values.
    """
    lines = read_text(path).splitlines()
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
        return json.loads(read_text(path))
    except json.JSONDecodeError as error:
        raise InputError(f"{path}, line {error.lineno}: is not JSON: {error.msg}.") from error
