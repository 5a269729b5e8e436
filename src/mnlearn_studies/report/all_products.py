"""All that a run writes from the records of a study, and whether it is up to date."""

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from filelock import FileLock

from mnlearn.drawing.style import render, style
from mnlearn.methods import learner_file
from mnlearn.runtime.code_digest import code_digest
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import file_digest, read_json, write_bytes, write_json, write_text
from mnlearn.runtime.progress import say
from mnlearn_studies.datasets.prepare import label_datasets
from mnlearn_studies.datasets.registry import registry_path
from mnlearn_studies.plan.configuration import find_study, plan_of, stale_records
from mnlearn_studies.plan.planning import DIGITS, Plan
from mnlearn_studies.records.gather import gather
from mnlearn_studies.records.record import recipe_digest
from mnlearn_studies.report import claims, figures, tables
from mnlearn_studies.report.html import write_html
from mnlearn_studies.report.material import load_material, read_entry
from mnlearn_studies.report.pages.conclusions import FIGURE, build_conclusions, draw_conclusions
from mnlearn_studies.report.pages.fidelity import build_fidelity_page
from mnlearn_studies.report.pages.overview import (
    build_claim_page,
    build_index,
    build_record_page,
    read_claims,
)
from mnlearn_studies.report.pages.study import build_study_page, summarise
from mnlearn_studies.study.definition import Study, studies_of_papers
from mnlearn_studies.study.folders import results_folder, source_folder
from mnlearn_studies.study.mentions import check_spelling

# What `make record` notes of a record that it has made.
NOTE = "record.json"


def read_commit(results: Path) -> str:
    """Return the commit that `make record` has noted; empty if records are of several commits."""
    path = results / NOTE
    if not path.exists():
        return ""
    noted = read_json(path)
    if not isinstance(noted, dict) or not isinstance(noted.get("commit"), str):
        raise InputError(f"{path}: expected a commit.")
    if not isinstance(noted.get("records", {}), dict):
        raise InputError(f"{path}, records: expected a digest for each study.")
    return str(noted["commit"])


_STUDY_NOTE = "<!-- Written by `mnlearn study`; edits are lost. -->\n\n"
# That of pages on several studies, which `make readme` writes.
_RECORD_NOTE = "<!-- Written by `make readme`; edits are lost. -->\n\n"


def write_study_page(plan: Plan, name: str) -> None:
    """Write the page of a study to its results, as README.md and as index.html."""
    text, folder = study_page(plan, name), plan.results / name
    write_text(folder / "README.md", _STUDY_NOTE + text)
    write_html(folder / "index.html", str(plan.studies[name].content["title"]), text)


def result_pages() -> dict[Path, str]:
    """Return the text of the pages of results/ that git keeps, which runs of studies write too."""
    results = results_folder()
    plans = {name: plan_of(name, [], left_out={}) for name in _recorded_studies(results)}
    pages = {results / name / "README.md": study_page(plan, name) for name, plan in plans.items()}
    return {
        **{path: _STUDY_NOTE + text for path, text in pages.items()},
        results / "RECORD.md": _RECORD_NOTE
        + build_record_page(plans, common_commit(plans.values())),
        results / "conclusions.md": _RECORD_NOTE + _conclusions(plans),
        **overview_pages(),
    }


def _conclusions(plans: Mapping[str, Plan]) -> str:
    """Return the page on the conclusions of the papers, and draw its figure."""
    papers = [name for name in studies_of_papers() if name in plans]
    materials = {name: load_material(plans[name], name) for name in papers}
    stale = {
        name: {(r.dataset, m) for r, _ in stale_records(plans[name], name) for m in r.names}
        for name in papers
    }
    with style():
        figure = draw_conclusions(materials)
    if figure is not None:
        write_bytes(results_folder() / FIGURE, render(figure)[1])
    said = {name: read_claims(results_folder() / name) for name in papers}
    return build_conclusions(materials, said, stale)


