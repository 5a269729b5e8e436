"""One part of the learning of a cell, in a process of its own."""

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from mnlearn.learning.rounds import Round, list_rounds
from mnlearn.learning.shares import Part
from mnlearn.methods import load_learner
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import write_json
from mnlearn.runtime.provenance import peak_memory_mib
from mnlearn_studies.records.kind import Kind, Planned
from mnlearn_studies.records.learn import CellInputs, open_search
from mnlearn_studies.records.part_files import n_shares, read_parts
from mnlearn_studies.records.record import Job, Recipe, Record
from mnlearn_studies.study.definition import Study

if TYPE_CHECKING:
    pass


def learn_part(inputs: CellInputs, round_name: str, part: Part, out: Path) -> None:
    """Do one part of the work of `learn_cell`, keep it in the checkpoints, and say so in a file.

    Parameters
    ----------
    inputs : CellInputs
        As for `learn_cell`. All parts and `learn_cell` share the checkpoint folder, in which a
        killed part resumes. The part files are those of the rounds before.
    round_name : str
        The round of which this is a part, see `learning.rounds`.
    part : Part
        Which part of it.
    out : Path
        The file to write.

    Raises
    ------
    InputError
        The learner has no such round, or not so many parts.
    """
    done = read_parts(inputs.part_paths, inputs.identity)
    learner = load_learner(inputs.learner)
    with_network = inputs.network_path is not None
    rounds = list_rounds(learner, learner.grid(inputs.values), with_network=with_network)
    round_ = _find_round(rounds, round_name, part)
    opened = open_search(inputs, part.of if round_.stage is None else n_shares(done))
    began = time.process_time()
    opened.search.run_part(round_, part)
    record = {
        **inputs.identity,
        **opened.context,
        "round": round_name,
        "part": str(part),
        "seconds": round(time.process_time() - began, 4),
        "peak_memory_mib_learn": peak_memory_mib(),
    }
    write_json(out, record)


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


class Parts(Kind):
    """A part of the learning of a cell; its names are the method, the round, k and n of part k/n.

    A search that starts from parts finds their work in the checkpoints, and learns what it does not
    find. So recipes of cells do not depend on parts, and a part has the recipe of the models.
    """

    name = "parts"
    files: ClassVar[Mapping[str, str]] = {"record": "{study}/parts/{dataset}/{names}@{digest}.json"}
    is_asked = False

    def asked(self, study: Study, dataset: str) -> Iterator[tuple[str, ...]]:
        """Yield nothing: parts follow from the configuration of a run."""
        yield from ()

    def recipe(self, plan: Planned, record: Record) -> Recipe:
        """Return the recipe of the models."""
        return plan.recipe(record.models)

    def inputs(self, plan: Planned, record: Record) -> dict[str, Any]:
        """Return the data, the network, and the parts of the rounds before."""
        before = parts_of(plan, record.models, before=record.names[1])
        done = [plan.file(part) for part in before]
        return {**learning_inputs(plan, record), "parts": done}

    def given(self, plan: Planned, record: Record) -> dict[str, Any]:
        """Return the folder of finished grid points."""
        return {"checkpoints": CHECKPOINTS}

    def make(self, job: Job) -> None:
        """Do the part, and say so in a file."""
        _, round_name, number, of = job.record.names
        learn_part(cell_inputs(job), round_name, Part(int(number), int(of)), job.out)


def rounds_of(plan: Planned, models: Record) -> list[Round]:
    """Return the rounds in which the models of a cell are learned before the search itself."""
    if plan.n_parts == 1:
        return []
    study, (method,) = plan.studies[models.study], models.names
    learner = load_learner(study.learner(method))
    grid = learner.grid(study.grid(method, models.dataset))
    return list_rounds(learner, grid, with_network=study.network(method) is not None)


def parts_of(plan: Planned, models: Record, before: str | None = None) -> list[Record]:
    """Return the parts of the learning of a cell, of all rounds or of those before one.

    There are none if the models are used as they are.
    """
    parts: list[Record] = []
    if plan.is_made(models):
        return parts
    for each in rounds_of(plan, models):
        if each.name == before:
            break
        of = each.n_parts(plan.n_parts)
        for number in range(1, of + 1):
            names = (*models.names, each.name, str(number), str(of))
            parts.append(Record("parts", models.study, models.dataset, names))
    return parts


# One folder for all studies: they share what several of them learn.
CHECKPOINTS = "results/checkpoints"


def learning_inputs(plan: Planned, record: Record) -> dict[str, Any]:
    """Return the data that a cell is learned from, and the network that the method builds on."""
    data = record.data
    inputs = {split: plan.file(data, split) for split in ("train", "valid")}
    return {**inputs, **network_input(plan, record)}


def network_input(plan: Planned, record: Record) -> dict[str, str]:
    """Return the models of the dependency network that a method builds on, if it does."""
    network = plan.studies[record.study].network(record.names[0])
    if network is None:
        return {}
    return {"network": plan.file(record.of("models", network))}


def cell_inputs(job: Job) -> "CellInputs":
    """Return what `learn_cell` and `learn_part` are both given."""
    from mnlearn_studies.records.learn import CellInputs

    return CellInputs(
        learner=job.recipe["learner"],
        identity={**job.identity, "seed": job.seed},
        train_path=job.path("train"),
        valid_path=job.path("valid"),
        network_path=job.chosen("network") if "network" in job.inputs else None,
        values=job.recipe["grid"],
        cmll_settings=job.recipe["criterion"],
        checkpoint_folder=job.given.get("checkpoints") and Path(job.given["checkpoints"]),
        part_paths=job.paths("parts"),
        threads=job.threads,
    )


KIND = Parts()
