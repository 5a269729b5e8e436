"""Whether a file is the benchmark's, byte for byte: its length, git blob id and shape."""

import hashlib
from pathlib import Path
from typing import Literal

import numpy as np

from mnlearn.data.splits import SPLITS
from mnlearn.runtime.errors import InputError
from mnlearn.study.datasets.registry import Benchmark

State = Literal["verified", "absent", "altered"]


def compute_blob_id(content: bytes) -> str:
    """Return git's object id of a file with this content, 40 hexadecimal digits."""
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
    check_length(len(content), benchmark, split)
    found = compute_blob_id(content)
    if found != file.blob_id:
        raise InputError(f"expected the git blob {file.blob_id}, got {found}.")
    # The digest vouches for the bytes; the shape is checked to vouch for the registry's row.
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


def check_length(n_bytes: int, benchmark: Benchmark, split: str) -> None:
    """Refuse a length that is not that of the file of `split`.

    Raises
    ------
    InputError
        The lengths differ.

    """
    expected = benchmark.file(split).n_bytes
    if n_bytes != expected:
        raise InputError(f"expected {expected} bytes, got {n_bytes}.")


def find_state(benchmark: Benchmark, folder: Path | str) -> State:
    """Return whether `folder` has all files of the dataset, and unaltered.

    `altered` if any file differs from the benchmark's, else `absent` if any is missing.
    """
    states = {
        find_file_state(benchmark, split, Path(folder, benchmark.relative_path(split)))
        for split in SPLITS
    }
    if "altered" in states:
        return "altered"
    return "absent" if "absent" in states else "verified"


def find_file_state(benchmark: Benchmark, split: str, path: Path) -> State:
    """Return the state of one file; one of another length is not read."""
    try:
        check_length(path.stat().st_size, benchmark, split)
        verify(path.read_bytes(), benchmark, split)
    except FileNotFoundError:
        return "absent"
    except (InputError, OSError):
        return "altered"
    return "verified"
