"""Content of files: atomic writing, and reading through compression."""

import bz2
import codecs
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
from mnlearn.runtime.file_kinds import kind_of
from mnlearn.runtime.names import guarded

# str.splitlines also splits at vertical tabs, form feeds, U+2028 and more.
_LINE_END = re.compile("\r\n|\n|\r")
# Marks at the beginning of a text, and its encoding; that of UTF-32 begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def write_text(path: Path | str, text: str) -> None:
    """Write `text` to `path` atomically, in UTF-8; compressed as in `write_bytes`."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: Path | str, content: bytes) -> None:
    """Write `content` to `path` atomically, compressed by its suffix `.xz`, `.gz` or `.bz2`."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(compress_for(path, content))


def compress_for(path: Path | str, content: bytes) -> bytes:
    """Return `content`, compressed by the suffix `.xz`, `.gz` or `.bz2`."""
    suffix = Path(path).suffix.lower()
    if suffix == ".xz":
        return lzma.compress(content)
    if suffix == ".bz2":
        return bz2.compress(content)
    return gzip.compress(content, mtime=0) if suffix == ".gz" else content


def write_csv(path: Path | str, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write rows as CSV; see `to_csv`."""
    write_text(path, to_csv(rows))


def to_csv(rows: Iterable[Mapping[str, Any]]) -> str:
    """Return rows as the text of a CSV file; a cell is empty for no key, None and NaN."""
    rows = list(rows)
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, columns, lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: _cell(value) for name, value in row.items()})
    return text.getvalue()


def _cell(value: Any) -> Any:
    """Return what stands in a cell of CSV."""
    if isinstance(value, str):
        return guarded(value)
    # Only NaN differs from itself.
    return value if value == value else None


def write_json(path: Path | str, value: Any) -> None:
    """Write `value` as JSON: sorted keys, two-space indentation, no NaN."""
    write_text(path, json.dumps(value, indent=2, sort_keys=True, allow_nan=False) + "\n")


def file_digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def read_text(path: Path | str) -> str:
    """Return the content of `path` as text; see `read_limited` and `decode_text`."""
    return decode_text(read_limited(path), path)


def decode_text(content: bytes, where: Path | str) -> str:
    """Return the text of a file in UTF-8, or UTF-16 as Excel's Unicode text, without its mark."""
    encoding = next((name for mark, name in _MARKS if content.startswith(mark)), "utf-8")
    try:
        text = content.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise _not_text(content, error.start, where) from error
    if "\0" in text:
        raise _not_text(content, content.index(b"\0"), where)
    return text


def _not_text(content: bytes, start: int, where: Path | str) -> InputError:
    """Return the error of a file that is no text from a byte on."""
    found = kind_of(content)
    if found is not None:
        return InputError(f"is {found[0]}, not text.", where=where, advice=found[1])
    advice = "if it is one, save it in UTF-8, which Excel calls CSV UTF-8"
    line = content.count(b"\n", 0, start) + 1
    fault = f"is not a text file (line {line}, byte {start})."
    return InputError(fault, where=where, advice=advice)


def split_lines(text: str) -> list[str]:
    """Return the lines of a text, which end in LF, CR LF or CR and in nothing else."""
    lines = _LINE_END.split(text)
    return lines if lines[-1] else lines[:-1]


def read_table(path: Path | str, columns: Sequence[str]) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the rows of a tab-separated file with a header: their place for messages, and cells."""
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
    """Return the JSON value in a text; a JSONDecodeError says that it is none."""
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
