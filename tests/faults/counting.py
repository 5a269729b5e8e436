"""What a trial of faults counts: cases tried, held and failed."""

import os
from collections.abc import Callable
from dataclasses import dataclass, field

# Kills of the harness; other trials are as many in proportion. `make faults N=1000` sets it.
N = int(os.environ.get("MNLEARN_FAULTS", "20"))
SHOWN = 5


@dataclass
class Counts:
    """Counts of one trial.

    name : what is tried. report : called with the counts as a line. failures : a sentence for each
    case that did not hold. notes : what a reader of the counts should know.
    """

    name: str
    report: Callable[[str], None]
    tried: int = 0
    failures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, problem: str | None) -> None:
        """Count a case; `problem` says what is wrong with it."""
        self.tried += 1
        if problem:
            self.failures.append(problem)

    def __str__(self) -> str:
        failed = len(self.failures)
        counts = f"{self.name}: {self.tried} tried, {self.tried - failed} held, {failed} failed"
        return "; ".join([counts, *self.notes])

    def check(self) -> None:
        """Fail the test if a case failed, with the first of them."""
        self.report(str(self))
        shown = "\n".join(self.failures[:SHOWN])
        assert not self.failures, f"{self}\n{shown}"
        assert self.tried, f"{self.name}: nothing was tried"
