"""What jobs of a study ask for: memory, time, and which of them are started first.

Memory and time are upper estimates, as a cluster ends a job that needs more. Jobs that are expected
to take long start first, so that all processors end together.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from mnlearn.runtime.files import read_table
from mnlearn_studies.datasets.registry import load_datasets, registry_path
from mnlearn_studies.datasets.sample_names import parse_drawn
from mnlearn_studies.plan.planning import Plan
from mnlearn_studies.records.files import CHOSEN, read_record, sum_seconds
from mnlearn_studies.records.kinds import KINDS
from mnlearn_studies.records.kinds.curves import queried_models
from mnlearn_studies.records.kinds.times import runs_by_method
from mnlearn_studies.records.record import Record
from mnlearn_studies.study.definition import Study

COLUMNS = ("learner", "quantity", "n_records", "usual", "most")
# Of learning for each point of the grid, as one product of its values; of the others in total.
QUANTITIES = (
    *("seconds_learn", "seconds_score", "seconds_time", "seconds_curve"),
    *("mib_learn", "mib_score"),
)
# Costs grow with this power of the number of cells of the training data.
_POWERS = {"seconds": 1.0, "mib": 0.3}
# Millions of cells of a dataset of which little is known before it is read.
UNKNOWN_SIZE = 4.0


class Cost(NamedTuple):
    """A cost in seconds or MiB: the usual one, and one that no recorded cost exceeds."""

    usual: float
    most: float


Laws = Mapping[tuple[str, str], Cost]


def load_laws() -> dict[tuple[str, str], Cost]:
    """Read the costs of a dataset of a million cells by learner and quantity."""
    rows = read_table(registry_path().with_name("costs.tsv"), COLUMNS)
    return {
        (row["learner"], row["quantity"]): Cost(float(row["usual"]), float(row["most"]))
        for _, row in rows
    }


def growth(dataset: str, quantity: str) -> float:
    """Return by how much a quantity is larger on a dataset than on one of a million cells."""
    sub, millions = parse_drawn(dataset), UNKNOWN_SIZE
    entry = load_datasets().get(dataset if sub is None else sub.base)
    if entry is not None and entry.rows:
        millions = (entry.n_rows("train") if sub is None else sub.size) * entry.n_vars / 1e6
    return float(millions ** _POWERS[quantity.partition("_")[0]])


def estimate_cost(
    laws: Laws, study: Study, method: str, dataset: str, quantity: str
) -> Cost | None:
    """Return what a method of a study costs on a dataset; None if nothing of its learner is known.

    quantity : one of `QUANTITIES`; of learning the cost is of the whole grid.
    """
    law = laws.get((study.learner(method), quantity))
    if law is None:
        return None
    times = growth(dataset, quantity)
    if quantity == "seconds_learn":
        times *= n_products(study.grid(method, dataset))
    return Cost(times * law.usual, times * law.most)


def n_products(grid: Mapping[str, Sequence[Any]]) -> int:
    """Return the number of points of a grid as one product; a search may visit fewer."""
    return math.prod(len(values) for values in grid.values())


# Seconds for the start of a job: imports, and kernels that are loaded or compiled.
START_SECONDS = 10.0
# A job of a cluster runs Snakemake too, which takes so many MiB; and no job asks for less.
SNAKEMAKE_MIB = 400
LEAST_MIB = 1000
LEAST_MINUTES = 30
# Where nothing is recorded of a learner or of a kind of job.
UNKNOWN_SECONDS = 60.0
UNKNOWN_MIB = 4000
UNKNOWN_MINUTES = 240
# Of a job that takes hardly longer than it takes to start it.
_NOTHING = Cost(0.0, 0.0)

# Above all seconds.
_BEFORE_LEARNING, _FIRST = 10**8, 2 * 10**8


class JobResources:
    """The memory, time and priority of the jobs of a plan; laws : see `costs.load_laws`."""

    def __init__(self, plan: Plan, laws: Laws) -> None:
        self._plan = plan
        self._laws = laws

    def seconds(self, record: Record) -> float:
        """Return how many seconds the job that makes a record is expected to take."""
        cost = self._cost(record, "seconds")
        return START_SECONDS + (UNKNOWN_SECONDS if cost is None else cost.usual)

    def recorded_seconds(self, record: Record) -> float:
        """Return the seconds that a record takes as it says, or its first fold; or the estimate.

        A search of another grid takes its share of points more or less, and a score over another
        number of partitions its share.
        """
        kind = "cells" if record.kind == "models" else record.kind
        names = dict.fromkeys([record.dataset, _first_fold(record.dataset)])
        of_folds = (Record(kind, record.study, name, record.names) for name in names)
        versions = [path for each in of_folds for path in self._plan.versions(each)]
        if kind not in ("cells", "times") or not versions:
            return self.seconds(record)
        content = read_record(versions[0])
        if kind == "times":
            runs = (run for each in runs_by_method(content).values() for run in each)
            return START_SECONDS + sum(sum(run.values()) for run in runs)
        study, (method,) = self._plan.studies[record.study], record.names
        search, scoring = sum_seconds([content])
        if record.kind == "models":
            grid = study.grid(method, record.dataset)
            recorded = content.get("learned_from", {}).get("grid", grid)
            return START_SECONDS + search * n_products(grid) / n_products(recorded)
        chosen = content["variants"][CHOSEN]
        of = study.cmll_of(method, record.dataset)
        now = {"none": 0, "first": 1}.get(of, study.n_partitions(record.dataset))
        more = now - len(chosen["scores"].get("cmll", {}).get("partitions", ()))
        return START_SECONDS + scoring + more * chosen.get("seconds_inference", 0.0)

    def is_known(self, record: Record) -> bool:
        """Tell whether the seconds of a job follow from recorded ones."""
        return self._cost(record, "seconds") is not None

    def minutes(self, record: Record) -> int:
        """Return the minutes after which a cluster may end the job that makes a record."""
        cost = self._cost(record, "seconds")
        if cost is None or cost == _NOTHING:
            return UNKNOWN_MINUTES
        return max(LEAST_MINUTES, math.ceil((START_SECONDS + cost.most) / 60))

    def mib(self, record: Record) -> int:
        """Return the MiB that the job that makes a record may use."""
        cost = self._cost(record, "mib")
        if cost is None or cost == _NOTHING:
            return UNKNOWN_MIB
        return max(LEAST_MIB, SNAKEMAKE_MIB + math.ceil(cost.most))

    def priority(self, record: Record) -> int:
        """Return the priority of the job that makes a record.

        What all records of a dataset wait for comes first, then scores, so that an interrupted run
        leaves records, then what takes longest to learn; what runs alone comes last.
        """
        if KINDS[record.kind].alone:
            return -1
        if not record.names:
            return _FIRST
        if record.kind not in ("models", "parts"):
            return _BEFORE_LEARNING + round(self.seconds(record))
        study, models = self._plan.studies[record.study], record.models
        waiting = [
            self.seconds(models.of("models", label))
            for label in study.methods_on(models.dataset)
            if study.network(label) == models.names[0]
        ]
        return round(self.seconds(models) + max(waiting, default=0.0))

    def _cost(self, record: Record, of: str) -> Cost | None:
        """Return the cost of a record's job if it is known; of : "seconds" or "mib"."""
        kind = KINDS["models" if record.kind == "parts" else record.kind]
        if not (quantity := getattr(kind, of)):
            return _NOTHING
        study = self._plan.studies[record.study]
        models = queried_models(study, record) if record.kind == "curves" else record
        # One job times several methods.
        methods = record.names if record.kind == "times" else models.names[:1]
        owner = self._plan.studies[models.study]
        costs = [
            estimate_cost(self._laws, owner, each, record.dataset, quantity) for each in methods
        ]
        known = [cost for cost in costs if cost is not None]
        if len(known) < len(methods):
            return None
        total = sum if of == "seconds" else max
        return Cost(total(cost.usual for cost in known), total(cost.most for cost in known))


def _first_fold(dataset: str) -> str:
    sample = parse_drawn(dataset)
    return dataset if sample is None else sample._replace(fold=0).name
