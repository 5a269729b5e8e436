"""Steps of the pipeline as lines for a shell."""

import shlex
from pathlib import Path

from mnlearn_studies.records.record import Job, Record

# Finished grid points and scores.
KEPT = {"checkpoints": "kept"}


def step(kind, outputs, recipe, *, inputs, method="m", dataset="d", given=None):
    """Return the command that makes a record; method : one, or several with hyphens.

    outputs : the files to write, in the order of the kind.
    """
    record = Record(kind, "s", dataset, tuple(method.split("-")) if method else ())
    paths = {name: Path(path) for name, path in outputs.items()}
    job = Job(record, recipe, 20, inputs, paths, given or {})
    return f"step record {shlex.quote(job.to_json())} --threads 1"


def prepare(dataset, folder, given):
    """Return the command that prepares a dataset; folder : the start of the names of its files."""
    outputs = {split: f"{folder}{split}@0.npz" for split in ("train", "valid", "test")}
    whole = {"local": {}, "mirror": "", **given}
    return step("data", outputs, {}, inputs={}, method="", dataset=dataset, given=whole)


def partition(train, out):
    """Return the command that draws groups of variables."""
    recipe = {"groups": 3, "number": 2, "seed": 20}
    return step("partitions", {"record": out}, recipe, inputs={"train": train}, method="")


def learn(method, grid, folder, *, train, valid, criterion=None):
    """Return the command that searches a grid; folder : of the models."""
    recipe = {"learner": method, "grid": grid, "criterion": criterion or {}}
    outputs, inputs = {"record": f"{folder}/tuning.json"}, {"train": train, "valid": valid}
    return step("models", outputs, recipe, inputs=inputs, method=method, given=KEPT)


def score(method, models, *, test, groups, outputs, samples):
    """Return the command that scores models; outputs : the record, grid points, by example."""
    inference = {"method": "gibbs", "burn_in": samples // 4, "samples": samples}
    recipe = {"inference": inference, "cmll_of": "all"}
    inputs = {"models": f"{models}/tuning.json", "test": test, "groups": groups}
    names = dict(zip(("record", "trace", "per_example"), outputs, strict=True))
    return step("cells", names, recipe, inputs=inputs, method=method, given=KEPT)


def pair(first, second, out):
    """Return the command that compares scores by example."""
    inputs = {"first": first, "second": second}
    return step("paired", {"record": out}, {}, inputs=inputs, method="a-b")
