"""The page of a study: what was asked, how it is measured, what was found, where it comes from."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mnlearn.methods import load_learner
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_text
from mnlearn.runtime.names import counted
from mnlearn.scoring.metrics import METRICS
from mnlearn_studies.datasets.sample_names import base_of
from mnlearn_studies.report.claims.verdicts import Claim, count_verdicts, explain_verdicts
from mnlearn_studies.report.markdown import (
    bullets,
    escape,
    heading,
    list_contents,
    make_anchors,
    page,
    paragraph,
    pipe_table,
)
from mnlearn_studies.report.material import Material, Options
from mnlearn_studies.report.pages.numbers import list_below
from mnlearn_studies.report.pages.overview import describe_provenance
from mnlearn_studies.report.tables.table import DAGGER
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.mentions import named_datasets
from mnlearn_studies.study.reading import walk

_PROVENANCE = "Where the numbers come from"
_ORIGIN = f"[commit and command](#{make_anchors([_PROVENANCE])[0]})"


def build_study_page(
    material: Material,
    claims: Sequence[Claim],
    summaries: Mapping[str, str],
    records: Mapping[str, Sequence[Path]],
    commit: str = "",
) -> str:
    """Return the page of a study, whose tables and figures are in the folder of the material.

    summaries : a paragraph of Markdown on each learner. records : of each kind. commit : that the
    records were made at; empty if they were made at several.
    """
    study = material.study
    title = heading(1, study.content["title"])
    counts = count_verdicts(claims).split("\n\n")[0]
    body = [*_question(material)]
    for section in sections_of(study):
        body += _section(section, material)
    body += [*_claims(claims), *_methods(study, summaries), heading(2, "How it is measured")]
    body += describe_metrics(study, dict.fromkeys(material.scores["quantity"]))
    body += _provenance(material, records, commit)
    lead = [
        *_parts(material),
        *_below(material),
        *([f"Claims of the paper: {counts}"] if counts else []),
    ]
    return page(title, *lead, list_contents([title, *body]), *body)


def _parts(material: Material) -> Iterator[str]:
    bases, shown = material.study.bases, _scored(material, material.study.bases)
    if len(shown) < len(bases):
        missing = (material.label(dataset) for dataset in bases if dataset not in shown)
        yield (
            f"**This page shows a part of the study: {_part_of(shown, bases)}.** Not computed: "
            f"{'; '.join(map(escape, missing))}. `mnlearn study {material.study.name}` computes "
            "what is missing. Tables, figures and counts are of the datasets that are there; a "
            "claim that needs the others cannot be checked."
        )


def _below(material: Material) -> Iterator[str]:
    found = [
        f"`{method}` in {quantity.upper().replace('_', ' ')} on "
        f"{escape(', '.join(map(material.label, datasets)))}"
        for method, quantity, datasets in list_below(material.study, material.scores)
    ]
    if found:
        yield (
            f"**Below independent variables** (`atomic`): {'; '.join(found)}. A comparison with "
            "such a baseline is too easy."
        )


def _scored(material: Material, datasets: Sequence[str]) -> list[str]:
    scored = {name for d in material.scores["dataset"].unique() for name in (d, base_of(d))}
    return [dataset for dataset in datasets if dataset in scored]


def _part_of(shown: Sequence[str], wanted: Sequence[str]) -> str:
    """Return the number of datasets, and of how many they are a part."""
    count = counted(len(wanted), "dataset")
    return count if len(shown) == len(wanted) else f"{len(shown)} of {count}"


def _question(material: Material) -> Iterator[str]:
    study = material.study
    yield heading(2, "What was asked")
    yield f"**Paper:** {escape(study.content['paper'])}"
    shown = _scored(material, study.bases)
    names = escape(", ".join(map(material.label, shown))) or "none yet"
    yield f"**{_part_of(shown, study.bases)}:** {names}."
    yield (
        "All scores on this page are of the test set, unless a caption says otherwise; [how it is "
        "measured](#how-it-is-measured) stands below the results."
    )


def _methods(study: Study, summaries: Mapping[str, str]) -> Iterator[str]:
    yield heading(2, "Methods and learners")
    yield (
        "Each method is a learner with the values of its hyperparameters that are tried. The "
        "values with the best score on the validation set are chosen."
    )
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
    yield pipe_table(header, rows, "l" * len(header))
    for name in dict.fromkeys(map(study.learner, study.methods)):
        learner = load_learner(name)
        summary = " ".join(summaries[name].split())
        yield f"**{learner.title}** ({learner.citation}). {summary}"


@dataclass(frozen=True)
class Section:
    """A part of a page; its products are entries with their list, "figures" or "tables"."""

    title: str
    text: str
    products: list[tuple[str, Options]]


def sections_of(study: Study) -> list[Section]:
    """Return the sections of a study's page: those of its key `sections`, then what is left."""
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


