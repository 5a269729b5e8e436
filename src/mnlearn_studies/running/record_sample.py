"""A random sample of the records of studies, which a stated time is enough to make again."""

import itertools
import random
from collections.abc import Callable, Iterator

from mnlearn_studies.plan.planning import Plan
from mnlearn_studies.records.kinds import KINDS
from mnlearn_studies.records.record import Record

# A record may take this share of the time, so that one does not take the place of all others.
MOST = 0.15


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
