"""Two versions of one record, made by the same code: which of their numbers differ, by how much.

Where kernels are compiled for the same target and BLAS has the same kernels, all numbers are equal
to the last digit. Elsewhere sums round differently, so that weights are another point within the
tolerance of weight learning, and a structure that grows by weights can be another one. Then scores
and settings are judged; objectives, counts, sizes and single weights are not.
"""

import csv
import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mnlearn.runtime.files import read_json, read_text

# Parts of a record that say how long it took, how much memory, and where: not what was computed.
_OF_THE_RUN = re.compile(r"seconds|memory|^(machine|versions|runs)$")
# The target and the BLAS kernels in the name of a machine, see `runtime.provenance.machine`.
_ARITHMETIC = re.compile(r"\(([^()]*BLAS[^()]*)\), \d+ cores$")

# Nats per example by which a score may differ on other arithmetic.
SCORE_LIMIT = 1e-3
_SCORES = frozenset({"validation", "mean", "stderr", "monte_carlo_error"})
_SETTINGS = frozenset({"parameters", "recipe", "learned_from", "inference", "settings"})
# Stands for a value that one of two versions lacks.
_ABSENT = "(absent)"


@dataclass(frozen=True)
class Difference:
    """One value that differs: the keys that lead to it, the kept value, and that made again."""

    place: tuple[str, ...]
    recorded: Any
    made: Any

    def __str__(self) -> str:
        """Return the keys, both values and, of numbers, by how much they differ."""
        by = f" (differs by {self.size:.3g})" if self.size is not None else ""
        place = "/".join(name or "chosen" for name in self.place)
        return f"{place}: recorded {self.recorded!r}, now {self.made!r}{by}"

    @property
    def size(self) -> float | None:
        """The absolute difference; None if one of the two is no number."""
        if not (_is_number(self.recorded) and _is_number(self.made)):
            return None
        return abs(float(self.made) - float(self.recorded))

    def is_within_limits(self) -> bool:
        """Whether other arithmetic explains the difference."""
        if _SETTINGS.intersection(self.place):
            return False
        # The scores by partition are a list.
        names = [name for name in self.place if not name.isdecimal()]
        if names[-1] not in _SCORES and "partitions" not in names:
            return True
        return self.size is not None and self.size <= SCORE_LIMIT


def differences(recorded: Any, made: Any) -> list[Difference]:
    """Return what differs between two contents that `read_content` read.

    Seconds, memory, versions of libraries and names of machines are left out.
    """
    before, after = dict(_flatten(recorded)), dict(_flatten(made))
    return [
        Difference(place, before.get(place, _ABSENT), after.get(place, _ABSENT))
        for place in dict.fromkeys((*before, *after))
        if _is_compared(place) and before.get(place, _ABSENT) != after.get(place, _ABSENT)
    ]


def count_values(content: Any) -> int:
    """Return how many values of a content `differences` compares."""
    return sum(_is_compared(place) for place, _ in _flatten(content))


def read_content(path: Path) -> Any:
    """Return a JSON file, or the rows of a CSV file by their numbers."""
    if path.suffix == ".json":
        return read_json(path)
    rows = csv.DictReader(io.StringIO(read_text(path)))
    return {f"row {number}": row for number, row in enumerate(rows, start=1)}


def arithmetic(content: Any) -> str:
    """Return what the kernels and matrix products of a record were compiled for, as it says."""
    made = content.values() if isinstance(content, Mapping) else ()
    machines = (step.get("machine", "") for step in made if isinstance(step, Mapping))
    found = {match[1] for each in machines if (match := _ARITHMETIC.search(str(each)))}
    return "; ".join(sorted(found))


def _is_compared(place: tuple[str, ...]) -> bool:
    return not any(map(_OF_THE_RUN.search, place))


def _flatten(content: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each value with the keys that lead to it; an empty list or mapping is a value."""
    if isinstance(content, Mapping) and content:
        inner = [(str(key), value) for key, value in content.items()]
    elif isinstance(content, list) and content:
        inner = [(str(number), value) for number, value in enumerate(content)]
    else:
        yield place, content
        return
    for key, value in inner:
        yield from _flatten(value, (*place, key))


def _is_number(value: Any) -> bool:
    """Whether a value is a number, or the text of one, as in a CSV file."""
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return not isinstance(value, bool)
