"""The page on the whole record: its commit, its machines and versions, and the hours of studies."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mnlearn_studies.records.files import read_record
from mnlearn_studies.records.seconds import sum_seconds
from mnlearn_studies.report.document.blocks import (
    Block,
    Bullets,
    Document,
    Grid,
    Heading,
    Paragraph,
)
from mnlearn_studies.report.document.provenance import machine_lines, made_by
from mnlearn_studies.report.document.spans import Span, Text, marked, plain
from mnlearn_studies.report.document.study_page import RECORD_NOTE


@dataclass(frozen=True)
class StudyRecords:
    """The records of a study: those it has by their kinds, and how many it should have."""

    name: str
    paths: Mapping[str, Sequence[Path]]
    n_planned: int


def build_record(studies: Sequence[StudyRecords], commit: str) -> Document:
    """Return the page.

    Parameters
    ----------
    studies : sequence of StudyRecords
        All studies that are recorded.
    commit : str
        The commit that all records were made at; empty if they were made at several.

    Raises
    ------
    InputError
        A record cannot be read.
    """
    rows: list[tuple[Text, ...]] = []
    made: list[Mapping[str, Any]] = []
    total = [0, 0, 0.0, 0.0]
    for study in studies:
        loaded = {k: [read_record(p) for p in paths] for k, paths in study.paths.items()}
        made += [by for own in loaded.values() for record in own for _, by in made_by(record)]
        n_records = sum(map(len, loaded.values()))
        search, scoring = (x / 3600 for x in sum_seconds(loaded.get("cells", ())))
        counts = (n_records, study.n_planned, search, scoring)
        total = [a + b for a, b in zip(total, counts, strict=True)]
        name: Text = (Span(study.name, "code", f"{study.name}/README.md"),)
        rows.append((name, *_numbers(counts)))
    rows.append((plain("all"), *_numbers(total)))
    header = ("study", "records", "planned", "hours of the search", "hours of scoring")
    blocks: list[Block] = [
        Heading(1, "The record"),
        Paragraph(_commit(commit)),
        Grid(tuple(map(plain, header)), "lrrrr", tuple(rows)),
        Heading(2, "Where it was made"),
        Bullets(tuple(machine_lines(made))),
        Heading(2, "How to make and to check it"),
        Paragraph(
            marked(
                "`make record` computes what is missing or stale of all studies, then the "
                "measurements of `results/bench.csv` and all pages; it goes on where it was "
                "interrupted. `make check-record` lists records that are missing or not current, "
                "and compares tables, figures and pages with those that the records give."
            )
        ),
    ]
    return Document("The record", tuple(blocks), RECORD_NOTE)


def _commit(commit: str) -> Text:
    if not commit:
        return plain(
            "Its records were made at several commits. Tables mark numbers of earlier code with †; "
            "`mnlearn study NAME --stale` says of each record what has changed since."
        )
    return (Span("All records were made by the code of commit "), Span(commit, "code"), Span("."))


def _numbers(counts: Sequence[float]) -> Iterator[Text]:
    n_records, n_planned, search, scoring = counts
    yield from (plain(f"{n_records:,}"), plain(f"{n_planned:,}"))
    yield from (plain(f"{search:.2f}"), plain(f"{scoring:.2f}"))
