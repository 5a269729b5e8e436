"""The class of processors on which records are equal to the last bit, and how a process enters it.

Kernels round alike on any processor. With `SETTINGS`, NumPy and OpenBLAS do so as well on those of
the class x86-64-v3 (Intel since Haswell).
"""

import os
import sys
from contextlib import suppress

# The libraries read these variables when they are loaded.
SETTINGS = {
    # Intel's vector functions choose by the processor; Numba calls them where they are installed.
    "NUMBA_DISABLE_INTEL_SVML": "1",
    # Of the loops that NumPy has for several processors, those for this one only.
    "NPY_ENABLE_CPU_FEATURES": "X86_V3",
    # NumPy and SciPy have a copy each.
    "OPENBLAS_CORETYPE": "Haswell",
    # A product is cut into other blocks for another number of threads.
    "OPENBLAS_NUM_THREADS": "1",
}
# NumPy refuses it beside the variable that enables features.
_CONTRARY = "NPY_DISABLE_CPU_FEATURES"
# What x86-64-v3 has and x86-64-v2 lacks, as LLVM names it.
_INSTRUCTIONS = ("avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave")


def is_in_class() -> bool:
    """Whether this processor has all instructions of the class."""
    from llvmlite.binding import get_host_cpu_features

    with suppress(RuntimeError):  # LLVM does not know the features of some processors.
        features = get_host_cpu_features()
        return all(features.get(name, False) for name in _INSTRUCTIONS)
    return False


def enter_class() -> None:
    """Start this process again with `SETTINGS`, if the processor is in the class.

    Where a program has called this command as a function, NumPy is loaded already: it is too late.
    """
    environment = {name: value for name, value in os.environ.items() if name != _CONTRARY}
    environment |= SETTINGS
    if environment == dict(os.environ) or "numpy" in sys.modules or not is_in_class():
        return
    os.execve(sys.executable, [sys.executable, *sys.orig_argv[1:]], environment)


def describe_target() -> str:
    """Return which arithmetic this process uses, such as "NumPy X86_V3, BLAS Haswell"."""
    import numpy as np
    from threadpoolctl import threadpool_info

    vectors = np.show_config(mode="dicts")["SIMD Extensions"]
    loops = [*vectors["baseline"], *vectors["found"]][-1]
    libraries = [library for library in threadpool_info() if library["user_api"] == "blas"]
    blas = ", ".join(sorted({library["architecture"] for library in libraries})) or "unknown"
    return f"NumPy {loops}, BLAS {blas}"
