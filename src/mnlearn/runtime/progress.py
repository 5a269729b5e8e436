"""Progress as records of the logger "mnlearn": the library tells it, the command line shows it.

Records at the level INFO are lines for a person; those with the attribute `work` move a bar.
"""

import logging
import sys
import time
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

T = TypeVar("T")

LOGGER = logging.getLogger("mnlearn")
# Without a handler, Python would print warnings of a library to stderr.
LOGGER.addHandler(logging.NullHandler())


# Long work tells how far it is after so many seconds of silence.
_SILENCE = 5.0
_told = time.monotonic()


@dataclass(frozen=True, eq=False)
class Work:
    """A piece of work whose progress is shown; the total is None if it is not known."""

    label: str
    total: int | None
    unit: str = "step"

    def advance(self, amount: int = 1, line: str | None = None) -> None:
        """Log that an amount of the work is done, and a line for those who see no bar."""
        if line is not None:
            _note_line()
            LOGGER.info(line, extra={"work": self, "amount": amount})
        elif LOGGER.isEnabledFor(logging.DEBUG):
            record = f"{self.label}: {amount} more"
            LOGGER.debug(record, extra={"work": self, "amount": amount})


@contextmanager
def begin_work(label: str, total: int | None, unit: str = "step") -> Iterator[Work]:
    """Log the beginning and the end of a piece of work, which the block advances."""
    work = Work(label, total, unit)
    work.advance(0)
    try:
        yield work
    finally:
        LOGGER.debug(f"{label}: ended", extra={"work": work, "amount": None})


def track(steps: Iterable[T], label: str) -> Iterator[T]:
    """Yield the steps and log how many are done; the label says what they are."""
    total = len(steps) if isinstance(steps, Sized) else None
    of_total = "" if total is None else f"/{total}"
    with begin_work(label, total) as work:
        for number, step in enumerate(steps, start=1):
            yield step
            work.advance(line=f"{label}: {number}{of_total}")


def say(line: str) -> None:
    """Log one line about the progress."""
    _note_line()
    # The record names the caller, and not this function, as its place.
    LOGGER.info(line, stacklevel=2)


def _note_line() -> None:
    global _told
    _told = time.monotonic()


def pulse(line: str) -> None:
    """Log how far long work is, unless a line was logged in the last seconds."""
    if time.monotonic() - _told > _SILENCE:
        say(line)


@contextmanager
def shown(verbose: bool) -> Iterator[None]:
    """Print the lines of progress to stderr while the block runs, if that is asked for."""
    if not verbose:
        yield
        return
    with handled_by(logging.StreamHandler(sys.stderr), logging.INFO):
        yield


@contextmanager
def handled_by(handler: logging.Handler, level: int) -> Iterator[None]:
    """Hand records of a level and above to a handler while the block runs."""
    before = LOGGER.level
    LOGGER.addHandler(handler)
    LOGGER.setLevel(level)
    try:
        yield
    finally:
        LOGGER.removeHandler(handler)
        LOGGER.setLevel(before)
