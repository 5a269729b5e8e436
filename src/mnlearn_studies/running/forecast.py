"""What a run would make, and about how long it would take."""

from collections.abc import Iterator
from dataclasses import dataclass

from mnlearn_studies.plan.planning import KINDS, Plan, Record
from mnlearn_studies.plan.resources import JobResources

# Pairs are compared in a second.
_LONG = tuple(kind for kind in KINDS if kind != "paired")


@dataclass(frozen=True)
class Job:
    """A job that a run would start.

    Attributes
    ----------
    record : Record
        What it makes; of the kind `models` if it learns.
    seconds : float
        Expected seconds of one processor.
    mib : int
        MiB that it may use.
    is_known : bool
        Whether the seconds follow from recorded ones; otherwise they are a guess.
    """

    record: Record
    seconds: float
    mib: int
    is_known: bool


def forecast(plan: Plan, resources: JobResources) -> list[Job]:
    """Return the jobs of a run that learn and score models, those that learn first.

    Parameters
    ----------
    plan : Plan
        What the run is asked for. Nothing is written.
    resources : JobResources
        What its jobs are expected to cost.
    """
    wanted = [
        record
        for study in plan.running
        for kind in _LONG
        for record in plan.records(study, kind)
        if not plan.is_settled(record)
    ]
    models = dict.fromkeys(model for record in wanted for model in _models(plan, record))
    learned = [record for record in models if not plan.is_settled(record)]
    return [
        Job(record, resources.seconds(record), resources.mib(record), resources.is_known(record))
        for record in (*learned, *wanted)
    ]


def _models(plan: Plan, record: Record) -> Iterator[Record]:
    """Yield the models that a record is made from, and those that they build on."""
    if record.kind == "times":
        return
    name = plan.owner(record) if record.kind == "curves" else record.study
    for method in record.names:
        base = plan.studies[name].network(method)
        if base is not None:
            yield Record("models", name, record.dataset, (base,))
        yield Record("models", name, record.dataset, (method,))
