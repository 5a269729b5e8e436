"""Two methods compared test example by test example."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mnlearn.runtime.code_digest import code_digest
from mnlearn_studies.records.kind import Kind, Planned, Row, head, json_of
from mnlearn_studies.records.record import Job, Recipe, Record, recipe_digest
from mnlearn_studies.study.definition import Study


class Paired(Kind):
    """The mean difference of each score that two methods both have."""

    name = "paired"
    files = json_of("paired")
    quantities = r".*_less_"

    def asked(self, study: Study, dataset: str) -> Iterator[tuple[str, ...]]:
        """Yield the pairs of the study."""
        yield from pairs(study, "paired", dataset)

    def recipe(self, plan: Planned, record: Record) -> Recipe:
        """Return both cells and the code."""
        first, second = (recipe_digest(plan.recipe(cell)) for cell in _cells(record))
        code = code_digest("mnlearn_studies.records.pair.compare_paired")
        return {"first": first, "second": second, "code": code}

    def inputs(self, plan: Planned, record: Record) -> dict[str, Any]:
        """Return the scores of both methods by test example."""
        first, second = (plan.file(cell, "per_example") for cell in _cells(record))
        return {"first": first, "second": second}

    def make(self, job: Job) -> None:
        """Compare the scores."""
        from mnlearn_studies.records.pair import compare_paired

        first, second = job.record.names
        compared = (first, job.path("first")), (second, job.path("second"))
        compare_paired(job.pair_identity, *compared, job.out)

    def rows(self, study: Study, record: Mapping[str, Any], path: Path) -> Iterator[Row]:
        """Yield the difference of each score, as `<score>_less_<other>`."""
        for quantity, difference in record["differences"].items():
            name = f"{quantity}_less_{record['less']}"
            yield (*head(record), name, difference["mean"], difference["stderr"])


def pairs(study: Study, key: str, dataset: str) -> Iterator[tuple[str, ...]]:
    """Yield the pairs under a key of a study of which both methods are learned on a dataset."""
    methods = set(study.methods_on(dataset))
    yield from (tuple(pair) for pair in study.content.get(key, []) if set(pair) <= methods)


def _cells(record: Record) -> list[Record]:
    return [Record("cells", record.study, record.dataset, (name,)) for name in record.names]


KIND = Paired()
