"""What a study's scores show, written to its folder: tables, figures, claims."""

from pathlib import Path

import pandas as pd

from mnlearn.cli.reproduce import RESULTS, checkout, configuration, find_study, stale_records
from mnlearn.report import claims, figures, tables
from mnlearn.runtime.errors import InputError
from mnlearn.study.datasets.embedded import build_true_network
from mnlearn.study.datasets.prepare import label_datasets
from mnlearn.study.definition import Study
from mnlearn.study.published import load_published


def write_tables(name: str, only: list[str] | None) -> None:
    """Write the tables of a study; numbers of cells that are not current are marked."""
    study, folder, scores = _scored(name)
    labels = label_datasets(configuration()["local"])
    kinds = ("cells", "times")
    stale = {(record.dataset, record.names[0]) for record, _ in stale_records(name, kinds=kinds)}
    tables.write_tables(study, scores, load_published(), labels, folder / "tables", stale, only)


def write_figures(name: str, only: list[str] | None) -> None:
    """Draw the figures of a study."""
    study, folder, scores = _scored(name)
    config = configuration()
    labels = label_datasets(config["local"])
    known = {
        d: build_true_network(d, config["seed"]) for d in study.datasets if d in ("grid", "triples")
    }
    figures.write_figures(
        study, scores, load_published(), labels, folder / "figures", folder / "structures", known,
        only,
    )  # fmt: skip


def write_claims(name: str, _only: list[str] | None = None) -> None:
    """Evaluate the claims of a study's paper."""
    study, folder, scores = _scored(name)
    claims.write_claims(
        study, scores, load_published(), folder / "claims.md", folder / "claims.csv"
    )


def _scored(name: str) -> tuple[Study, Path, pd.DataFrame]:
    """Return a study, the folder of its results, and its scores."""
    study, folder = find_study(name), checkout() / RESULTS / name
    path = folder / "scores.csv"
    if not path.exists():
        raise InputError(f"{path}: no such file; run the study first.")
    return study, folder, pd.read_csv(path, keep_default_na=False, na_values={"stderr": [""]})
