"""The class of processors on which records are equal to the last bit, and how a process enters it.

The width of vectors decides how sums round. With `SETTINGS`, Numba, NumPy and OpenBLAS choose the
same instructions on all processors of the class x86-64-v3 (Intel since Haswell).
"""

import os
import sys
from contextlib import suppress

# The libraries read these variables when they are loaded.
SETTINGS = {
    "NUMBA_CPU_NAME": "x86-64-v3",
    # If it is not set, Numba adds the features of the processor that it finds.
    "NUMBA_CPU_FEATURES": "",
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
    """Return what this process computes with, such as "x86-64-v3, NumPy X86_V3, BLAS Haswell"."""
    import numba
    import numpy as np
    from llvmlite.binding import get_host_cpu_name
    from threadpoolctl import threadpool_info

    name, host = numba.config.CPU_NAME, get_host_cpu_name()  # type: ignore[attr-defined]
    if name is not None and numba.config.CPU_FEATURES is None:  # type: ignore[attr-defined]
        name = f"{name} with the features of {host}"
    vectors = np.show_config(mode="dicts")["SIMD Extensions"]
    loops = [*vectors["baseline"], *vectors["found"]][-1]
    libraries = [library for library in threadpool_info() if library["user_api"] == "blas"]
    blas = ", ".join(sorted({library["architecture"] for library in libraries})) or "unknown"
    return f"{name or host}, NumPy {loops}, BLAS {blas}"
