"""Two methods compared test example by test example."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mnlearn.runtime.code_digest import code_digest
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import write_json
from mnlearn_studies.records.kind import Kind, Planned, Row, head, json_of
from mnlearn_studies.records.record import Job, Recipe, Record, recipe_digest
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.frames import read_frame


def compare_paired(
    identity: Mapping[str, Any], first: tuple[str, Path], second: tuple[str, Path], out: Path
) -> None:
    """Write the mean differences of the scores that two methods both have, as JSON.

    Each difference is the score of the first less that of the second, with the standard error of
    the mean over test examples, in nats.

    Parameters
    ----------
    identity : Mapping
        Study, dataset and recipe (see `study.recipes`), which go into the record.
    first, second : tuple of str and Path
        Name of the method, and its scores by test example as `score_cell` writes them.
    out : Path
        File of the record.

    Raises
    ------
    InputError
        The files do not have scores of equally many examples.
    """
    a, b = (_read_scores(path) for _, path in (first, second))
    if len(a) != len(b) or len(a) < 2:
        raise InputError(
            f"{second[1]}: expected scores of the {len(a)} examples of {first[1]}, "
            f"at least two, got {len(b)}."
        )
    differences = {}
    for quantity in (q for q in a.columns if q in b.columns):
        difference = (a[quantity] - b[quantity]).to_numpy()
        differences[quantity] = {
            "mean": float(difference.mean()),
            "stderr": float(difference.std(ddof=1) / np.sqrt(len(difference))),
        }
    record = {
        **identity,
        "method": first[0],
        "less": second[0],
        "n_test": len(a),
        "differences": differences,
    }
    write_json(out, record)


def _read_scores(path: Path) -> pd.DataFrame:
    try:
        scores = read_frame(path, ()).astype(float)
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: expected a score in each cell.") from error
    if not np.isfinite(scores).all(axis=None):
        raise InputError(f"{path}: expected a finite score in each cell.")
    return scores


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
        code = code_digest("mnlearn_studies.records.kinds.paired.compare_paired")
        return {"first": first, "second": second, "code": code}

    def inputs(self, plan: Planned, record: Record) -> dict[str, Any]:
        """Return both cells, and their scores by test example."""
        cells = _cells(record)
        first, second = (plan.file(cell, "per_example") for cell in cells)
        return {"cells": [plan.file(cell) for cell in cells], "first": first, "second": second}

    def make(self, job: Job) -> None:
        """Compare the scores."""
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
    return [record.of("cells", name) for name in record.names]


KIND = Paired()
