"""The first half of a cell: search a grid on validation data, keep models and a record."""

import io
import time
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from mnlearn.data.dataset import Dataset, load_npz
from mnlearn.inference.query_groups import partitions
from mnlearn.inference.score import check_variables
from mnlearn.inference.settings import Inference
from mnlearn.learning.checkpoints import Checkpoints
from mnlearn.learning.learner import Learner
from mnlearn.learning.tuning import (
    Candidate,
    Criterion,
    Search,
    Tuned,
    tune,
)
from mnlearn.methods import learner_root, load_learner
from mnlearn.models.dependency_network import DependencyNetwork, flat_trees, tree_network
from mnlearn.models.io.native import as_dependency_network, read_npz, write_npz
from mnlearn.runtime.errors import name_data
from mnlearn.runtime.files import file_digest, write_csv, write_json
from mnlearn.runtime.provenance import peak_memory_mib, provenance
from mnlearn.runtime.random_streams import stream_seed
from mnlearn.scoring.metrics import Request, mean_score
from mnlearn_studies.records.files import CHOSEN, TRACE, TUNING_RECORD, model_path
from mnlearn_studies.records.model_code import MODEL_CODE
from mnlearn_studies.records.part_files import n_shares, read_parts


@dataclass(frozen=True, eq=False, kw_only=True)
class CellInputs:
    """What the search of a cell is given.

    Attributes
    ----------
    learner : str
        Its name, see `methods`.
    identity : Mapping
        Study, method (label), dataset, seed, and the recipe of the cell (see `study.recipes`).
    train_path, valid_path : Path
        The data that models are learned from, and those that they are chosen by.
    network_path : Path, optional
        The dependency network that the method builds on, if it does.
    values, cmll_settings : Mapping
        Values by parameter, as in a study. If the settings are not empty, the last choice is made
        by the score `metric`, CMLL if not given, on validation data: number of query groups, and
        arguments of `Inference`.
    checkpoint_folder : Path, optional
        Folder of finished grid points, with which a killed search resumes.
    part_paths : sequence of Path
        What the processes left that did parts of the work before, see `learn_part`; they used the
        same folder of finished grid points.
    threads : int
        Threads to use; the result does not depend on their number.
    """

    learner: str
    identity: Mapping[str, Any]
    train_path: Path
    valid_path: Path
    network_path: Path | None = None
    values: Mapping[str, Any]
    cmll_settings: Mapping[str, Any]
    checkpoint_folder: Path | None = None
    part_paths: Sequence[Path] = ()
    threads: int = 1


def learn_cell(inputs: CellInputs, model_folder: Path) -> None:
    """Search a grid and write the models of a cell, its grid points and its record to a folder."""
    parts = read_parts(inputs.part_paths, inputs.identity)
    opened = open_search(inputs, n_shares(parts))
    tuned = opened.search.run()
    memory = max([peak_memory_mib(), *(part.memory for part in parts)])
    context = {**inputs.identity, **opened.context, "peak_memory_mib_learn": memory}
    write_tuned(tuned, model_folder, context)


@dataclass(frozen=True, eq=False)
class Opened:
    """The search of a cell, ready to run; context : what its record says of it."""

    search: Search
    context: dict[str, Any]


