"""Claims of a paper, each evaluated on our numbers by the rule of its kind.

Each kind is a function with its rule in a file of this package; `KINDS` names them.
"""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from mnlearn.runtime.files import write_text
from mnlearn_studies.report.claims.counts import KINDS as COUNT_KINDS
from mnlearn_studies.report.claims.evidence import (
    Entry,
    Evidence,
    Kind,
    absent_sources,
    datasets_of,
)
from mnlearn_studies.report.claims.examples import KINDS as EXAMPLE_KINDS
from mnlearn_studies.report.claims.ratios import KINDS as RATIO_KINDS
from mnlearn_studies.report.claims.rendering import Claim, to_csv, to_text
from mnlearn_studies.report.claims.settings import KINDS as SETTING_KINDS
from mnlearn_studies.report.claims.significance import KINDS as SIGNIFICANCE_KINDS
from mnlearn_studies.report.claims.values import KINDS as VALUE_KINDS
from mnlearn_studies.report.claims.verdicts import UNKNOWN
from mnlearn_studies.report.options import ANYTHING, Keys
from mnlearn_studies.report.products import check_entry
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.published import tidy_scores

# Imported by name, so that digests of this code cover all kinds (see `runtime.code_digest`).
KINDS: dict[str, Kind] = {
    **COUNT_KINDS,
    **RATIO_KINDS,
    **VALUE_KINDS,
    **SIGNIFICANCE_KINDS,
    **EXAMPLE_KINDS,
    **SETTING_KINDS,
}
# Options of every claim; the schema of studies says what they have to be.
COMMON: Keys = dict.fromkeys(("id", "kind", "statement", "published", "datasets", "note"), ANYTHING)


def evaluate(study: Study, scores: pd.DataFrame, published: pd.DataFrame) -> list[Claim]:
    """Evaluate the claims of a study, in its order.

    Parameters
    ----------
    study : Study
        The study, which states the claims.
    scores : pandas.DataFrame
        As `study.gather.gather` returns them, or as read from its CSV.
    published : pandas.DataFrame
        See `study.published.load_published`.

    Raises
    ------
    InputError
        A claim is of an unknown kind, or its options are not what its kind reads.
    """
    own = tidy_scores(scores[scores["study"] == study.name])
    evidence = Evidence(study, own, published)
    return [_evaluate(entry, evidence) for entry in study.content["claims"]]


def _evaluate(entry: Entry, evidence: Evidence) -> Claim:
    check_entry(evidence.study, "claims", entry, KINDS, COMMON)
    kind = KINDS[entry["kind"]]
    outcome = kind.evaluate(entry, evidence)
    absent = absent_sources(entry, evidence)
    if outcome.verdict == UNKNOWN and absent:
        outcome = dataclasses.replace(outcome, reason=f"not in the scores: {', '.join(absent)}")
    datasets = datasets_of(entry, evidence)
    published = str(entry["published"])
    if entry["kind"] in COUNT_KINDS and not isinstance(entry["published"], str):
        published += f" of {len(datasets)}"
    return Claim(
        int(entry["id"]),
        str(entry["kind"]),
        str(entry["statement"]),
        published,
        outcome,
        ", ".join(filter(None, (kind.title, kind.brief({**entry, "datasets": datasets})))),
        kind.title,
        kind.rule,
        kind.is_setup,
        str(entry.get("note", "")),
    )


def write_claims(study: Study, made: Sequence[Claim], folder: Path) -> None:
    """Write claims as `claims.md` for readers and `claims.csv` for programs."""
    write_text(folder / "claims.md", to_text(str(study.content["title"]), made))
    write_text(folder / "claims.csv", to_csv(made))
