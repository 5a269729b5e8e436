"""Cells: the models of one method on one dataset, scored on test data."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from mnlearn.methods import learner_root, load_learner
from mnlearn.runtime.code_digest import code_digest
from mnlearn_studies.records.kind import Kind, Planned, Row, head
from mnlearn_studies.records.kinds.parts import CHECKPOINTS
from mnlearn_studies.records.record import Job, Recipe, Record, recipe_digest
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.frames import read_frame


class Cells(Kind):
    """Test scores of the chosen model and of the best model of each variant."""

    name = "cells"
    files: ClassVar[Mapping[str, str]] = {
        "record": "{study}/cells/{dataset}/{names}@{digest}.json",
        "trace": "{study}/tuning/{dataset}/{names}@{digest}.csv",
        "per_example": "{study}/per_example/{dataset}/{names}@{digest}.csv",
    }
    seconds, mib = "seconds_score", "mib_score"

    def asked(self, study: Study, dataset: str) -> Iterator[tuple[str, ...]]:
        """Yield every method."""
        yield from ((method,) for method in study.methods_on(dataset))

    def recipe(self, plan: Planned, record: Record) -> Recipe:
        """Return the models, the code, and how scores are computed."""
        study, dataset, (method,) = plan.studies[record.study], record.dataset, record.names
        further = study.further_inference(method, dataset)
        return {
            "learning": recipe_digest(plan.recipe(models_of(record))),
            "code": code_digest(
                learner_root(study.learner(method)),
                "mnlearn_studies.records.score.score_cell",
                "mnlearn.inference.query_groups.partitions",
            ),
            "inference": study.inference(dataset),
            "groups": [study.content["cmll"]["groups"], study.n_partitions(dataset)],
            "cmll_of": study.cmll_of(method, dataset),
            **({"further_inference": further} if further else {}),
        }

    def inputs(self, plan: Planned, record: Record) -> dict[str, Any]:
        """Return the models, the query groups and the test data."""
        return {
            "models": plan.file(models_of(record)),
            "groups": plan.file(Record("partitions", record.study, record.dataset)),
            "test": plan.file(Record("data", "", record.dataset), "test"),
        }

    def given(self, plan: Planned, record: Record) -> dict[str, Any]:
        """Return the folder of finished scores."""
        return {"checkpoints": CHECKPOINTS}

    def make(self, job: Job) -> None:
        """Score the models."""
        from mnlearn_studies.records.score import score_cell

        recipe = job.recipe
        score_cell(
            job.path("models").parent,
            job.path("test"),
            job.path("groups"),
            recipe["inference"],
            checkpoint_folder=Path(job.given["checkpoints"]),
            per_example_path=job.outputs["per_example"],
            trace_path=job.outputs["trace"],
            cell_path=job.out,
            threads=job.threads,
            cmll_of=recipe["cmll_of"],
            further=recipe.get("further_inference", {}),
            recipe=recipe,
        )

    def rows(self, study: Study, record: Mapping[str, Any], path: Path) -> Iterator[Row]:
        """Yield the scores and sizes of each variant, and the seconds of learning it.

        The grid points beside the record give the mean seconds of weight learning.
        """
        # Seconds of a search are shared by its grid points; a study that times a method alone
        # shows those.
        is_timed = record["method"] in study.content.get("timed", [])
        for variant, entry in record["variants"].items():
            numbers = _numbers(record, entry)
            if not is_timed:
                numbers += seconds_rows(entry["seconds"], record)
            yield from ((*head(record, variant), *number) for number in numbers)
        yield from _mean_seconds(record, path)


def models_of(record: Record) -> Record:
    """Return the models that a record of one method is made from."""
    return Record("models", record.study, record.dataset, record.names[:1])


def trace_of(path: Path) -> Path:
    """Return the grid points of a cell, by the file of its record."""
    return path.parents[2] / "tuning" / path.parent.name / f"{path.stem}.csv"


def seconds_rows(
    parts: Mapping[str, float], record: Mapping[str, Any]
) -> Iterator[tuple[str, float, Any]]:
    """Yield the seconds of each part of learning, their sum, and the sum with those of files."""
    for name, value in parts.items():
        yield f"seconds_{name}", value, None
    learn = sum(parts.values())
    yield "seconds_learn", learn, None
    files = record["seconds_read"] + record["seconds_write"]
    yield "seconds_learn_and_files", learn + files, None


def _numbers(cell: Mapping[str, Any], entry: Mapping[str, Any]) -> list[tuple[str, float, Any]]:
    out: list[tuple[str, float, Any]] = []
    for name, score in entry["scores"].items():
        out.append((name, score["mean"], score["stderr"]))
        if "monte_carlo_error" in score:
            out.append((f"{name}_monte_carlo_error", score["monte_carlo_error"], None))
        means = score.get("partitions", [])
        if len(means) > 1:
            spread = float(np.std(means, ddof=1))
            out.append((f"{name}_partition_mean", float(np.mean(means)), spread))
    out.append(("validation", entry["validation"], None))
    sizes = ("n_features", "n_features_generated", "mean_length")
    out += [(name, entry[name], None) for name in sizes if name in entry]
    tuning, files = cell["seconds_tuning"], cell["seconds_read"] + cell["seconds_write"]
    out.append(("seconds_tuning", tuning, None))
    # What a program that does nothing else would take, as papers time it.
    out.append(("seconds_tuning_and_files", tuning + files, None))
    of_inference = (name for name in entry if name.startswith("seconds_inference"))
    out += [(name, entry[name], None) for name in of_inference]
    chosen = {f"chosen_{name}": value for name, value in entry["parameters"].items()}
    for name, value in {**entry["details"], **chosen}.items():
        if name.startswith("seconds_"):
            continue
        if isinstance(value, int | float):
            # Truth values are numbers too.
            out.append((name, float(value), None))
        elif name in chosen:  # Numbers can be counted: 1 for the value, 0 for the others.
            parameter = name.removeprefix("chosen_")
            tried = {str(v["parameters"].get(parameter)) for v in cell["variants"].values()}
            out += [(f"{name}_{other}", float(other == value), None) for other in sorted(tried)]
    if "n_vars" in cell:
        out.append(("n_vars", cell["n_vars"], None))
    peak = max(cell["peak_memory_mib_learn"], cell["peak_memory_mib_score"])
    out.append(("peak_memory_mib", peak, None))
    return out


def _mean_seconds(cell: Mapping[str, Any], path: Path) -> Iterator[Row]:
    """Yield the mean seconds of weight learning over the grid points of each variant."""
    # The parameters of which each choice of values is a variant.
    names = list(load_learner(cell["learner"]).variant)
    if not names or not trace_of(path).exists():
        return
    trace = read_frame(trace_of(path), ("stage", *names))
    if "seconds_weights" not in trace:
        return
    points = trace[trace["stage"] == trace["stage"].max()]
    variant = points[names].astype(str).agg("-".join, axis=1)
    means = points.groupby(variant, sort=False)["seconds_weights"].mean()
    for name, value in means.items():
        yield (*head(cell, str(name)), "mean_seconds_weights", value, None)


KIND = Cells()