def overview_pages() -> dict[Path, str]:
    """Return the text of those pages of results/ that ask of no record whether it is current."""
    results, papers = results_folder(), studies_of_papers()
    return {
        results / "README.md": index_page(results),
        results / "FIDELITY.md": _RECORD_NOTE + build_fidelity_page(papers, results),
        results / "CLAIMS.md": _RECORD_NOTE + build_claim_page(papers, results),
    }


def index_page(results: Path) -> str:
    """Return the text of the index of all results."""
    return _STUDY_NOTE + build_index(_recorded_studies(results), results)


def _recorded_studies(results: Path) -> dict[str, Study]:
    """Return the studies with results that the index lists, in alphabetical order."""
    names = sorted(path.parent.name for path in results.glob("*/claims.csv"))
    studies = {name: find_study(name) for name in names}
    return {name: study for name, study in studies.items() if study.content.get("listed", True)}


def study_page(plan: Plan, name: str) -> str:
    """Return the page of a study that has run."""
    material = load_material(plan, name)
    return build_study_page(
        material,
        claims.evaluate(material),
        learner_summaries(plan, name),
        plan.kept(name),
        common_commit([plan]),
    )


def learner_summaries(plan: Plan, name: str) -> dict[str, str]:
    """Return a paragraph of Markdown on each learner of a study."""
    study, docs = plan.studies[name], source_folder() / "docs"
    # Elsewhere than in a checkout, the documentation is not where links of pages lead.
    is_linked = source_folder().resolve() == plan.results.resolve().parent
    learners = dict.fromkeys(map(study.learner, study.methods))
    return {learner: summarise(learner, docs, is_linked) for learner in learners}


def digest_records(plan: Plan, name: str) -> str:
    """Return a digest of the names of the records of a study, which have digests of their code."""
    records = sorted(path.name for paths in plan.kept(name).values() for path in paths)
    return recipe_digest({"records": records})[:DIGITS]


def common_commit(plans: Collection[Plan]) -> str:
    """Return the commit that made the records of some studies; empty if it is not that noted."""
    commits = set()
    for plan in plans:
        commit = read_commit(plan.results)
        noted = read_json(plan.results / NOTE).get("records", {}) if commit else {}
        is_same = all(noted.get(name) == digest_records(plan, name) for name in plan.running)
        commits.add(commit if is_same else "")
    return commits.pop() if len(commits) == 1 else ""


_KINDS: dict[str, Mapping[str, type]] = {
    "tables": tables.KINDS,
    "figures": figures.KINDS,
    "claims": claims.KINDS,
}


def check_products(name: str) -> None:
    """Refuse a study with tables, figures or claims of unknown kinds, options or quantities."""
    study = find_study(name)
    for list_name, of_list in _KINDS.items():
        for entry in study.content[list_name]:
            read_entry(study, list_name, entry, of_list)
            check_spelling(name, study.content, list_name, entry)


def product_files(study: Study) -> dict[str, list[str]]:
    """Return the files of a study's products by kind, below the folder of its results.

    Those of a figure with nothing to draw are not written.
    """
    content = study.content
    return {
        "scores": ["scores.csv"],
        "tables": _named("tables", content["tables"], ("csv", "md", "tex")),
        "figures": _named("figures", content["figures"], ("pdf", "png")),
        "claims": ["claims.md", "claims.csv"],
        "page": ["README.md", "index.html"],
    }


def _named(folder: str, products: Iterable[Mapping[str, Any]], forms: tuple[str, ...]) -> list[str]:
    return [f"{folder}/{product['name']}.{form}" for product in products for form in forms]


