"""Benchmark files: downloaded or copied from a mirror, verified, put in place complete.

A data folder and a mirror have the same layout, `<name>/<name>.<split>.data`; the files of a
mirror may be compressed (`.data.xz`).
"""

import hashlib
import lzma
import os
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit
from urllib.request import url2pathname

import numpy as np
import requests
from filelock import FileLock, Timeout
from requests.adapters import HTTPAdapter
from urllib3.util import Retry

from mnlearn.data.splits import SPLITS
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_bytes, write_bytes
from mnlearn.runtime.progress import begin_work, say
from mnlearn.study.datasets.registry import Benchmark, find_benchmark, load_registry

State = Literal["verified", "absent", "altered"]
Progress = Callable[[int], None]

MIRROR_VARIABLE = "MNLEARN_DATA_MIRROR"
TRIES = 5
# Waits of 0, 1, 2 and 4 times twice this between the tries.
BACKOFF_SECONDS = 0.5
TIMEOUT_SECONDS = (10.0, 60.0)
LOCK_TIMEOUT_SECONDS = 900.0
CHUNK_BYTES = 1 << 16
BUSY_STATUSES = (429, 500, 502, 503, 504)


class _MissingError(Exception):
    """The server has no such file, or does not give it out; what it answers."""


class _TruncatedError(Exception):
    """The body ended early or could not be decoded; another try may succeed."""


class UnreachableError(InputError):
    """A server could not be reached at all.

    The message of one raised by `_download` has no full stop, for the caller to add advice.
    """


@dataclass(frozen=True)
class FetchResult:
    """What became of one dataset.

    name : name of the dataset.
    n_fetched : number of files that had to be got; those already in place do not count.
    reason : one sentence why the dataset is incomplete, or None if all its files are verified.
    """

    name: str
    n_fetched: int
    reason: str | None

    @property
    def ok(self) -> bool:
        """Whether all files of the dataset are in place and verified."""
        return self.reason is None


def blob_id(content: bytes) -> str:
    """Return git's object id of a file with this content."""
    header = b"blob %d\0" % len(content)
    return hashlib.sha1(header + content, usedforsecurity=False).hexdigest()


def verify(content: bytes, benchmark: Benchmark, split: str) -> None:
    """Check that `content` is the file of `split`, byte for byte, and has its shape.

    Raises
    ------
    InputError
        Length, digest, number of rows or columns differ, or a value is not 0 or 1.

    """
    file = benchmark.file(split)
    if len(content) != file.n_bytes:
        raise InputError(f"expected {file.n_bytes} bytes, got {len(content)}.")
    if blob_id(content) != file.blob_id:
        raise InputError(f"expected the git blob {file.blob_id}, got {blob_id(content)}.")
    # The digest vouches for the bytes; this vouches for the rest of the registry's row.
    shape = (file.n_rows, benchmark.n_vars)
    cells = np.frombuffer(content, np.uint8)
    if len(cells) != file.n_rows * benchmark.n_vars * 2:
        raise InputError(f"expected {shape[0]} rows of {shape[1]} values, the length differs.")
    cells = cells.reshape(file.n_rows, benchmark.n_vars, 2)
    ends = cells[:, :, 1]
    if not ((ends[:, :-1] == ord(",")).all() and (ends[:, -1] == ord("\n")).all()):
        raise InputError(f"expected {shape[0]} rows of {shape[1]} values separated by commas.")
    if not np.isin(cells[:, :, 0], (ord("0"), ord("1"))).all():
        raise InputError("expected values 0 and 1 only.")


def state(benchmark: Benchmark, folder: Path | str) -> State:
    """Return whether `folder` has all files of the dataset, and unaltered.

    `altered` if any file differs from the benchmark's, else `absent` if any is missing.
    """
    states = {_file_state(benchmark, s, Path(folder, benchmark.relative_path(s))) for s in SPLITS}
    if "altered" in states:
        return "altered"
    return "absent" if "absent" in states else "verified"


