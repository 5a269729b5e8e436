"""The page of a study: what was asked, how it is measured, what was found, where it comes from."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from mnlearn.methods import load_learner
from mnlearn_studies.records.gather import read_scores
from mnlearn_studies.report.claims.rendering import Claim, count_verdicts
from mnlearn_studies.report.claims.verdicts import LEGEND
from mnlearn_studies.report.document.blocks import (
    Block,
    Bullets,
    Contents,
    Document,
    Grid,
    Heading,
    Link,
    Paragraph,
    Picture,
    make_anchors,
)
from mnlearn_studies.report.document.files import read_claims, read_grid
from mnlearn_studies.report.document.metrics import metrics_of
from mnlearn_studies.report.document.order import Section, sections_of, title_of
from mnlearn_studies.report.document.provenance import describe_provenance
from mnlearn_studies.report.document.spans import Span, Text, marked, plain, to_plain
from mnlearn_studies.report.tables.table import DAGGER
from mnlearn_studies.study.definition import Study

NOTE = "Written by `mnlearn study`; edits are lost."
# That of pages on several studies, which `make readme` writes.
RECORD_NOTE = "Written by `make readme`; edits are lost."


@dataclass(frozen=True)
class Material:
    """What the page of a study is made from.

    Attributes
    ----------
    study : Study
        The study.
    folder : Path
        Its results: tables, figures, claims and scores.
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
    labels: Mapping[str, str]
    summaries: Mapping[str, str]
    records: Mapping[str, Sequence[Path]]
    commit: str


def document_of(material: Material) -> Document:
    """Return the page of a study.

    Raises
    ------
    InputError
        A file of the results is missing or malformed, or a section names no table or figure.
    """
    study = material.study
    title = to_plain(plain(study.content["title"]))
    claims = read_claims(material.folder / "claims.csv")
    blocks: list[Block] = [Heading(1, title)]
    if claims:
        counts = count_verdicts(claims).split("\n\n")[0]
        blocks.append(Paragraph(marked(f"Claims of the paper: {counts}"), lead=True))
    blocks += [Contents(), *_question(material), *_measures(material), *_learners(material)]
    for section in sections_of(study):
        blocks += _section(section, material)
    blocks += _claims(claims)
    blocks += _provenance(material)
    return Document(title, tuple(blocks), NOTE)


def _question(material: Material) -> Iterator[Block]:
    """Yield what was asked: the paper, the datasets and the rows of the tables."""
    study = material.study
    yield Heading(2, "What was asked")
    yield Paragraph((Span("Paper:", "bold"), Span(" "), *plain(study.content["paper"])))
    names = ", ".join(material.labels.get(name, name) for name in study.bases)
    count = "1 dataset:" if len(study.bases) == 1 else f"{len(study.bases)} datasets:"
    yield Paragraph((Span(count, "bold"), Span(" "), *plain(f"{names}.")))
    yield Paragraph(
        marked(
            "**Methods.** Each method is a learner with the values of its hyperparameters that are "
            "tried. The values with the best score on the validation set are chosen. All scores on "
            "this page are of the test set, unless a caption says otherwise."
        )
    )
    yield _methods(study)


def _methods(study: Study) -> Grid:
    """Return the table of methods; networks have a column if a method builds on one."""
    methods = study.content["methods"]
    networks = [study.network(method) for method in methods]
    built_on = ["built on"] if any(networks) else []
    rows = []
    for (method, entry), network in zip(methods.items(), networks, strict=True):
        source = (Span(network, "code"),) if network else plain("–")
        rows.append((
            (Span(method, "code"),),
            plain(load_learner(study.learner(method)).title),
            *(source for _ in built_on),
            plain(_values(entry.get("grid", {})) or "defaults"),
        ))  # fmt: skip
    header = ("method", "learner", *built_on, "values tried")
    return Grid(tuple(map(plain, header)), "l" * len(header), tuple(rows))


def _values(grid: Mapping[str, Sequence[Any]]) -> str:
    return "; ".join(f"{name} {', '.join(map(str, values))}" for name, values in grid.items())


def _measures(material: Material) -> Iterator[Block]:
    """Yield a paragraph on each metric."""
    scores = read_scores(material.folder / "scores.csv")
    yield Heading(2, "How it is measured")
    for metric in metrics_of(material.study, dict.fromkeys(scores["quantity"])):
        yield Paragraph((Span(f"{metric.name}.", "bold"), Span(" "), *marked(metric.text)))


def _learners(material: Material) -> Iterator[Block]:
    """Yield a paragraph on each learner."""
    study = material.study
    yield Heading(2, "The learners")
    for name in dict.fromkeys(map(study.learner, study.methods)):
        learner = load_learner(name)
        head = (Span(learner.title, "bold"), Span(f" ({learner.citation}). "))
        yield Paragraph((*head, *marked(material.summaries[name])))


_SUFFIXES = {"figures": "png", "tables": "md"}
_PROVENANCE = "Where the numbers come from"
_ORIGIN = Link("commit and command", f"#{make_anchors([_PROVENANCE])[0]}")


