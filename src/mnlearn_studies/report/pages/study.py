"""The page of a study: what was asked, how it is measured, what was found, where it comes from."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mnlearn.methods import load_learner
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_text
from mnlearn_studies.report.claims.rendering import Claim, count_verdicts
from mnlearn_studies.report.claims.verdicts import LEGEND
from mnlearn_studies.report.markdown import (
    bullets,
    escape,
    heading,
    list_contents,
    make_anchors,
    paragraph,
    pipe_table,
)
from mnlearn_studies.report.material import Options
from mnlearn_studies.report.pages.records import describe_provenance
from mnlearn_studies.report.pages.texts import describe_metrics
from mnlearn_studies.report.tables.table import DAGGER
from mnlearn_studies.study.definition import Study

# A title that is taken from a caption has at most so many characters.
_LONGEST = 72
_PROVENANCE = "Where the numbers come from"
_ORIGIN = f"[commit and command](#{make_anchors([_PROVENANCE])[0]})"


@dataclass(frozen=True)
class Material:
    """What the page of a study is made from.

    Attributes
    ----------
    study : Study
        The study.
    folder : Path
        Its results, with tables and figures.
    quantities : sequence of str
        All quantities of its scores.
    claims : sequence of Claim
        The claims of its paper.
    labels : mapping of str to str
        Names of the datasets for readers.
    summaries : mapping of str to str
        A paragraph of Markdown on each learner.
    records : mapping of str to sequence of Path
        The records of each kind.
    commit : str
        The commit that the records of all studies were made at; empty if they were made at several.
    """

    study: Study
    folder: Path
    quantities: Sequence[str]
    claims: Sequence[Claim]
    labels: Mapping[str, str]
    summaries: Mapping[str, str]
    records: Mapping[str, Sequence[Path]]
    commit: str


def build_study_page(material: Material) -> str:
    """Return the page of a study.

    Raises
    ------
    InputError
        A file of the results is missing or malformed, or a section names no table or figure.
    """
    study = material.study
    title = heading(1, study.content["title"])
    counts = count_verdicts(material.claims).split("\n\n")[0]
    body = [*_question(material), heading(2, "How it is measured")]
    body += [*describe_metrics(study, material.quantities), *_learners(material)]
    for section in sections_of(study):
        body += _section(section, material)
    body += [*_claims(material.claims), *_provenance(material)]
    lead = [f"Claims of the paper: {counts}"] if counts else []
    return "\n\n".join([title, *lead, list_contents([title, *body]), *body]) + "\n"


def _question(material: Material) -> Iterator[str]:
    """Yield what was asked: the paper, the datasets and the rows of the tables."""
    study = material.study
    yield heading(2, "What was asked")
    yield f"**Paper:** {escape(study.content['paper'])}"
    names = ", ".join(material.labels.get(name, name) for name in study.bases)
    count = "1 dataset" if len(study.bases) == 1 else f"{len(study.bases)} datasets"
    yield f"**{count}:** {escape(names)}."
    yield (
        "**Methods.** Each method is a learner with the values of its hyperparameters that are "
        "tried. The values with the best score on the validation set are chosen. All scores on "
        "this page are of the test set, unless a caption says otherwise."
    )
    yield _methods(study)


def _methods(study: Study) -> str:
    """Return the table of methods; networks have a column if a method builds on one."""
    networks = {method: study.network(method) for method in study.methods}
    any_network = any(networks.values())
    rows = []
    for method, entry in study.content["methods"].items():
        network = networks[method]
        grid = entry.get("grid", {}).items()
        tried = "; ".join(f"{name} {', '.join(map(str, values))}" for name, values in grid)
        rows.append((
            f"`{method}`",
            load_learner(study.learner(method)).title,
            *([f"`{network}`" if network else "–"] if any_network else []),
            escape(tried) or "defaults",
        ))  # fmt: skip
    header = ("method", "learner", *(["built on"] if any_network else []), "values tried")
    return pipe_table(header, rows, "l" * len(header))


def _learners(material: Material) -> Iterator[str]:
    """Yield a paragraph on each learner."""
    study = material.study
    yield heading(2, "The learners")
    for name in dict.fromkeys(map(study.learner, study.methods)):
        learner = load_learner(name)
        summary = " ".join(material.summaries[name].split())
        yield f"**{learner.title}** ({learner.citation}). {summary}"


@dataclass(frozen=True)
class Section:
    """A part of a page: figures and tables under a heading.

    Attributes
    ----------
    title, text : str
        Its heading, and a paragraph below the heading, which may be empty.
    products : list of (str, mapping)
        Entries of the study, each with its list: "figures" or "tables".
    """

    title: str
    text: str
    products: list[tuple[str, Options]]


def sections_of(study: Study) -> list[Section]:
    """Return the sections of a study's page.

    They are those of the key `sections`. A name there stands for the figure and the table of this
    name. What the key does not name comes last, figures before tables.

    Raises
    ------
    InputError
        A section names no table or figure.
    """
    left = {
        kind: {product["name"]: product for product in study.content[kind]}
        for kind in ("figures", "tables")
    }
    sections = []
    for entry in study.content.get("sections", []):
        shown: list[tuple[str, Options]] = []
        for name in entry["show"]:
            products = [(kind, of.pop(name)) for kind, of in left.items() if name in of]
            if not products:
                raise InputError(
                    f"study {study.name}, sections, {entry['title']}: no {name!r} is left among "
                    "the tables and figures."
                )
            shown += products
        sections.append(Section(entry["title"], entry.get("text", ""), shown))
    further = "Further " if sections else ""
    for kind, of in left.items():
        products = [(kind, product) for product in of.values()]
        sections.append(Section((further + kind).capitalize(), "", products))
    return sections


def title_of(product: Options) -> str:
    """Return the title of a table or figure: its own, else the beginning of its caption."""
    if "title" in product:
        return str(product["title"])
    caption = " ".join(product["caption"].replace("`", "").split())
    begin = re.split(r"(?<=\w)[:.;] |[.:]$", caption, maxsplit=1)[0]
    if len(begin) > _LONGEST:
        begin = begin[: _LONGEST + 1].rpartition(" ")[0].rstrip(",") + " …"
    return begin[:1].upper() + begin[1:] if begin else str(product["name"])


def _section(section: Section, material: Material) -> Iterator[str]:
    """Yield figures and tables under a heading."""
    if not section.products:
        return
    yield heading(2, section.title)
    if section.text:
        yield paragraph(section.text)
    for list_name, product in section.products:
        name = product["name"]
        yield heading(3, title_of(product))
        suffix = "png" if list_name == "figures" else "md"
        path = material.folder / list_name / f"{name}.{suffix}"
        if not path.exists():
            yield f"Not made yet: `mnlearn study {material.study.name}` makes it."
        elif list_name == "figures":
            yield f"![{escape(f'Figure: {title_of(product)}')}](figures/{name}.png)"
            yield paragraph(product["caption"])
            yield f"[PDF](figures/{name}.pdf) · {_ORIGIN}"
        else:
            yield read_text(path).strip()
            yield f"[CSV](tables/{name}.csv) · [LaTeX](tables/{name}.tex) · {_ORIGIN}"


def _claims(claims: Sequence[Claim]) -> Iterator[str]:
    """Yield the claims with their verdicts; the counts come first."""
    if not claims:
        return
    yield heading(2, "Claims of the paper")
    yield count_verdicts(claims)
    present = {claim.outcome.verdict for claim in claims}
    yield bullets(f"**{v}**: {escape(text)}." for v, text in LEGEND.items() if v in present)
    for is_setup, title in ((False, "Results"), (True, "Set-up")):
        rows = [_claim_row(claim) for claim in claims if claim.is_setup == is_setup]
        if rows:
            yield heading(3, title)
            yield pipe_table(("no.", "claim", "published", "ours", "verdict"), rows, "rllll")
            yield "[CSV](claims.csv) · [rules and remarks](claims.md)"


def _claim_row(claim: Claim) -> tuple[str, ...]:
    outcome = claim.outcome
    reason = f" ({escape(outcome.reason)})" if outcome.reason else ""
    texts = (claim.statement, claim.published, outcome.ours or "–")
    return (str(claim.id), *map(escape, texts), f"**{outcome.verdict}**{reason}")


def _provenance(material: Material) -> Iterator[str]:
    """Yield where the numbers come from, and the files beside the page."""
    study = material.study
    yield heading(2, _PROVENANCE)
    yield from describe_provenance(material.records)
    paths = [material.folder / "tables" / f"{t['name']}.md" for t in study.content["tables"]]
    n_marked = sum(path.exists() and DAGGER in read_text(path) for path in paths)
    listing = f"`mnlearn study {study.name} --stale`"
    if n_marked:
        yield (
            f"The sign {DAGGER} marks numbers that other code, data or settings made; they are in "
            f"{n_marked} of {len(paths)} tables. {listing} lists these records with what has "
            "changed."
        )
    else:
        yield f"No table had a number of earlier code. {listing} checks it again."
    yield bullets((_commit(material.commit), *_commands(study)))
    yield heading(2, "Files")
    yield bullets(_files(study))


def _commit(commit: str) -> str:
    if commit:
        return f"Commit: all records were made by the code of `{commit}`."
    return "Commit: none is noted for all records; digests of the code tell which code made each."


def _commands(study: Study) -> Iterator[str]:
    """Yield the commands that make the records, and tables and figures from them."""
    yield f"Command: `mnlearn study {study.name}` computes what is missing or not current."
    yield (
        f"From the records alone: `mnlearn study {study.name} --recorded` writes all tables, "
        "figures and pages."
    )
    for kind in ("tables", "figures"):
        products: Sequence[Mapping[str, Any]] = study.content[kind]
        if products:
            command = f"mnlearn step write {study.name} {kind} --only {products[0]['name']}"
            yield f"One of the {kind}: `{command}`."


def _files(study: Study) -> Iterator[str]:
    yield "[`scores.csv`](scores.csv): every number, one a row"
    yield (
        "[`claims.csv`](claims.csv): the claims; with rules and remarks in [`claims.md`](claims.md)"
    )
    for method in study.content.get("appendix", []):
        page = f"appendix/{method}.html"
        yield f"[`{page}`]({page}): every setting of `{method}`"
    yield (
        "`tables/` and `figures/`: each table as CSV, Markdown and LaTeX, each figure as PNG and "
        "PDF; `cells/` and other folders: the records; `tuning/`: every grid point"
    )
    yield (
        "`index.html` and `report.html`, which a run writes and git does not keep: this page in "
        "one file, and the jobs with their run times"
    )
