"""The second half of a cell: score the learned models on test data, which nothing else reads."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from mnlearn.data.dataset import Dataset, load_npz
from mnlearn.inference.query_groups import read_partitions
from mnlearn.inference.score import Groups, Score
from mnlearn.inference.settings import Inference
from mnlearn.learning.checkpoints import Checkpoints
from mnlearn.methods import learner_root, load_learner
from mnlearn.models.io.native import read_npz
from mnlearn.models.model import Model
from mnlearn.runtime.code_digest import code_digest
from mnlearn.runtime.files import file_digest, read_text, write_csv, write_json, write_text
from mnlearn.runtime.progress import say
from mnlearn.runtime.provenance import peak_memory_mib, provenance
from mnlearn.runtime.random_streams import stream_seed
from mnlearn.scoring.metrics import METRIC_NAMES, METRICS, Metric, Request, find_metric
from mnlearn_studies.records.files import (
    CHOSEN,
    MODEL_CODE,
    TRACE,
    model_digest,
    model_path,
    read_record,
    refuse_damaged,
    score_record,
)
from mnlearn_studies.records.kind import Kind, Planned, Row, head
from mnlearn_studies.records.kinds.parts import checkpoints_of
from mnlearn_studies.records.record import Job, Recipe, Record, recipe_digest
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.frames import read_frame

# Keys of the record of a search.
_NEEDED = ("learner", "seed", "dataset", "method", "variants", "recipe")
# What makes a cell, beside its learner.
_ROOTS = (
    "mnlearn_studies.records.kinds.cells.score_cell",
    "mnlearn.inference.query_groups.partitions",
)


def score_cell(job: Job) -> None:
    """Score every variant of a learned cell on the test data and write the cell.

    The first of the partitions `groups` gives the CMLL, the others its spread. The recipe has
    `inference`; `cmll_of`, see `Study.cmll_of`; and `further_inference`, each of which gives the
    chosen model a `cmll_<name>`.
    """
    tuning, recipe = job.path("models"), job.recipe
    record = read_record(tuning, *_NEEDED)
    with refuse_damaged(tuning):
        seed = stream_seed(record["seed"], record["dataset"], record["method"], "gibbs")
    root = learner_root(record["learner"])
    scored_by = provenance(root, *_ROOTS, optional=MODEL_CODE)
    kept = Checkpoints(
        job.checkpoints, code=scored_by["code_digest"], test=file_digest(job.path("test"))
    )
    test = load_npz(job.path("test"))
    scoring = _Scoring(test, recipe["inference"], seed, job.threads, kept)
    groups = read_partitions(job.path("groups"), test.n_vars)
    # It is read before anything is written, so that a damaged one leaves nothing half-written.
    trace = read_text(tuning.parent / TRACE)
    per_row = _score_variants(record, tuning, groups, scoring, cmll_of=recipe["cmll_of"])
    further = recipe.get("further_inference", {})
    scoring.add_further(record, job.chosen(), groups[0], further)
    _write_per_example(job.outputs["per_example"], per_row, test)
    write_text(job.outputs["trace"], trace)
    said = {"n_test": test.n_examples, "n_vars": test.n_vars}
    models = {record["method"]: model_digest(job.chosen())}
    made = {"learned_from": record["recipe"], "recipe": dict(recipe), "scored_by": scored_by}
    how = {"inference": recipe["inference"], "peak_memory_mib_score": peak_memory_mib()}
    write_json(job.out, {**record, **made, **said, **how, "models": models})


@dataclass(frozen=True)
class _Scoring:
    """How the models of a cell are scored; finished scores are kept in checkpoints."""

    test: Dataset
    settings: Mapping[str, Any]
    seed: int
    threads: int
    kept: Checkpoints

    def score(self, path: Path, groups: Sequence[Groups]) -> dict[str, Any]:
        """Return every score of one model, its inference time and the scores of each row."""
        key = {
            "model": file_digest(path),
            "groups": groups,
            "settings": self.settings,
            "seed": self.seed,
        }
        scored: dict[str, Any] = self.kept.record(key, partial(self._score, path, groups))
        return scored

    def _score(self, path: Path, groups: Sequence[Groups]) -> dict[str, Any]:
        model = read_npz(path)
        scores: dict[str, Any] = {}
        per_row: dict[str, list[float]] = {}
        seconds = 0.0
        for metric in METRICS:
            if not metric.in_records(model) or (metric.by_group and not groups):
                continue
            if not metric.by_group:
                first = metric.measure(model, self.test, Request(threads=self.threads))
                scores[metric.name] = score_record(first)
            else:
                began = time.process_time()
                by_partition = [self._measure(metric, model, g, self.settings) for g in groups]
                seconds += (time.process_time() - began) / len(groups)
                first = by_partition[0]
                means = [score.mean for score in by_partition]
                scores[metric.name] = {**score_record(first), "partitions": means}
            per_row[metric.name] = first.per_row.tolist()
        return {"scores": scores, "seconds_inference": round(seconds, 4), "per_row": per_row}

    def _measure(
        self, metric: Metric, model: Model, groups: Groups, settings: Mapping[str, Any]
    ) -> Score:
        """Return a score of query groups, on the first `examples` of the test data if given."""
        how = {name: value for name, value in settings.items() if name != "examples"}
        request = Request(groups, inference=Inference(**how), seed=self.seed, threads=self.threads)
        n, test = settings.get("examples"), self.test
        test = test if n is None else test.take(np.arange(min(n, len(test.row_of))))
        return metric.measure(model, test, request)

    def add_further(
        self, record: dict[str, Any], path: Path, groups: Groups, further: Mapping[str, Any]
    ) -> None:
        """Add the CMLL of the chosen model by other ways of inference, and their seconds."""
        chosen = record["variants"][CHOSEN]
        for name, settings in further.items():
            key = {"model": file_digest(path), "groups": groups, "seed": self.seed}
            scored = self.kept.record(
                {**key, "further": settings}, partial(self._score_further, path, groups, settings)
            )
            chosen["scores"][f"cmll_{name}"] = scored["score"]
            chosen[f"seconds_inference_{name}"] = scored["seconds"]
            record.setdefault("further_inference", {})[name] = dict(settings)

    def _score_further(
        self, path: Path, groups: Groups, settings: Mapping[str, Any]
    ) -> dict[str, Any]:
        model = read_npz(path)
        began = time.process_time()
        score = self._measure(find_metric("cmll"), model, groups, settings)
        return {"score": score_record(score), "seconds": round(time.process_time() - began, 4)}


def _score_variants(
    record: Mapping[str, Any],
    tuning: Path,
    groups: Sequence[Groups],
    scoring: _Scoring,
    *,
    cmll_of: str,
) -> dict[str, list[float]]:
    """Add its scores to each variant of a record; return those of the chosen model by row."""
    variants = record["variants"]
    with refuse_damaged(tuning):
        same_as_chosen = _variant_of_chosen(record)
    per_row = {}
    for variant in variants:
        if variant == same_as_chosen:
            continue
        asked = _partitions_of(variant, groups, cmll_of)
        scored = scoring.score(model_path(tuning.parent, variant), asked)
        rows = scored.pop("per_row")
        if variant == CHOSEN:
            per_row = rows
        variants[variant].update(scored)
        say(f"{record['dataset']} {record['method']} {variant or 'chosen'}: scored")
    if same_as_chosen is not None:
        variants[same_as_chosen].update(_copy_scores(variants[CHOSEN], cmll_of))
    return per_row


def _write_per_example(path: Path, per_row: Mapping[str, Sequence[float]], test: Dataset) -> None:
    """Write the scores of distinct rows as the scores of test examples, in their order."""
    # A checkpoint returns them in another order.
    names = [name for name in METRIC_NAMES if name in per_row]
    per_example = [np.array(per_row[name])[test.row_of].tolist() for name in names]
    rows = zip(*per_example, strict=True)
    write_csv(path, (dict(zip(names, row, strict=True)) for row in rows))


def _copy_scores(chosen: Mapping[str, Any], cmll_of: str) -> dict[str, Any]:
    scores = {
        name: score
        if "partitions" not in score
        # Other variants are scored by the first partition only.
        else {**score, "partitions": score["partitions"][:1]}
        for name, score in chosen["scores"].items()
        if "partitions" not in score or cmll_of == "all"
    }
    return {"scores": scores, "seconds_inference": chosen["seconds_inference"]}


def _partitions_of(variant: str, groups: Sequence[Groups], cmll_of: str) -> Sequence[Groups]:
    if variant == CHOSEN:
        return groups[: {"none": 0, "first": 1}.get(cmll_of, len(groups))]
    return groups[:1] if cmll_of == "all" else []


def _variant_of_chosen(record: Mapping[str, Any]) -> str | None:
    chosen = record["variants"][CHOSEN]["parameters"]
    for name, variant in record["variants"].items():
        if name != CHOSEN and variant["parameters"] == chosen:
            return str(name)
    return None


class Cells(Kind):
    """Test scores of the chosen model and of the best model of each variant."""

    name = "cells"
    files: ClassVar[Mapping[str, str]] = {
        "record": "{study}/cells/{dataset}/{names}@{digest}.json",
        "trace": "{study}/tuning/{dataset}/{names}@{digest}.csv",
        "per_example": "{study}/per_example/{dataset}/{names}@{digest}.csv",
    }
    splits = ("test",)
    seconds, mib = "seconds_score", "mib_score"

    def asked(self, study: Study, dataset: str) -> Iterator[tuple[str, ...]]:
        yield from ((method,) for method in study.methods_on(dataset))

    def recipe(self, plan: Planned, record: Record) -> Recipe:
        study, dataset, (method,) = plan.studies[record.study], record.dataset, record.names
        further = study.further_inference(method, dataset)
        return {
            "learning": recipe_digest(plan.recipe(record.models)),
            "code": code_digest(learner_root(study.learner(method)), *_ROOTS, optional=MODEL_CODE),
            "inference": study.inference(dataset),
            "groups": [study.content["cmll"]["groups"], study.n_partitions(dataset)],
            "cmll_of": study.cmll_of(method, dataset),
            **({"further_inference": further} if further else {}),
        }

    def inputs(self, plan: Planned, record: Record) -> dict[str, Any]:
        groups = plan.file(record.of("partitions"))
        return {**super().inputs(plan, record), "groups": groups}

    def given(self, plan: Planned, record: Record) -> dict[str, Any]:
        return checkpoints_of(plan)

    def make(self, job: Job) -> None:
        score_cell(job)

    def rows(self, study: Study, record: Mapping[str, Any], path: Path) -> Iterator[Row]:
        """Yield the scores and sizes of each variant, and the seconds of learning it.

        The grid points beside the record give the mean seconds of weight learning.
        """
        # Of a method that a study times, its record of times has the seconds of the chosen model;
        # those of a search are shared by its grid points.
        parts = {each: record[f"seconds_{each}"] for each in ("read", "write", "tuning")}
        hidden = {"seconds_tuning", "seconds_tuning_and_files"}
        timed = record["method"] in study.content.get("timed", [])
        searched = record["method"] in study.content.get("timed_search", [])
        for variant, entry in record["variants"].items():
            numbers = _numbers(record, entry)
            for name, value in seconds_of({**parts, **entry["seconds"]}):
                if not (searched if name in hidden else timed):
                    numbers.append((name, value, None))
            yield from ((*head(record, variant), *number) for number in numbers)
        yield from _mean_seconds(record, path)


def trace_of(path: Path) -> Path:
    """Return the grid points of a cell, by the file of its record."""
    return path.parents[2] / "tuning" / path.parent.name / f"{path.stem}.csv"


def seconds_of(run: Mapping[str, float]) -> Iterator[tuple[str, float]]:
    """Yield the seconds of each part of learning, their sum, and sums with those of files.

    run : seconds by part; "read" and "write" are of files, "tuning" of the search of a grid.
    """
    files = run["read"] + run["write"]
    if "tuning" in run:
        yield "seconds_tuning", run["tuning"]
        # What a program that does nothing else would take, as papers time it.
        yield "seconds_tuning_and_files", run["tuning"] + files
    parts = {name: run[name] for name in run if name not in ("read", "write", "tuning")}
    yield from ((f"seconds_{name}", value) for name, value in parts.items())
    learn = sum(parts.values())
    yield "seconds_learn", learn
    yield "seconds_learn_and_files", learn + files


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
            out.append((f"{name}_partitions", float(len(means)), None))
    out.append(("validation", entry["validation"], None))
    sizes = ("n_features", "n_features_generated", "mean_length")
    out += [(name, entry[name], None) for name in sizes if name in entry]
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
