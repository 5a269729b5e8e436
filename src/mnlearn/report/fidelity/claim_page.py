"""One table of all claims: what is claimed, the command that checks it, its minutes, its file."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pandas as pd

from mnlearn.report.claims.rendering import Claim
from mnlearn.report.document.blocks import Block, Document, Grid, Heading, Paragraph
from mnlearn.report.document.files import read_claims
from mnlearn.report.document.spans import Span, Text, plain
from mnlearn.report.document.study_page import RECORD_NOTE
from mnlearn.study.definition import Study
from mnlearn.study.mentions import named_datasets, named_methods

# The seconds of a cell: the search of all its settings, and the scoring of the chosen model.
_SECONDS = ("seconds_tuning", "seconds_inference")


def build_claims(
    studies: Mapping[str, Study], scores: Mapping[str, pd.DataFrame], results: Path
) -> Document:
    """Return the page.

    Parameters
    ----------
    studies : mapping of str to Study
        The studies of papers.
    scores : mapping of str to pandas.DataFrame
        Scores of each study, see `study.gather.read_scores`.
    results : Path
        The folder of the results, which has `claims.csv` of each study.

    Raises
    ------
    InputError
        The claims of a study are missing or malformed.
    """
    rows = [
        row for name, study in studies.items() for row in _rows(study, scores[name], results / name)
    ]
    header = ("study", "claim", "in our words", "verdict", "command", "datasets", "minutes")
    blocks: list[Block] = [
        Heading(1, "From claim to command"),
        Paragraph(
            plain(
                "Every claim of the five papers about results: the command that computes what "
                "checks it, and the minutes that the cells of the methods it names took on one "
                "core on its datasets, search and scoring together; `--datasets` computes some of "
                "them. A dash stands where the claim names no "
                "method, or no cell is recorded. The file of the study has the numbers."
            )
        ),
        Grid(tuple(map(plain, header)), "lrlllrr", tuple(rows)),
    ]
    return Document("From claim to command", tuple(blocks), RECORD_NOTE)


def _rows(study: Study, scores: pd.DataFrame, folder: Path) -> Iterator[tuple[Text, ...]]:
    seconds = scores[(scores["variant"] == "") & scores["quantity"].isin(_SECONDS)]
    entries = {(int(e["id"]), str(e["statement"])): e for e in study.content["claims"]}
    for claim in read_claims(folder / "claims.csv"):
        entry = entries.get((claim.id, claim.statement))
        # The claims were written with an earlier version of the study.
        if claim.is_setup or entry is None:
            continue
        datasets = named_datasets(entry, study.datasets)
        own = seconds[
            seconds["method"].isin(named_methods(entry)) & seconds["dataset"].isin(datasets)
        ]
        yield _row(study.name, claim, len(datasets), own["value"])


def _row(name: str, claim: Claim, n_datasets: int, seconds: Sequence[float]) -> tuple[Text, ...]:
    minutes = float(sum(seconds)) / 60
    shown = f"{minutes:,.0f}" if minutes >= 10 else f"{minutes:.1f}"
    return (
        (Span(name, "code", f"{name}/claims.md"),),
        plain(str(claim.id)),
        plain(claim.statement),
        plain(claim.outcome.verdict),
        (Span(f"mnlearn study {name}", "code"),),
        plain(str(n_datasets)),
        plain(shown if len(seconds) else "–"),
    )
