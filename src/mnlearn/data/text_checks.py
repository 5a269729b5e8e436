"""What the cells of a text file say of its form, before they are columns of variables."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from mnlearn.data.columns import Column
from mnlearn.data.rules import Rules
from mnlearn.runtime.errors import InputError
from mnlearn.variables.matching import number_of, shorten

# Of fewer rows nothing is said of the values of the first line.
_FEWEST_BELOW = 5
# What is in few words and numbers.
_MARK = re.compile(r"""[^\w.+\-<>=%'"]""")
# So many digits in each line are the answers of a person, without separators.
_DIGITS = re.compile(r"\d{3,}")


class Cells(NamedTuple):
    """The cells of a table: the names of its columns, its rows, and the line of each."""

    header: list[str] | None
    rows: list[list[str]]
    lines: list[int]


def refuse_one_column(columns: Sequence[Column], rules: Rules, path: Path) -> None:
    """Refuse one column of texts that other signs than the usual ones seem to divide."""
    said = {*rules.columns, *rules.keep, *rules.states, *rules.cut}
    if len(columns) > 1 or columns[0].name in said:
        return
    marked = [text for text in columns[0].values if _MARK.search(text)]
    if 2 * len(marked) > len(columns[0].values):
        raise InputError(
            f"has one column, with cells such as {shorten(marked[0])}; expected commas, "
            "semicolons, tabs or spaces between cells.",
            where=path,
            advice=f"a first line sep=| names another separator, {rules.option('baskets')} reads "
            f"lists of items, and {rules.write('keep', columns[0].name)} says that it is one "
            "variable",
        )


def refuse_new_values(cells: Cells, where: str) -> None:
    """Refuse a first line that has names, of which some are numbers, or that counts columns."""
    if cells.header is not None or len(cells.rows) <= _FEWEST_BELOW:
        return
    first = cells.rows[0]
    below = [set(column) for column in zip(*cells.rows[1:], strict=True)]
    new = [cell not in others for cell, others in zip(first, below, strict=True)]
    counted = [list(map(str, range(k, k + len(first)))) for k in (0, 1)]
    if len(first) > 1 and (all(new) or (first in counted and any(new))):
        raise InputError(
            f"has values that stand in no line below, such as {shorten(first[new.index(True)])}.",
            where=where,
            line=cells.lines[0],
            advice="if they are the names of the columns, write each of them in quotation marks; "
            "if they are an example, add a line of names above it",
        )


def refuse_names_again(cells: Cells, where: str) -> None:
    """Refuse a line that has the names of the columns again; numbers may be names and states."""
    header = cells.header or []
    if len(header) < 2 or any(number_of(name) is not None for name in header):
        return
    for row, line in zip(cells.rows, cells.lines, strict=True):
        if row == cells.header:
            raise InputError(
                "has the names of the columns again; delete the line.",
                where=where,
                line=line,
                advice="if the first line is an example, add a line of names above it",
            )


def refuse_digits(columns: list[Column], cells: Cells, where: str) -> None:
    """Refuse lines of digits, of which each is the answer to a question."""
    texts = columns[0].values if len(columns) == 1 else []
    texts = texts if cells.header is None else [*texts, cells.header[0]]
    if len(texts) > 1 and len(set(map(len, texts))) == 1 and all(map(_DIGITS.fullmatch, texts)):
        raise InputError(
            f"{where}: each line has {len(texts[0])} digits and no separator, such as "
            f"{texts[0]!r}; expected cells separated by commas, semicolons, tabs or spaces."
        )
