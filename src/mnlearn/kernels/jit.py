"""Numba compilation of kernels: for threads, with a cache on disk.

No kernel lets the compiler choose how numbers round: `fastmath` is never set, and `a * b + c` is
rounded once where it says `fused`. So its bits depend neither on the processor nor on its callers.

`inlined` is for parts of kernels that must cost no call. Numba copies the body into each caller
before it compiles the caller. A call of a
compiled function passes all fields of its arrays and counts references to them, which is slow
inside short loops.
"""

import sys
from types import ModuleType
from typing import Any

import numba
from numba import njit

from mnlearn.kernels.cache import KernelCache

KernelDispatcher: Any
try:
    from mnlearn.kernels.parts import KernelDispatcher
except (ImportError, AttributeError, TypeError):  # a version of Numba with other private classes
    KernelDispatcher = None


def _load_array_functions() -> None:
    """Load Numba's functions of arrays without `scipy.linalg`.

    Before the first kernel runs, Numba imports `scipy.linalg.cython_blas` only to see whether it is
    there: 0.3 s, as long as the import of Numba itself. No kernel here calls BLAS. A function that
    does imports the true module when it is compiled.
    """
    blas = "scipy.linalg.cython_blas"
    if blas in sys.modules:
        return
    sys.modules[blas] = ModuleType(blas)
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        del sys.modules[blas]


_load_array_functions()


def kernel(function: Any) -> Any:
    """Compile a function at its first call and keep it on disk.

    `nogil` lets threads run kernels side by side. `error_model="numpy"` removes the test for a zero
    divisor from inner loops, which would otherwise keep them from being vectorised.
    """
    options: Any = {"nogil": True, "error_model": "numpy"}
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return function
    compiled: Any
    if KernelDispatcher is None:
        compiled = njit(**options)(function)
    else:
        compiled = KernelDispatcher(function, targetoptions={"nopython": True, **options})
    # Numba's own option `cache` takes its folder from a setting of the whole process.
    compiled._cache = KernelCache(function)
    return compiled


inlined = njit(nogil=True, error_model="numpy", inline="always")


@inlined
def copy_into(out, values):
    """Copy a vector to the beginning of another that is as long or longer.

    An assignment to a slice does the same, but Numba then compiles its error message for arrays of
    different shapes, with all that formats numbers: seconds at the first use of a kernel.
    """
    for k in range(len(values)):
        out[k] = values[k]
