"""The seconds of a cell's chosen model alone, learned again from nothing."""

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mnlearn.learning.learner import Fitted
from mnlearn.learning.tuning import tune
from mnlearn.methods import learner_root, load_learner
from mnlearn.models.io.native import write_npz
from mnlearn.runtime.files import write_json
from mnlearn.runtime.provenance import provenance
from mnlearn_studies.records.files import CHOSEN, read_record, refuse_damaged
from mnlearn_studies.records.learn import read_inputs, warm_up

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
            learner_root(cell["learner"]), "mnlearn_studies.records.timing.time_cell"
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
