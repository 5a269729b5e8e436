"""The pages of results, written from products and records."""

from collections.abc import Iterable
from pathlib import Path

from mnlearn.runtime.files import write_text
from mnlearn_studies.plan.configuration import find_study, plan_of
from mnlearn_studies.plan.planning import Plan
from mnlearn_studies.report import claims
from mnlearn_studies.report.html import write_html
from mnlearn_studies.report.material import load_material
from mnlearn_studies.report.pages.fidelity import build_fidelity_page
from mnlearn_studies.report.pages.overview import build_claim_page, build_index
from mnlearn_studies.report.pages.records import build_record_page
from mnlearn_studies.report.pages.study import build_study_page, summarise
from mnlearn_studies.study.commit import read_commit
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.folders import results_folder, run_folder, source_folder
from mnlearn_studies.study.shipped import studies_of_papers

_STUDY_NOTE = "<!-- Written by `mnlearn study`; edits are lost. -->\n\n"
# That of pages on several studies, which `make readme` writes.
_RECORD_NOTE = "<!-- Written by `make readme`; edits are lost. -->\n\n"


def write_study_page(plan: Plan, name: str) -> None:
    """Write the page of a study to its results, as README.md and as index.html."""
    text, folder = study_page(plan, name), plan.results / name
    write_text(folder / "README.md", _STUDY_NOTE + text)
    write_html(folder / "index.html", str(plan.studies[name].content["title"]), text)


def write_index(names: Iterable[str], path: Path) -> None:
    """Write the index of the results of some studies."""
    write_text(path, _STUDY_NOTE + build_index(listed_studies(names), results_folder()))


def result_pages() -> dict[Path, str]:
    """Return the text of the pages of results/ that git keeps, which runs of studies write too."""
    results = results_folder()
    plans = {name: plan_of(name, [], left_out={}) for name in _recorded_studies()}
    pages = {results / name / "README.md": study_page(plan, name) for name, plan in plans.items()}
    return {
        **{path: _STUDY_NOTE + text for path, text in pages.items()},
        results / "RECORD.md": _RECORD_NOTE
        + build_record_page(plans, common_commit(plans.values())),
        **overview_pages(),
    }


def overview_pages() -> dict[Path, str]:
    """Return the text of those pages of results/ that ask of no record whether it is current."""
    results, papers = results_folder(), studies_of_papers()
    return {
        results / "README.md": _STUDY_NOTE + build_index(_recorded_studies(), results),
        results / "FIDELITY.md": _RECORD_NOTE + build_fidelity_page(papers, results),
        results / "CLAIMS.md": _RECORD_NOTE + build_claim_page(papers, results),
    }


def _recorded_studies() -> dict[str, Study]:
    return listed_studies(path.parent.name for path in results_folder().glob("*/claims.csv"))


def study_page(plan: Plan, name: str) -> str:
    """Return the page of a study that has run."""
    material = load_material(name)
    return build_study_page(
        material,
        claims.evaluate(material),
        learner_summaries(material.study),
        plan.kept(name),
        common_commit([plan]),
    )


def learner_summaries(study: Study) -> dict[str, str]:
    """Return a paragraph of Markdown on each learner of a study."""
    docs = source_folder() / "docs"
    # Elsewhere than in a checkout, the documentation is not where links of pages lead.
    is_linked = source_folder() == run_folder()
    learners = dict.fromkeys(map(study.learner, study.methods))
    return {learner: summarise(learner, docs, is_linked) for learner in learners}


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
