"""The studies that come with mnlearn, and those of them that reproduce a paper."""

from mnlearn_studies.study.definition import Study, load_study
from mnlearn_studies.study.folders import source_folder


def shipped_studies() -> dict[str, Study]:
    """Return the studies with records, by name: those of papers by year, then the others."""
    files = sorted((source_folder() / "workflow" / "studies").glob("*.yaml"))
    studies = {path.stem: load_study(path) for path in files}
    recorded = [name for name, study in studies.items() if study.content.get("listed", True)]
    return {name: studies[name] for name in sorted(recorded, key=lambda name: _rank(studies[name]))}


def _rank(study: Study) -> tuple[float, str]:
    paper = study.content.get("reproduces")
    return (float("inf") if paper is None else paper["year"], study.name)


def studies_of_papers() -> dict[str, Study]:
    """Return the studies that reproduce a paper, by name, in the order of their years."""
    studies = shipped_studies().items()
    return {name: study for name, study in studies if "reproduces" in study.content}


def paper_title(study: Study) -> str:
    """Return authors, year and subject of the paper that a study reproduces."""
    paper = study.content["reproduces"]
    return f"{paper['authors']} {paper['year']}, {paper['subject']}"