def open_search(inputs: CellInputs, n_parts: int) -> Opened:
    """Read what the search of a cell needs; n_parts : as for `Search`."""
    learner, identity = load_learner(inputs.learner), inputs.identity
    grid = learner.grid(inputs.values)
    train, network, seconds_read = read_inputs(inputs.train_path, inputs.network_path)
    valid = load_npz(inputs.valid_path)
    with name_data(inputs.valid_path):
        check_variables(train, valid)
    learned_by = provenance(
        learner_root(inputs.learner),
        "mnlearn_studies.records.learn.learn_cell",
        optional=MODEL_CODE,
    )
    paths = (inputs.train_path, inputs.valid_path, inputs.network_path)
    kept = Checkpoints(
        inputs.checkpoint_folder, learner=inputs.learner, code=learned_by["code_digest"],
        files=[file_digest(path) for path in paths if path is not None], grid=grid,
        criterion=dict(inputs.cmll_settings),
        identity=[identity["method"], identity["dataset"], identity["seed"]],
    )  # fmt: skip
    warm_up(learner, inputs.cmll_settings)
    search = Search(
        learner, train, grid, mean_score(learner.criterion, valid, Request(threads=inputs.threads)),
        threads=inputs.threads, checkpoints=kept, network=network, n_parts=n_parts,
        last_criterion=_last_criterion(valid, inputs),
    )  # fmt: skip
    context = {
        "learner": inputs.learner,
        "learned_by": learned_by,
        "seconds_read": round(seconds_read, 4),
    }
    return Opened(search, context)


def read_inputs(
    train_path: Path, network_path: Path | None
) -> tuple[Dataset, DependencyNetwork | None, float]:
    """Read training data and the network that a method builds on, with the seconds it takes."""
    began = time.process_time()
    train = load_npz(train_path)
    network = None
    if network_path is not None:
        network = as_dependency_network(read_npz(network_path), network_path)
    return train, network, time.process_time() - began


def _last_criterion(valid: Dataset, inputs: CellInputs) -> Criterion | None:
    """Return another score than the usual one as a criterion, or None without its settings."""
    settings, identity = dict(inputs.cmll_settings), inputs.identity
    if not settings:
        return None
    metric, n_groups = settings.pop("metric", "cmll"), settings.pop("groups")
    seed, dataset = int(identity["seed"]), str(identity["dataset"])
    groups = partitions(seed, dataset, valid.n_vars, n_groups, n=1)[0]
    gibbs_seed = stream_seed(seed, dataset, str(identity["method"]), "validation gibbs")
    inference = Inference(**settings)
    request = Request(groups, inference=inference, seed=gibbs_seed, threads=inputs.threads)
    return mean_score(metric, valid, request)


def warm_up(learner: type[Learner], cmll_settings: Mapping[str, Any]) -> None:
    """Compile or load every kernel that learning uses, so that times are those of work."""
    data = Dataset.from_arrays(np.random.default_rng(0).integers(0, 2, (40, 4)))
    network = None
    if learner.network == "required":
        network = tree_network(flat_trees(data.schema), data.schema)
    last = None
    if cmll_settings:
        metric = cmll_settings.get("metric", "cmll")
        last = mean_score(metric, data, Request([[0, 1]], inference=Inference("gibbs", 1, 1)))
    with redirect_stderr(io.StringIO()):
        score = mean_score(learner.criterion, data)
        tune(learner, data, learner.grid({}), score, last_criterion=last, network=network)


def write_tuned(tuned: Tuned, folder: Path, context: Mapping[str, Any]) -> None:
    """Write the models of all variants, the grid points as CSV and the record as JSON."""
    candidates = {CHOSEN: tuned.best, **tuned.variants}
    seconds = []
    for variant, candidate in candidates.items():
        began = time.process_time()
        write_npz(candidate.fitted.model, model_path(folder, variant))
        seconds.append(time.process_time() - began)
    write_csv(folder / TRACE, tuned.trace)
    record = {
        **context,
        "n_grid_points": len(tuned.trace),
        "seconds_tuning": round(tuned.tuning_seconds, 4),
        "seconds_write": round(seconds[0], 4),
        "variants": {name: _learned(candidate) for name, candidate in candidates.items()},
    }
    write_json(folder / TUNING_RECORD, record)


def _learned(candidate: Candidate) -> dict[str, Any]:
    fitted = candidate.fitted
    return {
        "parameters": candidate.parameters,
        "validation": candidate.score,
        "seconds": {name: round(value, 4) for name, value in fitted.seconds.items()},
        "details": fitted.details,
        **fitted.model.size(),
        "n_features_generated": fitted.model.n_parameters,
    }
