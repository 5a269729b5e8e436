"""The jobs that share out the learning of a cell, and what they and the search are given."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from mnlearn.learning.rounds import Round, list_rounds
from mnlearn.learning.shares import Part
from mnlearn.methods import load_learner
from mnlearn_studies.records.kind import Kind, Planned
from mnlearn_studies.records.record import Job, Recipe, Record
from mnlearn_studies.study.definition import Study

if TYPE_CHECKING:
    from mnlearn_studies.records.learn import CellInputs


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
        return plan.recipe(_models(record))

    def inputs(self, plan: Planned, record: Record) -> dict[str, Any]:
        """Return the data, the network, and the parts of the rounds before."""
        before = parts_of(plan, _models(record), before=record.names[1])
        done = [plan.file(part) for part in before]
        return {**learning_inputs(plan, record), "parts": done}

    def given(self, plan: Planned, record: Record) -> dict[str, Any]:
        """Return the folder of finished grid points."""
        return {"checkpoints": CHECKPOINTS}

    def make(self, job: Job) -> None:
        """Do the part, and say so in a file."""
        from mnlearn_studies.records.learn_part import learn_part

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


def _models(part: Record) -> Record:
    return Record("models", part.study, part.dataset, part.names[:1])


# One folder for all studies: they share what several of them learn.
CHECKPOINTS = "results/checkpoints"


def learning_inputs(plan: Planned, record: Record) -> dict[str, Any]:
    """Return the data that a cell is learned from, and the network that the method builds on."""
    data = Record("data", "", record.dataset)
    inputs = {split: plan.file(data, split) for split in ("train", "valid")}
    return {**inputs, **network_input(plan, record)}


def network_input(plan: Planned, record: Record) -> dict[str, str]:
    """Return the models of the dependency network that a method builds on, if it does."""
    network = plan.studies[record.study].network(record.names[0])
    if network is None:
        return {}
    return {"network": plan.file(Record("models", record.study, record.dataset, (network,)))}


def cell_inputs(job: Job) -> "CellInputs":
    """Return what `learn_cell` and `learn_part` are both given."""
    from mnlearn_studies.records.files import CHOSEN, model_path
    from mnlearn_studies.records.learn import CellInputs

    network = model_path(job.path("network").parent, CHOSEN) if "network" in job.inputs else None
    return CellInputs(
        learner=job.recipe["learner"],
        identity={**job.identity, "seed": job.seed},
        train_path=job.path("train"),
        valid_path=job.path("valid"),
        network_path=network,
        values=job.recipe["grid"],
        cmll_settings=job.recipe["criterion"],
        checkpoint_folder=job.given.get("checkpoints") and Path(job.given["checkpoints"]),
        part_paths=job.paths("parts"),
        threads=job.threads,
    )


KIND = Parts()
