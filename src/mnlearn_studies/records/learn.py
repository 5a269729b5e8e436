"""The first half of a cell: search a grid on validation data, keep models and a record."""

import io
import time
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr
from pathlib import Path
from typing import Any

import numpy as np

from mnlearn.data.dataset import Dataset, load_npz
from mnlearn.inference.query_groups import partitions
from mnlearn.inference.score import check_variables
from mnlearn.inference.settings import Inference
from mnlearn.learning.checkpoints import Checkpoints
from mnlearn.learning.learner import VARIABLES, Learner, list_rounds
from mnlearn.learning.shares import Part
from mnlearn.learning.tuning import Candidate, Criterion, Search, Tuned, tune
from mnlearn.methods import learner_root, load_learner
from mnlearn.models.dependency_network import DependencyNetwork, flat_trees, tree_network
from mnlearn.models.io.native import as_dependency_network, read_npz, write_npz
from mnlearn.runtime.errors import InputError, name_data
from mnlearn.runtime.files import file_digest, write_csv, write_json
from mnlearn.runtime.provenance import peak_memory_mib, provenance
from mnlearn.runtime.random_streams import stream_seed
from mnlearn.scoring.metrics import Request, mean_score
from mnlearn_studies.records.files import (
    CHOSEN,
    MODEL_CODE,
    TRACE,
    TUNING_RECORD,
    model_path,
    read_record,
)
from mnlearn_studies.records.record import Job

# What a process leaves that did a part of the learning of a cell; what it learned is in the
# checkpoints. The file is for the scheduler, and for the checks here.
_MEMORY = "peak_memory_mib_learn"
_OF_PARTS = ("round", "of", _MEMORY)


def _read_parts(job: Job) -> tuple[list[dict[str, Any]], int]:
    """Return the parts that were done for a cell, and how many processes shared its variables."""
    parts = [read_record(path, *_OF_PARTS) for path in job.paths("parts")]
    return parts, max((part["of"] for part in parts if part["round"] == VARIABLES), default=1)


def learn_cell(job: Job) -> None:
    """Search a grid and write the models of a cell, its grid points and its record to a folder.

    The recipe has the `learner`, the `grid`, points `left_out`, and the `criterion` of the last
    choice if it is not the learner's. The inputs are the splits, the dependency `network` to build
    on, and what `parts` left in the same folder of grid points.
    """
    parts, n_shares = _read_parts(job)
    search, context = open_search(job, n_shares)
    tuned = search.run()
    memory = max([peak_memory_mib(), *(part[_MEMORY] for part in parts)])
    write_tuned(tuned, job.out.parent, {**context, _MEMORY: memory})


def learn_part(job: Job) -> None:
    """Do one part of the work of `learn_cell`, keep it in the checkpoints, and say so in a file."""
    _, round_name, number, of = job.record.names
    part = Part(int(number), int(of))
    learner = load_learner(job.recipe["learner"])
    with_network = "network" in job.inputs
    rounds = list_rounds(learner, learner.grid(job.recipe["grid"]), with_network=with_network)
    round_ = next((each for each in rounds if each.name == round_name), None)
    if round_ is None or round_.n_parts(part.of) < part.of:
        known = ", ".join(each.name for each in rounds)
        raise InputError(f"round {round_name} of {of}: expected a part of one of {known}.")
    search, context = open_search(job, part.of if round_.stage is None else _read_parts(job)[1])
    began = time.process_time()
    search.run_part(round_, part)
    record = {
        **context,
        "round": round_name,
        "of": part.of,
        "seconds": round(time.process_time() - began, 4),
        _MEMORY: peak_memory_mib(),
    }
    write_json(job.out, record)


def open_search(job: Job, n_parts: int) -> tuple[Search, dict[str, Any]]:
    """Return the search of a cell, ready to run, and what its record says first."""
    recipe, identity = job.recipe, {**job.identity, "seed": job.seed}
    name, criterion = recipe["learner"], recipe["criterion"]
    learner = load_learner(name)
    grid = learner.grid(recipe["grid"])
    train, network, seconds_read = read_inputs(job.path("train"), job.all_chosen("network"))
    valid = load_npz(job.path("valid"))
    with name_data(job.path("valid")):
        check_variables(train, valid)
    learned_by = provenance(
        learner_root(name), "mnlearn_studies.records.learn.learn_cell", optional=MODEL_CODE
    )
    paths = (job.path("train"), job.path("valid"), *job.all_chosen("network"))
    kept = Checkpoints(
        job.checkpoints, learner=name, code=learned_by["code_digest"],
        files=[file_digest(path) for path in paths], grid=grid, criterion=dict(criterion),
        identity=[identity["method"], identity["dataset"], job.seed],
    )  # fmt: skip
    warm_up(learner, criterion)
    search = Search(
        learner, train, grid, mean_score(learner.criterion, valid, Request(threads=job.threads)),
        threads=job.threads, checkpoints=kept, network=network, n_parts=n_parts,
        last_criterion=_last_criterion(valid, job), left_out=recipe.get("left_out", ()),
    )  # fmt: skip
    said = {"learner": name, "learned_by": learned_by, "seconds_read": round(seconds_read, 4)}
    return search, {**identity, **said}


def read_inputs(
    train_path: Path, networks: Sequence[Path]
) -> tuple[Dataset, DependencyNetwork | None, float]:
    """Read training data and the network that a method may build on, with the seconds it takes."""
    began = time.process_time()
    train = load_npz(train_path)
    network = None
    for path in networks:
        network = as_dependency_network(read_npz(path), path)
    return train, network, time.process_time() - began


def _last_criterion(valid: Dataset, job: Job) -> Criterion | None:
    """Return another score than the usual one as a criterion, or None without its settings."""
    settings = dict(job.recipe["criterion"])
    if not settings:
        return None
    metric, n_groups = settings.pop("metric", "cmll"), settings.pop("groups")
    seed, dataset = job.seed, job.record.dataset
    groups = partitions(seed, dataset, valid.n_vars, n_groups, n=1)[0]
    gibbs_seed = stream_seed(seed, dataset, job.record.names[0], "validation gibbs")
    inference = Inference(**settings)
    request = Request(groups, inference=inference, seed=gibbs_seed, threads=job.threads)
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