def _section(section: Section, material: Material) -> Iterator[Block]:
    """Yield figures and tables under a heading."""
    if not section.products:
        return
    yield Heading(2, section.title)
    if section.text:
        yield Paragraph(plain(section.text))
    for list_name, product in section.products:
        name, caption = product["name"], plain(product["caption"])
        yield Heading(3, title_of(product))
        path = material.folder / list_name / f"{name}.{_SUFFIXES[list_name]}"
        if not path.exists():
            yield Paragraph(
                marked(f"Not made yet: `mnlearn study {material.study.name}` makes it.")
            )
        elif list_name == "figures":
            links = (Link("PDF", f"figures/{name}.pdf"), _ORIGIN)
            alt = f"Figure: {title_of(product)}"
            yield Picture(path, f"figures/{name}.png", alt, caption, links)
        else:
            grid = read_grid(path)
            yield replace(grid, caption=caption, links=_table_links(name))


def _table_links(name: str) -> tuple[Link, ...]:
    return (
        Link("CSV", f"tables/{name}.csv"),
        Link("LaTeX", f"tables/{name}.tex"),
        Link("sortable", f"pages/{name}.html", html_only=True),
        _ORIGIN,
    )


def _claims(claims: Sequence[Claim]) -> Iterator[Block]:
    """Yield the claims with their verdicts; the counts come first."""
    if not claims:
        return
    yield Heading(2, "Claims of the paper")
    for counts in count_verdicts(claims).split("\n\n"):
        yield Paragraph(marked(counts))
    present = {claim.outcome.verdict for claim in claims}
    yield Bullets(
        tuple(
            (Span(verdict, "bold"), Span(": "), *plain(f"{text}."))
            for verdict, text in LEGEND.items()
            if verdict in present
        )
    )
    links = (
        Link("CSV", "claims.csv"),
        Link("rules and remarks", "claims.md"),
        Link("rules and remarks as a page", "claims.html", html_only=True),
    )
    for setup, title in ((False, "Results"), (True, "Set-up")):
        own = [claim for claim in claims if claim.is_setup == setup]
        if own:
            yield Heading(3, title)
            yield replace(_claims_grid(own), links=links)


def _claims_grid(claims: Sequence[Claim]) -> Grid:
    rows = []
    for claim in claims:
        outcome = claim.outcome
        reason = f"({outcome.reason})" if outcome.reason else ""
        cells = (str(claim.id), claim.statement, claim.published, outcome.ours or "–")
        verdict = (Span(outcome.verdict, "bold"), Span(" "), *plain(reason))
        rows.append((*map(plain, cells), verdict))
    header = ("no.", "claim", "published", "ours", "verdict")
    return Grid(tuple(map(plain, header)), "rllll", tuple(rows))


def _is_marked(table: Path) -> bool:
    """Tell whether a table that has been made has numbers of earlier code."""
    return table.exists() and DAGGER in table.read_text("utf-8")


def _provenance(material: Material) -> Iterator[Block]:
    """Yield where the numbers come from, and the files beside the page."""
    study = material.study
    yield Heading(2, _PROVENANCE)
    yield from describe_provenance(material.records)
    yield Bullets((_commit(material.commit), *_commands(study)))
    marked_tables = [
        product["name"]
        for product in study.content["tables"]
        if _is_marked(material.folder / "tables" / f"{product['name']}.md")
    ]
    listing = f"`mnlearn study {study.name} --stale`"
    if marked_tables:
        yield Paragraph(
            plain(
                f"The sign {DAGGER} marks numbers that other code, data or settings made; they are "
                f"in {len(marked_tables)} of {len(study.content['tables'])} tables. {listing} "
                "lists these records with what has changed."
            )
        )
    else:
        yield Paragraph(plain(f"No table had a number of earlier code. {listing} checks it again."))
    yield Heading(2, "Files")
    yield Bullets(tuple(_files(study)))


def _commit(commit: str) -> Text:
    if not commit:
        return plain(
            "Commit: none is noted for all records; digests of the code tell which code made each."
        )
    return (Span("Commit: all records were made by the code of "), Span(commit, "code"), Span("."))


def _commands(study: Study) -> Iterator[Text]:
    """Yield the commands that make the records, and tables and figures from them."""
    yield marked(f"Command: `mnlearn study {study.name}` computes what is missing or not current.")
    yield marked(
        f"From the records alone: `mnlearn study {study.name} --recorded` writes all tables, "
        "figures and pages."
    )
    for kind in ("tables", "figures"):
        if products := study.content[kind]:
            name = products[0]["name"]
            yield marked(
                f"One of the {kind}: `mnlearn step write {study.name} {kind} --only {name}`."
            )


def _files(study: Study) -> Iterator[Text]:
    yield (Span("scores.csv", "code", "scores.csv"), Span(": every number, one a row"))
    yield (
        Span("claims.csv", "code", "claims.csv"),
        Span(": the claims; with rules and remarks in "),
        Span("claims.md", "code", "claims.md"),
    )
    yield from (
        (
            Span(f"appendix/{method}.html", "code", f"appendix/{method}.html"),
            Span(": every setting of "),
            Span(method, "code"),
        )
        for method in study.content.get("appendix", [])
    )
    yield plain(
        "`tables/` and `figures/`: each table as CSV, Markdown and LaTeX, each figure as PNG and "
        "PDF; `cells/` and other folders: the records; `tuning/`: every grid point"
    )
    yield plain(
        "`index.html` and `report.html`, which a run writes and git does not keep: this page in "
        "one file, and the jobs with their run times"
    )
