"""Progress on stderr: a bar on a terminal, a line per step elsewhere."""

import sys
from collections.abc import Iterable, Iterator, Sized
from typing import TypeVar

from tqdm import tqdm

T = TypeVar("T")


def track(steps: Iterable[T], label: str) -> Iterator[T]:
    """Yield the steps and show how many are done."""
    if sys.stderr.isatty():
        yield from tqdm(steps, desc=label, leave=False)
        return
    total = f"/{len(steps)}" if isinstance(steps, Sized) else ""
    for number, step in enumerate(steps, start=1):
        yield step
        say(f"{label}: {number}{total}")


def say(line: str) -> None:
    """Print one line to stderr, without breaking a bar."""
    tqdm.write(line, file=sys.stderr)
    sys.stderr.flush()
