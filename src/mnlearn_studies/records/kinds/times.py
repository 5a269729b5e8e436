"""The seconds of the chosen models of a dataset, learned again from nothing, in turn in one job."""

import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from mnlearn.learning.tuning import tune
from mnlearn.methods import learner_root, load_learner
from mnlearn.models.io.native import write_npz
from mnlearn.models.model import Model
from mnlearn.runtime.code_digest import code_digest
from mnlearn.runtime.files import write_json
from mnlearn.runtime.provenance import provenance
from mnlearn_studies.records.files import CHOSEN, read_record, refuse_damaged
from mnlearn_studies.records.kind import Kind, Planned, Row, json_of
from mnlearn_studies.records.kinds.cells import seconds_of
from mnlearn_studies.records.kinds.parts import network_input
from mnlearn_studies.records.learn import open_search, read_inputs, warm_up
from mnlearn_studies.records.record import Job, Recipe, Record, recipe_digest
from mnlearn_studies.study.definition import Study

# Each model is learned so often; one that has taken so many seconds by then is not learned again.
ROUNDS = 3
LONG = 300.0


class Timed:
    """A method that is timed; runs : the seconds of each run by part."""

    def __init__(self, job: Job, label: str, cell_path: Path) -> None:
        cell = read_record(cell_path, "method", "learner", "variants")
        with refuse_damaged(cell_path):
            self.label, self.learner = label, str(cell["learner"])
            self.parameters: Mapping[str, Any] = dict(cell["variants"][CHOSEN]["parameters"])
        self.runs: list[dict[str, float]] = []
        searched = job.recipe["searches"].get(label, {})
        recipe = {"learner": self.learner, "criterion": {}, **searched}
        names = {"train": "train", "valid": "valid", "network": f"network_{label}"}
        inputs = {name: job.inputs[key] for name, key in names.items() if key in job.inputs}
        # What the search of the whole grid is given, if it is timed.
        self._job = replace(job, record=job.record.of("models", label), recipe=recipe, given={})
        self._job = replace(self._job, inputs=inputs, models={})

    def warm_up(self) -> None:
        """Compile or load the kernels."""
        warm_up(load_learner(self.learner), self._job.recipe["criterion"])

    def run(self, threads: int) -> None:
        """Learn the chosen model once more, and search the grid if that is timed."""
        learner, job = load_learner(self.learner), replace(self._job, threads=threads)
        grid = learner.grid({name: [value] for name, value in self.parameters.items()})
        train, network, seconds_read = read_inputs(job.path("train"), job.all_chosen("network"))
        fitted = tune(learner, train, grid, None, threads=threads, network=network).best.fitted
        seconds = {**fitted.seconds, "read": seconds_read, "write": _seconds_write(fitted.model)}
        if "grid" in job.recipe:
            seconds["tuning"] = open_search(job, 1)[0].run().tuning_seconds
        self.runs.append({name: round(value, 4) for name, value in seconds.items()})

    @property
    def is_long(self) -> bool:
        """Whether the runs have taken so long that there is no further one."""
        return sum(sum(run.values()) for run in self.runs) > LONG


def time_methods(job: Job) -> dict[str, Any]:
    """Learn the chosen model of each method again, on one thread, and return how long it takes.

    Nothing is shared with other grid points. All methods take turns in `ROUNDS` rounds, so that
    what slows the machine slows all; one that took more than `LONG` seconds leaves.
    """
    labels = job.record.names
    cells = zip(labels, job.paths("cells"), strict=True)
    methods = [Timed(job, label, cell) for label, cell in cells]
    for method in methods:
        method.warm_up()
    for _ in range(ROUNDS):
        for method in methods:
            if not method.is_long:
                method.run(threads=1)
    return {
        method.label: {
            "learner": method.learner,
            "parameters": method.parameters,
            "runs": method.runs,
        }
        for method in methods
    }


def _seconds_write(model: Model) -> float:
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        write_npz(model, Path(folder) / "model.npz")
        return time.process_time() - began


def runs_by_method(record: Mapping[str, Any]) -> dict[str, list[dict[str, float]]]:
    """Return the seconds of each run by part, by method.

    A record of an earlier form is of one method, and has one run.
    """
    if "methods" in record:
        return {name: timed["runs"] for name, timed in record["methods"].items()}
    files = {name: record[f"seconds_{name}"] for name in ("read", "write")}
    return {record["method"]: [{**record["seconds"], **files}]}


def medians(runs: Sequence[Mapping[str, float]]) -> Iterator[tuple[str, float]]:
    """Yield the median of each time of some runs, and with two runs or more its ends.

    The sum of the parts is taken in each run, and its median is not the sum of medians.
    """
    by_run = [dict(seconds_of(run)) for run in runs]
    for name in by_run[0]:
        values = [times[name] for times in by_run]
        yield name, float(np.median(values))
        if len(values) > 1:
            yield f"{name}_min", min(values)
            yield f"{name}_max", max(values)


class Times(Kind):
    """The seconds of each part of learning the chosen models, while no other job runs."""

    name = "times"
    files = json_of("times")
    quantities = r"seconds_"
    roots = ("mnlearn_studies.records.kinds.times.time_methods",)
    alone = True
    seconds, mib = "seconds_time", "mib_learn"

    def asked(self, study: Study, dataset: str) -> Iterator[tuple[str, ...]]:
        methods = study.methods_on(dataset) if study.is_timed(dataset) else []
        if timed := tuple(each for each in study.content.get("timed", []) if each in methods):
            yield timed

    def recipe(self, plan: Planned, record: Record) -> Recipe:
        models = {each.names[0]: plan.recipe(each) for each in self.learned(plan, record)}
        searched = plan.studies[record.study].content.get("timed_search", [])
        searches = {
            name: {key: recipe[key] for key in ("grid", "criterion", "left_out") if key in recipe}
            for name, recipe in models.items()
            if name in searched
        }
        learning = {name: recipe_digest(recipe) for name, recipe in models.items()}
        code = code_digest(*self.roots)
        return {"learning": learning, "code": code, "searches": searches, "seed": plan.seed}

    def inputs(self, plan: Planned, record: Record) -> dict[str, Any]:
        inputs: dict[str, Any] = {
            "cells": [plan.file(record.of("cells", name)) for name in record.names],
            "train": plan.file(record.data, "train"),
        }
        if plan.recipe(record)["searches"]:
            inputs["valid"] = plan.file(record.data, "valid")
        for name in record.names:
            for file in network_input(plan, record.of("models", name)).values():
                inputs[f"network_{name}"] = file
        return inputs

    def make(self, job: Job) -> None:
        methods = time_methods(job)
        learned_by = dict.fromkeys(learner_root(each["learner"]) for each in methods.values())
        timed_by = provenance(*learned_by, *self.roots)
        identity = {key: value for key, value in job.identity.items() if key != "method"}
        write_json(job.out, {**identity, "methods": methods, "timed_by": timed_by})

    def rows(self, study: Study, record: Mapping[str, Any], path: Path) -> Iterator[Row]:
        for method, runs in runs_by_method(record).items():
            for name, value in medians(runs):
                yield record["study"], record["dataset"], method, "", name, value, None
