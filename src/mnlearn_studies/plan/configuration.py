"""The configuration, and the studies and plans that it gives."""

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from mnlearn.data.dataset import load_npz
from mnlearn.data.own_files import SPLITS
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_json
from mnlearn.runtime.yaml_files import read_yaml
from mnlearn_studies.datasets.prepare import check_own_names, list_unavailable
from mnlearn_studies.datasets.registry import UNAVAILABLE, load_datasets
from mnlearn_studies.plan.planning import Plan, differences
from mnlearn_studies.records.record import Record
from mnlearn_studies.study.definition import Study, load_studies, load_study, study_path
from mnlearn_studies.study.folders import (
    CONFIG,
    config_files,
    data_folder,
    own_file,
    results_folder,
    source_folder,
    workflow_folders,
)
from mnlearn_studies.study.reading import read
from mnlearn_studies.study.settings import Settings


def find_study(name: str) -> Study:
    """Return the study `name`, a person's own or one of mnlearn."""
    return load_study(study_path(name, *workflow_folders()))


def configuration() -> dict[str, Any]:
    """Return the content of config.yaml, checked; see `config_files`."""
    content: dict[str, Any] = {}
    for path in config_files():
        given = read_yaml(path)
        if not isinstance(given, dict):
            raise InputError("expected keys with values.", where=path)
        content |= given
        read(Settings, content, str(path))
    return content


def complete(given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return a configuration with the keys that it lacks, as mnlearn sets them, checked."""
    content = {**read_yaml(source_folder() / CONFIG), **given}
    read(Settings, content, where)
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


_COUNTS = ("n_vars", *(f"n_{split}" for split in SPLITS))


def dataset_rows(
    folder: Path, local: Mapping[str, Mapping[str, Any]] | None = None
) -> list[dict[str, Any]]:
    """Return one record per known dataset: its sizes, and the state of its files in a folder.

    The sizes of a person's own datasets are None until a study has prepared them.
    """
    local = local or {}
    rows = []
    for name, entry in load_datasets().items():
        if name not in local:
            counts = dict(zip(_COUNTS, (entry.n_vars, *entry.rows), strict=False))
            sizes = {count: counts.get(count) for count in _COUNTS}
            state = entry.state(folder) if entry.files else entry.recipe
            rows.append({"name": name, "label": entry.label, **sizes, "state": state})
    return rows + [_own_row(name, entry, folder) for name, entry in local.items()]


def _own_row(name: str, entry: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    files = [own_file(entry[split]) for split in SPLITS if split in entry]
    sizes: dict[str, int | None] = dict.fromkeys(_COUNTS)
    for split in SPLITS:
        for path in (folder / name).glob(f"{split}@*.npz"):
            data = load_npz(path)
            # The weights of examples may sum to any number.
            sizes |= {"n_vars": data.n_vars, f"n_{split}": round(data.n_examples)}
    state = "own" if all(path.exists() for path in files) else "own, missing"
    return {"name": name, "label": name, **sizes, "state": state}


def dataset_table(rows: list[dict[str, Any]]) -> str:
    """Return the records of `dataset_rows` as a table, and how to use data that are not public."""
    frame = pd.DataFrame(rows).rename(columns=lambda name: name.removeprefix("n_"))
    for name in (count.removeprefix("n_") for count in _COUNTS):
        frame[name] = ["?" if pd.isna(value) else f"{value:,.0f}" for value in frame[name]]
    missing = ", ".join(frame.loc[frame["state"] == UNAVAILABLE, "name"])
    return (
        f"{frame.to_string(index=False)}\n\n{missing}: no public copy was found; name your own "
        "files under local in config.yaml."
    )
