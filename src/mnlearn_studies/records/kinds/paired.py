"""Two methods compared test example by test example."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mnlearn.runtime.errors import InputError
from mnlearn_studies.records.kind import Kind, Planned, Row, head, json_of
from mnlearn_studies.records.record import Job, Record
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.frames import read_frame


def compare_paired(first: Path, second: Path) -> dict[str, Any]:
    """Return the mean differences, first less second, of the scores of test examples."""
    a, b = _read_scores(first), _read_scores(second)
    if len(a) != len(b) or len(a) < 2:
        raise InputError(
            f"{second}: expected scores of the {len(a)} examples of {first}, at least two, got "
            f"{len(b)}."
        )
    differences = (a - b)[[quantity for quantity in a.columns if quantity in b.columns]]
    means, errors = differences.mean(), differences.std(ddof=1) / np.sqrt(len(a))
    found = {name: {"mean": means[name], "stderr": errors[name]} for name in differences}
    return {"n_test": len(a), "differences": found}


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
    roots = ("mnlearn_studies.records.kinds.paired.compare_paired",)

    def asked(self, study: Study, dataset: str) -> Iterator[tuple[str, ...]]:
        yield from pairs(study, "paired", dataset)

    def based_on(self, plan: Planned, record: Record) -> dict[str, Record]:
        first, second = record.names
        return {"first": record.of("cells", first), "second": record.of("cells", second)}

    def inputs(self, plan: Planned, record: Record) -> dict[str, Any]:
        cells = self.based_on(plan, record)
        scores = {name: plan.file(cell, "per_example") for name, cell in cells.items()}
        return {"cells": [plan.file(cell) for cell in cells.values()], **scores}

    def measure(self, job: Job) -> dict[str, Any]:
        compared = compare_paired(job.path("first"), job.path("second"))
        return {"less": job.record.names[1], **compared}

    def rows(self, study: Study, record: Mapping[str, Any], path: Path) -> Iterator[Row]:
        for quantity, difference in record["differences"].items():
            name = f"{quantity}_less_{record['less']}"
            yield (*head(record), name, difference["mean"], difference["stderr"])


def pairs(study: Study, key: str, dataset: str) -> Iterator[tuple[str, ...]]:
    """Yield the pairs under a key of a study of which both methods are learned on a dataset."""
    methods = set(study.methods_on(dataset))
    yield from (tuple(pair) for pair in study.content.get(key, []) if set(pair) <= methods)
