"""Around Snakemake: running a study, writing what its scores show, finding stale cells."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from mnlearn.data.embedded import truth
from mnlearn.data.fetch import fetch_many
from mnlearn.data.registry import load_registry, registry_path
from mnlearn.data.sources import dataset_labels, record_outcomes
from mnlearn.errors import InputError
from mnlearn.files import read_json, read_text
from mnlearn.progress import say
from mnlearn.provenance import code_digest
from mnlearn.study import Study, load_study, study_path

RESULTS = "results"


def checkout() -> Path:
    """Return the folder with the Snakefile, found like the registry of datasets."""
    return registry_path().parent.parent


def find_study(name: str) -> Study:
    """Return the study `name` of this checkout."""
    return load_study(study_path(name, checkout() / "workflow"))


def configuration() -> dict[str, Any]:
    """Return the content of config.yaml."""
    content: dict[str, Any] = yaml.safe_load(read_text(checkout() / "config.yaml"))
    return content


def run_study(name: str, datasets: list[str], cores: str, mirror: str | None, report: bool) -> int:
    """Fetch what can be had, run the study on it and write its report; return an exit status.

    Raises
    ------
    InputError
        There is no such study or dataset.
    """
    study = find_study(name)
    unknown = [d for d in datasets if d not in study.datasets]
    if unknown:
        raise InputError(f"--datasets {unknown[0]}: expected some of {', '.join(study.datasets)}.")
    benchmarks = [d for d in datasets or study.datasets if d in load_registry()]
    folder = checkout() / RESULTS / "data"
    missing = [d for d in benchmarks if not (folder / d / "test.npz").exists()]
    if missing:
        try:
            record_outcomes(fetch_many(missing, folder, mirror), folder)
        except InputError as error:
            say(f"going on without: {error}")
    config = [f"studies=[{name}]", f"datasets={json.dumps(datasets)}"]
    if mirror:
        config.append(f"mirror={mirror}")
    command = [sys.executable, "-m", "snakemake", "--cores", cores, "--config", *config]
    quiet = ["--quiet", "rules", "host", "reason"]
    # The rules call `mnlearn`, which must be found also where the environment is not activated.
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)])
    env = {**os.environ, "PATH": path}
    status = subprocess.run([*command, *quiet], check=False, cwd=checkout(), env=env).returncode
    if status or not report:
        return status
    page = Path(RESULTS) / name / "report.html"
    style = "workflow/report/report.css"
    made = subprocess.run(
        [*command, "--report", str(page), "--report-stylesheet", style],
        check=False, cwd=checkout(), env=env, capture_output=True, text=True,
    )  # fmt: skip
    if made.returncode:
        say(made.stderr)
    else:
        say(f"report: {checkout() / page}")
    return made.returncode


def run_demo() -> int:
    """Run the study `demo`, print its table of scores and where the report is."""
    status = run_study("demo", [], "all", None, report=True)
    if status == 0:
        folder = checkout() / RESULTS / "demo"
        say((folder / "tables" / "scores.md").read_text(encoding="utf-8"))
        say(f"Tables, figures and models are in {folder}.")
        say(f"Open {folder / 'report.html'} in a browser.")
    return status


def stale_cells(name: str) -> list[tuple[str, str]]:
    """Return (dataset, method) of the cells whose code has changed since they were made."""
    study = find_study(name)
    out = []
    for path in sorted((checkout() / RESULTS / name / "cells").glob("*/*.json")):
        cell = read_json(path)
        dataset, method = path.parent.name, path.stem
        if method not in study.methods:
            continue
        learner = f"methods.{study.learner(method)}"
        if (cell["learned_by"]["source"], cell["scored_by"]["source"]) != (
            code_digest(learner, "cell_learning"),
            code_digest(learner, "cell_scoring"),
        ):
            out.append((dataset, method))
    return out


def write_product(name: str, product: str, only: list[str] | None) -> None:
    """Write the tables, figures or claims of a study from its scores."""
    from mnlearn import claims, figures, tables
    from mnlearn.published import load_published

    study, folder = find_study(name), checkout() / RESULTS / name
    if not (folder / "scores.csv").exists():
        raise InputError(f"{folder / 'scores.csv'}: no such file; run the study first.")
    scores = pd.read_csv(folder / "scores.csv", keep_default_na=False, na_values={"stderr": [""]})
    published = load_published()
    config = configuration()
    labels = dataset_labels(config["local"])
    if product == "tables":
        stale = set(stale_cells(name))
        tables.write_tables(study, scores, published, labels, folder / "tables", stale, only)
    elif product == "figures":
        known = {d: truth(d, config["seed"]) for d in study.datasets if d in ("grid", "triples")}
        figures.write_figures(
            study, scores, published, labels, folder / "figures", folder / "models", known, only
        )
    else:
        claims.write_claims(study, scores, published, folder / "claims.md", folder / "claims.csv")
