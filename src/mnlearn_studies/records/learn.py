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
from mnlearn.learning.rounds import VARIABLES, Round, list_rounds
from mnlearn.learning.shares import Part
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
from mnlearn.runtime.errors import InputError, name_data
from mnlearn.runtime.files import file_digest, write_csv, write_json
from mnlearn.runtime.provenance import peak_memory_mib, provenance
from mnlearn.runtime.random_streams import stream_seed
from mnlearn.scoring.metrics import Request, mean_score
from mnlearn_studies.records.files import (
    CHOSEN,
    TRACE,
    TUNING_RECORD,
    model_path,
    read_record,
    refuse_damaged,
)
from mnlearn_studies.records.model_code import MODEL_CODE
from mnlearn_studies.records.record import Job

# What a process leaves that did a part of the learning of a cell; what it learned is in the
# checkpoints. The file is for the scheduler, and for the checks here.
_OF_PARTS = ("recipe", "round", "part", "peak_memory_mib_learn")


@dataclass(frozen=True)
class PartDone:
    """A part that is done.

    round_name : see `learning.rounds`. of : the number of parts of the round. memory : peak, in
    MiB.
    """

    round_name: str
    number: int
    of: int
    memory: float


def read_parts(paths: Sequence[Path], identity: Mapping[str, Any]) -> list[PartDone]:
    """Read the files of the parts that were done for a cell; refuse those of another one.

    identity : of the cell, with its recipe.
    """
    parts = [_read(path, identity) for path in paths]
    for name in dict.fromkeys(part.round_name for part in parts):
        own = [part for part in parts if part.round_name == name]
        numbers, of = sorted(part.number for part in own), own[0].of
        if {part.of for part in own} != {of} or numbers != list(range(1, of + 1)):
            found = ", ".join(f"{part.number}/{part.of}" for part in own)
            raise InputError(f"--part: expected all {of} parts of round {name}, got {found}.")
    return parts


def n_shares(parts: Sequence[PartDone]) -> int:
    """Return the number of processes that the variables were shared out to."""
    return max((part.of for part in parts if part.round_name == VARIABLES), default=1)


def _read(path: Path, identity: Mapping[str, Any]) -> PartDone:
    record = read_record(path, *_OF_PARTS, *identity)
    for name in identity:
        if record[name] != identity[name]:
            raise InputError(
                f"{path}: is a part of another {'search' if name == 'recipe' else name}; it has to "
                "be made again."
            )
    with refuse_damaged(path):
        part = Part.parse(record["part"])
        return PartDone(
            str(record["round"]), part.number, part.of, float(record["peak_memory_mib_learn"])
        )


def learn_cell(job: Job) -> None:
    """Search a grid and write the models of a cell, its grid points and its record to a folder.

    The recipe has the `learner`; the `grid`, values by parameter as in a study; and the
    `criterion`: if it is not empty, the last choice is made by the score `metric`, CMLL if not
    given, on validation data, with a number of query groups and arguments of `Inference`. The
    inputs are the splits, the dependency `network` that the method builds on, if it does, and what
    the processes left that did `parts` of the work before, see `kinds.parts`; they used the same
    folder of finished grid points.
    """
    parts = read_parts(job.paths("parts"), _identity(job))
    opened = open_search(job, n_shares(parts))
    tuned = opened.search.run()
    memory = max([peak_memory_mib(), *(part.memory for part in parts)])
    write_tuned(tuned, job.out.parent, {**opened.context, "peak_memory_mib_learn": memory})


def learn_part(job: Job) -> None:
    """Do one part of the work of `learn_cell`, keep it in the checkpoints, and say so in a file.

    All parts and `learn_cell` share the checkpoint folder, in which a killed part resumes. The
    names of the record are the method, the round, k and n of part k/n; see `learning.rounds`.
    """
    _, round_name, number, of = job.record.names
    part = Part(int(number), int(of))
    done = read_parts(job.paths("parts"), _identity(job))
    learner = load_learner(job.recipe["learner"])
    with_network = "network" in job.inputs
    rounds = list_rounds(learner, learner.grid(job.recipe["grid"]), with_network=with_network)
    round_ = _find_round(rounds, round_name, part)
    opened = open_search(job, part.of if round_.stage is None else n_shares(done))
    began = time.process_time()
    opened.search.run_part(round_, part)
    record = {
        **opened.context,
        "round": round_name,
        "part": str(part),
        "seconds": round(time.process_time() - began, 4),
        "peak_memory_mib_learn": peak_memory_mib(),
    }
    write_json(job.out, record)


def _find_round(rounds: Sequence[Round], name: str, part: Part) -> Round:
    """Return a round by its name, if it has such a part."""
    known = {each.name: each for each in rounds}
    if name not in known:
        expected = f"expected one of {', '.join(known)}" if known else "the grid has no parts"
        raise InputError(f"round {name}: {expected}.")
    found = known[name]
    if found.n_parts(part.of) < part.of:
        raise InputError(f"part {part}: expected at most {found.n_units} parts.")
    return found


def _identity(job: Job) -> dict[str, Any]:
    return {**job.identity, "seed": job.seed}


@dataclass(frozen=True, eq=False)
class Opened:
    """The search of a cell, ready to run; context : what its record says first."""

    search: Search
    context: dict[str, Any]


def open_search(job: Job, n_parts: int) -> Opened:
    """Read what the search of a cell needs; n_parts : as for `Search`."""
    recipe, identity = job.recipe, _identity(job)
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
        last_criterion=_last_criterion(valid, job),
    )  # fmt: skip
    said = {"learner": name, "learned_by": learned_by, "seconds_read": round(seconds_read, 4)}
    return Opened(search, {**identity, **said})


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