def _file_state(benchmark: Benchmark, split: str, path: Path) -> State:
    """Return the state of one file; of a wrong length it need not be read."""
    try:
        if path.stat().st_size != benchmark.file(split).n_bytes:
            return "altered"
        verify(path.read_bytes(), benchmark, split)
    except FileNotFoundError:
        return "absent"
    except (InputError, OSError):
        return "altered"
    return "verified"


def fetch_split(
    benchmark: Benchmark,
    split: str,
    destination: Path | str,
    mirror: str | None = None,
    progress: Progress | None = None,
) -> bool:
    """Put the verified file of `split` at `destination`; return whether it had to be got.

    A verified file stays as it is, an altered one is replaced. Several processes may ask for the
    same file: one gets it, the others wait.

    mirror : folder or http(s) or file URL that replaces the source; the environment variable
        MNLEARN_DATA_MIRROR if not given.
    progress : called with numbers of bytes that sum to the length of the file.

    Raises
    ------
    InputError
        The file cannot be had, is not the benchmark's, or cannot be written. What was at
        `destination` is then unchanged.

    """
    destination = Path(destination)
    report = progress if progress is not None else _ignore
    n_bytes = benchmark.file(split).n_bytes
    if _file_state(benchmark, split, destination) == "verified":
        report(n_bytes)
        return False
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(
            destination.with_name(f".{destination.name}.lock"), timeout=LOCK_TIMEOUT_SECONDS
        )
        with lock:
            if _file_state(benchmark, split, destination) == "verified":
                report(n_bytes)
                return False
            content = _get(benchmark, split, _chosen(mirror), report)
            write_bytes(destination, content)
    except Timeout as error:
        raise InputError(
            f"{destination}: another process has been fetching it for "
            f"{LOCK_TIMEOUT_SECONDS / 60:.0f} minutes; stop that one and try again."
        ) from error
    except OSError as error:
        raise InputError(f"{destination}: cannot be written: {error.strerror or error}.") from error
    return True


def _chosen(mirror: str | None) -> str | None:
    """Return the mirror given, else that of the environment, else None."""
    return mirror or os.environ.get(MIRROR_VARIABLE) or None


def _ignore(n_bytes: int) -> None:
    """Report progress to no one."""


def _get(benchmark: Benchmark, split: str, mirror: str | None, report: Progress) -> bytes:
    """Return the verified content of a split from the mirror, if there is one, or the source."""
    n_bytes = benchmark.file(split).n_bytes
    n_reported = 0

    def report_capped(n: int) -> None:
        nonlocal n_reported
        n = min(n, n_bytes - n_reported)
        n_reported += n
        report(n)

    if mirror is None:
        place = benchmark.url(split)
        content = _from_source(benchmark, split, report_capped)
    else:
        place, content = _from_mirror(benchmark, split, mirror, report_capped)
    try:
        verify(content, benchmark, split)
    except InputError as error:
        raise InputError(
            f"{place}: is not the {split} data of {benchmark.name}: {error}"
        ) from error
    # Compressed transfers count fewer bytes than the file has.
    report_capped(n_bytes)
    return content


def _from_source(benchmark: Benchmark, split: str, report: Progress) -> bytes:
    url = benchmark.url(split)
    try:
        return _download(url, benchmark.file(split).n_bytes, report)
    except _MissingError as error:
        raise InputError(f"{url}: the server answers {error}; {_advice()}.") from error
    except UnreachableError as error:
        raise UnreachableError(f"{error}; {_advice()}.") from error


def _advice() -> str:
    return (
        "name a folder or URL that has the files with --mirror or the environment variable "
        f"{MIRROR_VARIABLE}"
    )


