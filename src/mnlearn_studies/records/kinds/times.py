"""The seconds of the chosen model of a cell alone, learned again from nothing."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mnlearn.runtime.code_digest import code_digest
from mnlearn_studies.records.kind import Kind, Planned, Row, head, json_of
from mnlearn_studies.records.kinds.cells import models_of, seconds_rows
from mnlearn_studies.records.kinds.parts import network_input
from mnlearn_studies.records.record import Job, Recipe, Record, recipe_digest
from mnlearn_studies.study.definition import Study


class Times(Kind):
    """The seconds of each part of learning the chosen model, while no other job runs."""

    name = "times"
    files = json_of("times")
    quantities = r"seconds_"
    alone = True
    seconds, mib = "seconds_time", "mib_learn"

    def asked(self, study: Study, dataset: str) -> Iterator[tuple[str, ...]]:
        """Yield the methods that the study times."""
        timed = study.content.get("timed", []) if study.is_timed(dataset) else []
        yield from ((method,) for method in timed if method in study.methods_on(dataset))

    def recipe(self, plan: Planned, record: Record) -> Recipe:
        """Return the learning and the code."""
        return {
            "learning": recipe_digest(plan.recipe(models_of(record))),
            "code": code_digest("mnlearn_studies.records.timing.time_cell"),
        }

    def inputs(self, plan: Planned, record: Record) -> dict[str, Any]:
        """Return the cell, the training data, and the network that the method builds on."""
        return {
            "cell": plan.file(Record("cells", record.study, record.dataset, record.names)),
            "train": plan.file(Record("data", "", record.dataset), "train"),
            **network_input(plan, record),
        }

    def make(self, job: Job) -> None:
        """Learn the chosen model again, on one thread."""
        from mnlearn_studies.records.files import CHOSEN, model_path
        from mnlearn_studies.records.timing import time_cell

        network = None
        if "network" in job.inputs:
            network = model_path(job.path("network").parent, CHOSEN)
        cell, train = job.path("cell"), job.path("train")
        time_cell(cell, train, job.recipe, job.out, threads=1, network_path=network)

    def rows(self, study: Study, record: Mapping[str, Any], path: Path) -> Iterator[Row]:
        """Yield the seconds of each part."""
        seconds = seconds_rows(record["seconds"], record)
        yield from ((*head(record), *numbers) for numbers in seconds)


KIND = Times()
