"""Claims of a paper, each evaluated on our numbers by a rule of its kind.

Each kind is a dataclass in a file of this package, and its fields are its options.
"""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from mnlearn.learning.ising.comparison import holm
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import write_text
from mnlearn_studies.report.claims.evidence import Entry, lacks, sources_in
from mnlearn_studies.report.claims.verdicts import (
    BEYOND,
    CONTRADICTED,
    NOISE,
    SETUP,
    SLIP,
    UNKNOWN,
    Claim,
    Outcome,
    to_csv,
    to_text,
)
from mnlearn_studies.report.material import Material, read_entry
from mnlearn_studies.report.tables.table import significant
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.kinds import load_kinds
from mnlearn_studies.study.reading import place_name

KINDS = {each.kind_name: each for each in load_kinds(__name__, Entry)}


def evaluate(material: Material) -> list[Claim]:
    """Evaluate the claims of a study, in its order; see `read_entry` for what is refused."""
    entries = material.study.content["claims"]
    made = [_evaluate(read_entry(material.study, "claims", e, KINDS), material) for e in entries]
    tests = {k: made[k].outcome.p for k in range(len(made)) if made[k].outcome.verdict != BEYOND}
    family = {k: p for k, p in tests.items() if p is not None}
    family = family if len(family) > 1 else {}
    for k, p in zip(family, holm(list(family.values())), strict=True):
        outcome = made[k].outcome
        shown = f"{outcome.ours}; {significant(p)} by Holm's rule for {len(family)} tests"
        made[k] = dataclasses.replace(made[k], outcome=dataclasses.replace(outcome, ours=shown))
    return made


def _evaluate(entry: Entry, material: Material) -> Claim:
    try:
        outcome = entry.judge(material)
    except InputError as error:
        place = place_name(material.study.name, "claims", dataclasses.asdict(entry))
        error.where = f"{place}, {error.where}"
        raise
    absent = [f"{s.quantity} of {s.method}" for s in sources_in(entry) if lacks(material, s)]
    if outcome.verdict == UNKNOWN and absent:
        reason = f"not in the scores: {', '.join(dict.fromkeys(absent))}"
        outcome = dataclasses.replace(outcome, reason=reason)
    outcome = _settled(entry, outcome)
    n_datasets, rule = len(entry.datasets_in(material)), entry.rule_used
    published = str(entry.published)
    if entry.counts and not isinstance(entry.published, str):
        published += f" of {n_datasets}"
    brief = ", ".join(filter(None, (rule.title, entry.brief(n_datasets))))
    return Claim(
        *(entry.id, entry.kind, entry.statement, published, outcome),
        *(brief, rule.title, rule.text, entry.is_setup, entry.note),
        _cause(entry, outcome),
    )


def _settled(entry: Entry, outcome: Outcome) -> Outcome:
    if outcome.verdict in (UNKNOWN, SETUP):
        return outcome
    if entry.unjudged:
        return dataclasses.replace(
            outcome, verdict=UNKNOWN, difference="", reason=" ".join(entry.unjudged.split())
        )
    if entry.beyond:
        return dataclasses.replace(
            outcome, verdict=BEYOND, reason=f"by the rule: {outcome.verdict}"
        )
    if entry.slip is not None and outcome.verdict == CONTRADICTED:
        return dataclasses.replace(outcome, verdict=SLIP)
    return outcome


def _cause(entry: Entry, outcome: Outcome) -> str:
    """Return why a claim is not supported, and what in the record shows it."""
    if outcome.verdict in (UNKNOWN, NOISE):
        return outcome.reason
    if outcome.verdict == SLIP and entry.slip is not None:
        return f"{entry.slip.here}, but {entry.slip.elsewhere}"
    if outcome.verdict == CONTRADICTED and entry.cause is not None:
        return f"{entry.cause.text} ({'; '.join(entry.cause.shown_by)})"
    return ""


def write_claims(study: Study, made: Sequence[Claim], folder: Path) -> None:
    """Write claims as `claims.md` for readers and `claims.csv` for programs."""
    write_text(folder / "claims.md", to_text(str(study.content["title"]), made))
    write_text(folder / "claims.csv", to_csv(made))
