"""Digests of code, which take seconds to compute, in the user's cache folder.

A file holds the digests of one state of all sources; any edit starts a new file.
"""

import contextlib
import hashlib
import json
import re
import time
from collections.abc import Iterable
from pathlib import Path

import platformdirs

from mnlearn.runtime.atomic import atomic_path
from mnlearn.runtime.errors import InputError

_DAYS_KEPT = 30
_DIGEST = re.compile("[0-9a-f]{16}")


def digest_file(packages: Iterable[Path]) -> Path:
    """Return the file of the digests of some folders of sources as they are; it need not exist."""
    state = hashlib.sha256()
    for package in packages:
        for path in sorted(package.rglob("*.py")):
            content = path.read_bytes()
            state.update(f"\0{package.name}/{path.relative_to(package).as_posix()}\0".encode())
            state.update(f"{len(content)}\0".encode())
            state.update(content)
    folder = Path(platformdirs.user_cache_dir("mnlearn")) / "digests"
    return folder / f"{state.hexdigest()[:32]}.json"


def read_digest(file: Path, roots: Iterable[str]) -> str | None:
    """Return the digest of some definitions; None if the file has none that can be read."""
    found = _read(file).get(" ".join(roots))
    return found if found is not None and _DIGEST.fullmatch(found) else None


def keep_digest(file: Path, roots: Iterable[str], digest: str) -> None:
    """Add a digest to the file, if it can be written, and remove files of former states."""
    known = {**_read(file), " ".join(roots): digest}
    with contextlib.suppress(OSError, InputError):
        if not file.exists():
            _remove_old(file.parent)
        with atomic_path(file) as temporary:
            temporary.write_text(json.dumps(known, indent=0))


def _read(file: Path) -> dict[str, str]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {key: value for key, value in found.items() if isinstance(value, str)}


def _remove_old(folder: Path) -> None:
    oldest = time.time() - _DAYS_KEPT * 86400
    for path in folder.glob("*.json"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < oldest:
                path.unlink()
