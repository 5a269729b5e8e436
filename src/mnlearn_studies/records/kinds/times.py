"""The seconds of a cell's chosen model alone, learned again from nothing."""

import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mnlearn.learning.learner import Fitted
from mnlearn.learning.tuning import tune
from mnlearn.methods import learner_root, load_learner
from mnlearn.models.io.native import write_npz
from mnlearn.runtime.files import write_json
from mnlearn.runtime.provenance import provenance
from mnlearn_studies.records.files import CHOSEN, read_record, refuse_damaged
from mnlearn_studies.records.kind import OfModels, Planned, Row, head, json_of
from mnlearn_studies.records.kinds.cells import seconds_rows
from mnlearn_studies.records.kinds.parts import network_input
from mnlearn_studies.records.learn import read_inputs, warm_up
from mnlearn_studies.records.record import Job, Record
from mnlearn_studies.study.definition import Study

# A model that is learned in less than a third of this is learned up to three times.
_ENOUGH_SECONDS = 30.0
_MAX_RUNS = 3


def time_cell(
    cell_path: Path,
    train_path: Path,
    recipe: Mapping[str, Any],
    out: Path,
    *,
    threads: int = 1,
    network_path: Path | None = None,
) -> None:
    """Learn the chosen model of a cell alone and write how long each part takes.

    The parameters are those of the cell, the only point of the grid: nothing is shared with other
    points, and weights begin at zero unless the method says otherwise. Models that are learned
    quickly are learned up to three times, and the fastest run counts. Kernels are compiled before.

    Parameters
    ----------
    cell_path : Path
        The record of the scored cell.
    train_path, network_path : Path
        The training data, and the dependency network that the method builds on, if it does.
    recipe : Mapping
        What the record depends on, see `study.recipes`.
    out : Path
        The record to write. Its `seconds` are processor seconds by part: "structure" (features
        generated, trees or regressions), "features" (their conversion and preparation), "weights".
        `seconds_read` is of the training data and the network, `seconds_write` of the model.
    threads : int
        Threads that learning may use.
    """
    cell = read_record(cell_path, "study", "dataset", "method", "seed", "learner", "variants")
    learner = load_learner(cell["learner"])
    with refuse_damaged(cell_path):
        chosen = cell["variants"][CHOSEN]
        parameters = chosen["parameters"].items()
    grid = learner.grid({name: [value] for name, value in parameters})
    warm_up(learner, {})
    train, network, seconds_read = read_inputs(train_path, network_path)
    runs: list[Fitted] = []
    while len(runs) < _MAX_RUNS and sum(_total(run) for run in runs) < _ENOUGH_SECONDS:
        runs.append(tune(learner, train, grid, None, threads=threads, network=network).best.fitted)
    best = min(runs, key=_total)
    record = {
        **{name: cell[name] for name in ("study", "dataset", "method", "seed", "learner")},
        "recipe": dict(recipe),
        "parameters": chosen["parameters"],
        "n_runs": len(runs),
        "seconds": {name: round(value, 4) for name, value in best.seconds.items()},
        "seconds_read": round(seconds_read, 4),
        "seconds_write": round(_seconds_write(best), 4),
        "timed_by": provenance(
            learner_root(cell["learner"]), "mnlearn_studies.records.kinds.times.time_cell"
        ),
    }
    write_json(out, record)


def _seconds_write(fitted: Fitted) -> float:
    """Return the seconds of writing a model to a file."""
    with tempfile.TemporaryDirectory() as folder:
        began = time.process_time()
        write_npz(fitted.model, Path(folder) / "model.npz")
        return time.process_time() - began


def _total(fitted: Fitted) -> float:
    return float(sum(fitted.seconds.values()))


class Times(OfModels):
    """The seconds of each part of learning the chosen model, while no other job runs."""

    name = "times"
    files = json_of("times")
    quantities = r"seconds_"
    roots = ("mnlearn_studies.records.kinds.times.time_cell",)
    alone = True
    seconds, mib = "seconds_time", "mib_learn"

    def asked(self, study: Study, dataset: str) -> Iterator[tuple[str, ...]]:
        """Yield the methods that the study times."""
        timed = study.content.get("timed", []) if study.is_timed(dataset) else []
        yield from ((method,) for method in timed if method in study.methods_on(dataset))

    def inputs(self, plan: Planned, record: Record) -> dict[str, Any]:
        """Return the cell, the training data, and the network that the method builds on."""
        return {
            "cell": plan.file(record.of("cells", *record.names)),
            "train": plan.file(record.data, "train"),
            **network_input(plan, record),
        }

    def make(self, job: Job) -> None:
        """Learn the chosen model again, on one thread."""
        network = job.chosen("network") if "network" in job.inputs else None
        cell, train = job.path("cell"), job.path("train")
        time_cell(cell, train, job.recipe, job.out, threads=1, network_path=network)

    def rows(self, study: Study, record: Mapping[str, Any], path: Path) -> Iterator[Row]:
        """Yield the seconds of each part."""
        seconds = seconds_rows(record["seconds"], record)
        yield from ((*head(record), *numbers) for numbers in seconds)


KIND = Times()
