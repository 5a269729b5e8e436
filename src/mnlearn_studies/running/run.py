"""Running a study: what is refused or fetched before, and how Snakemake is called."""

import importlib
import json
import subprocess
import sys
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from mnlearn.data.own_files import SPLITS
from mnlearn.methods import load_learner
from mnlearn.runtime.errors import FullDiskError, InputError
from mnlearn.runtime.progress import say
from mnlearn_studies.datasets.fetch import fetch_many
from mnlearn_studies.datasets.prepare import check_dataset, list_unavailable, record_outcomes
from mnlearn_studies.datasets.registry import load_datasets
from mnlearn_studies.datasets.sample_names import base_of
from mnlearn_studies.plan.configuration import configuration, find_study, plan_of
from mnlearn_studies.records.record import Record
from mnlearn_studies.running.locks import mark_run, unlock
from mnlearn_studies.running.snakemake import run_snakemake
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.folders import (
    config_files,
    data_folder,
    own_file,
    results_folder,
    run_folder,
    source_folder,
)

_SLURM, _SLURM_PLUGIN = "slurm", "snakemake_executor_plugin_slurm"


def check_datasets(names: Iterable[str], local: Mapping[str, Any]) -> None:
    """Refuse a dataset that does not exist, or a person's own one without its files."""
    for name in names:
        check_dataset(name, local)
        entry = local.get(base_of(name), {})
        for split in SPLITS:
            if split in entry and not own_file(entry[split]).exists():
                raise InputError(
                    f"config.yaml, local.{base_of(name)}.{split}: there is no file "
                    f"{own_file(entry[split])}."
                )


def check_grids(study: Study) -> None:
    """Refuse a study whose grids have parameters or values that the learners do not have."""
    for method in study.methods:
        learner = load_learner(study.learner(method))
        for dataset in study.datasets:
            try:
                learner.grid(study.grid(method, dataset))
                for left_out in study.content["methods"][method].get("left_out", ()):
                    learner.grid({name: [value] for name, value in left_out.items()})
            except InputError as error:
                raise InputError(f"study {study.name}, {method}, grid: {error}") from None


def run_study(
    name: str,
    datasets: list[str],
    cores: str | None,
    mirror: str | None,
    *,
    profile: str | None = None,
    parts: int | None = None,
    again: bool = False,
    recorded: bool = False,
    verbose: bool = False,
) -> int:
    """Fetch what is needed and run the study; return an exit status.

    datasets : which are fetched in any case; if none is named, those of config.yaml or of the study
    are fetched where they are needed. One that is asked for and cannot be had is refused after all
    that can be done without it.
    """
    study, settings = find_study(name), _snakemake_settings(cores, profile)
    datasets = expand_datasets(study, datasets)
    recorded = recorded or configuration()["recorded"]
    if again and recorded:
        raise InputError("--again and --recorded: expected one, by options or in config.yaml.")
    failed = {} if recorded else _fetch_missing(study, datasets, mirror, again)
    unlock()
    if recorded:
        _check_recorded(name)
    command = _snakemake_command(name, datasets, settings, mirror, recorded=recorded, parts=parts)
    wanted, log = _wanted_records(name, datasets, again, recorded), log_of(name)
    mark_run()
    status = run_snakemake(command, run_folder(), name, log, wanted=wanted, verbose=verbose)
    if status:
        say(f"the run did not finish; the output of Snakemake is in {log}")
    reasons = list(dict.fromkeys(failed.values()))
    if reasons and status == 0:
        raise InputError(" ".join(reasons))
    for reason in reasons:
        say(reason)
    return status


def _wanted_records(name: str, datasets: list[str], again: bool, recorded: bool) -> list[Path]:
    """Return the records that a run makes, also those that are set aside first."""
    plan = plan_of(name, datasets or configuration()["datasets"], recorded=recorded)
    plan.set_aside(name, again=again)
    return [plan.path(record) for record in plan.missing(name)]


def log_of(name: str) -> Path:
    """Return the file that has the output of Snakemake in the last run of a study."""
    return results_folder() / "logs" / name / "run.log"


