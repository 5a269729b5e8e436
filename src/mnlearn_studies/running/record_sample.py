"""A random sample of the records of studies, which a stated time is enough to make again."""

import itertools
import random
from collections.abc import Callable, Iterator

from mnlearn_studies.plan.costs import load_laws
from mnlearn_studies.plan.planning import Plan
from mnlearn_studies.plan.resources import JobResources
from mnlearn_studies.records.files import read_record
from mnlearn_studies.records.kinds import KINDS
from mnlearn_studies.records.kinds.times import runs_by_method
from mnlearn_studies.records.record import Record
from mnlearn_studies.records.seconds import sum_seconds

# A record may take this share of the time, so that one does not take the place of all others.
MOST = 0.15
# For the start of a job, on a machine that has compiled the kernels.
_START_SECONDS = 5.0
# Jobs of these kinds take no longer than it takes to start them.
_SHORT = ("data", "partitions", "queries", "paired")


class Expected:
    """How long the jobs of a plan take, as kept records say, or else by the laws of costs."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._resources = JobResources(plan, load_laws())

    def seconds(self, record: Record) -> float:
        """Return the seconds that the job that makes a record is expected to take."""
        recorded = self._recorded(record)
        return self._resources.seconds(record) if recorded is None else _START_SECONDS + recorded

    def _recorded(self, record: Record) -> float | None:
        """Return the seconds that the kept records say; None if they say nothing."""
        if record.kind in _SHORT:
            return 0.0
        kind = "cells" if record.kind == "models" else record.kind
        versions = self._plan.versions(record.of(kind, *record.names))
        if not versions or kind not in ("cells", "times"):
            return None
        content = read_record(versions[0])
        if kind == "times":
            runs = (run for each in runs_by_method(content).values() for run in each)
            return float(sum(sum(run.values()) for run in runs))
        search, scoring = sum_seconds([content])
        return search if record.kind == "models" else scoring


def draw_sample(
    plan: Plan, n: int, seconds: float, seed: int, expected: Callable[[Record], float]
) -> list[Record]:
    """Draw current records such that each kind, and within a kind each study, comes up in turn.

    Parameters
    ----------
    plan : Plan
        A plan of the studies to draw from.
    n, seconds : int, float
        Most records, and the time of all of them with what they lack.
    seed : int
        Of the draw.
    expected : callable
        Returns the seconds of one job.
    """
    rng = random.Random(seed)
    kinds = [_shuffled(plan, kind, rng) for kind in sorted(KINDS)]
    rng.shuffle(kinds)
    drawn: list[Record] = []
    jobs: set[Record] = set()
    left, most = seconds, MOST * seconds
    while kinds and len(drawn) < n:
        for kind in list(kinds):
            for record in kind:
                more = set(plan.in_order([record])) - jobs
                cost = sum(map(expected, more))
                # What others need is compared anyway.
                if record in more and cost <= min(left, most):
                    break
            else:
                kinds.remove(kind)
                continue
            drawn.append(record)
            jobs |= more
            left -= cost
            if len(drawn) == n:
                break
    return drawn


def _shuffled(plan: Plan, kind: str, rng: random.Random) -> Iterator[Record]:
    """Return the current records of a kind in random order, one of each study in turn."""
    by_study = []
    for study in plan.running:
        records = [r for r in plan.records(study, kind) if plan.path(r) in plan.versions(r)]
        rng.shuffle(records)
        by_study.append(records)
    rng.shuffle(by_study)
    turns = itertools.zip_longest(*by_study)
    return iter([record for turn in turns for record in turn if record is not None])