def _section(section: Section, material: Material) -> Iterator[str]:
    if not section.products:
        return
    yield heading(2, section.title)
    if section.text:
        yield paragraph(section.text)
    for list_name, product in section.products:
        name, title = product["name"], str(product.get("title", product["name"]))
        yield heading(3, title)
        suffix = "png" if list_name == "figures" else "md"
        path = material.folder / list_name / f"{name}.{suffix}"
        wanted = named_datasets(product, material.study.bases)
        shown = _scored(material, wanted)
        if not path.exists() or not shown:
            yield f"No results yet: `mnlearn study {material.study.name}` computes them."
            continue
        if len(shown) < len(wanted):
            yield f"**Shown: {_part_of(shown, wanted)}.**"
        if list_name == "figures":
            yield f"![{escape(f'Figure: {title}')}](figures/{name}.png)"
            yield paragraph(product["caption"])
            yield f"[PDF](figures/{name}.pdf) · {_ORIGIN}"
        else:
            yield read_text(path).strip()
            yield f"[CSV](tables/{name}.csv) · [LaTeX](tables/{name}.tex) · {_ORIGIN}"


def _claims(claims: Sequence[Claim]) -> Iterator[str]:
    if not claims:
        return
    yield heading(2, "Claims of the paper")
    yield count_verdicts(claims)
    yield explain_verdicts(claims)
    for is_setup, title in ((False, "Results"), (True, "Set-up")):
        rows = []
        for claim in (claim for claim in claims if claim.is_setup == is_setup):
            ours, verdict = claim.outcome.ours or "–", claim.outcome.verdict
            reason = escape(claim.verdict.removeprefix(verdict))
            texts = map(escape, (claim.statement, claim.published, ours))
            cause = [] if is_setup else [escape(claim.cause) or "–"]
            rows.append((str(claim.id), *texts, f"**{verdict}**{reason}", *cause))
        if rows:
            yield heading(3, title)
            header = ("no.", "claim", "published", "ours", "verdict", "cause")[: len(rows[0])]
            yield pipe_table(header, rows, "rlllll"[: len(rows[0])])
            yield "[CSV](claims.csv) · [rules and remarks](claims.md)"


def _provenance(
    material: Material, records: Mapping[str, Sequence[Path]], commit: str
) -> Iterator[str]:
    study = material.study
    yield heading(2, _PROVENANCE)
    yield from describe_provenance(records)
    paths = [material.folder / "tables" / f"{t['name']}.md" for t in study.content["tables"]]
    n_marked = sum(path.exists() and DAGGER in read_text(path) for path in paths)
    listing = f"`mnlearn study {study.name} --stale`"
    if n_marked:
        yield (
            f"The sign {DAGGER} marks numbers that other code, data or settings made; they are in "
            f"{n_marked} of {counted(len(paths), 'table')}. {listing} lists these records with "
            "what has changed."
        )
    else:
        yield f"No table had a number of earlier code. {listing} checks it again."
    made_at = "none is noted for all records; digests of the code tell which code made each."
    if commit:
        made_at = f"all records were made by the code of `{commit}`."
    yield bullets((f"Commit: {made_at}", *_commands(study)))
    yield heading(2, "Files")
    yield bullets(_FILES)