def page_of(name: str) -> Path:
    """Return the page of a study for the browser."""
    return results_folder() / name / "index.html"


def expand_datasets(study: Study, names: list[str]) -> list[str]:
    """Return the datasets of a study that names stand for; see `Study.expand`."""
    datasets = study.expand(names)
    unknown = [d for d in datasets if d not in study.datasets]
    if unknown:
        raise InputError(f"--datasets {unknown[0]}: expected some of {', '.join(study.bases)}.")
    return datasets


def _snakemake_settings(cores: str | None, profile: str | None) -> list[str]:
    """Return the options that say where and how many jobs run.

    cores : a number or "all"; if not given, all, or what the profile says. profile : "local",
    "slurm", or a folder.
    """
    # It runs as a program of its own, which would tell it too late.
    importlib.import_module("snakemake")
    if profile is None:
        return ["--cores", cores or "all"]
    profiles = source_folder() / "workflow" / "profiles"
    known = {path.name: path for path in sorted(profiles.iterdir())}
    folder = known.get(profile, Path(profile))
    if not folder.is_dir():
        raise InputError(f"--profile {profile}: expected {', '.join(known)}, or a folder.")
    if profile == _SLURM and find_spec(_SLURM_PLUGIN) is None:
        raise ModuleNotFoundError(name=_SLURM_PLUGIN)
    settings = ["--workflow-profile", str(folder.resolve())]
    settings += ["--cores", cores] if cores else []
    if profile == _SLURM and not _keeps_accounts():
        settings += ["--slurm-status-command", "squeue"]
    return settings


def _keeps_accounts() -> bool:
    """Whether Slurm keeps accounts; if not, Snakemake would wait for ever for what `sacct` says."""
    try:
        asked = ["sacct", "--noheader", "--allocations"]
        return subprocess.run(asked, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def _snakemake_command(
    name: str, datasets: list[str], settings: list[str], mirror: str | None, **chosen: Any
) -> list[str]:
    config = [f"studies=[{name}]"]
    config += [f"datasets={json.dumps(datasets)}"] if datasets else []
    config += [f"{key}={value}" for key, value in {"mirror": mirror, **chosen}.items() if value]
    command = [sys.executable, "-m", "snakemake", *settings]
    if run_folder() != source_folder():
        # In a checkout Snakemake finds both by itself.
        files = [str(path) for path in config_files()]
        snakefile = source_folder() / "workflow" / "Snakefile"
        command += ["--snakefile", str(snakefile), "--configfile", *files]
    return [*command, "--config", *config]


def _check_recorded(name: str) -> None:
    cells = results_folder() / name / "cells"
    if not any(cells.glob("*/*.json")):
        raise InputError(
            f"--recorded: {cells} has no record; `mnlearn study {name}` computes them."
        )


def _fetch_missing(
    study: Study, datasets: list[str], mirror: str | None, again: bool
) -> dict[str, str]:
    """Fetch what is not here; return the datasets that cannot be had, with the reason."""
    folder, config = data_folder(), configuration()
    datasets_ = load_datasets().items()
    known = {name for name, entry in datasets_ if entry.files} - set(config["local"])
    plan = plan_of(study.name, datasets or config["datasets"], left_out={})
    if again:
        plan.forget(study.name)
    needed = datasets or plan.needed_datasets()
    wanted = [d for d in needed if not plan.is_made(Record("data", "", d))]
    missing = [base for base in dict.fromkeys(map(base_of, wanted)) if base in known]
    if missing:
        try:
            record_outcomes(fetch_many(missing, folder, mirror or config["mirror"] or None), folder)
        except FullDiskError:
            raise
        except InputError as error:
            say(f"going on without: {error}")
    reasons = {d: why for d, why in list_unavailable(folder).items() if d in missing}
    failed = {d: reasons[base_of(d)] for d in wanted if base_of(d) in reasons}
    if failed and set(datasets or study.datasets) <= set(failed):
        raise InputError(" ".join(dict.fromkeys(failed.values())))
    return failed