def write_all(plan: Plan, name: str, out: Path) -> None:
    """Write all products of a study and the index, then `out`, which `stamp_of` describes."""
    study, folder = plan.studies[name], plan.results / name
    plan.drop_superseded(name)
    for write in WRITERS.values():
        write(plan, name)
    if study.content.get("listed", True):
        with FileLock(plan.results / "made" / "index.lock"):
            write_text(plan.results / "README.md", index_page(plan.results))
    files = (file for files in product_files(study).values() for file in files)
    written = [file for file in files if (folder / file).exists()]
    write_json(out, {file: file_digest(folder / file) for file in written})
    for other in out.parent.glob(f"{name}@*.json"):
        if other != out:
            other.unlink()


def write_scores(plan: Plan, name: str) -> None:
    """Write the numbers of all records of a study to its scores.csv; name what does not fit."""
    for path in plan.of_other_models(name):
        say(f"{path}: is about another model than the cell of its method, as `--stale` lists")
    scores = gather(plan.studies[name], plan.kept(name))
    text = scores.to_csv(index=False, lineterminator="\n")
    write_text(plan.results / name / "scores.csv", text)


def write_tables(plan: Plan, name: str, only: list[str] | None = None) -> None:
    """Write the tables of a study, all or those in `only`; stale numbers are marked."""
    stale: dict[str, set[tuple[str, str]]] = {}
    for record, _ in stale_records(plan, name):
        cells = {(record.dataset, method) for method in record.names}
        stale.setdefault(record.kind, set()).update(cells)
    material = load_material(plan, name)
    tables.write_tables(tables.make_tables(material, stale, only), material.folder / "tables")


def write_figures(plan: Plan, name: str, only: list[str] | None = None) -> None:
    """Draw the figures of a study, all or those in `only`."""
    figures.write_figures(load_material(plan, name), only)


def write_claims(plan: Plan, name: str) -> None:
    """Write the claims of a study's paper."""
    material = load_material(plan, name)
    claims.write_claims(material.study, claims.evaluate(material), material.folder)


# The products of a study, each from those before it. A person can write one kind alone.
WRITERS: dict[str, Callable[..., None]] = {
    "scores": write_scores,
    "tables": write_tables,
    "figures": write_figures,
    "claims": write_claims,
    "page": write_study_page,
}


def stamp_of(plan: Plan, name: str) -> Path:
    """Return the file with the digests of a study's products; its name has that of their sources.

    If it is there, but a record is missing or a product has changed since, it is removed, so that a
    run writes all anew.
    """
    digest = recipe_digest(_recipe(plan, name))[:DIGITS]
    path = plan.results / "made" / f"{name}@{digest}.json"
    if path.exists() and (plan.missing(name) or not _describes(path, plan.results / name)):
        path.unlink()
    return path


def _describes(path: Path, folder: Path) -> bool:
    try:
        digests = read_json(path)
        return all(file_digest(folder / name) == digest for name, digest in digests.items())
    except (AttributeError, InputError, OSError):
        return False


def _recipe(plan: Plan, name: str) -> dict[str, Any]:
    study = plan.studies[name]
    learners = dict.fromkeys(map(study.learner, study.methods))
    records = plan.all_records(name)
    # No import names the kinds.
    of_kinds = {kind.__module__ for of_list in _KINDS.values() for kind in of_list.values()}
    return {
        "records": [str(plan.used(record)) for record in records],
        # What the run makes again is not stale when its products are written.
        "stale": [
            str(plan.used(record))
            for record in records
            if plan.is_made(record) and plan.stale(record)
        ],
        "study": study.content,
        "labels": study.labels(label_datasets(plan.local)),
        # Pages show titles and citations, and the first paragraphs of the documentation.
        "learners": {each: file_digest(learner_file(each)) for each in learners},
        "summaries": learner_summaries(plan, name),
        "published": file_digest(registry_path().with_name("published.tsv")),
        "datasets": file_digest(registry_path()),
        "commit": read_commit(plan.results),
        "seed": plan.seed,
        "code": code_digest("mnlearn_studies.report.all_products.write_all", *sorted(of_kinds)),
    }
