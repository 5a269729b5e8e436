"""The couplings of a learned network, which a figure draws."""

from collections.abc import Iterator
from typing import Any

from mnlearn.runtime.code_digest import code_digest
from mnlearn_studies.records.kind import Kind, Planned, json_of
from mnlearn_studies.records.kinds.cells import models_of
from mnlearn_studies.records.record import Job, Recipe, Record, recipe_digest
from mnlearn_studies.study.definition import Study


class Structures(Kind):
    """The couplings of the chosen network."""

    name = "structures"
    files = json_of("structures")

    def asked(self, study: Study, dataset: str) -> Iterator[tuple[str, ...]]:
        """Yield the methods whose structure a figure draws."""
        drawn = [figure for figure in study.content["figures"] if figure["kind"] == "structure"]
        yield from ((each["method"],) for each in drawn if each["dataset"] == dataset)

    def recipe(self, plan: Planned, record: Record) -> Recipe:
        """Return the models and the code."""
        return {
            "learning": recipe_digest(plan.recipe(models_of(record))),
            "code": code_digest("mnlearn_studies.records.structure.write_structure"),
        }

    def inputs(self, plan: Planned, record: Record) -> dict[str, Any]:
        """Return the models."""
        return {"models": plan.file(models_of(record))}

    def make(self, job: Job) -> None:
        """Write the couplings."""
        from mnlearn_studies.records.files import CHOSEN, model_path
        from mnlearn_studies.records.structure import write_structure

        write_structure(model_path(job.path("models").parent, CHOSEN), job.identity, job.out)


KIND = Structures()
