"""The on-disk cache of compiled kernels: a folder that is named after the sources of all kernels.

Numba notices an edited function but not an edited function that it calls. The folder is therefore
named after the text of all kernels: an edit of any kernel starts a new folder.
"""

import contextlib
import functools
import hashlib
import logging
import tempfile
from pathlib import Path
from typing import Any

import numba
import platformdirs
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.runtime import rtsys
from numba.core.sigutils import normalize_signature

from mnlearn.kernels.wide_vectors import WIDE_FEATURES


def kernel_sources_digest() -> str:
    """Return the digest, 16 hex digits, of the text of all kernels and of Numba's version."""
    folder = Path(__file__).parent
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


_LOGGER = logging.getLogger("mnlearn")

# The digest is taken when the kernels are imported: a file that is edited while the process runs
# must not put code from before the edit into the folder of the code after it.
_SOURCES = kernel_sources_digest()


def cache_folder() -> Path:
    """Return the folder for the present kernels; nothing creates it before a kernel is saved.

    It lies in `NUMBA_CACHE_DIR` if that is set, else in the user's cache folder.
    """
    # Numba has read the variable NUMBA_CACHE_DIR into this setting.
    root = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    return _folder_in(root)


# Every kernel asks for these two when it is imported; most of them lie in a few folders.
@functools.cache
def _folder_in(root: str) -> Path:
    return Path(root or platformdirs.user_cache_dir("mnlearn")) / _SOURCES


class _Locator:
    """Where Numba keeps the compiled forms of one function; Numba asks for these four methods."""

    def __init__(self, function: Any, file: str) -> None:
        self._py_file = file
        self._line = function.__code__.co_firstlineno
        self._path = cache_folder() / _place(file)

    @classmethod
    def from_function(cls, function: Any, file: str) -> "_Locator":
        return cls(function, file)

    def get_cache_path(self) -> str:
        return str(self._path)

    def get_source_stamp(self) -> str:
        # Functions outside this folder can be kernels too; the digest does not cover their files.
        return _hash(Path(self._py_file).read_bytes())

    def get_disambiguator(self) -> str:
        return str(self._line)

    def ensure_cache_path(self) -> None:
        """Create the folder; raise OSError if no file can be written there."""
        self._path.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=self._path).close()


@functools.cache
def _place(file: str) -> str:
    """Return a name for the folder of a file of kernels.

    The digest of the cache folder covers the kernels of this package, so that copies of it in
    several places share what is compiled. Other kernels are told apart by their whole path.
    """
    folder, kernels = Path(file).resolve().parent, Path(__file__).resolve().parent
    inside = folder.is_relative_to(kernels)
    return _hash((folder.relative_to(kernels).as_posix() if inside else str(folder)).encode())


class _CacheFiles(CompileResultCacheImpl):
    def __init__(self, function: Any) -> None:
        self._locator_classes = [_Locator]
        super().__init__(function)


@functools.cache
def _announce() -> None:
    """Log, once in a process, that kernels are compiled: a person waits for it."""
    line = "compiling what this needs, which takes some seconds; later runs will not wait for it"
    _LOGGER.debug(line, extra={"for_terminals": True})


class KernelCache(FunctionCache):
    """The cache of one kernel. A folder that cannot be read or written is no error.

    Nothing is written before the first compiled form of the kernel is saved.
    """

    _impl_class = _CacheFiles

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        # Numba's key has the processor and the features that it compiles for.
        return (*super()._index_key(sig, codegen), WIDE_FEATURES)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled form for argument types; None if the cache has none."""
        found = self._load(sig, target_context)
        if found is None:
            _announce()
        return found

    def _load(self, sig: Any, target_context: Any) -> Any:
        try:
            # What compiled code calls. Numba's own method loads all that a compilation needs, too,
            # which takes a quarter of a second.
            rtsys.initialize(target_context)
            found = self._load_overload(sig, target_context)
        except OSError:
            return None
        except Exception:  # a damaged file can raise nearly anything when it is unpickled
            self.flush()
            return None
        # Two processes that save different forms at the same moment may give them one file name.
        if found is None or tuple(found.signature.args) != tuple(normalize_signature(sig)[0]):
            return None
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the compiled form for argument types, if the folder can be written."""
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)

    def flush(self) -> None:
        """Forget all compiled forms of the kernel, if the folder can be written."""
        with contextlib.suppress(OSError):
            super().flush()


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
