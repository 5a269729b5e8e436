"""Where a public file is got from: its origin, or mirrors that replace it.

A mirror has the layout of a data folder, or the files themselves, perhaps compressed.
"""

import os
import re
import time
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

import requests
import urllib3

from mnlearn.runtime.decompression import ExpansionLimit, expand, read_limited
from mnlearn.runtime.errors import InputError
from mnlearn_studies.datasets.registry import RemoteFile

Progress = Callable[[int], None]

TRIES = 5
# Waits of 0.5, 1, 2 and 4 seconds between the tries.
BACKOFF_SECONDS = 0.5
# To connect, and between two packets.
TIMEOUT_SECONDS = (10.0, 60.0)
# All tries of one file together.
TOTAL_SECONDS = 1800.0
_BROKEN = f"the transfer broke off {TRIES} times"
CHUNK_BYTES = 1 << 16
BUSY_STATUSES = (429, 500, 502, 503, 504)
# Object stores answer 403 for what they do not have.
MISSING_STATUSES = (403, 404, 410)


class MissingError(Exception):
    """The server has no such file, or does not give it out; what it answers."""


class UnreachableError(InputError):
    """A server could not be reached at all."""


class _PassingError(Exception):
    """The server is busy, or the body ended early; another try may succeed."""


def download(url: str, n_bytes: int, report: Progress) -> bytes:
    """Return the content of `url`, tried again when the server is busy or the body breaks off.

    A body much longer than `n_bytes` is cut; what `report` raises ends the download. It raises
    `MissingError` without such a file, `UnreachableError` without a connection.
    """
    deadline = time.monotonic() + TOTAL_SECONDS
    with requests.Session() as session:
        session.headers["User-Agent"] = "mnlearn"
        for attempt in range(TRIES):
            try:
                return _read_body(session, url, n_bytes, deadline, report=report)
            except (_PassingError, requests.ConnectionError, requests.Timeout) as error:
                if attempt < TRIES - 1:
                    time.sleep(BACKOFF_SECONDS * 2**attempt)
                elif isinstance(error, _PassingError):
                    raise InputError(f"{url}: {error}; try again later.") from error
                else:
                    reason = _explain(error)
                    raise UnreachableError(f"cannot be reached ({reason}).", where=url) from error
            except requests.RequestException as error:
                raise InputError(f"{url}: cannot be fetched ({error}).") from error
    raise AssertionError("the last attempt returns or raises")


def _read_body(
    session: requests.Session, url: str, n_bytes: int, deadline: float, *, report: Progress
) -> bytes:
    content = bytearray()
    with session.get(url, stream=True, timeout=TIMEOUT_SECONDS) as response:
        answer = f"the server answers {response.status_code} {response.reason}"
        if response.status_code in MISSING_STATUSES:
            raise MissingError(answer)
        if response.status_code in BUSY_STATUSES:
            raise _PassingError(answer)
        if response.status_code != 200:
            raise InputError(f"{url}: {answer}; try again later.")
        try:
            # read1 returns what has arrived; read would wait for a whole part, however slow.
            while chunk := response.raw.read1(CHUNK_BYTES, decode_content=True):
                content += chunk
                report(len(chunk))
                if time.monotonic() > deadline:
                    raise InputError(
                        f"{url}: took longer than {TOTAL_SECONDS / 60:.3g} minutes; expected a "
                        "faster server, or try again later."
                    )
                if len(content) > n_bytes + CHUNK_BYTES:
                    break
        except urllib3.exceptions.HTTPError as error:
            raise _PassingError(f"{_BROKEN} (incomplete body)") from error
    announced = {"Content-Length", "Transfer-Encoding"} & {h.title() for h in response.headers}
    if not announced and not url.endswith(".xz") and len(content) < n_bytes:
        raise _PassingError(f"{_BROKEN} ({len(content)} of {n_bytes} bytes)")
    return bytes(content)


def _explain(error: BaseException) -> str:
    """Return in a few words why there is no connection: what the system said first."""
    reasons = []
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.strerror:
            reasons.append(cause.strerror.lower())
        cause = cause.__cause__ or cause.__context__
    return reasons[-1] if reasons else "no answer"


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
