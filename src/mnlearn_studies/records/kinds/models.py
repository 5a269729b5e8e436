"""The models of a cell: the search of a grid on validation data."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from mnlearn.methods import learner_root
from mnlearn.runtime.code_digest import code_digest
from mnlearn_studies.records.files import MODEL_CODE
from mnlearn_studies.records.kind import Kind, Planned
from mnlearn_studies.records.kinds.parts import checkpoints_of, network_input, parts_of
from mnlearn_studies.records.learn import learn_cell
from mnlearn_studies.records.record import Job, Recipe, Record, recipe_digest
from mnlearn_studies.study.definition import Study

_LEARNING = "mnlearn_studies.records.learn.learn_cell"


class Models(Kind):
    """The best model of a grid and of each variant, with the grid points."""

    name = "models"
    # The record is written last, so that it says that the models beside it are there.
    files: ClassVar[Mapping[str, str]] = {
        "record": "{study}/models/{dataset}/{names}@{digest}/tuning.json"
    }
    splits = ("train", "valid")
    is_asked = False
    seconds, mib = "seconds_learn", "mib_learn"

    def asked(self, study: Study, dataset: str) -> Iterator[tuple[str, ...]]:
        yield from ((method,) for method in study.methods_on(dataset))

    def recipe(self, plan: Planned, record: Record) -> Recipe:
        study, dataset, (method,) = plan.studies[record.study], record.dataset, record.names
        learner, network = study.learner(method), study.network(method)
        built_on = None
        if network is not None:
            built_on = recipe_digest(plan.recipe(record.of("models", network)))
        left_out = study.content["methods"][method].get("left_out")
        return {
            **({"left_out": left_out} if left_out else {}),
            "learner": learner,
            "code": code_digest(learner_root(learner), _LEARNING, optional=MODEL_CODE),
            "data": recipe_digest(plan.recipe(record.data)),
            "grid": study.grid(method, dataset),
            "criterion": study.tuning_cmll(method, dataset),
            "network": built_on,
            "seed": plan.seed,
        }

    def learned(self, plan: Planned, record: Record) -> list[Record]:
        return []

    def inputs(self, plan: Planned, record: Record) -> dict[str, Any]:
        done = [plan.file(part) for part in parts_of(plan, record)]
        return {**super().inputs(plan, record), **network_input(plan, record), "parts": done}

    def given(self, plan: Planned, record: Record) -> dict[str, Any]:
        return checkpoints_of(plan)

    def make(self, job: Job) -> None:
        learn_cell(job)
        for path in job.paths("parts"):
            path.unlink(missing_ok=True)