def _from_mirror(
    benchmark: Benchmark, split: str, mirror: str, report: Progress
) -> tuple[str, bytes]:
    """Return the place of the compressed or plain file in the mirror, and its content."""
    relative = benchmark.relative_path(split).as_posix()
    folder = _mirror_folder(mirror)
    if folder is not None and not folder.is_dir():
        raise InputError(f"mirror {mirror}: no such folder.")
    for name in (f"{relative}.xz", relative):
        if folder is not None:
            path = folder / name
            if path.is_file():
                return str(path), read_bytes(path)
            continue
        url = f"{mirror.rstrip('/')}/{name}"
        try:
            content = _download(url, benchmark.file(split).n_bytes, report)
        except _MissingError:
            continue
        except UnreachableError as error:
            raise UnreachableError(f"{error}; check the name of the mirror.") from error
        return url, _decompress(url, content) if name.endswith(".xz") else content
    raise InputError(f"mirror {mirror}: has neither {relative} nor {relative}.xz.")


def _mirror_folder(mirror: str) -> Path | None:
    """Return the folder that a path or file URL names, or None for an http(s) URL."""
    if "://" not in mirror:
        return Path(mirror).expanduser()
    scheme = mirror.partition("://")[0].lower()
    if scheme == "file":
        return Path(url2pathname(urlsplit(mirror).path))
    if scheme in ("http", "https"):
        return None
    raise InputError(f"mirror {mirror}: expected a folder or an http, https or file URL.")


def _decompress(place: str, content: bytes) -> bytes:
    try:
        return lzma.decompress(content)
    except lzma.LZMAError as error:
        raise InputError(f"{place}: is not a complete .xz file ({error}).") from error


def _download(url: str, n_bytes: int, report: Progress) -> bytes:
    """Return the content of `url`, tried anew when the server is busy or the body breaks off.

    n_bytes : length of the file; a body much longer is cut there and left to verification.

    Raises
    ------
    UnreachableError
        No connection.
    InputError
        The server refuses, or the body keeps breaking off.
    _MissingError
        The server has no such file.

    """
    retry = Retry(
        total=TRIES - 1,
        backoff_factor=BACKOFF_SECONDS,
        status_forcelist=BUSY_STATUSES,
        raise_on_status=False,
        # A server may ask for hours; five tries are soon over either way.
        respect_retry_after_header=False,
    )
    with requests.Session() as session:
        session.headers["User-Agent"] = "mnlearn"
        for scheme in ("http://", "https://"):
            session.mount(scheme, HTTPAdapter(max_retries=retry))
        for attempt in range(TRIES):
            try:
                return _read_body(session, url, n_bytes, report)
            except _TruncatedError as error:
                if attempt == TRIES - 1:
                    raise InputError(
                        f"{url}: the transfer broke off {TRIES} times ({error}); try again later."
                    ) from error
                time.sleep(BACKOFF_SECONDS * 2**attempt)
            except (requests.ConnectionError, requests.Timeout) as error:
                raise UnreachableError(f"{url}: cannot be reached ({_cause(error)})") from error
            except requests.RequestException as error:
                raise InputError(f"{url}: cannot be fetched ({_cause(error)}).") from error
    raise AssertionError("the last attempt returns or raises")


def _read_body(session: requests.Session, url: str, n_bytes: int, report: Progress) -> bytes:
    """Return the body of one request."""
    with session.get(url, stream=True, timeout=TIMEOUT_SECONDS) as response:
        answer = f"{response.status_code} {response.reason}"
        # Object stores answer 403 for what they do not have.
        if response.status_code in (403, 404, 410):
            raise _MissingError(answer)
        if response.status_code != 200:
            raise InputError(f"{url}: the server answers {answer}; try again later.")
        content = bytearray()
        try:
            for chunk in response.iter_content(CHUNK_BYTES):
                content += chunk
                report(len(chunk))
                if len(content) > n_bytes + CHUNK_BYTES:
                    break
        except requests.RequestException as error:
            raise _TruncatedError(_cause(error)) from error
    announced = {"Content-Length", "Transfer-Encoding"} & {h.title() for h in response.headers}
    if not announced and not url.endswith(".xz") and len(content) < n_bytes:
        raise _TruncatedError(f"{len(content)} of {n_bytes} bytes")
    return bytes(content)


