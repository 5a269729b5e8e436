"""Memory of one result, where several together could be more than memory holds."""

from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Latest(Generic[T]):
    """The result that was made most recently."""

    def __init__(self) -> None:
        self._key: Hashable = None
        self._result: T | None = None

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the result of a key: the latest one if it is of this key, else a new one."""
        if self._result is None or self._key != key:
            self.forget()
            self._key, self._result = key, make()
        return self._result

    def forget(self) -> None:
        """Free the memory of the result."""
        self._result = None
