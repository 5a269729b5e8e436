"""Around Snakemake: running a study, finding what is stale, unlocking after a kill."""

import json
import os
import socket
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import psutil

from mnlearn.cli.running import run_snakemake
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_text, write_text
from mnlearn.runtime.progress import say
from mnlearn.study.datasets.built import BUILT
from mnlearn.study.datasets.fetch import fetch_many
from mnlearn.study.datasets.prepare import list_unavailable, record_outcomes
from mnlearn.study.datasets.registry import load_registry, registry_path
from mnlearn.study.datasets.sample_names import base_of
from mnlearn.study.definition import Study, load_studies, load_study, study_path
from mnlearn.study.planning import KINDS, Plan, Record
from mnlearn.study.schemas import load_checked

RESULTS = "results"


def checkout() -> Path:
    """Return the folder with the Snakefile, found like the registry of datasets."""
    return registry_path().parent.parent


def find_study(name: str) -> Study:
    """Return the study `name` of this checkout."""
    return load_study(study_path(name, checkout() / "workflow"))


def configuration() -> dict[str, Any]:
    """Return the content of config.yaml, checked against its schema."""
    schema = checkout() / "workflow" / "schemas" / "config.schema.yaml"
    content: dict[str, Any] = load_checked(checkout() / "config.yaml", schema)
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
    config, results = configuration(), checkout() / RESULTS
    studies = load_studies([name], checkout() / "workflow")
    left_out = list_unavailable(results / "data") if left_out is None else left_out
    return Plan(
        studies=studies,
        running=[name],
        results=results,
        seed=config["seed"],
        local=config["local"],
        datasets=datasets,
        left_out=left_out,
        again=again,
    )


def stale_records(name: str, kinds: Collection[str] = KINDS) -> list[tuple[Record, list[str]]]:
    """Return the records of a study that are not current, with what of them has changed."""
    plan = plan_of(name, [])
    found = (
        (record, plan.stale(record))
        for kind in kinds
        for record in plan.records(name, kind)
        if (plan.results / record.path).exists()
    )
    return [(record, changed) for record, changed in found if changed]


def run_study(
    name: str,
    datasets: list[str],
    cores: str,
    mirror: str | None,
    *,
    report: bool,
    again: bool = False,
    recorded: bool = False,
    verbose: bool = False,
) -> int:
    """Fetch what is needed, run the study and write its report; return an exit status.

    Parameters
    ----------
    name : str
        The study.
    datasets : list of str
        The datasets to run it on, which are fetched in any case; all that need it if none is named.
        See `Study.expand`.
    cores : str
        Processors to use, a number or "all".
    mirror : str or None
        Folder or URL that has the benchmark data.
    report : bool
        Whether to write report.html.
    again : bool
        Make records again that are current.
    recorded, verbose : bool
        Use all records as they are and compute nothing; show all output of Snakemake.

    Raises
    ------
    InputError
        There is no such study or dataset; another run is under way; a dataset that is asked for
        cannot be had, which is said after all that can be done without it.
    """
    study = find_study(name)
    datasets = _expand_datasets(study, datasets)
    failed = {}
    if not recorded:
        wanted = datasets or plan_of(name, [], again, left_out={}).needed_datasets()
        failed = _fetch_missing(wanted, mirror)
    if failed and set(datasets or study.datasets) <= set(failed):
        raise InputError(" ".join(dict.fromkeys(failed.values())))
    unlock()
    command = _snakemake_command(name, datasets, cores, mirror)
    command += [f"{key}=True" for key, on in (("recorded", recorded), ("again", again)) if on]
    forced = ["--forcerun", *_model_folders(name, datasets)] if again else []
    _mark_run()
    once = [*command, *forced]
    status = run_snakemake(once, checkout(), name=name, log=log_of(name), verbose=verbose)
    if status == 0 and report:
        status = _write_report(command, name)
    if status:
        say(f"the run did not finish; the output of Snakemake is in {log_of(name)}")
    if failed:
        raise InputError(" ".join(dict.fromkeys(failed.values())))
    return status


