"""Partitions of the variables into query groups, drawn once for all methods."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from mnlearn.runtime.code_digest import code_digest
from mnlearn_studies.records.kind import Kind, Planned
from mnlearn_studies.records.record import Job, Recipe, Record, recipe_digest
from mnlearn_studies.study.definition import Study


class Partitions(Kind):
    """The query groups of the conditional marginal log-likelihood, as a file."""

    name = "partitions"
    files: ClassVar[Mapping[str, str]] = {"record": "{study}/partitions/{dataset}@{digest}.json"}
    is_asked = False

    def asked(self, study: Study, dataset: str) -> Iterator[tuple[str, ...]]:
        """Yield one record, of no method."""
        yield ()

    def recipe(self, plan: Planned, record: Record) -> Recipe:
        """Return groups, number, seed, and the data, for the number of variables."""
        study = plan.studies[record.study]
        return {
            "groups": study.content["cmll"]["groups"],
            "number": study.n_partitions(record.dataset),
            "seed": plan.seed,
            "data": recipe_digest(plan.recipe(record.data)),
            "code": code_digest("mnlearn.inference.query_groups.partitions"),
        }

    def inputs(self, plan: Planned, record: Record) -> dict[str, Any]:
        """Return the training data."""
        return {"train": plan.file(record.data, "train")}

    def make(self, job: Job) -> None:
        """Draw the partitions."""
        from mnlearn.data.dataset import load_npz
        from mnlearn.inference.query_groups import partitions
        from mnlearn.runtime.files import write_json

        n_vars = load_npz(job.path("train")).n_vars
        recipe = job.recipe
        drawn = partitions(
            recipe["seed"], job.record.dataset, n_vars, recipe["groups"], n=recipe["number"]
        )
        write_json(job.out, drawn)


KIND = Partitions()
