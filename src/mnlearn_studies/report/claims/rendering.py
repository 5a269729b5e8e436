"""Render claims: Markdown for readers, CSV for programs."""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass

from mnlearn_studies.report.claims.verdicts import LEGEND, SETUP, Outcome
from mnlearn_studies.report.markdown import escape, heading
from mnlearn_studies.report.tables.formats import to_markdown
from mnlearn_studies.report.tables.table import Cell, Row, Table


@dataclass(frozen=True)
class Claim:
    """A claim of a study with its outcome.

    Attributes
    ----------
    id : int
        Number of the claim; several claims from one sentence share it.
    kind : str
        How it is evaluated.
    statement : str
        The claim in our words.
    published : str
        What the paper says.
    outcome : Outcome
        What our numbers say.
    brief : str
        The title of the rule, its tolerance and the options of the claim.
    title : str
        Name of the rule.
    rule : str
        Which verdict a claim gets when.
    is_setup : bool
        Whether the claim is about the set-up and not about a result.
    note : str
        A remark for readers.
    """

    id: int
    kind: str
    statement: str
    published: str
    outcome: Outcome
    brief: str
    title: str
    rule: str
    is_setup: bool = False
    note: str = ""


def to_csv(claims: Sequence[Claim]) -> str:
    """Return one row per claim."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    header = "id kind statement published ours verdict difference reason n_datasets rule note"
    writer.writerow(header.split())
    for claim in claims:
        o = claim.outcome
        n_datasets = "" if o.n_datasets is None else o.n_datasets
        writer.writerow([
            claim.id, claim.kind, claim.statement, claim.published, o.ours, o.verdict,
            o.difference, o.reason, n_datasets, claim.brief, claim.note,
        ])  # fmt: skip
    return text.getvalue()


def to_text(title: str, claims: Sequence[Claim]) -> str:
    """Return the claims as Markdown: counts, results, set-up, legend, rules and remarks."""
    lines = [heading(1, f"Claims: {title}"), ""]
    if not claims:
        return "\n".join([*lines, "This study states no claims."]) + "\n"
    results = [c for c in claims if not c.is_setup]
    setup = [c for c in claims if c.is_setup]
    lines += [count_verdicts(claims), ""]
    if results:
        lines += ["## Results", "", to_markdown(_table(results))]
    if setup:
        lines += ["## Set-up", "", to_markdown(_table(setup))]
    verdicts = {c.outcome.verdict for c in claims}
    lines += ["## Verdicts", ""]
    lines += [
        f"- **{verdict}**: {text}." for verdict, text in LEGEND.items() if verdict in verdicts
    ]
    lines += ["", "## Rules", "", "The column `rule` names the rule of each claim. In full:", ""]
    lines += _rules(claims)
    remarks = [f"{claim.id}. {escape(claim.note)}" for claim in claims if claim.note]
    if remarks:
        lines += ["", "## Remarks", "", "\n\n".join(dict.fromkeys(remarks))]
    return "\n".join(lines) + "\n"


def count_verdicts(claims: Sequence[Claim]) -> str:
    """Return how many results got each verdict, and how many set-up claims this study follows."""
    results = [c.outcome.verdict for c in claims if not c.is_setup]
    setup = [c.outcome for c in claims if c.is_setup]
    parts = []
    if results:
        shown = "; ".join(f"{results.count(v)} *{v}*" for v in LEGEND if v in results)
        parts.append(f"{len(results)} results: {shown}.")
    if setup:
        unknown = sum(o.verdict != SETUP for o in setup)
        deviating = sum(o.verdict == SETUP and bool(o.reason) for o in setup)
        shown = f"{len(setup) - deviating - unknown} followed"
        shown += f"; {deviating} from which this study deviates" if deviating else ""
        shown += f"; {unknown} that cannot be checked" if unknown else ""
        parts.append(f"{len(setup)} set-up claims, which are not results: {shown}.")
    return "\n\n".join(parts)


def _rules(claims: Sequence[Claim]) -> list[str]:
    """Return one line per rule; it begins with the rule's names in the column."""
    titles: dict[str, list[str]] = {}
    for claim in claims:
        names = titles.setdefault(claim.rule, [])
        if claim.title not in names:
            names.append(claim.title)
    return [f"- **{', '.join(names)}**: {rule}." for rule, names in titles.items()]


def _table(claims: Sequence[Claim]) -> Table:
    rows = []
    for claim in claims:
        outcome = claim.outcome
        verdict = outcome.verdict + (f" ({outcome.reason})" if outcome.reason else "")
        texts = (claim.statement, claim.published, outcome.ours, outcome.difference, claim.brief)
        rows.append(Row((Cell(str(claim.id)), *map(Cell, texts), Cell(verdict))))
    columns = ("id", "claim", "published", "ours", "difference", "rule", "verdict")
    return Table(columns=columns, header=(columns,), alignment="rllllll", body=tuple(rows))
