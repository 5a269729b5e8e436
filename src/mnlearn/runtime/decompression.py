"""Compressed files, expanded only up to a limit: a few kilobytes can hold terabytes of zeros."""

import bz2
import gzip
import io
import lzma
import sys
import zipfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import IO, Any

from mnlearn.runtime.atomic import is_standard
from mnlearn.runtime.errors import InputError

_OPENERS: dict[str, Callable[..., Any]] = {
    ".gz": gzip.open,
    ".xz": lzma.open,
    ".bz2": bz2.open,
}
# The suffixes of compressed files.
COMPRESSED = tuple(_OPENERS)
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True)
class ExpansionLimit:
    """How far a compressed file may expand: in bytes, and, beyond `free_bytes`, as a ratio.

    The benchmark data expand to 24 MB at most, one of them by a factor of 271.
    """

    max_bytes: int = 4 << 30
    max_ratio: float = 200.0
    free_bytes: int = 256 << 20
    advice: str = "decompress the file yourself if it is meant to be so large"

    def check(self, where: Path | str, n_compressed: int, n_expanded: int) -> None:
        """Refuse a file that has expanded from `n_compressed` to `n_expanded` bytes, or further."""
        by_ratio = max(self.free_bytes, self.max_ratio * n_compressed)
        if n_expanded <= min(self.max_bytes, by_ratio):
            return
        expected = (
            f"at most {_size(self.max_bytes)}"
            if self.max_bytes <= by_ratio
            else f"at most {self.max_ratio:g} times as much"
        )
        raise InputError(
            f"{where}: {_size(n_compressed)} expand to {_size(n_expanded)} or more; expected "
            f"{expected}; {self.advice}."
        )


DEFAULT_LIMIT = ExpansionLimit()


def read_limited(path: Path | str, limit: ExpansionLimit = DEFAULT_LIMIT) -> bytes:
    """Return the content of `path`, expanded by its suffix `.xz`, `.gz` or `.bz2`; `-` is stdin."""
    path = Path(path)
    if is_standard(path):
        content = _content_of(sys.stdin)
        return expand(content, path, limit) if path.suffix.lower() in _OPENERS else content
    try:
        with path.open("rb") as file:
            if path.suffix.lower() not in _OPENERS:
                return file.read()
            return _expand(file, path, path.stat().st_size, limit)
    except FileNotFoundError as error:
        raise InputError(f"{path}: no such file.") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from error


@lru_cache(1)
def _content_of(stream: Any) -> bytes:
    """Return all of stdin, which may be asked for twice."""
    content: bytes = stream.buffer.read()
    return content


def expand(content: bytes, place: Path | str, limit: ExpansionLimit = DEFAULT_LIMIT) -> bytes:
    """Return `content` expanded, where the suffix of `place` names the compression."""
    return _expand(io.BytesIO(content), place, len(content), limit)


def check_archive(path: Path | str, limit: ExpansionLimit = DEFAULT_LIMIT) -> None:
    """Refuse a zip archive whose members declare that they expand beyond `limit` together."""
    with zipfile.ZipFile(path) as archive:
        n_expanded = sum(member.file_size for member in archive.infolist())
    limit.check(path, Path(path).stat().st_size, n_expanded)


def _expand(file: IO[bytes], place: Path | str, n_compressed: int, limit: ExpansionLimit) -> bytes:
    """Return the expanded content of an open compressed file."""
    suffix = Path(place).suffix.lower()
    # A BytesIO hands out its buffer without a copy; read() would hold everything twice.
    content = io.BytesIO()
    try:
        with _OPENERS[suffix](file, "rb") as expanded:
            while chunk := expanded.read(_CHUNK_BYTES):
                content.write(chunk)
                limit.check(place, n_compressed, content.tell())
    except (lzma.LZMAError, zlib.error, EOFError, OSError) as error:
        raise InputError(f"{place}: is not a complete {suffix} file ({error}).") from error
    return content.getvalue()


def _size(n_bytes: float) -> str:
    """Return a size for people, in decimal units."""
    for unit in ("bytes", "kB", "MB"):
        if n_bytes < 1000:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1000
    return f"{n_bytes:.3g} GB"
