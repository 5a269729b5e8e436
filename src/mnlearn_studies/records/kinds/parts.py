"""The parts of the learning of a cell, each in a process of its own."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from mnlearn.learning.learner import Round, list_rounds
from mnlearn.methods import load_learner
from mnlearn_studies.records.kind import Kind, Planned
from mnlearn_studies.records.learn import learn_part
from mnlearn_studies.records.record import Job, Recipe, Record
from mnlearn_studies.study.definition import Study


def checkpoints_of(plan: Planned) -> dict[str, str]:
    """Return the folder of finished grid points and scores, which all studies share."""
    return {"checkpoints": str(plan.results / "checkpoints")}


class Parts(Kind):
    """A part of the learning of a cell; its names are the method, the round, k and n of part k/n.

    A search finds the work of parts in the checkpoints, so recipes of cells do not depend on parts.
    """

    name = "parts"
    files: ClassVar[Mapping[str, str]] = {"record": "{study}/parts/{dataset}/{names}@{digest}.json"}
    splits = ("train", "valid")
    is_asked = False

    def asked(self, study: Study, dataset: str) -> Iterator[tuple[str, ...]]:
        yield from ()

    def learned(self, plan: Planned, record: Record) -> list[Record]:
        return []

    def recipe(self, plan: Planned, record: Record) -> Recipe:
        return plan.recipe(record.models)

    def inputs(self, plan: Planned, record: Record) -> dict[str, Any]:
        before = parts_of(plan, record.models, before=record.names[1])
        done = [plan.file(part) for part in before]
        return {**super().inputs(plan, record), **network_input(plan, record), "parts": done}

    def given(self, plan: Planned, record: Record) -> dict[str, Any]:
        return checkpoints_of(plan)

    def make(self, job: Job) -> None:
        learn_part(job)


def rounds_of(plan: Planned, models: Record) -> list[Round]:
    """Return the rounds in which the models of a cell are learned before the search itself."""
    if plan.n_parts == 1:
        return []
    study, (method,) = plan.studies[models.study], models.names
    learner = load_learner(study.learner(method))
    grid = learner.grid(study.grid(method, models.dataset))
    return list_rounds(learner, grid, with_network=study.network(method) is not None)


def parts_of(plan: Planned, models: Record, before: str | None = None) -> list[Record]:
    """Return the parts of the learning of a cell, of all rounds or of those before one.

    There are none if the models are used as they are.
    """
    parts: list[Record] = []
    if plan.is_made(models):
        return parts
    for each in rounds_of(plan, models):
        if each.name == before:
            break
        of = each.n_parts(plan.n_parts)
        for number in range(1, of + 1):
            names = (*models.names, each.name, str(number), str(of))
            parts.append(Record("parts", models.study, models.dataset, names))
    return parts


def network_input(plan: Planned, record: Record) -> dict[str, str]:
    """Return the models of the dependency network that a method builds on, if it does."""
    network = plan.studies[record.study].network(record.names[0])
    return {} if network is None else {"network": plan.file(record.of("models", network))}
