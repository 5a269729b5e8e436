"""Benchmark files put in place complete and verified; several datasets at a time."""

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

from filelock import FileLock, Timeout

from mnlearn.runtime.atomic import atomic_path, cannot_write
from mnlearn.runtime.errors import FullDiskError, InputError
from mnlearn.runtime.progress import begin_work, say
from mnlearn_studies.datasets.built import sources
from mnlearn_studies.datasets.places import choose_mirror, get_content
from mnlearn_studies.datasets.registry import Remote, find_benchmark, load_registry
from mnlearn_studies.datasets.transport import Progress, UnreachableError
from mnlearn_studies.datasets.verification import find_file_state

LOCK_TIMEOUT_SECONDS = 900.0


class _StoppedError(Exception):
    """The program was interrupted while this thread was fetching."""


@dataclass(frozen=True)
class FetchResult:
    """What became of one dataset.

    Attributes
    ----------
    name : str
        Name of the dataset.
    n_fetched : int
        Number of files that had to be got; those already in place do not count.
    reason : str or None
        One sentence why the dataset is incomplete; None if all its files are verified.

    """

    name: str
    n_fetched: int
    reason: str | None

    @property
    def ok(self) -> bool:
        """Whether all files of the dataset are in place and verified."""
        return self.reason is None


def fetch_split(
    benchmark: Remote,
    split: str,
    destination: Path | str,
    mirror: str | None = None,
    *,
    progress: Progress | None = None,
) -> bool:
    """Put the verified file of `split` at `destination`; return whether it had to be got.

    A verified file stays as it is, an altered one is replaced. Several processes may ask for the
    same file: one gets it, the others wait.

    Parameters
    ----------
    benchmark, split
        The dataset, and which of its files.
    destination : path-like
        Path of the file.
    mirror : str, optional
        Folder or http(s) or file URL that replaces the origin, or several with the system's path
        separator between them; the environment variable MNLEARN_DATA_MIRROR if not given.
    progress : callable, optional
        Called with numbers of bytes that sum to the length of the file. It is called with 0
        while another process has the file. What it raises ends the fetching.

    Raises
    ------
    InputError
        The file cannot be had, is not the benchmark's, or cannot be written. What was at
        `destination` is then unchanged.

    """
    destination = Path(destination)
    report = progress if progress is not None else _ignore
    n_bytes = benchmark.file(split).n_bytes
    if find_file_state(benchmark, split, destination) == "verified":
        report(n_bytes)
        return False
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(destination.with_name(f".{destination.name}.lock"))
        _acquire(lock, destination, report)
        try:
            if find_file_state(benchmark, split, destination) == "verified":
                report(n_bytes)
                return False
            content = get_content(benchmark, split, choose_mirror(mirror), report)
            # Without the compression that the name may ask for: the content is the file.
            with atomic_path(destination) as temporary:
                temporary.write_bytes(content)
        finally:
            lock.release()
    except OSError as error:
        raise cannot_write(destination, error) from error
    return True


def _acquire(lock: FileLock, destination: Path, report: Progress) -> None:
    """Wait for the lock of a file, in steps that an interruption can end."""
    deadline = time.monotonic() + LOCK_TIMEOUT_SECONDS
    while True:
        report(0)
        left = deadline - time.monotonic()
        try:
            lock.acquire(timeout=max(0.0, min(1.0, left)))
        except Timeout as error:
            if left > 1.0:
                continue
            raise InputError(
                f"{destination}: another process has been fetching it for "
                f"{LOCK_TIMEOUT_SECONDS / 60:.0f} minutes; stop that one and try again."
            ) from error
        return


def _ignore(n_bytes: int) -> None:
    """Report progress to no one."""


