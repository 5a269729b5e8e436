"""The on-disk cache of compiled kernels: a folder for each file, named after what it is made of.

Numba notices an edited function but not an edited function that it calls. The name of a folder
therefore has the text of a file of kernels and of all that it imports: an edit starts new folders
for what uses the edited file, and for nothing else.

A wheel for one platform has a second cache, which is only read: kernels that `workflow/compiled.py`
compiled for classes of processors.
"""

import contextlib
import functools
import hashlib
import logging
import re
import tempfile
from pathlib import Path
from typing import Any

import numba
import platformdirs
from llvmlite.binding import get_host_cpu_name
from numba.core.caching import CompileResultCacheImpl, FunctionCache
from numba.core.runtime import rtsys
from numba.core.sigutils import normalize_signature

_NAMED = re.compile(rb"\bmnlearn\.kernels\.([a-z0-9_.]+)")


class Sources:
    """The texts of all kernels, by their place below a folder."""

    def __init__(self, folder: Path) -> None:
        paths = sorted(folder.rglob("*.py"))
        self.texts = {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}

    def made_of(self, place: str) -> set[str]:
        """Return a file and all that it imports in the end; a package stands for its files."""
        found, waiting = {place}, [place]
        while waiting:
            for name in _NAMED.findall(self.texts[waiting.pop()]):
                inner = name.decode().strip(".").replace(".", "/")
                files = [f"{inner}.py"]
                if files[0] not in self.texts:
                    files = [file for file in self.texts if file.startswith(f"{inner}/")]
                waiting += set(files) - found
                found.update(files)
        return found

    def digest(self, place: str | None = None) -> str:
        """Return 16 hex digits of what a file is made of, or of all files, and Numba's version."""
        digest = hashlib.sha256(f"{numba.__version__} {place}".encode())
        for name in sorted(self.texts if place is None else self.made_of(place)):
            digest.update(name.encode() + b"\0" + self.texts[name])
        return digest.hexdigest()[:16]


_LOGGER = logging.getLogger("mnlearn")
_FOLDER = Path(__file__).resolve().parent
# Where the kernels that come with the package are.
_COMPILED = _FOLDER / "compiled"
# The classes of processors that they are compiled for, the fastest first, and what each has more
# than others. Kernels round alike on all processors.
TARGETS = {
    "x86-64-v4": ("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"),
    "x86-64-v3": ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"),
}

# The texts are read when the kernels are imported: a file that is edited while the process runs
# must not put code from before the edit into the folder of the code after it.
_SOURCES = Sources(_FOLDER)


# Every kernel asks for this when it is imported; most of them lie in a few files.
@functools.cache
def cache_folder(file: str, root: str) -> Path:
    """Return the folder for a file of kernels; nothing creates it before a kernel is saved.

    Copies of this package in several places share what is compiled. Kernels outside of it, which
    may use all of these, are told apart by their whole path.
    """
    path = Path(file).resolve()
    if path.is_relative_to(_FOLDER):
        name = _SOURCES.digest(path.relative_to(_FOLDER).as_posix())
    else:
        name = f"{_SOURCES.digest()}/{_hash(str(path.parent).encode())}"
    return Path(root or platformdirs.user_cache_dir("mnlearn")) / name


class _Locator:
    """Where Numba keeps the compiled forms of one function; Numba asks for these four methods."""

    def __init__(self, function: Any, file: str) -> None:
        self._py_file = file
        self._line = function.__code__.co_firstlineno
        # Numba has read the variable NUMBA_CACHE_DIR into this setting.
        self._path = cache_folder(file, numba.config.CACHE_DIR)  # type: ignore[attr-defined]

    @classmethod
    def from_function(cls, function: Any, file: str) -> "_Locator":
        return cls(function, file)

    def get_cache_path(self) -> str:
        return str(self._path)

    def get_source_stamp(self) -> str:
        # Functions outside this folder can be kernels too; no digest covers their files.
        return _hash(Path(self._py_file).read_bytes())

    def get_disambiguator(self) -> str:
        return str(self._line)

    def ensure_cache_path(self) -> None:
        """Create the folder; raise OSError if no file can be written there."""
        self._path.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=self._path).close()


class _CompiledLocator(_Locator):
    """Where the forms are that come with the package."""

    def get_cache_path(self) -> str:
        return str(cache_folder(self._py_file, str(_COMPILED)))


class _CacheFiles(CompileResultCacheImpl):
    def __init__(self, function: Any, locator: type[_Locator] = _Locator) -> None:
        self._locator_classes = [locator]
        super().__init__(function)


@functools.cache
def _targets_of(system: str, processor: str, features: str) -> tuple[str, ...]:
    """Return the targets whose kernels run here; none if the user chose another target."""
    if not _COMPILED.is_dir() or processor != get_host_cpu_name():
        return ()
    has = {feature.removeprefix("+") for feature in features.split(",")}
    return tuple(target for target, needed in TARGETS.items() if has.issuperset(needed))


@functools.cache
def _announce() -> None:
    """Log, once in a process, that kernels are compiled: a person waits for it."""
    line = "compiling what this needs, which takes some seconds; later runs will not wait for it"
    _LOGGER.debug(line, extra={"for_terminals": True})


class _Cache(FunctionCache):
    """A cache of one kernel. A folder that cannot be read is no error."""

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

    def flush(self) -> None:
        """Forget all compiled forms of the kernel, if the folder can be written."""
        with contextlib.suppress(OSError):
            super().flush()


class _CompiledCache(_Cache):
    """The forms of one kernel that come with the package, for one target."""

    _impl_class: Any = functools.partial(_CacheFiles, locator=_CompiledLocator)

    def __init__(self, function: Any, target: str) -> None:
        super().__init__(function)
        self._target = target

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        sig, (system, *_), code = super()._index_key(sig, codegen)
        return sig, (system, self._target, ""), code


class KernelCache(_Cache):
    """The cache of one kernel.

    Nothing is written before the first compiled form of the kernel is saved.
    """

    _impl_class: Any = _CacheFiles

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the compiled form for argument types; None if no cache has it."""
        found = self._load(sig, target_context)
        if found is None:
            targets = _targets_of(*target_context.codegen().magic_tuple())
            caches = (_CompiledCache(self._py_func, target) for target in targets)
            every = (cache._load(sig, target_context) for cache in caches)
            found = next((one for one in every if one is not None), None)
        if found is None:
            _announce()
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the compiled form for argument types, if the folder can be written."""
        with contextlib.suppress(OSError):
            super().save_overload(sig, data)


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
