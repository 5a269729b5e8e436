"""Where a public file is got from: its origin, or a mirror that replaces it.

A mirror has the layout of a data folder, `<name>/<name>.<split>.data`, or the files in the mirror
itself; they may be compressed (`.data.xz`). There can be several mirrors; a file is taken from the
first that has it.
"""

import os
import re
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from mnlearn.runtime.decompression import ExpansionLimit, expand, read_limited
from mnlearn.runtime.errors import InputError
from mnlearn_studies.datasets.registry import RemoteFile
from mnlearn_studies.datasets.transport import MissingError, Progress, UnreachableError, download

MIRROR_VARIABLE = "MNLEARN_DATA_MIRROR"
_ADVICE = (
    "name a folder or URL that has the files with --mirror or the environment variable "
    f"{MIRROR_VARIABLE}"
)


def choose_mirror(mirror: str | None) -> str | None:
    """Return the mirror given, else that of the environment, else None."""
    return mirror or os.environ.get(MIRROR_VARIABLE) or None


def get_content(file: RemoteFile, mirror: str | None, report: Progress) -> bytes:
    """Return the verified content of a file from the mirror, if there is one, or the origin.

    report : called with numbers of bytes that sum to the length of the file.
    """
    left = file.n_bytes

    def report_capped(n: int) -> None:
        nonlocal left
        n = min(n, left)
        left -= n
        report(n)

    if mirror is None:
        place, content = file.url, _get_from_origin(file, report_capped)
    else:
        place, content = _get_from_mirror(file, mirror, report_capped)
    try:
        file.verify(content)
    except InputError as error:
        raise _describe_other_file(place, file, error) from error
    # Compressed transfers count fewer bytes than the file has.
    report_capped(left)
    return content


def _describe_other_file(place: str, file: RemoteFile, error: InputError) -> InputError:
    return InputError(f"{place}: is not the {file.content}: {error}")


def _get_from_origin(file: RemoteFile, report: Progress) -> bytes:
    try:
        return download(file.url, file.n_bytes, report)
    except MissingError as error:
        raise InputError(f"{file.url}: {error}; {_ADVICE}.") from error
    except UnreachableError as error:
        error.advice = _ADVICE
        raise


def _get_from_mirror(file: RemoteFile, mirror: str, report: Progress) -> tuple[str, bytes]:
    for place in split_mirrors(mirror):
        folder = _find_folder(place)
        if folder is not None and not folder.is_dir():
            raise InputError(f"mirror {place}: no such folder.")
        for name in file.mirror_paths:
            if folder is None:
                found, content = _download(f"{place.rstrip('/')}/{name}", file, report)
            else:
                found, content = str(folder / name), _read_file(folder / name, file)
            if content is not None:
                return found, content
    compressed, plain, *_ = file.mirror_paths
    raise InputError(f"mirror {mirror}: has neither {plain} nor {compressed}.")


def split_mirrors(mirror: str) -> list[str]:
    """Return the folders and URLs of a list of mirrors, which the system's path separator joins.

    The colon of `http:`, or before the port of a server, separates nothing.
    """
    places: list[str] = []
    for word in mirror.split(os.pathsep):
        last = places[-1] if places else ""
        is_url = word.startswith("//") and re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]+", last)
        is_port = re.fullmatch(r"https?://[^/]+", last) and re.match(r"[0-9]+(/|$)", word)
        if is_url or is_port:
            places[-1] = f"{last}{os.pathsep}{word}"
        else:
            places.append(word)
    return [place for place in places if place] or [mirror]


def _download(url: str, file: RemoteFile, report: Progress) -> tuple[str, bytes | None]:
    """Return the content at an address of a mirror; None if the mirror has it not."""
    try:
        content = download(url, file.n_bytes, report)
    except MissingError:
        return url, None
    except UnreachableError as error:
        error.advice = "check the name of the mirror"
        raise
    return url, expand(content, url, _limit_to_length(file)) if url.endswith(".xz") else content


def _read_file(path: Path, file: RemoteFile) -> bytes | None:
    """Return the content of a file of a mirror, None if it is not there."""
    if not path.is_file():
        return None
    if path.suffix == ".xz":
        return read_limited(path, _limit_to_length(file))
    try:
        # One of another length is not read.
        file.check_length(path.stat().st_size)
        return path.read_bytes()
    except InputError as error:
        raise _describe_other_file(str(path), file, error) from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from error


def _limit_to_length(file: RemoteFile) -> ExpansionLimit:
    """Return the limit of a compressed file whose expanded length is known."""
    advice = f"the {file.content} is no longer"
    return ExpansionLimit(max_bytes=file.n_bytes, free_bytes=file.n_bytes, advice=advice)


def _find_folder(mirror: str) -> Path | None:
    """Return the folder that a path or file URL names, or None for an http(s) URL."""
    if "://" not in mirror:
        return Path(mirror).expanduser()
    scheme = mirror.partition("://")[0].lower()
    if scheme == "file":
        return Path(url2pathname(urlsplit(mirror).path))
    if scheme in ("http", "https"):
        return None
    raise InputError(f"mirror {mirror}: expected a folder or an http, https or file URL.")
