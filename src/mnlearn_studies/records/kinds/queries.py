"""Which variables of which test examples are queried, drawn once for all methods."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from mnlearn.data.dataset import Dataset, load_npz
from mnlearn.runtime.arrays import write_arrays
from mnlearn.runtime.code_digest import code_digest
from mnlearn.runtime.random_streams import stream
from mnlearn_studies.records.kind import Kind, Planned
from mnlearn_studies.records.record import Job, Recipe, Record, recipe_digest
from mnlearn_studies.study.definition import Study


def draw_queries(test: Dataset, dataset: str, n_examples: int, seed: int, *, path: Path) -> None:
    """Draw test examples and, for each of them, the order in which its variables are queried.

    The variables of a query are among those of every larger query, and the first queries are the
    same however many are drawn.

    Parameters
    ----------
    test : Dataset
        The test data.
    dataset : str
        Its name, which names the random stream.
    n_examples : int
        Examples to draw; all if there are fewer.
    seed : int
        Seed of the study.
    path : Path
        File to write: `example`, int64 of (n_examples,), places in the test data in the order
        drawn; and `rank`, uint16 of (n_examples, n_vars). A query of n variables asks for those of
        rank below n, given all others.
    """
    rng = stream(seed, dataset, "queries")
    n_given = len(test.row_of)
    chosen = rng.permutation(n_given)[:n_examples]
    rank = np.argsort(rng.random((len(chosen), test.n_vars)), axis=1).astype(np.uint16)
    write_arrays(
        path,
        {"kind": np.array("queries"), "example": chosen.astype(np.int64), "rank": rank},
    )


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
            "data": recipe_digest(plan.recipe(record.data)),
            "code": code_digest("mnlearn_studies.records.kinds.queries.draw_queries"),
        }

    def inputs(self, plan: Planned, record: Record) -> dict[str, Any]:
        """Return the test data."""
        return {"test": plan.file(record.data, "test")}

    def make(self, job: Job) -> None:
        """Draw the queries."""
        test = load_npz(job.path("test"))
        recipe = job.recipe
        draw_queries(test, job.record.dataset, recipe["examples"], recipe["seed"], path=job.out)


KIND = Queries()
