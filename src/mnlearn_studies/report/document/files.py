"""What a page takes from the files of a study's tables and claims."""

import csv
import io
import re
from pathlib import Path

from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_text
from mnlearn_studies.report.claims import KINDS
from mnlearn_studies.report.claims.rendering import Claim
from mnlearn_studies.report.claims.verdicts import Outcome
from mnlearn_studies.report.document.blocks import Grid
from mnlearn_studies.report.document.spans import unescaped

_PIPE = re.compile(r"(?<!\\)\|")


def read_grid(path: Path) -> Grid:
    """Return the table in a Markdown file of `report.tables`, with its notes and no caption.

    Raises
    ------
    InputError
        The file is missing or has no table.
    """
    lines = read_text(path).splitlines()
    places = [number for number, line in enumerate(lines) if line.startswith("|")]
    if len(places) < 2:
        raise InputError(f"{path}: expected a table.")
    header, rule, *body = (_cells(lines[number]) for number in places)
    if any(len(cells) != len(header) for cells in (rule, *body)):
        raise InputError(f"{path}: expected rows of {len(header)} cells.")
    alignment = "".join("r" if cell.endswith(":") else "l" for cell in rule)
    notes = [line for line in lines[places[-1] + 1 :] if line.strip()]
    rows = tuple(tuple(map(unescaped, cells)) for cells in body)
    return Grid(tuple(map(unescaped, header)), alignment, rows, notes=tuple(map(unescaped, notes)))


def _cells(line: str) -> list[str]:
    """Return the cells of a row; a pipe inside a cell has a backslash before it."""
    return [cell.strip() for cell in _PIPE.split(line.strip().removeprefix("|").removesuffix("|"))]


def read_claims(path: Path) -> list[Claim]:
    """Return the claims in a CSV file of `report.claims`.

    Raises
    ------
    InputError
        The file is missing or holds something else.
    """
    try:
        return [_claim(row) for row in csv.DictReader(io.StringIO(read_text(path)))]
    except (KeyError, TypeError, ValueError, csv.Error) as error:
        raise InputError(f"{path}: expected the claims of a study.") from error


def _claim(row: dict[str, str]) -> Claim:
    kind = KINDS[row["kind"]]
    outcome = Outcome(
        row["verdict"],
        row["ours"],
        row["difference"],
        row["reason"],
        int(row["n_datasets"]) if row["n_datasets"] else None,
    )
    return Claim(
        int(row["id"]),
        row["kind"],
        row["statement"],
        row["published"],
        outcome,
        row["rule"],
        kind.title,
        kind.rule,
        kind.is_setup,
        row["note"],
    )
