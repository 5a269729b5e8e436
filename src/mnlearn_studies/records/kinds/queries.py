"""Which variables of which test examples are queried, drawn once for all methods."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

import numpy as np

from mnlearn.data.dataset import load_npz
from mnlearn.runtime.arrays import write_arrays
from mnlearn.runtime.random_streams import stream
from mnlearn_studies.records.kind import Kind, Planned
from mnlearn_studies.records.record import Job, Recipe, Record
from mnlearn_studies.study.definition import Study


def draw_queries(job: Job) -> None:
    """Draw test examples and, for each of them, the order in which its variables are queried.

    The file has `example`, places in the test data, and `rank`, uint16 of (n_examples, n_vars): a
    query of n variables asks for those of rank below n. The first queries are the same whatever
    their number.
    """
    test = load_npz(job.path("test"))
    rng = stream(job.recipe["seed"], job.record.dataset, "queries")
    chosen = rng.permutation(len(test.row_of))[: job.recipe["examples"]]
    rank = np.argsort(rng.random((len(chosen), test.n_vars)), axis=1).astype(np.uint16)
    example = chosen.astype(np.int64)
    write_arrays(job.out, {"kind": np.array("queries"), "example": example, "rank": rank})


class Queries(Kind):
    """Test examples, and the order in which their variables are queried."""

    name = "queries"
    files: ClassVar[Mapping[str, str]] = {"record": "{study}/queries/{dataset}@{digest}.npz"}
    roots = ("mnlearn_studies.records.kinds.queries.draw_queries",)
    splits = ("test",)
    is_asked = False

    def asked(self, study: Study, dataset: str) -> Iterator[tuple[str, ...]]:
        if "queries" in study.content:
            yield ()

    def settings(self, plan: Planned, record: Record) -> Recipe:
        examples = plan.studies[record.study].content["queries"]["examples"]
        return {"examples": examples, "seed": plan.seed}

    def make(self, job: Job) -> None:
        draw_queries(job)
