"""Whether a file is the published one, byte for byte: its length, git blob id and shape."""

import hashlib
from pathlib import Path
from typing import Literal

from mnlearn.runtime.errors import InputError
from mnlearn_studies.datasets.registry import Remote

State = Literal["verified", "absent", "altered"]


def compute_blob_id(content: bytes) -> str:
    """Return git's object id of a file with this content, 40 hexadecimal digits."""
    header = b"blob %d\0" % len(content)
    return hashlib.sha1(header + content, usedforsecurity=False).hexdigest()


def verify(content: bytes, remote: Remote, part: str) -> None:
    """Check that `content` is the file `part`, byte for byte, and has its shape.

    Raises
    ------
    InputError
        Length, digest, number of rows or columns differ, or a value is not 0 or 1.

    """
    file = remote.file(part)
    check_length(len(content), remote, part)
    found = compute_blob_id(content)
    if found != file.blob_id:
        raise InputError(f"expected the git blob {file.blob_id}, got {found}.")
    # The digest vouches for the bytes; the shape is checked to vouch for the registry's row.
    remote.check_shape(content, part)


def check_length(n_bytes: int, remote: Remote, part: str) -> None:
    """Refuse a length that is not that of the file `part`.

    Raises
    ------
    InputError
        The lengths differ.

    """
    expected = remote.file(part).n_bytes
    if n_bytes != expected:
        raise InputError(f"expected {expected} bytes, got {n_bytes}.")


def find_state(remote: Remote, folder: Path | str) -> State:
    """Return whether `folder` has all files of the dataset, and unaltered.

    `altered` if any file differs from the benchmark's, else `absent` if any is missing.
    """
    states = {
        find_file_state(remote, part, Path(folder, remote.relative_path(part)))
        for part in remote.parts
    }
    if "altered" in states:
        return "altered"
    return "absent" if "absent" in states else "verified"


def find_file_state(remote: Remote, part: str, path: Path) -> State:
    """Return the state of one file; one of another length is not read."""
    try:
        check_length(path.stat().st_size, remote, part)
        verify(path.read_bytes(), remote, part)
    except FileNotFoundError:
        return "absent"
    except (InputError, OSError):
        return "altered"
    return "verified"
