"""Render claims: Markdown for readers, CSV for programs."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from mnlearn_studies.report.claims.verdicts import LEGEND, SETUP, Outcome
from mnlearn_studies.report.markdown import bullets, escape, heading
from mnlearn_studies.report.tables.formats import to_markdown
from mnlearn_studies.report.tables.table import Cell, Row, Table


@dataclass(frozen=True)
class Claim:
    """A claim of a study, see `study.content.ClaimEntry`, with its outcome.

    title, rule : name of the rule, and which verdict a claim gets when. brief : the title, the
    tolerance and the options. is_setup : whether the claim is about the set-up and not about a
    result. cause : why it is not supported, and what shows that.
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
    cause: str = ""

    @property
    def verdict(self) -> str:
        """The verdict with its reason, unless this is the cause."""
        reason = self.outcome.reason
        return self.outcome.verdict + (f" ({reason})" if reason and reason != self.cause else "")


def to_csv(claims: Sequence[Claim]) -> str:
    """Return one row per claim."""
    header = "id kind statement published ours verdict difference reason cause n_datasets rule note"
    rows = [
        (c.id, c.kind, c.statement, c.published, c.outcome.ours, c.outcome.verdict,
         c.outcome.difference, c.outcome.reason, c.cause, c.outcome.n_datasets, c.brief, c.note)
        for c in claims
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=header.split(), dtype=object)
    return str(frame.to_csv(index=False, lineterminator="\n"))


def to_text(title: str, claims: Sequence[Claim]) -> str:
    """Return the claims as Markdown: counts, results, set-up, legend, rules and remarks."""
    lines = [heading(1, f"Claims: {title}"), ""]
    if not claims:
        return "\n".join([*lines, "This study states no claims."]) + "\n"
    lines += [count_verdicts(claims), ""]
    for part, of in (("Results", False), ("Set-up", True)):
        shown = [claim for claim in claims if claim.is_setup == of]
        lines += [f"## {part}", "", to_markdown(_table(shown))] if shown else []
    titles: dict[str, list[str]] = {}
    for claim in claims:
        titles.setdefault(claim.rule, []).append(claim.title)
    rules = (f"**{', '.join(dict.fromkeys(of))}**: {rule}." for rule, of in titles.items())
    lines += ["## Verdicts", "", explain_verdicts(claims), "", "## Rules", ""]
    lines += ["The column `rule` names the rule of each claim. In full:", "", bullets(rules)]
    remarks = [f"{claim.id}. {escape(claim.note)}" for claim in claims if claim.note]
    if remarks:
        lines += ["", "## Remarks", "", "\n\n".join(dict.fromkeys(remarks))]
    return "\n".join(lines) + "\n"


def explain_verdicts(claims: Sequence[Claim]) -> str:
    """Return a list of the verdicts that some claims got, with what each means."""
    present = {claim.outcome.verdict for claim in claims}
    return bullets(f"**{v}**: {escape(text)}." for v, text in LEGEND.items() if v in present)


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


def _table(claims: Sequence[Claim]) -> Table:
    columns = ("id", "claim", "published", "ours", "difference", "rule", "verdict", "cause")
    rows = (
        (str(c.id), c.statement, c.published, c.outcome.ours, c.outcome.difference, c.brief,
         c.verdict, c.cause)
        for c in claims
    )  # fmt: skip
    body = tuple(Row(tuple(map(Cell, row))) for row in rows)
    return Table(columns=columns, header=(columns,), alignment="rlllllll", body=body)
