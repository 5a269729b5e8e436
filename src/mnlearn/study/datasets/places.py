"""Where the file of a split is got from: its origin, or a mirror that replaces it.

A mirror has the layout of a data folder, `<name>/<name>.<split>.data`; its files may be
compressed (`.data.xz`).
"""

import os
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from mnlearn.runtime.decompression import ExpansionLimit, expand, read_limited
from mnlearn.runtime.errors import InputError
from mnlearn.study.datasets.registry import Benchmark
from mnlearn.study.datasets.transport import MissingError, Progress, UnreachableError, download
from mnlearn.study.datasets.verification import check_length, verify

MIRROR_VARIABLE = "MNLEARN_DATA_MIRROR"
_ADVICE = (
    "name a folder or URL that has the files with --mirror or the environment variable "
    f"{MIRROR_VARIABLE}"
)


def choose_mirror(mirror: str | None) -> str | None:
    """Return the mirror given, else that of the environment, else None."""
    return mirror or os.environ.get(MIRROR_VARIABLE) or None


def get_content(benchmark: Benchmark, split: str, mirror: str | None, report: Progress) -> bytes:
    """Return the verified content of a split from the mirror, if there is one, or the origin.

    Parameters
    ----------
    benchmark, split
        The dataset, and which of its files.
    mirror : str or None
        Folder or http(s) or file URL.
    report : callable
        Called with numbers of bytes that sum to the length of the file.

    Raises
    ------
    InputError
        The file cannot be had or is not the benchmark's; the sentence names the place.

    """
    n_bytes = benchmark.file(split).n_bytes
    n_reported = 0

    def report_capped(n: int) -> None:
        nonlocal n_reported
        n = min(n, n_bytes - n_reported)
        n_reported += n
        report(n)

    if mirror is None:
        place = benchmark.url(split)
        content = _get_from_origin(benchmark, split, report_capped)
    else:
        place, content = _get_from_mirror(benchmark, split, mirror, report_capped)
    try:
        verify(content, benchmark, split)
    except InputError as error:
        raise _describe_other_file(place, benchmark, split, error) from error
    # Compressed transfers count fewer bytes than the file has.
    report_capped(n_bytes)
    return content


def _describe_other_file(
    place: str, benchmark: Benchmark, split: str, error: InputError
) -> InputError:
    return InputError(f"{place}: is not the {split} data of {benchmark.name}: {error}")


def _get_from_origin(benchmark: Benchmark, split: str, report: Progress) -> bytes:
    url = benchmark.url(split)
    try:
        return download(url, benchmark.file(split).n_bytes, report)
    except MissingError as error:
        raise InputError(f"{url}: the server answers {error}; {_ADVICE}.") from error
    except UnreachableError as error:
        raise UnreachableError(f"{error}; {_ADVICE}.") from error


def _get_from_mirror(
    benchmark: Benchmark, split: str, mirror: str, report: Progress
) -> tuple[str, bytes]:
    """Return the place of the compressed or plain file in the mirror, and its content."""
    relative = benchmark.relative_path(split).as_posix()
    folder = _find_folder(mirror)
    if folder is not None and not folder.is_dir():
        raise InputError(f"mirror {mirror}: no such folder.")
    for name in (f"{relative}.xz", relative):
        if folder is not None:
            path = folder / name
            if path.is_file():
                return str(path), _read_file(path, benchmark, split)
            continue
        url = f"{mirror.rstrip('/')}/{name}"
        try:
            content = download(url, benchmark.file(split).n_bytes, report)
        except MissingError:
            continue
        except UnreachableError as error:
            raise UnreachableError(f"{error}; check the name of the mirror.") from error
        if name.endswith(".xz"):
            content = expand(content, url, _limit_to_length(benchmark, split))
        return url, content
    raise InputError(f"mirror {mirror}: has neither {relative} nor {relative}.xz.")


def _read_file(path: Path, benchmark: Benchmark, split: str) -> bytes:
    """Return the content of a file of a mirror; of another length it is not read."""
    if path.suffix != ".xz":
        try:
            check_length(path.stat().st_size, benchmark, split)
        except InputError as error:
            raise _describe_other_file(str(path), benchmark, split, error) from error
    return read_limited(path, _limit_to_length(benchmark, split))


def _limit_to_length(benchmark: Benchmark, split: str) -> ExpansionLimit:
    """Return the limit of a compressed file whose expanded length is known."""
    n_bytes = benchmark.file(split).n_bytes
    advice = f"the {split} data of {benchmark.name} are no longer"
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
