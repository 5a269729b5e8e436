"""Threads over ranges of independent work; results do not depend on their number."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import TypeVar

from mnlearn.runtime.progress import pulse

T = TypeVar("T")

# Several ranges per thread even out their costs. More ranges would only add overhead.
RANGES_PER_THREAD = 8
_TOLD_RANGES = 32


def available_threads() -> int:
    """Return the number of processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def single_threaded() -> AbstractContextManager:
    """Return a context in which each matrix product uses one thread, and so rounds as with one."""
    import numpy  # noqa: F401  Loads the library.
    from threadpoolctl import threadpool_limits

    limits: AbstractContextManager = threadpool_limits(limits=1, user_api="blas")
    return limits


def map_ranges(
    work: Callable[[int, int], T], n: int, threads: int = 1, label: str | None = None
) -> list[T]:
    """Return work(begin, end) for consecutive ranges that cover 0 to n, in their order.

    work : has to release the GIL. label : what is worked on, for lines about long work.
    """
    if (threads <= 1 and label is None) or n <= 1:
        return [work(0, n)]
    n_ranges = min(n, max(threads, 1) * (_TOLD_RANGES if label else RANGES_PER_THREAD))
    bounds = [n * k // n_ranges for k in range(n_ranges + 1)]
    if label is not None:
        work = _told(work, n, label)
    if threads <= 1:
        return list(map(work, bounds[:-1], bounds[1:]))
    with ThreadPoolExecutor(threads) as pool:
        return list(pool.map(work, bounds[:-1], bounds[1:]))


def _told(work: Callable[[int, int], T], n: int, label: str) -> Callable[[int, int], T]:
    """Return work that says now and then how many rows are done."""
    done = [0]

    def run(begin: int, end: int) -> T:
        found = work(begin, end)
        done[0] += end - begin
        pulse(f"{label}: {done[0]} of {n}")
        return found

    return run
