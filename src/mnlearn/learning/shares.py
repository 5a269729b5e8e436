"""Learning that takes the variables one by one, shared out to several processes."""

import itertools
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.runtime.progress import pulse, say
from mnlearn.runtime.threads import map_ranges

Arrays = Mapping[str, NDArray]
# Returns what is learned of the variables from `begin` to `end`. The arrays of ranges that follow
# each other can be joined along the first axis.
Work = Callable[[int, int], Arrays]

# Variables differ in what they cost, and similar ones often stand together in the data. So each
# process takes so many blocks of them, which lie apart.
_BLOCKS_PER_PART = 8
SECONDS_BETWEEN_STATES = 45.0
_SECONDS = "seconds"


class Store:
    """Where long learning keeps its state, from which an interrupted run resumes: here nowhere."""

    def load(self, key: Mapping[str, Any]) -> dict[str, NDArray] | None:
        """Return the arrays that were kept last under a key, or None."""
        return None

    def save(self, key: Mapping[str, Any], arrays: Mapping[str, NDArray]) -> None:
        """Keep arrays under a key in place of what was kept before."""


class Pace:
    """Says when the state of long learning is to be kept again."""

    def __init__(self) -> None:
        self._kept = time.monotonic()

    def is_due(self) -> bool:
        """Tell whether so many seconds have passed since it last was."""
        now = time.monotonic()
        due = now - self._kept > SECONDS_BETWEEN_STATES
        self._kept = now if due else self._kept
        return due


@dataclass(frozen=True)
class Part:
    """One of several processes that share out their work; number : from 1 to `of`."""

    number: int
    of: int

    def takes(self, place: int) -> bool:
        """Tell whether this process does the piece of work at a place, counted from 0."""
        return place % self.of == self.number - 1


@dataclass
class Shares:
    """The variables of a dataset, shared out to processes that keep what they learn in a store.

    A process without a part of its own puts the shares of all together, and learns what it does not
    find. `elsewhere` has the seconds that other processes, or this one before, took for it.
    """

    store: Store = field(default_factory=Store)
    n_parts: int = 1
    own: Part | None = None
    elsewhere: float = 0.0

    def clock(self) -> float:
        """Return the processor seconds of this process and of those whose work it has found."""
        return time.process_time() + self.elsewhere

    def learn(
        self,
        name: Sequence[Any],
        n_vars: int,
        begin: Callable[[], Work],
        absent: Work,
        threads: int = 1,
    ) -> dict[str, NDArray]:
        """Return what is learned of all variables.

        `begin` is called once, if there is anything to learn here; the result for a variable must
        not depend on the range. `absent` stands for what a process with a part of its own does not
        learn.
        """
        if self.n_parts == 1:
            return _join(map_ranges(begin(), n_vars, threads, str(name[0])))
        found, seconds = self._find(name)
        self.elsewhere += seconds
        blocks = _cut(n_vars, self.n_parts * _BLOCKS_PER_PART)
        own = self.own
        missing = [k for k in range(len(blocks)) if k not in found and (not own or own.takes(k))]
        if missing and own is None:
            say(f"{len(missing)} of {len(blocks)} blocks of variables were not kept")
        work = begin() if missing else absent
        began, pace = time.monotonic(), Pace()
        for k in missing:
            pulse(f"{name[0]}: block {k + 1} of {len(blocks)}")
            found[k] = _learn_block(work, *blocks[k], threads)
            if own and (pace.is_due() or k == missing[-1]):
                self._keep(name, own, found, seconds + time.monotonic() - began)
        return _join([found.get(k) or absent(*blocks[k]) for k in range(len(blocks))])

    def _key(self, name: Sequence[Any], part: Part) -> dict[str, Any]:
        return {"variables": list(name), "part": str(part)}

    def _find(self, name: Sequence[Any]) -> tuple[dict[int, dict[str, NDArray]], float]:
        """Return the blocks that are kept, by number, and the seconds they took."""
        found: dict[int, dict[str, NDArray]] = {}
        seconds = 0.0
        numbers = range(1, self.n_parts + 1)
        parts = [Part(k, self.n_parts) for k in numbers] if self.own is None else [self.own]
        for part in parts:
            state = self.store.load(self._key(name, part)) or {}
            for label, array in state.items():
                if label == _SECONDS:
                    seconds += float(array)
                    continue
                block, _, array_name = label.partition("_")
                found.setdefault(int(block), {})[array_name] = array
        return found, seconds

    def _keep(
        self, name: Sequence[Any], own: Part, blocks: Mapping[int, Arrays], seconds: float
    ) -> None:
        state = {f"{k}_{label}": array for k, one in blocks.items() for label, array in one.items()}
        self.store.save(self._key(name, own), {**state, _SECONDS: np.array(seconds)})


def _cut(n: int, n_blocks: int) -> list[tuple[int, int]]:
    """Return the bounds of consecutive blocks that cover 0 to n; fewer if n is small."""
    n_blocks = max(1, min(n, n_blocks))
    bounds = [n * k // n_blocks for k in range(n_blocks + 1)]
    return list(itertools.pairwise(bounds))


def _learn_block(work: Work, first: int, end: int, threads: int) -> dict[str, NDArray]:
    return _join(map_ranges(lambda a, b: work(first + a, first + b), end - first, threads))


def _join(found: Sequence[Arrays]) -> dict[str, NDArray]:
    """Return the arrays of consecutive ranges as those of all of them."""
    if len(found) == 1:
        return dict(found[0])
    return {name: np.concatenate([one[name] for one in found]) for name in found[0]}