def fetch_many(
    names: Iterable[str],
    folder: Path | str,
    mirror: str | None = None,
    jobs: int = 4,
    *,
    registry: Mapping[str, Remote] | None = None,
) -> dict[str, FetchResult]:
    """Put the files of the named datasets in `folder`, several datasets at a time.

    A dataset that cannot be had does not stop the others. Progress is logged, see
    `mnlearn.runtime.progress`. An interruption ends all downloads, and leaves the files that are
    complete.

    Parameters
    ----------
    names : iterable of str
        The datasets.
    folder : path-like
        The data folder.
    mirror : str, optional
        As in `fetch_split`.
    jobs : int
        Number of datasets that are fetched at a time.
    registry : mapping, optional
        The datasets that exist; those of `load_registry()` and the sources of datasets that are
        built if not given.

    Returns
    -------
    dict of str to FetchResult
        What became of each dataset, in the order of `names`.

    Raises
    ------
    InputError
        A name is not in the registry; nothing is fetched then.

    """
    everything: Mapping[str, Remote] = {**load_registry(), **sources()}
    known = everything if registry is None else registry
    benchmarks = [find_benchmark(known, name) for name in dict.fromkeys(names)]
    results = _fetch_all(benchmarks, Path(folder), mirror, jobs)
    return {benchmark.name: results[benchmark.name] for benchmark in benchmarks}


def _fetch_all(
    benchmarks: Sequence[Remote], folder: Path, mirror: str | None, jobs: int
) -> dict[str, FetchResult]:
    """Fetch several datasets at a time, and show how far they are."""
    total = sum(
        benchmark.file(split).n_bytes for benchmark in benchmarks for split in benchmark.parts
    )
    results: dict[str, FetchResult] = {}
    servers = _Servers()
    stopping = threading.Event()
    with begin_work("fetch", total, unit="B") as work:

        def report(n_bytes: int) -> None:
            if stopping.is_set():
                raise _StoppedError
            work.advance(n_bytes)

        pool = ThreadPoolExecutor(max(1, jobs))
        try:
            futures = [
                pool.submit(_fetch_dataset, benchmark, folder, mirror, servers, report=report)
                for benchmark in benchmarks
            ]
            for future in as_completed(futures):
                result = future.result()
                results[result.name] = result
                if result.ok:
                    work.advance(0, line=_describe(result))
                else:
                    say(_describe(result))
        finally:
            # Of use after an interruption only: else every download has ended by now.
            stopping.set()
            pool.shutdown(wait=True, cancel_futures=True)
    return results


@dataclass
class _Servers:
    """What the datasets of one call learn from each other about the servers.

    Without a network the tries of the first dataset must do for all. A server that has ever
    answered is tried every time.
    """

    up: set[str] = field(default_factory=set)
    down: dict[str, str] = field(default_factory=dict)


def _fetch_dataset(
    benchmark: Remote,
    folder: Path,
    mirror: str | None,
    servers: _Servers,
    *,
    report: Progress,
) -> FetchResult:
    """Fetch the files of one dataset; stop at the first that cannot be had."""
    place = choose_mirror(mirror) or benchmark.origin
    server = "/".join(place.split("/")[:3])
    n_fetched = 0
    for split in benchmark.parts:
        path = folder / benchmark.relative_path(split)
        try:
            if server in servers.down and find_file_state(benchmark, split, path) != "verified":
                return FetchResult(benchmark.name, n_fetched, servers.down[server])
            n_fetched += fetch_split(benchmark, split, path, mirror, progress=report)
        except FullDiskError:
            raise
        except InputError as error:
            if isinstance(error, UnreachableError) and server not in servers.up:
                servers.down[server] = str(error)
            return FetchResult(benchmark.name, n_fetched, str(error))
        if n_fetched:
            servers.up.add(server)
    return FetchResult(benchmark.name, n_fetched, None)


def _describe(result: FetchResult) -> str:
    """Return the line of the log about one dataset."""
    if result.reason is not None:
        return f"{result.name}: {result.reason}"
    if not result.n_fetched:
        return f"{result.name}: verified, was already here"
    return f"{result.name}: verified, {result.n_fetched} files fetched"
