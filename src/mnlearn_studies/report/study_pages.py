"""The pages of studies, written from their products and records."""

from collections.abc import Iterable
from pathlib import Path

from mnlearn.runtime.files import write_text
from mnlearn_studies.datasets.prepare import label_datasets
from mnlearn_studies.plan.configuration import configuration, find_study, plan_of
from mnlearn_studies.plan.planning import Plan
from mnlearn_studies.records.gather import read_scores
from mnlearn_studies.report.document.blocks import Document
from mnlearn_studies.report.document.html import render_html
from mnlearn_studies.report.document.index_page import build_index
from mnlearn_studies.report.document.markdown import render_markdown
from mnlearn_studies.report.document.record_page import StudyRecords, build_record
from mnlearn_studies.report.document.study_page import Material, document_of
from mnlearn_studies.report.document.summaries import summarise
from mnlearn_studies.report.fidelity.claim_page import build_claims
from mnlearn_studies.report.fidelity.numbers import load_reasons, published_numbers
from mnlearn_studies.report.fidelity.page import Fidelity, build_fidelity
from mnlearn_studies.report.study_products import scored
from mnlearn_studies.study.commit import read_commit
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.folders import results_folder, run_folder, source_folder
from mnlearn_studies.study.published import load_published
from mnlearn_studies.study.shipped import studies_of_papers


def write_study_page(name: str) -> None:
    """Write the page of a study to its results, as README.md and as index.html."""
    document = study_page(name)
    folder = results_folder() / name
    write_text(folder / "README.md", render_markdown(document))
    write_text(folder / "index.html", render_html(document))


def study_page(name: str) -> Document:
    """Return the page of a study.

    Raises
    ------
    InputError
        The study has not run, or a file of its results is malformed.
    """
    study, folder, _ = scored(name)
    plan = plan_of(name, [])
    records = plan.kept(name)
    learners = dict.fromkeys(map(study.learner, study.methods))
    summaries = {learner: summarise(learner, *documentation()) for learner in learners}
    labels = label_datasets(configuration()["local"])
    commit = common_commit([plan])
    return document_of(Material(study, folder, labels, summaries, records, commit))


def documentation() -> tuple[Path, bool]:
    """Return the folder of the documentation, and whether pages of studies can link to it."""
    return source_folder() / "docs", source_folder() == run_folder()


def write_index(names: Iterable[str], path: Path) -> None:
    """Write the index of the results of some studies."""
    index = build_index(listed_studies(names), results_folder())
    write_text(path, render_markdown(index))


def fidelity_page() -> Document:
    """Return the page on how closely the studies of the papers reproduce them.

    Raises
    ------
    InputError
        The study of a paper has not run, or a file is malformed.
    """
    results = results_folder()
    studies = studies_of_papers()
    scores = {name: read_scores(results / name / "scores.csv") for name in studies}
    numbers = published_numbers(load_published(), scores)
    return build_fidelity(Fidelity(studies, numbers, load_reasons(), results))


def claim_page() -> Document:
    """Return the table of all claims of the papers, with the command that checks each.

    Raises
    ------
    InputError
        The study of a paper has not run, or a file is malformed.
    """
    return build_claims(studies_of_papers(), results_folder())


def record_page(names: Iterable[str]) -> Document:
    """Return the page on the records of some studies; see `build_record`."""
    found = []
    plans = {name: plan_of(name, [], left_out={}) for name in names}
    for name, plan in plans.items():
        found.append(StudyRecords(name, plan.kept(name), len(plan.all_records(name))))
    return build_record(found, common_commit(plans.values()))


def common_commit(plans: Iterable[Plan]) -> str:
    """Return the commit of the record; empty if a record of some studies is not current."""
    stale = (
        plan.stale(record)
        for plan in plans
        for study in plan.running
        for record in plan.all_records(study)
    )
    commit = read_commit(results_folder())
    return "" if commit and any(stale) else commit


def listed_studies(names: Iterable[str]) -> dict[str, Study]:
    """Return those of some studies that the index lists, in alphabetical order."""
    studies = {name: find_study(name) for name in sorted(names)}
    return {name: study for name, study in studies.items() if study.content.get("listed", True)}
