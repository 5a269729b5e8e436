"""The `kernel` decorator: Numba compilation with an on-disk cache that cannot go stale.

Numba's own cache notices an edited function but not an edited function that it calls. The
cache folder is therefore named after the source of all kernels, and an edit starts a new one.
"""

import hashlib
import os
from pathlib import Path

import numba
import platformdirs
from numba import njit


def kernel_sources_digest() -> str:
    """Digest (16 hex digits) of the source text of every kernel and of this file."""
    folder = Path(__file__).parent
    digest = hashlib.sha256(numba.__version__.encode())
    for path in sorted(folder.rglob("*.py")):
        name = path.relative_to(folder).as_posix()
        digest.update(name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:16]


def _use_cache() -> bool:
    """Point Numba at the folder of these sources; without a writable folder, do not cache."""
    if "NUMBA_CACHE_DIR" in os.environ:
        root = Path(os.environ["NUMBA_CACHE_DIR"])
    else:
        root = Path(platformdirs.user_cache_dir("mnlearn"))
    folder = root / kernel_sources_digest()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    if not os.access(folder, os.W_OK):
        return False
    numba.config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]
    return True


# `nogil` lets threads run kernels side by side. `error_model="numpy"` removes the test for a
# zero divisor from inner loops, which would otherwise keep them from being vectorised.
_CACHE = _use_cache()
kernel = njit(nogil=True, error_model="numpy", cache=_CACHE)
# Lets a product and a sum become one instruction; halves the time of polynomials.
fused_kernel = njit(nogil=True, error_model="numpy", cache=_CACHE, fastmath={"contract"})
# Sums in whatever order the vector unit likes: the same on one machine, at any thread count.
sum_kernel = njit(
    nogil=True, error_model="numpy", cache=_CACHE, fastmath={"contract", "reassoc", "nsz"}
)
