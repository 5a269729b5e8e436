"""Files with rows of evidence."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.arrangement import describe_order
from mnlearn.data.cell_texts import MISSING_TEXTS, number_of, separator_of
from mnlearn.data.domains import Domain, columns_of, domains_and_columns
from mnlearn.inference.evidence import unknown_variable
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_text, split_lines
from mnlearn.runtime.progress import say

# A cell of a variable that is asked for, beside empty cells and those that are missing.
_ASKED = "*"


class Evidence(NamedTuple):
    """Rows of evidence in a file.

    rows : uint8, shape (n_rows, n_vars). The values; 0 where one is asked for.
    asked : bool, shape (n_rows, n_vars). Which values are asked for.
    first_line : the line of the first row, from 1.
    """

    rows: NDArray[np.uint8]
    asked: NDArray[np.bool_]
    first_line: int


def read_evidence(path: Path, model: Any) -> Evidence:
    """Read rows of evidence from a file whose cells commas, semicolons or tabs separate.

    Parameters
    ----------
    path : Path
        A cell is 0, 1, the name of a state of its variable, yes, no, true or false; or it is *,
        empty or NA if its variable is asked for. The first line may have the names of variables, in
        any order; variables that it does not name are asked for. A first column without a name
        numbers the rows. Without names each line has a cell for every variable.
    model : Model
        Has the variables.

    Raises
    ------
    InputError
        A line has too few or too many cells, or a cell is none of these; or the first line names a
        variable twice, or one that the model does not have.
    """
    lines = split_lines(read_text(path).removeprefix("\ufeff").rstrip(" \r\n"))
    table = [
        _split_cells(line, separator_of(lines), f"{path}, line {number}")
        for number, line in enumerate(lines, start=1)
    ]
    columns: Sequence[Domain | None] = columns_of(model)
    known = domains_and_columns(model)
    has_names = bool(table) and _is_header(table[0], model, known)
    if has_names:
        header = table.pop(0)
        if model.names is not None or all(name in known for name in header):
            columns = _named_columns(header, known, f"{path}, line 1")
        else:
            note = describe_order(model, header)
            if note is not None:
                say(f"{path}, line 1: {note}")
    if not table or table == [[]]:
        raise InputError(f"{path}: holds no evidence.")
    rows = np.zeros((len(table), model.n_vars), np.uint8)
    asked = np.ones((len(table), model.n_vars), bool)
    for row, cells in enumerate(table):
        where = f"{path}, line {row + 1 + has_names}"
        if len(cells) != len(columns):
            raise InputError(f"{where}: expected {len(columns)} values, got {len(cells)}.")
        for domain, cell in zip(columns, cells, strict=True):
            if domain is None:
                continue
            state = domain.find_state(cell)
            if state is None and _is_asked(cell):
                continue
            if state is None:
                states = ", ".join(domain.states)
                raise InputError(f"{where}: expected {states} or *, got {cell!r}.")
            for c, value in domain.literals(state).items():
                rows[row, c], asked[row, c] = value, False
    return Evidence(rows, asked, 1 + has_names)


def _split_cells(line: str, separator: str, where: str) -> list[str]:
    reader = csv.reader([line], delimiter=separator, skipinitialspace=separator == ",", strict=True)
    try:
        return [cell.strip() for cell in next(reader, [])]
    except csv.Error as error:
        raise InputError(f"{where}: is not CSV: {error}.") from error


def _is_asked(cell: str) -> bool:
    return cell == _ASKED or cell.lower() in MISSING_TEXTS


def _is_header(cells: Sequence[str], model: Any, known: Mapping[str, Domain]) -> bool:
    """Tell whether a line has names: those of the model, or no cell that a row could have."""
    given = [cell for cell in cells if cell]
    # Variables may be called 0 and 1, but a line of numbers alone is a row.
    only_numbers = all(number_of(cell) is not None for cell in given)
    if model.names is not None and not only_numbers and all(cell in known for cell in given):
        return True
    if not cells or any(_is_asked(cell) or number_of(cell) is not None for cell in cells):
        return False
    columns = columns_of(model)
    if len(cells) != len(columns):
        return True
    states = [domain.find_state(cell) for domain, cell in zip(columns, cells, strict=True)]
    return all(state is None for state in states)


def _named_columns(
    names: Sequence[str], known: Mapping[str, Domain], where: str
) -> list[Domain | None]:
    """Return the variables that a header names; None for a column of row numbers."""
    out: list[Domain | None] = []
    taken: set[int] = set()
    for k, name in enumerate(names):
        if k == 0 and not name:
            out.append(None)
            continue
        if name not in known:
            raise unknown_variable(known, name, where)
        if taken.intersection(known[name].columns):
            raise InputError(f"{where}: names the variable {name!r} twice.")
        taken.update(known[name].columns)
        out.append(known[name])
    return out
