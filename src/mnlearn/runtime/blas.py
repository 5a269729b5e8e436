"""The library of matrix products: one thread, and whose instructions it uses."""

from contextlib import AbstractContextManager

import numpy  # noqa: F401  Loads the library.
from threadpoolctl import threadpool_info, threadpool_limits


def single_threaded() -> AbstractContextManager:
    """Return a context in which each matrix product uses one thread.

    A library may cut a product into other blocks for another number of threads, and so round
    otherwise. Several products may still run at once, in threads of our own.
    """
    limits: AbstractContextManager = threadpool_limits(limits=1, user_api="blas")
    return limits


def architecture() -> str:
    """Return the name of the processors that the library chose its kernels for, or "unknown"."""
    libraries = [library for library in threadpool_info() if library["user_api"] == "blas"]
    return ", ".join(sorted({library["architecture"] for library in libraries})) or "unknown"
