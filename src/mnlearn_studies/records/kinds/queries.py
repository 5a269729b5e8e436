"""Which variables of which test examples are queried, drawn once for all methods."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from mnlearn.runtime.code_digest import code_digest
from mnlearn_studies.records.kind import Kind, Planned
from mnlearn_studies.records.record import Job, Recipe, Record, recipe_digest
from mnlearn_studies.study.definition import Study


class Queries(Kind):
    """Test examples, and the order in which their variables are queried."""

    name = "queries"
    files: ClassVar[Mapping[str, str]] = {"record": "{study}/queries/{dataset}@{digest}.npz"}
    is_asked = False

    def asked(self, study: Study, dataset: str) -> Iterator[tuple[str, ...]]:
        """Yield one record, of no method, if the study queries models."""
        if "queries" in study.content:
            yield ()

    def recipe(self, plan: Planned, record: Record) -> Recipe:
        """Return how many examples are drawn, of which data."""
        return {
            "examples": plan.studies[record.study].content["queries"]["examples"],
            "seed": plan.seed,
            "data": recipe_digest(plan.recipe(Record("data", "", record.dataset))),
            "code": code_digest("mnlearn_studies.records.query_curve.draw_queries"),
        }

    def inputs(self, plan: Planned, record: Record) -> dict[str, Any]:
        """Return the test data."""
        return {"test": plan.file(Record("data", "", record.dataset), "test")}

    def make(self, job: Job) -> None:
        """Draw the queries."""
        from mnlearn.data.dataset import load_npz
        from mnlearn_studies.records.query_curve import draw_queries

        test = load_npz(job.path("test"))
        recipe = job.recipe
        draw_queries(test, job.record.dataset, recipe["examples"], recipe["seed"], path=job.out)


KIND = Queries()
