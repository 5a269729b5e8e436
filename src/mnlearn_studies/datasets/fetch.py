"""Public files put in place complete and verified; several datasets at a time."""

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock, Timeout

from mnlearn.runtime.atomic import atomic_path, cannot_write
from mnlearn.runtime.errors import FullDiskError, InputError
from mnlearn.runtime.progress import begin_work, say
from mnlearn_studies.datasets.places import Progress, UnreachableError, choose_mirror, get_content
from mnlearn_studies.datasets.registry import Entry, RemoteFile, find_dataset, load_datasets

LOCK_TIMEOUT_SECONDS = 900.0


class _StoppedError(Exception):
    """The program was interrupted while this thread was fetching."""


@dataclass(frozen=True)
class FetchResult:
    """How many files of a dataset had to be got, and why it is incomplete; None if it is not."""

    name: str
    n_fetched: int
    reason: str | None = None

    @property
    def ok(self) -> bool:
        """Whether all files of the dataset are in place and verified."""
        return self.reason is None

    def __str__(self) -> str:
        """Return the line of the log about the dataset."""
        done = f"{self.n_fetched} files fetched" if self.n_fetched else "was already here"
        return f"{self.name}: {self.reason or f'verified, {done}'}"


def fetch_file(
    file: RemoteFile,
    destination: Path,
    mirror: str | None = None,
    *,
    progress: Progress = lambda n_bytes: None,
) -> bool:
    """Put a verified file at `destination`; return whether it had to be got.

    Several processes may ask for one file; if it cannot be had, what was there is unchanged. mirror
    : what replaces the origin, by default MNLEARN_DATA_MIRROR. progress : called with numbers of
    bytes, with 0 while another process has the file; what it raises ends the fetching.
    """
    if file.state(destination) == "verified":
        progress(file.n_bytes)
        return False
    try:
        destination.parent.mkdir(parents=True, exist_ok=True)
        lock = FileLock(destination.with_name(f".{destination.name}.lock"))
        _acquire(lock, destination, progress)
        try:
            if file.state(destination) == "verified":
                progress(file.n_bytes)
                return False
            content = get_content(file, choose_mirror(mirror), progress)
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


def fetch_many(
    names: Iterable[str],
    folder: Path,
    mirror: str | None = None,
    jobs: int = 4,
    *,
    registry: Mapping[str, Entry] | None = None,
) -> dict[str, FetchResult]:
    """Put the files of the named datasets in `folder`, several at a time.

    A dataset that cannot be had does not stop the others; an unknown name stops all.
    """
    if registry is None:
        registry = {name: entry for name, entry in load_datasets().items() if entry.files}
    entries = [find_dataset(registry, name) for name in dict.fromkeys(names)]
    results = _fetch_all(entries, folder, mirror, jobs)
    return {entry.name: results[entry.name] for entry in entries}


def _fetch_all(
    entries: Sequence[Entry], folder: Path, mirror: str | None, jobs: int
) -> dict[str, FetchResult]:
    total = sum(file.n_bytes for entry in entries for file in entry.files)
    results: dict[str, FetchResult] = {}
    down: dict[str, str] = {}
    stopping = threading.Event()
    with begin_work("fetch", total, unit="B") as work:

        def report(n_bytes: int) -> None:
            if stopping.is_set():
                raise _StoppedError
            work.advance(n_bytes)

        pool = ThreadPoolExecutor(max(1, jobs))
        try:
            futures = [
                pool.submit(_fetch_dataset, entry, folder, mirror, down, report=report)
                for entry in entries
            ]
            for future in as_completed(futures):
                result = future.result()
                results[result.name] = result
                if result.ok:
                    work.advance(0, line=str(result))
                else:
                    say(str(result))
        finally:
            # Of use after an interruption only: else every download has ended by now.
            stopping.set()
            pool.shutdown(wait=True, cancel_futures=True)
    return results


def _fetch_dataset(
    entry: Entry, folder: Path, mirror: str | None, down: dict[str, str], *, report: Progress
) -> FetchResult:
    """Fetch the files of one dataset; stop at the first that cannot be had.

    down : why a server cannot be reached, by its address: one dataset tries for all of a call.
    """
    n_fetched = 0
    for file in entry.files:
        path = folder / file.path
        server = "/".join((choose_mirror(mirror) or file.url).split("/")[:3])
        try:
            if server in down and file.state(path) != "verified":
                return FetchResult(entry.name, n_fetched, down[server])
            n_fetched += fetch_file(file, path, mirror, progress=report)
        except FullDiskError:
            raise
        except InputError as error:
            if isinstance(error, UnreachableError):
                down[server] = str(error)
            return FetchResult(entry.name, n_fetched, str(error))
    return FetchResult(entry.name, n_fetched)
