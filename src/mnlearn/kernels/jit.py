"""The decorators of kernels: Numba compilation for threads, with a cache on disk.

`inlined` is for parts of kernels that must cost no call. Numba copies the body into each caller
before it compiles the caller, with the caller's rules for floating point numbers. A call of a
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


def _decorator(**options: Any) -> Any:
    """Return a decorator that compiles a function at its first call and keeps it on disk.

    `nogil` lets threads run kernels side by side. `error_model="numpy"` removes the test for a zero
    divisor from inner loops, which would otherwise keep them from being vectorised.
    """
    options = {"nogil": True, "error_model": "numpy", **options}

    def decorate(function: Any) -> Any:
        if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
            return function
        if KernelDispatcher is None:
            kernel = numba.njit(**options)(function)
        else:
            kernel = KernelDispatcher(function, targetoptions={"nopython": True, **options})
        # Numba's own option `cache` takes its folder from a setting of the whole process.
        kernel._cache = KernelCache(function)
        return kernel

    return decorate


kernel = _decorator()
# The last bits of these kernels depend on the code around them. Without inlining there would be
# several compiled copies of one kernel, and which copy runs would depend on what else the process
# has compiled or loaded: a first run would differ from a second one.
_ROUNDED_BY_CONTEXT = {"forceinline": True}
# Lets a product and a sum become one instruction; halves the time of polynomials.
fused_kernel = _decorator(**_ROUNDED_BY_CONTEXT, fastmath={"contract"})
# Sums in whatever order the vector unit likes: the same on one machine, at any thread count.
sum_kernel = _decorator(**_ROUNDED_BY_CONTEXT, fastmath={"contract", "reassoc", "nsz"})


inlined = njit(nogil=True, error_model="numpy", inline="always")


@inlined
def copy_into(out, values):
    """Copy a vector to the beginning of another that is as long or longer.

    An assignment to a slice does the same, but Numba then compiles its error message for arrays of
    different shapes, with all that formats numbers: seconds at the first use of a kernel.
    """
    for k in range(len(values)):
        out[k] = values[k]
