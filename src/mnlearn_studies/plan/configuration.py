"""The configuration, and the studies and plans that it gives."""

from collections.abc import Collection, Mapping
from typing import Any

from mnlearn.runtime.files import read_json, read_text
from mnlearn_studies.datasets.prepare import list_unavailable
from mnlearn_studies.plan.planning import KINDS, Plan, Record
from mnlearn_studies.plan.recipes import differences
from mnlearn_studies.study.definition import Study, load_studies, load_study, study_path
from mnlearn_studies.study.folders import (
    config_files,
    data_folder,
    results_folder,
    source_folder,
    workflow_folders,
)
from mnlearn_studies.study.schemas import load_checked


def find_study(name: str) -> Study:
    """Return the study `name`, a person's own or one of mnlearn."""
    return load_study(study_path(name, *workflow_folders()))


def definition_of(name: str) -> str:
    """Return the file of a study as text."""
    return read_text(study_path(name, *workflow_folders()))


def configuration() -> dict[str, Any]:
    """Return the content of config.yaml, checked against its schema; see `config_files`."""
    schema = source_folder() / "workflow" / "schemas" / "config.schema.yaml"
    content: dict[str, Any] = {}
    for path in config_files():
        content = load_checked(path, schema, content)
    return content


def plan_of(
    name: str,
    datasets: list[str],
    again: bool = False,
    left_out: Mapping[str, str] | None = None,
) -> Plan:
    """Return what running a study on some datasets, all if none is named, would make.

    left_out : datasets that cannot be had; those of the last attempt if not given.
    """
    config = configuration()
    studies = load_studies([name], *workflow_folders())
    left_out = list_unavailable(data_folder()) if left_out is None else left_out
    return Plan(
        studies=studies,
        running=[name],
        results=results_folder(),
        seed=config["seed"],
        local=config["local"],
        datasets=datasets,
        left_out=left_out,
        again=again,
    )


def stale_records(name: str) -> list[tuple[Record, list[str]]]:
    """Return the records of a study that are not current, with what of them has changed."""
    plan = plan_of(name, [])
    found = (
        (record, plan.stale(record))
        for kind in KINDS
        for record in plan.records(name, kind)
        if (plan.results / record.path).exists()
    )
    return [(record, _explain(plan, record, changed)) for record, changed in found if changed]


def count_missing(name: str, datasets: Collection[str]) -> tuple[int, int]:
    """Return how many records on some datasets, all if none is named, are missing, of how many."""
    plan = plan_of(name, [])
    found = (record for kind in KINDS for record in plan.records(name, kind))
    paths = [plan.results / r.path for r in found if not datasets or r.dataset in datasets]
    return sum(not path.exists() for path in paths), len(paths)


def _explain(plan: Plan, record: Record, changed: list[str]) -> list[str]:
    """Return what has changed of a record; of a cell's learning, what of it."""
    if record.kind != "cells" or "learning" not in changed:
        return changed
    learned_from = read_json(plan.results / record.path).get("learned_from")
    if not isinstance(learned_from, dict):
        return changed
    models = Record("models", record.study, record.dataset, record.names)
    why = ", ".join(differences(learned_from, plan.recipe(models)))
    return [f"learning ({why})" if each == "learning" and why else each for each in changed]
