"""What jobs of a study ask for: memory, time, and which of them are started first.

Memory and time are limits: a cluster ends a job that needs more. So they are upper estimates. The
order follows the expected time from a job to the end of the longest chain of jobs that wait for it:
if long chains start first, all processors end together.
"""

import math
from collections.abc import Iterator

from mnlearn.learning.rounds import Round
from mnlearn_studies.plan.costs import Laws, dataset_size, estimate_cost
from mnlearn_studies.plan.planning import Plan
from mnlearn_studies.records.kinds import KINDS
from mnlearn_studies.records.kinds.curves import queried_models
from mnlearn_studies.records.kinds.parts import rounds_of
from mnlearn_studies.records.record import Record

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


class JobResources:
    """The memory, time and priority of the jobs of a plan; laws : see `costs.load_laws`."""

    def __init__(self, plan: Plan, laws: Laws) -> None:
        self._plan = plan
        self._laws = laws
        self._remaining: dict[Record, float] = {}

    def seconds(self, record: Record) -> float:
        """Return how many seconds the job that makes a record is expected to take."""
        cost = self._cost(record, "seconds")
        return START_SECONDS + (UNKNOWN_SECONDS if cost is None else cost[0])

    def is_known(self, record: Record) -> bool:
        """Tell whether the seconds of a job follow from recorded ones."""
        return self._cost(record, "seconds") is not None

    def minutes(self, record: Record) -> int:
        """Return the minutes after which a cluster may end the job that makes a record."""
        cost = self._cost(record, "seconds")
        if cost is None:
            return UNKNOWN_MINUTES
        seconds = cost[1]
        if record.kind == "parts":
            round_, of = self._round(record), int(record.names[3])
            seconds *= min(1.0, UNEVEN * round_.largest_share(of))
        return max(LEAST_MINUTES, math.ceil((START_SECONDS + seconds) / 60))

    def mib(self, record: Record) -> int:
        """Return the MiB that the job that makes a record may use."""
        cost = self._cost(record, "mib")
        if cost is None:
            return UNKNOWN_MIB
        mib = cost[1]
        if record.kind == "parts":
            law = self._laws.get(("", self._round(record).like, "mib_learn"))
            if law is not None:
                mib = min(mib, law.margin * law(dataset_size(record.dataset)))
        return max(LEAST_MIB, SNAKEMAKE_MIB + math.ceil(mib))

    def _round(self, part: Record) -> Round:
        """Return the round of learning that a job does a part of."""
        models = Record("models", part.study, part.dataset, part.names[:1])
        rounds = rounds_of(self._plan, models)
        return next(each for each in rounds if each.name == part.names[1])

    def priority(self, record: Record) -> int:
        """Return the priority of the job that makes a record.

        What is learned is scored before anything else is learned, so that a run that is interrupted
        leaves records. Among jobs of one kind it is the seconds from the start of the job to the
        end of what waits for it. What runs alone comes last.
        """
        if KINDS[record.kind].alone:
            return -1
        if not record.names:
            return self._dataset_priority(record.dataset)
        models = Record("models", record.study, record.dataset, record.names[:1])
        if record.kind in ("models", "parts"):
            return round(self._until_end(models))
        return _BEFORE_LEARNING + round(self.seconds(record))

    def _dataset_priority(self, dataset: str) -> int:
        """Return the priority of a job that all records of a dataset wait for."""
        waiting = [
            self._until_end(Record("models", record.study, dataset, record.names))
            for study in self._plan.running
            for record in self._plan.records(study, "cells")
            if record.dataset == dataset and not self._plan.is_made(record)
        ]
        return round(START_SECONDS + max(waiting, default=0.0))

    def _cost(self, record: Record, of: str) -> tuple[float, float] | None:
        """Return the expected cost of a record's job and its limit, if they are known.

        of : "seconds" or "mib".
        """
        kind = KINDS["models" if record.kind == "parts" else record.kind]
        quantity: str = getattr(kind, of)
        if not quantity:
            return None
        asking = self._plan.studies[record.study]
        models = queried_models(asking, record) if record.kind == "curves" else record
        # One job times several methods.
        methods = record.names if record.kind == "times" else models.names[:1]
        costs = [
            # A curve's law is that of the study that asks, of models of another one.
            estimate_cost(
                self._laws,
                self._plan.studies[models.study],
                method,
                record.dataset,
                quantity=quantity,
                asking=record.study,
            )
            for method in methods
        ]
        known = [cost for cost in costs if cost is not None]
        if len(known) < len(methods):
            return None
        total = sum if of == "seconds" else max
        return total(cost.expected for cost in known), total(cost.limit for cost in known)

    def _until_end(self, models: Record) -> float:
        """Return the seconds from the start of learning to the end of what waits for it."""
        if models not in self._remaining:
            waiting = [self._until_end(other) for other in self._built_on(models)]
            waiting += [self.seconds(record) for record in self._made_from(models)]
            self._remaining[models] = self.seconds(models) + max(waiting, default=0.0)
        return self._remaining[models]

    def _made_from(self, models: Record) -> Iterator[Record]:
        """Yield the records that wait for models, of kinds that may take long."""
        study = self._plan.studies[models.study]
        for kind in ("cells", "curves", "likelihoods"):
            if models.names in KINDS[kind].asked(study, models.dataset):
                record = Record(kind, study.name, models.dataset, models.names)
                if not self._plan.is_made(record):
                    yield record

    def _built_on(self, models: Record) -> Iterator[Record]:
        """Yield the models that wait for a dependency network."""
        study = self._plan.studies[models.study]
        for label in study.methods_on(models.dataset):
            waiting = Record("models", study.name, models.dataset, (label,))
            if study.network(label) == models.names[0] and not self._plan.is_made(waiting):
                yield waiting