def log_of(name: str) -> Path:
    """Return the file that has the output of Snakemake in the last run of a study."""
    return checkout() / RESULTS / "logs" / name / "run.log"


def page_of(name: str) -> Path:
    """Return the page of a study for the browser."""
    return checkout() / RESULTS / name / "index.html"


def _expand_datasets(study: Study, names: list[str]) -> list[str]:
    """Return the datasets of a study that names stand for; see `Study.expand`."""
    datasets = study.expand(names)
    unknown = [d for d in datasets if d not in study.datasets]
    if unknown:
        raise InputError(f"--datasets {unknown[0]}: expected some of {', '.join(study.bases)}.")
    return datasets


def _snakemake_command(name: str, datasets: list[str], cores: str, mirror: str | None) -> list[str]:
    """Return the command that runs a study; more words of its configuration can follow."""
    config = [f"studies=[{name}]", f"datasets={json.dumps(datasets)}"]
    if mirror:
        config.append(f"mirror={mirror}")
    return [sys.executable, "-m", "snakemake", "--cores", cores, "--config", *config]


def _write_report(command: list[str], name: str) -> int:
    """Write report.html of a study that has run, and return an exit status."""
    page = Path(RESULTS) / name / "report.html"
    style = "workflow/report/report.css"
    command = [*command, "--report", str(page), "--report-stylesheet", style]
    return run_snakemake(command, checkout(), name=f"{name}, report", log=log_of(name), again=True)


def _fetch_missing(datasets: Collection[str], mirror: str | None) -> dict[str, str]:
    """Fetch what is not here; return the datasets that cannot be had, with the reason."""
    folder = checkout() / RESULTS / "data"
    known = {*load_registry(), *BUILT} - set(configuration()["local"])
    wanted = [d for d in datasets if not (folder / d / "test.npz").exists()]
    missing = [base for base in dict.fromkeys(map(base_of, wanted)) if base in known]
    if missing:
        try:
            record_outcomes(fetch_many(missing, folder, mirror), folder)
        except InputError as error:
            say(f"going on without: {error}")
    reasons = {d: why for d, why in list_unavailable(folder).items() if d in missing}
    return {d: reasons[base_of(d)] for d in wanted if base_of(d) in reasons}


def _model_folders(name: str, datasets: list[str]) -> list[str]:
    """Return the outputs from which all records of some datasets follow."""
    plan = plan_of(name, datasets)
    return [
        f"{RESULTS}/{name}/models/{record.dataset}/{record.names[0]}"
        for record in plan.records(name, "cells")
        if record.dataset in plan.datasets(name)
    ]


def _marker() -> Path:
    return checkout() / ".snakemake" / "mnlearn-run.json"


def _mark_run() -> None:
    """Note on which machine a run began, for `unlock` on another one."""
    write_text(_marker(), json.dumps({"host": socket.gethostname()}))


def unlock(force: bool = False) -> None:
    """Remove the lock that a killed run has left, unless another run is alive.

    force : also if the run was on another machine, where this cannot be seen.

    Raises
    ------
    InputError
        Another run is alive in this folder, or may be on another machine.
    """
    locks = checkout() / ".snakemake" / "locks"
    if not locks.is_dir() or not any(locks.iterdir()):
        return
    alive = _other_run()
    if alive is not None:
        raise InputError(f"{checkout()}: another run is under way here, process {alive}.")
    marker = _marker()
    host = json.loads(read_text(marker))["host"] if marker.exists() else socket.gethostname()
    if host != socket.gethostname() and not force:
        raise InputError(
            f"{checkout()}: locked by a run on {host}; if it has ended, `mnlearn study --unlock` "
            f"removes the lock."
        )
    for lock in locks.iterdir():
        lock.unlink()
    say("removed the lock of a run that was killed")


def _other_run() -> int | None:
    """Return the process of another run of Snakemake in this checkout, or None."""
    own = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    for process in psutil.process_iter(["pid", "cmdline"]):
        words = process.info["cmdline"] or []
        if process.pid in own or not any("snakemake" in word for word in words[:4]):
            continue
        try:
            if Path(process.cwd()) == checkout():
                return int(process.pid)
        except psutil.Error:
            continue
    return None
