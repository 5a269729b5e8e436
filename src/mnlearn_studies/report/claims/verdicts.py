"""Verdicts on claims, and the rules that give a verdict to counts and ratios."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from mnlearn.runtime.names import counted
from mnlearn_studies.report.markdown import bullets, escape, heading
from mnlearn_studies.report.tables.formats import to_markdown
from mnlearn_studies.report.tables.table import Cell, Row, Table

REPRODUCED = "reproduced"
MORE = "holds more strongly"
SMALLER = "holds here, smaller effect"
CONTRADICTED = "contradicted"
FASTER = "faster here"
NOISE = "within the noise"
SLIP = "the paper contradicts itself"
BEYOND = "beyond the paper"
SETUP = "set-up"
UNKNOWN = "cannot be checked"

LEGEND = {
    REPRODUCED: "our number agrees with the published one within the tolerance of the rule",
    MORE: "our number differs from the published one in the direction of the statement",
    SMALLER: "the statement is true here, but with a smaller effect than published",
    CONTRADICTED: "our number is outside the tolerance and does not support the statement",
    FASTER: "the paper reports a long time, and we need less",
    NOISE: (
        "the times of repeated runs are so far apart that another verdict could be the true one"
    ),
    SLIP: "our number does not support the statement, nor does another place in the papers",
    BEYOND: "a comparison of ours; in brackets the verdict of the rule, which is not counted",
    SETUP: ("a setting, not a result; `deviates` tells that this study or the data depart from it"),
    UNKNOWN: "a method, a score or a measurement is missing",
}

# Verdicts that pages count together.
GROUPS = {
    "supported": (REPRODUCED, MORE),
    "faster here": (FASTER,),
    "smaller effect": (SMALLER,),
    "contradicted": (CONTRADICTED,),
    "paper contradicts itself": (SLIP,),
    "not checked": (UNKNOWN, NOISE),
}

# Number of datasets by which a count may differ; 0 where the paper says all or none.
COUNT_TOLERANCE = 1
# Share of the published value by which a ratio or a time may differ.
RATIO_TOLERANCE = 0.1
# The smallest share of the datasets that `often` means.
OFTEN = 1 / 3

WORDS = {
    "some": "at least one",
    "often": "at least a third",
    "most": "more than half",
    "all": "every one",
    "not all": "not every one",
}


@dataclass(frozen=True)
class Outcome:
    """What our numbers say about a claim: a verdict, which is a key of LEGEND, and our number.

    difference : our number minus the published one, where both are single numbers. reason : why the
    claim cannot be checked, or how a set-up deviates. n_datasets : those behind the verdict. p :
    that of a test, without a correction.
    """

    verdict: str
    ours: str = ""
    difference: str = ""
    reason: str = ""
    n_datasets: int | None = None
    p: float | None = None


def graded(near: bool, *, more: bool = False, smaller: bool = False) -> str:
    """Return `reproduced` if our number is near, else by which of the others holds first."""
    if near:
        return REPRODUCED
    if more:
        return MORE
    return SMALLER if smaller else CONTRADICTED


def count_verdict(
    count: int, total: int, published: float | str, chance: float, *, direction: str = "more"
) -> str:
    """Return the verdict on a count of ours among `total` datasets.

    published : a count, or a key of WORDS. chance : the expected share of the datasets if all
    methods are equally good. direction : which counts support the statement.
    """
    if isinstance(published, str):
        return _word_verdict(count, total, published)
    tolerance = 0 if published in (0, total) else COUNT_TOLERANCE
    sign = {"more": 1, "fewer": -1, "neither": 0}[direction]
    return graded(
        abs(count - published) <= tolerance,
        more=sign * count > sign * published,
        smaller=sign * count > sign * chance * total,
    )


def _word_verdict(count: int, total: int, word: str) -> str:
    holds = {
        "some": count > 0,
        "often": count >= OFTEN * total,
        "most": 2 * count > total,
        "all": count == total,
        "not all": count < total,
    }[word]
    return graded(holds, smaller=word == "all" and 2 * count > total)


def ratio_verdict(ours: float, published: float) -> str:
    """Return the verdict on a ratio; a ratio of 1 means no effect."""
    sign = 1 if published > 1 else -1
    near = abs(ours / published - 1) <= RATIO_TOLERANCE
    return graded(near, more=sign * ours > sign * published, smaller=sign * ours > sign)


@dataclass(frozen=True)
class Claim:
    """A claim of a study, see `study.content.ClaimEntry`, with its outcome.

    title, rule : name of the rule, and which verdict a claim gets when. brief : the title, the
    tolerance and the options.
    """

    id: int
    kind: str
    statement: str
    published: str
    outcome: Outcome
    brief: str
    title: str
    rule: str
    is_setup: bool
    note: str
    cause: str

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
        parts.append(f"{counted(len(results), 'result')}: {'; '.join(_count_groups(results))}.")
    if setup:
        unknown = sum(o.verdict != SETUP for o in setup)
        deviating = sum(o.verdict == SETUP and bool(o.reason) for o in setup)
        shown = f"{len(setup) - deviating - unknown} followed"
        shown += f"; {deviating} from which this study deviates" if deviating else ""
        shown += f"; {unknown} that cannot be checked" if unknown else ""
        parts.append(f"{counted(len(setup), 'set-up claim')}, which are not results: {shown}.")
    return "\n\n".join(parts)


def _count_groups(verdicts: Sequence[str]) -> Iterator[str]:
    """Yield how many verdicts are in each group, as indexes count them, and which they are."""
    for group, of_group in {**GROUPS, BEYOND: (BEYOND,)}.items():
        found = [verdict for verdict in of_group if verdict in verdicts]
        counts = ", ".join(f"{verdicts.count(verdict)} *{verdict}*" for verdict in found)
        if found == [group]:
            yield counts
        elif found:
            yield f"{sum(map(verdicts.count, found))} {group} ({counts})"


def _table(claims: Sequence[Claim]) -> Table:
    columns = ("id", "claim", "published", "ours", "difference", "rule", "verdict", "cause")
    rows = (
        (str(c.id), c.statement, c.published, c.outcome.ours, c.outcome.difference, c.brief,
         c.verdict, c.cause)
        for c in claims
    )  # fmt: skip
    body = tuple(Row(tuple(map(Cell, row))) for row in rows)
    return Table(columns=columns, header=(columns,), alignment="rlllllll", body=body)
