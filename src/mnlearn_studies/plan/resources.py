"""What jobs of a study ask for: memory, time, and which of them are started first.

Memory and time are limits: a cluster ends a job that needs more. So they are upper estimates. The
order follows the expected time from a job to the end of the longest chain of jobs that wait for it:
if long chains start first, all processors end together.
"""

import math
from collections.abc import Iterator

from mnlearn.learning.rounds import Round
from mnlearn_studies.plan.costs import Laws, dataset_size, estimate_cost
from mnlearn_studies.plan.planning import Plan, Record

# Seconds for the start of a job: imports, and kernels that are loaded or compiled.
START_SECONDS = 10.0
# A job of a cluster runs Snakemake too, which takes so many MiB; and no job asks for less.
SNAKEMAKE_MIB = 400
LEAST_MIB = 1000
LEAST_MINUTES = 30
# No recorded part of a grid took more than about this multiple of an even share (lab note 0690).
UNEVEN = 2.0
# Where nothing is recorded of a learner or of a kind of job.
UNKNOWN_SECONDS = 60.0
UNKNOWN_MIB = 4000
UNKNOWN_MINUTES = 240

# Above all seconds.
_BEFORE_LEARNING = 10**8

_SECONDS = {
    "models": "seconds_learn",
    "cells": "seconds_score",
    "times": "seconds_time",
    "curves": "seconds_curve",
}
# Records whose memory is not recorded hold the same models as those that are.
_MIB = {"models": "mib_learn", "times": "mib_learn", "cells": "mib_score", "curves": "mib_score"}


class JobResources:
    """The memory, time and priority of the jobs of a plan; laws : see `costs.load_laws`."""

    def __init__(self, plan: Plan, laws: Laws) -> None:
        self._plan = plan
        self._laws = laws
        self._remaining: dict[Record, float] = {}

    def seconds(self, record: Record) -> float:
        """Return how many seconds the job that makes a record is expected to take."""
        cost = self._cost(record, _SECONDS)
        return START_SECONDS + (UNKNOWN_SECONDS if cost is None else cost[0])

    def is_known(self, record: Record) -> bool:
        """Tell whether the seconds of a job follow from recorded ones."""
        return self._cost(record, _SECONDS) is not None

    def minutes(self, record: Record) -> int:
        """Return the minutes after which a cluster may end the job that makes a record."""
        cost = self._cost(record, _SECONDS)
        if cost is None:
            return UNKNOWN_MINUTES
        return max(LEAST_MINUTES, math.ceil((START_SECONDS + cost[1]) / 60))

    def mib(self, record: Record) -> int:
        """Return the MiB that the job that makes a record may use."""
        cost = self._cost(record, _MIB)
        if cost is None:
            return UNKNOWN_MIB
        return max(LEAST_MIB, SNAKEMAKE_MIB + math.ceil(cost[1]))

    def part_minutes(self, models: Record, round_: Round, n_parts: int) -> int:
        """Return the minutes after which a cluster may end a part of the learning of a cell."""
        cost = self._cost(models, _SECONDS)
        if cost is None:
            return UNKNOWN_MINUTES
        share = min(1.0, UNEVEN * round_.largest_share(n_parts))
        return max(LEAST_MINUTES, math.ceil((START_SECONDS + share * cost[1]) / 60))

    def part_mib(self, models: Record, round_: Round) -> int:
        """Return the MiB that a part of the learning of a cell may use."""
        whole, law = self.mib(models), self._laws.get(("", round_.like, "mib_learn"))
        if law is None:
            return whole
        limit = SNAKEMAKE_MIB + math.ceil(law.margin * law(dataset_size(models.dataset)))
        return max(LEAST_MIB, min(whole, limit))

    def priority(self, record: Record) -> int:
        """Return the priority of the job that makes a record.

        What is learned is scored before anything else is learned, so that a run that is interrupted
        leaves records. Among jobs of one kind it is the seconds from the start of the job to the
        end of what waits for it.
        """
        first = 0 if record.kind == "models" else _BEFORE_LEARNING
        return first + round(self._until_end(record))

    def dataset_priority(self, dataset: str) -> int:
        """Return the priority of a job that all records of a dataset wait for."""
        waiting = [
            self._until_end(Record("models", study, dataset, (method,)))
            for study in self._plan.running
            for method in self._plan.studies[study].methods_on(dataset)
            if not self._plan.is_settled(Record("cells", study, dataset, (method,)))
        ]
        return round(START_SECONDS + max(waiting, default=0.0))

    def _cost(self, record: Record, quantities: dict[str, str]) -> tuple[float, float] | None:
        """Return the expected cost of a record's job and its limit, if they are known."""
        if record.kind not in quantities:
            return None
        owner = self._plan.owner(record) if record.kind == "curves" else record.study
        study, quantity = self._plan.studies[owner], quantities[record.kind]
        (method,) = record.names
        # A curve's law is that of the study that asks, of models of another one.
        cost = estimate_cost(
            self._laws, study, method, record.dataset, quantity=quantity, asking=record.study
        )
        return None if cost is None else (cost.expected, cost.limit)

    def _until_end(self, record: Record) -> float:
        if record not in self._remaining:
            waiting = [self._until_end(other) for other in self._waiting(record)]
            self._remaining[record] = self.seconds(record) + max(waiting, default=0.0)
        return self._remaining[record]

    def _waiting(self, record: Record) -> Iterator[Record]:
        """Yield the records that wait for one and are to be made, of kinds that may take long."""
        if record.kind != "models":
            return
        (method,), dataset, study = record.names, record.dataset, self._plan.studies[record.study]
        waiting = [Record("cells", study.name, dataset, (method,))]
        if method in study.content.get("queries", {"methods": []})["methods"]:
            waiting.append(Record("curves", study.name, dataset, (method,)))
        asked = study.content.get("likelihoods", {"methods": []})
        timed = asked.get("timed", []) if study.is_timed(dataset) else []
        if method in (*asked["methods"], *timed):
            waiting.append(Record("likelihoods", study.name, dataset, (method,)))
        yield from (other for other in waiting if not self._plan.is_settled(other))
        for label in study.methods_on(dataset):
            built_on = Record("models", study.name, dataset, (label,))
            if study.network(label) == method and not self._plan.is_settled(built_on):
                yield built_on
