"""Partitions of the variables into query groups, drawn once for all methods."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

from mnlearn.data.dataset import load_npz
from mnlearn.inference.query_groups import partitions
from mnlearn.runtime.files import write_json
from mnlearn_studies.records.kind import Kind, Planned
from mnlearn_studies.records.record import Job, Recipe, Record
from mnlearn_studies.study.definition import Study


class Partitions(Kind):
    """The query groups of the conditional marginal log-likelihood, as a file."""

    name = "partitions"
    files: ClassVar[Mapping[str, str]] = {"record": "{study}/partitions/{dataset}@{digest}.json"}
    roots = ("mnlearn.inference.query_groups.partitions",)
    splits = ("train",)
    is_asked = False

    def asked(self, study: Study, dataset: str) -> Iterator[tuple[str, ...]]:
        yield ()

    def settings(self, plan: Planned, record: Record) -> Recipe:
        study = plan.studies[record.study]
        number = study.n_partitions(record.dataset)
        return {"groups": study.content["cmll"]["groups"], "number": number, "seed": plan.seed}

    def make(self, job: Job) -> None:
        n_vars, recipe = load_npz(job.path("train")).n_vars, job.recipe
        seed, dataset = recipe["seed"], job.record.dataset
        write_json(job.out, partitions(seed, dataset, n_vars, recipe["groups"], n=recipe["number"]))
