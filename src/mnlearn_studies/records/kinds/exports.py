"""Whether a model survives other forms of files."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mnlearn.runtime.code_digest import code_digest
from mnlearn_studies.records.kind import Kind, Planned, Row, head, json_of
from mnlearn_studies.records.kinds.cells import models_of
from mnlearn_studies.records.record import Job, Recipe, Record, recipe_digest
from mnlearn_studies.study.definition import Study


class Exports(Kind):
    """A model written in forms of other programs, read again, and compared by its scores."""

    name = "exports"
    files = json_of("exports")
    quantities = r"export_"

    def asked(self, study: Study, dataset: str) -> Iterator[tuple[str, ...]]:
        """Yield the methods whose models are written in other forms."""
        methods = study.methods_on(dataset)
        yield from ((m,) for m in study.content.get("exports", {}) if m in methods)

    def recipe(self, plan: Planned, record: Record) -> Recipe:
        """Return the models, the forms and the code."""
        return {
            "learning": recipe_digest(plan.recipe(models_of(record))),
            "code": code_digest("mnlearn_studies.records.round_trip.check_exports"),
            "forms": plan.studies[record.study].content["exports"][record.names[0]],
        }

    def inputs(self, plan: Planned, record: Record) -> dict[str, Any]:
        """Return the models and the test data."""
        return {
            "models": plan.file(models_of(record)),
            "test": plan.file(Record("data", "", record.dataset), "test"),
        }

    def make(self, job: Job) -> None:
        """Write the model in each form, read it and compare."""
        from mnlearn_studies.records.files import CHOSEN, model_path
        from mnlearn_studies.records.round_trip import check_exports

        model = model_path(job.path("models").parent, CHOSEN)
        check_exports(model, job.path("test"), job.recipe["forms"], job.identity, out=job.out)

    def rows(self, study: Study, record: Mapping[str, Any], path: Path) -> Iterator[Row]:
        """Yield the largest difference of a score by form."""
        for form, export in record["forms"].items():
            yield (*head(record), f"export_{form}", export["largest_difference"], None)


KIND = Exports()
