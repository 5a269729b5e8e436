"""What a study's scores show, written to its folder: tables, figures, claims."""

from collections.abc import Mapping
from pathlib import Path

import pandas as pd

from mnlearn.runtime.errors import InputError
from mnlearn_studies.datasets.embedded import DRAWN, build_true_network
from mnlearn_studies.datasets.prepare import label_datasets
from mnlearn_studies.plan.configuration import configuration, find_study, plan_of, stale_records
from mnlearn_studies.records.gather import read_scores
from mnlearn_studies.report import claims, figures, tables
from mnlearn_studies.report.claims.rendering import Claim
from mnlearn_studies.report.products import read_entry
from mnlearn_studies.report.tables.table import Table
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.folders import results_folder
from mnlearn_studies.study.published import load_published


def check_products(name: str) -> None:
    """Refuse a study with tables, figures or claims of unknown kinds or with wrong options.

    Parameters
    ----------
    name : str
        The study.

    Raises
    ------
    InputError
        See `report.products.read_entry`.
    """
    study = find_study(name)
    kinds: dict[str, Mapping[str, type]] = {
        "tables": tables.KINDS,
        "figures": figures.KINDS,
        "claims": claims.KINDS,
    }
    for list_name, of_list in kinds.items():
        for entry in study.content[list_name]:
            read_entry(study, list_name, entry, of_list)


def study_tables(name: str, only: list[str] | None = None) -> list[Table]:
    """Return the tables of a study; numbers of cells that are not current are marked.

    Parameters
    ----------
    name : str
        The study.
    only : list of str, optional
        Names of the tables to make; all if not given.

    Raises
    ------
    InputError
        The study has no scores or no such table.
    """
    study, folder, scores = scored(name)
    return tables.make_tables(
        study,
        scores,
        load_published(),
        label_datasets(configuration()["local"]),
        tuning=folder / "tuning",
        stale=_stale_cells(name),
        only=only,
    )


def write_study_tables(name: str, only: list[str] | None = None) -> None:
    """Write the tables of a study; see `study_tables`."""
    tables.write_tables(study_tables(name, only), results_folder() / name / "tables")


def _stale_cells(name: str) -> tables.Stale:
    """Return the cells with a record that is not current, by the kind of the record."""
    found: dict[str, set[tuple[str, str]]] = {}
    for record, _ in stale_records(plan_of(name, []), name):
        cells = {(record.dataset, method) for method in record.names}
        found.setdefault(record.kind, set()).update(cells)
    return found


def write_study_figures(name: str, only: list[str] | None = None, seed: int | None = None) -> None:
    """Draw the figures of a study.

    Parameters
    ----------
    name : str
        The study.
    only : list of str, optional
        Names of the figures to draw; all if not given.
    seed : int, optional
        Seed of the run, which the networks behind embedded data depend on; that of config.yaml if
        not given.
    """
    study, folder, scores = scored(name)
    config = configuration()
    labels = label_datasets(config["local"])
    seed = config["seed"] if seed is None else seed
    known = {d: build_true_network(d, seed) for d in study.datasets if d in DRAWN}
    figures.write_figures(
        study,
        scores,
        load_published(),
        labels,
        folder=folder / "figures",
        structure_folder=folder / "structures",
        truths=known,
        only=only,
    )


def study_claims(name: str) -> list[Claim]:
    """Return the claims of a study's paper, evaluated on its scores."""
    study, _, scores = scored(name)
    return claims.evaluate(study, scores, load_published())


def write_study_claims(name: str) -> None:
    """Write the claims of a study's paper; see `study_claims`."""
    claims.write_claims(find_study(name), study_claims(name), results_folder() / name)


def scored(name: str) -> tuple[Study, Path, pd.DataFrame]:
    """Return a study, the folder of its results, and its scores."""
    study, folder = find_study(name), results_folder() / name
    path = folder / "scores.csv"
    if not path.exists():
        raise InputError(f"{path}: no such file; run the study first.")
    return study, folder, read_scores(path)