def _commands(study: Study) -> Iterator[str]:
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


_FILES = (
    "[`scores.csv`](scores.csv): every number, one a row",
    "[`claims.csv`](claims.csv): the claims; with rules and remarks in [`claims.md`](claims.md)",
    "`tables/` and `figures/`: each table as CSV, Markdown and LaTeX, each figure as PNG and "
    "PDF; `cells/` and other folders: the records; `tuning/`: every grid point",
    "`index.html`, which a run writes and git does not keep: this page in one file",
)
# A link to a neighbour of a page.
_LINK = re.compile(r"\[([^\[\]]*)\]\((?![a-z]+:|/)([^()]+)\)")

_INFERENCE = {
    "gibbs": "Gibbs sampling",
    "exact": "enumeration",
    "mcsat": "MC-SAT",
    "bp": "belief propagation",
    "meanfield": "mean field",
}


# What a page explains: its name for readers, how its quantities begin, and one paragraph of
# Markdown, where `{groups}` and `{inference}` stand for settings of a study.
_PARAGRAPHS = (
    # The likelihood first, and the scores of query groups last.
    *(
        (metric.name.upper(), (metric.name,), metric.text)
        for metric in sorted(METRICS, key=lambda metric: (metric.by_group, metric.name != "ll"))
    ),
    (
        "KL divergence",
        ("kl_to",),
        "The Kullback-Leibler divergence of one model from another is the mean, over samples of "
        "the first model, of the difference between their log-probabilities, in nats. It is 0 if "
        "the two distributions are equal.",
    ),
    (
        "Seconds",
        ("seconds", "mean_seconds"),
        "Times are processor seconds of one thread after a warm-up, which leaves out compilation. "
        "They are the median of three runs of the chosen model alone where the study times it, and "
        "those of the search otherwise. Published seconds come from other machines, so only ratios "
        "can be compared.",
    ),
    (
        "Features",
        ("n_features", "mean_length", "n_edges", "n_splits"),
        "The size of a network is its number of features (weighted conjunctions of literals) and "
        "their mean length in literals. The size of a circuit is its number of edges, on which the "
        "time of a query depends.",
    ),
)


def describe_metrics(study: Study, quantities: Iterable[str]) -> list[str]:
    """Return a paragraph of Markdown on each metric of a study.

    Scores are shown if a table or figure names them; seconds and sizes if they are among the
    `quantities` of its scores.
    """
    shown = {q for q in quantities if q.startswith(("seconds", "n_features", "n_edges"))}
    for product in (*study.content["tables"], *study.content["figures"]):
        shown |= {str(options["quantity"]) for _, options in walk(product) if "quantity" in options}
    cmll = study.content["cmll"]
    settings = {
        "groups": cmll["groups"],
        "inference": _INFERENCE[cmll["inference"].get("method", "gibbs")],
    }
    return [
        f"**{name}.** {text.format(**settings)}"
        for name, starts, text in _PARAGRAPHS
        if any(f"{q}_".startswith(f"{start}_") for q in shown for start in starts)
    ]


def summarise(learner: str, docs: Path, linked: bool = True) -> str:
    """Return a paragraph of Markdown on a learner, from its page in `docs` or from its class.

    linked : whether links to `docs` stay; else they are text.
    """
    page = docs / "methods" / f"{learner}.md"
    if not page.exists():
        return (load_learner(learner).__doc__ or "").strip().partition("\n\n")[0]
    # The first line is the title.
    text = read_text(page).partition("\n")[2].strip().partition("\n\n")[0]
    return _LINK.sub(r"[\1](../../docs/methods/\2)" if linked else r"\1", text)
