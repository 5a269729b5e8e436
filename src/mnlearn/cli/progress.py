"""Progress on stderr: lines, and on a terminal a bar for each piece of work."""

import logging
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from mnlearn.runtime.progress import Work, handled_by

if TYPE_CHECKING:
    from tqdm import tqdm


class ProgressHandler(logging.Handler):
    """Prints the records of the library to stderr, without breaking a bar."""

    def __init__(self) -> None:
        super().__init__()
        self._bars: dict[Work, tqdm] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Print a line, or move the bar of a piece of work if stderr is a terminal."""
        work = getattr(record, "work", None)
        if work is not None and sys.stderr.isatty():
            self._show(work, record.__dict__["amount"])
        elif record.levelno >= logging.INFO or _is_for_terminals(record):
            # A log on a full disk is no reason to stop; the output of the command will be.
            with suppress(OSError):
                _print(record.getMessage())

    def _show(self, work: Work, amount: int | None) -> None:
        """Move a bar by an amount, or remove it where the amount is None."""
        if amount is None:
            if work in self._bars:
                self._bars.pop(work).close()
            return
        if work not in self._bars:
            bytes_of = {"unit": "B", "unit_scale": True} if work.unit == "B" else {"leave": False}
            self._bars[work] = _load_tqdm()(desc=work.label, total=work.total, **bytes_of)
        self._bars[work].update(amount)


def _print(line: str) -> None:
    """Print a line to stderr; above the bars, if it is a terminal."""
    if sys.stderr.isatty():
        _load_tqdm().write(line, file=sys.stderr)
    else:
        sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


def _load_tqdm() -> "type[tqdm]":
    """Import tqdm, with a lock for threads.

    Its own is shared with forks: one that is killed while it prints would stop all others.
    """
    from tqdm import tqdm

    if not hasattr(tqdm, "_lock"):
        tqdm.set_lock(threading.RLock())
    return tqdm


def _is_for_terminals(record: logging.LogRecord) -> bool:
    """Return whether a line is to be seen on a terminal, though not in logs."""
    return getattr(record, "for_terminals", False) and sys.stderr.isatty()


@contextmanager
def show_progress() -> Iterator[None]:
    """Print the progress of the library to stderr while the block runs."""
    with handled_by(ProgressHandler(), logging.DEBUG):
        yield
