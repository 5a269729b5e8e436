"""The configuration, and the studies and plans that it gives."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from mnlearn.runtime.files import read_json, read_text
from mnlearn_studies.datasets.prepare import check_own_names, list_unavailable
from mnlearn_studies.plan.planning import Plan, differences
from mnlearn_studies.records.record import Record
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
    left_out: Mapping[str, str] | None = None,
    **changed: Any,
) -> Plan:
    """Return what running a study on some datasets, all if none is named, would make.

    left_out : datasets that cannot be had; those of the last attempt if not given. changed : keys
    of config.yaml that have another value in this run.
    """
    config = {**configuration(), **changed}
    left_out = list_unavailable(data_folder()) if left_out is None else left_out
    return planned([name], datasets, config, results_folder(), left_out)


def planned(
    names: list[str],
    datasets: Collection[str],
    config: Mapping[str, Any],
    results: Path,
    left_out: Mapping[str, str],
) -> Plan:
    """Return the plan of a run of some studies; config : the content of config.yaml."""
    check_own_names(config["local"])
    return Plan(
        studies=load_studies(names, *workflow_folders()),
        running=names,
        results=results,
        seed=config["seed"],
        local=config["local"],
        datasets=datasets,
        left_out=left_out,
        recorded=config["recorded"],
        mirror=config["mirror"],
        n_parts=config["parts"],
    )


def stale_records(plan: Plan, name: str) -> list[tuple[Record, list[str]]]:
    """Return the records of a study that are not current, with what of them has changed."""
    changed = ((record, plan.stale(record)) for record in plan.all_records(name))
    return [(record, _explain(plan, record, names)) for record, names in changed if names]


def _explain(plan: Plan, record: Record, changed: list[str]) -> list[str]:
    """Return what has changed of a record; of a cell's learning, what of it."""
    if record.kind != "cells" or "learning" not in changed:
        return changed
    learned_from = read_json(plan.versions(record)[0]).get("learned_from")
    if not isinstance(learned_from, dict):
        return changed
    models = Record("models", record.study, record.dataset, record.names)
    why = ", ".join(differences(learned_from, plan.recipe(models)))
    return [f"learning ({why})" if each == "learning" and why else each for each in changed]
