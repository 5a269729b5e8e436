"""Where the file of a split is got from: its origin, or a mirror that replaces it.

A mirror has the layout of a data folder, `<name>/<name>.<split>.data`; its files may be
compressed (`.data.xz`). Files that datasets are built from may also be in the mirror itself. There
can be several mirrors; a file is taken from the first that has it.
"""

import os
import re
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from mnlearn.runtime.decompression import ExpansionLimit, expand, read_limited
from mnlearn.runtime.errors import InputError
from mnlearn_studies.datasets.registry import Remote
from mnlearn_studies.datasets.transport import MissingError, Progress, UnreachableError, download
from mnlearn_studies.datasets.verification import check_length, verify

MIRROR_VARIABLE = "MNLEARN_DATA_MIRROR"
_ADVICE = (
    "name a folder or URL that has the files with --mirror or the environment variable "
    f"{MIRROR_VARIABLE}"
)


def choose_mirror(mirror: str | None) -> str | None:
    """Return the mirror given, else that of the environment, else None."""
    return mirror or os.environ.get(MIRROR_VARIABLE) or None


def get_content(remote: Remote, part: str, mirror: str | None, report: Progress) -> bytes:
    """Return the verified content of a split from the mirror, if there is one, or the origin.

    Parameters
    ----------
    remote, part
        The dataset, and which of its files.
    mirror : str or None
        Folder or http(s) or file URL, or several with the system's path separator between them.
    report : callable
        Called with numbers of bytes that sum to the length of the file.

    Raises
    ------
    InputError
        The file cannot be had or is not the benchmark's; the sentence names the place.

    """
    n_bytes = remote.file(part).n_bytes
    n_reported = 0

    def report_capped(n: int) -> None:
        nonlocal n_reported
        n = min(n, n_bytes - n_reported)
        n_reported += n
        report(n)

    if mirror is None:
        place = remote.url(part)
        content = _get_from_origin(remote, part, report_capped)
    else:
        place, content = _get_from_mirror(remote, part, mirror, report_capped)
    try:
        verify(content, remote, part)
    except InputError as error:
        raise _describe_other_file(place, remote, part, error) from error
    # Compressed transfers count fewer bytes than the file has.
    report_capped(n_bytes)
    return content


def _describe_other_file(place: str, remote: Remote, part: str, error: InputError) -> InputError:
    return InputError(f"{place}: is not the {part} data of {remote.name}: {error}")


def _get_from_origin(remote: Remote, part: str, report: Progress) -> bytes:
    url = remote.url(part)
    try:
        return download(url, remote.file(part).n_bytes, report)
    except MissingError as error:
        raise InputError(f"{url}: the server answers {error}; {_ADVICE}.") from error
    except UnreachableError as error:
        error.advice = _ADVICE
        raise


def _get_from_mirror(remote: Remote, part: str, mirror: str, report: Progress) -> tuple[str, bytes]:
    """Return the place of the compressed or plain file in the first mirror that has it."""
    for place in split_mirrors(mirror):
        found = _look_into(remote, part, place, report)
        if found is not None:
            return found
    compressed, plain, *_ = remote.mirror_paths(part)
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


def _look_into(
    remote: Remote, part: str, mirror: str, report: Progress
) -> tuple[str, bytes] | None:
    """Return the place of a file in one mirror, and its content; None if the mirror has it not."""
    folder = _find_folder(mirror)
    if folder is not None and not folder.is_dir():
        raise InputError(f"mirror {mirror}: no such folder.")
    for name in remote.mirror_paths(part):
        if folder is not None:
            path = folder / name
            if path.is_file():
                return str(path), _read_file(path, remote, part)
            continue
        url = f"{mirror.rstrip('/')}/{name}"
        try:
            content = download(url, remote.file(part).n_bytes, report)
        except MissingError:
            continue
        except UnreachableError as error:
            error.advice = "check the name of the mirror"
            raise
        if name.endswith(".xz"):
            content = expand(content, url, _limit_to_length(remote, part))
        return url, content
    return None


def _read_file(path: Path, remote: Remote, part: str) -> bytes:
    """Return the content of a file of a mirror; of another length it is not read."""
    if path.suffix == ".xz":
        return read_limited(path, _limit_to_length(remote, part))
    try:
        check_length(path.stat().st_size, remote, part)
        return path.read_bytes()
    except InputError as error:
        raise _describe_other_file(str(path), remote, part, error) from error
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}.") from error


def _limit_to_length(remote: Remote, part: str) -> ExpansionLimit:
    """Return the limit of a compressed file whose expanded length is known."""
    n_bytes = remote.file(part).n_bytes
    advice = f"the {part} data of {remote.name} are no longer"
    return ExpansionLimit(max_bytes=n_bytes, free_bytes=n_bytes, advice=advice)


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
