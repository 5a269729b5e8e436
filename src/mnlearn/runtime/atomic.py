"""Files that are complete or absent: how what was written takes its place on disk."""

import contextlib
import errno
import os
import re
import shutil
import stat
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mnlearn.runtime.errors import FullDiskError, InputError

# The disk, the quota of the user or the largest file of the process is full.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# As many links as Linux follows.
_MOST_LINKS = 40
_STANDARD = re.compile(r"-(\.\w+)*")


def is_standard(path: Path | str) -> bool:
    """Tell whether a path is `-`, perhaps with the suffix of a form: stdin, or stdout."""
    return _STANDARD.fullmatch(str(path)) is not None


@contextmanager
def atomic_path(path: Path | str) -> Iterator[Path]:
    """Yield a temporary file whose content goes to `path` when the block succeeds.

    What a link leads to is replaced; a device, a FIFO or an open descriptor is written to; `-` is
    stdout.
    """
    path = Path("/dev/stdout" if is_standard(path) else path)
    with _blame(path):
        is_stream = _is_stream(path)
        # The last link of /dev/stdout leads to a name such as "pipe:[123]" that no folder has.
        target = path if is_stream else Path(os.path.realpath(path))
        temporary = _create_temporary(None if is_stream else target)
    try:
        yield temporary
        with _blame(path):
            if is_stream:
                _copy(temporary, target)
            else:
                _replace(target, temporary)
    except OSError as error:
        # An error of the block may concern another file.
        if not is_full(error) and error.filename != str(temporary):
            raise
        raise cannot_write(path, error) from error
    finally:
        temporary.unlink(missing_ok=True)


def check_place(path: Path | str) -> None:
    """Refuse a path that `atomic_path` cannot write, as far as that can be seen before."""
    path = Path("/dev/stdout" if is_standard(path) else path)
    with _blame(path):
        if _is_stream(path):
            return
        folder = Path(os.path.realpath(path)).parent
        while not folder.exists():
            folder = folder.parent
        # What a person or a file system allows is seen only by creating a file.
        with tempfile.TemporaryFile(dir=folder):
            pass


def is_full(error: OSError) -> bool:
    """Tell whether an error says that a disk or a quota is full."""
    return error.errno in _FULL


def cannot_write(path: Path | str, error: OSError) -> InputError:
    """Return the exception for a file that cannot be written."""
    kind = FullDiskError if is_full(error) else InputError
    return kind(f"{path}: cannot be written: {error.strerror or error}.")


@contextmanager
def _blame(path: Path) -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        # Who reads the output has seen enough, which is no fault.
        raise
    except OSError as error:
        raise cannot_write(path, error) from error


def _is_stream(path: Path) -> bool:
    """Tell whether a path is a device, a FIFO or an open descriptor; refuse folders."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    return not stat.S_ISREG(mode) or _descriptor(path) is not None


def _descriptor(path: Path) -> int | None:
    """Return the descriptor of this process that a path such as `/dev/stdout` leads to."""
    for _ in range(_MOST_LINKS):
        if not path.is_symlink():
            return None
        if os.path.realpath(path.parent) == f"/proc/{os.getpid()}/fd":
            return int(path.name)
        path = path.parent / path.readlink()
    return None


def _create_temporary(target: Path | None) -> Path:
    """Create an empty file beside a target; without one, in the folder for temporary files."""
    if target is None:
        handle, name = tempfile.mkstemp(prefix="mnlearn-")
        os.close(handle)
        return Path(name)
    target.parent.mkdir(parents=True, exist_ok=True)
    # The name is cut, since it must not become longer than file systems allow.
    temporary = target.parent / f".{target.name[:40]}.{uuid.uuid4().hex[:12]}"
    # Unlike the private files of `tempfile`, this one gets the mode of every other new file.
    temporary.touch(exist_ok=False)
    return temporary


def _replace(target: Path, temporary: Path) -> None:
    # Without this the rename could survive a power loss that the content does not.
    _sync(temporary)
    temporary.replace(target)
    # Not every file system can sync a folder.
    with contextlib.suppress(OSError):
        _sync(target.parent)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _copy(temporary: Path, target: Path) -> None:
    """Write a file to a device, a FIFO or an open descriptor."""
    descriptor = _descriptor(target)
    # A descriptor that is opened by its name would begin at the start of its file again.
    handle = os.open(target, os.O_WRONLY) if descriptor is None else os.dup(descriptor)
    with temporary.open("rb") as source, os.fdopen(handle, "wb") as stream:
        shutil.copyfileobj(source, stream)