def _cause(error: requests.RequestException) -> str:
    """Return in a few words what went wrong with a request."""
    if isinstance(error, requests.exceptions.ProxyError):
        return "the proxy refuses"
    if isinstance(error, requests.exceptions.SSLError):
        return "no trusted certificate"
    if isinstance(error, requests.Timeout):
        return "no answer in time"
    text = str(error)
    if "NameResolution" in text or "getaddrinfo" in text:
        return "the name is not known here; no network?"
    if "refused" in text:
        return "connection refused"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "incomplete body"
    if isinstance(error, requests.exceptions.ContentDecodingError):
        return "body cannot be decoded"
    if isinstance(error, requests.ConnectionError):
        return "no connection"
    return text.rstrip(".")


def fetch_many(
    names: Iterable[str],
    folder: Path | str,
    mirror: str | None = None,
    jobs: int = 4,
    registry: Mapping[str, Benchmark] | None = None,
) -> dict[str, FetchResult]:
    """Put the files of the named datasets in `folder`, several datasets at a time.

    A dataset that cannot be had does not stop the others. Progress goes to standard error: a bar
    on a terminal, else a line for each dataset.

    jobs : number of datasets that are fetched at a time.
    registry : the datasets that exist; those of `load_registry()` if not given.

    Returns
    -------
    What became of each dataset, in the order of `names`.

    Raises
    ------
    InputError
        A name is not in the registry; nothing is fetched then.

    """
    known = load_registry() if registry is None else registry
    benchmarks = [find_benchmark(known, name) for name in dict.fromkeys(names)]
    total = sum(benchmark.file(split).n_bytes for benchmark in benchmarks for split in SPLITS)
    results: dict[str, FetchResult] = {}
    servers = _Servers()
    with begin_work("fetch", total, unit="B") as work:
        pool = ThreadPoolExecutor(max(1, jobs))
        try:
            futures = [
                pool.submit(_fetch_dataset, benchmark, Path(folder), mirror, work.advance, servers)
                for benchmark in benchmarks
            ]
            for future in as_completed(futures):
                result = future.result()
                results[result.name] = result
                if result.ok:
                    work.advance(0, line=_line(result))
                else:
                    say(_line(result))
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
    return {benchmark.name: results[benchmark.name] for benchmark in benchmarks}


@dataclass
class _Servers:
    """What the datasets of one call learn from each other about the servers.

    Without a network the tries of the first dataset must do for all. A server that has ever
    answered is tried every time.
    """

    up: set[str] = field(default_factory=set)
    down: dict[str, str] = field(default_factory=dict)


def _fetch_dataset(
    benchmark: Benchmark,
    folder: Path,
    mirror: str | None,
    report: Progress,
    servers: _Servers,
) -> FetchResult:
    """Fetch the three files of one dataset; stop at the first that cannot be had."""
    place = _chosen(mirror) or benchmark.source
    server = "/".join(place.split("/")[:3])
    n_fetched = 0
    for split in SPLITS:
        path = folder / benchmark.relative_path(split)
        try:
            if server in servers.down and _file_state(benchmark, split, path) != "verified":
                return FetchResult(benchmark.name, n_fetched, servers.down[server])
            n_fetched += fetch_split(benchmark, split, path, mirror, report)
        except InputError as error:
            if isinstance(error, UnreachableError) and server not in servers.up:
                servers.down[server] = str(error)
            return FetchResult(benchmark.name, n_fetched, str(error))
        if n_fetched:
            servers.up.add(server)
    return FetchResult(benchmark.name, n_fetched, None)


def _line(result: FetchResult) -> str:
    """Return the line of the log about one dataset."""
    if result.reason is not None:
        return f"{result.name}: {result.reason}"
    if not result.n_fetched:
        return f"{result.name}: verified, was already here"
    return f"{result.name}: verified, {result.n_fetched} files fetched"
