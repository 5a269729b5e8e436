"""One table of all claims: what is claimed, the command that checks it, its minutes, its file."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from mnlearn_studies.datasets.sample_names import base_of
from mnlearn_studies.records.files import read_record
from mnlearn_studies.records.seconds import sum_seconds
from mnlearn_studies.report.claims.rendering import Claim
from mnlearn_studies.report.document.blocks import Block, Document, Grid, Heading, Paragraph
from mnlearn_studies.report.document.files import read_claims
from mnlearn_studies.report.document.spans import Span, Text, plain
from mnlearn_studies.report.document.study_page import RECORD_NOTE
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.mentions import named_datasets, named_methods


def build_claims(studies: Mapping[str, Study], results: Path) -> Document:
    """Return the page.

    Parameters
    ----------
    studies : mapping of str to Study
        The studies of papers.
    results : Path
        The folder of the results, which has `claims.csv` and the cells of each study.

    Raises
    ------
    InputError
        The claims of a study are missing or malformed, or a cell is.
    """
    rows = [row for name, study in studies.items() for row in _rows(study, results / name)]
    header = ("study", "claim", "in our words", "verdict", "command", "datasets", "minutes")
    blocks: list[Block] = [
        Heading(1, "From claim to command"),
        Paragraph(
            plain(
                "Every claim of the five papers about results: the command that computes what "
                "checks it, and the minutes that the cells of the methods it names took on one "
                "core on its datasets, search and scoring together; `--datasets` computes some of "
                "them. The minutes are at least so many where a method has no cell in the study. A "
                "dash stands where the claim names no method, or no cell is recorded. The file of "
                "the study has the numbers."
            )
        ),
        Grid(tuple(map(plain, header)), "lrlllrr", tuple(rows)),
    ]
    return Document("From claim to command", tuple(blocks), RECORD_NOTE)


def _rows(study: Study, folder: Path) -> Iterator[tuple[Text, ...]]:
    seconds = _seconds_of_cells(folder)
    entries = {(int(e["id"]), str(e["statement"])): e for e in study.content["claims"]}
    for claim in read_claims(folder / "claims.csv"):
        entry = entries.get((claim.id, claim.statement))
        # The claims were written with an earlier version of the study.
        if claim.is_setup or entry is None:
            continue
        datasets = study.expand(named_datasets(entry, study.datasets))
        methods = named_methods(entry)
        cells = {(dataset, method) for dataset in datasets for method in methods}
        own = {cell: seconds[cell] for cell in cells & set(seconds)}
        has_all = {method for _, method in own} == methods
        n_datasets = len({base_of(dataset) for dataset in datasets})
        yield _row(study.name, claim, n_datasets, _minutes(sorted(own.values()), has_all))


def _seconds_of_cells(folder: Path) -> dict[tuple[str, str], float]:
    """Return the seconds of the search and of scoring, by dataset and method."""
    cells = sorted((folder / "cells").glob("*/*.json"))
    return {
        (path.parent.name, path.stem.partition("@")[0]): sum(sum_seconds([read_record(path)]))
        for path in cells
    }


def _minutes(seconds: Sequence[float], has_all: bool) -> str:
    """Return the minutes of some cells; has_all : whether every method has one."""
    if not seconds:
        return "–"
    minutes = sum(seconds) / 60
    shown = f"{minutes:,.0f}" if minutes >= 10 else f"{minutes:.1f}"
    return shown if has_all else f"at least {shown}"


def _row(name: str, claim: Claim, n_datasets: int, minutes: str) -> tuple[Text, ...]:
    return (
        (Span(name, "code", f"{name}/claims.md"),),
        plain(str(claim.id)),
        plain(claim.statement),
        plain(claim.outcome.verdict),
        (Span(f"mnlearn study {name}", "code"),),
        plain(str(n_datasets)),
        plain(minutes),
    )
