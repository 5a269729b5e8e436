"""What a run would make, and about how long it would take."""

from collections.abc import Iterator
from dataclasses import dataclass

from mnlearn_studies.plan.planning import Plan
from mnlearn_studies.plan.resources import JobResources
from mnlearn_studies.records.kinds.curves import queried_models
from mnlearn_studies.records.record import Record


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
    wanted = [record for study in plan.running for record in plan.missing(study)]
    # Pairs are compared in a second.
    wanted = [record for record in wanted if record.kind != "paired"]
    models = dict.fromkeys(model for record in wanted for model in _models(plan, record))
    learned = [record for record in models if not plan.is_made(record)]
    return [
        Job(record, resources.seconds(record), resources.mib(record), resources.is_known(record))
        for record in (*learned, *wanted)
    ]


def _models(plan: Plan, record: Record) -> Iterator[Record]:
    """Yield the models that a record is made from, and those that they build on."""
    if record.kind == "times":
        return
    study = plan.studies[record.study]
    for name in record.names:
        models = Record("models", study.name, record.dataset, (name,))
        if record.kind == "curves":
            models = queried_models(study, record)
        base = plan.studies[models.study].network(name)
        if base is not None:
            yield Record("models", models.study, record.dataset, (base,))
        yield models
