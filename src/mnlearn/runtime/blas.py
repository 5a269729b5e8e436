"""Matrix products on one thread of their library, so that its sums do not depend on threads."""

from contextlib import AbstractContextManager

from threadpoolctl import threadpool_limits


def single_threaded() -> AbstractContextManager:
    """Return a context in which each matrix product uses one thread.

    A library may cut a product into other blocks for another number of threads, and so round
    otherwise. Several products may still run at once, in threads of our own.
    """
    limits: AbstractContextManager = threadpool_limits(limits=1, user_api="blas")
    return limits
