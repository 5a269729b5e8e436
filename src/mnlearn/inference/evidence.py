"""Evidence by the names of variables and of their states, and files with rows of it."""

import csv
import difflib
import io
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.arrangement import describe_order
from mnlearn.data.cell_texts import MISSING_TEXTS, number_of, separator_of
from mnlearn.data.domains import (
    BINARY,
    Domain,
    columns_of,
    domains_and_columns,
    domains_of,
    states_of,
)
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_text, split_lines
from mnlearn.runtime.progress import say


def find_literals(
    domains: Mapping[str, Domain], name: str, state: Any, where: str
) -> dict[int, int]:
    """Return the values of the columns of a variable in a state; see `Domain.find_state`.

    Raises
    ------
    InputError
        There is no such variable or state; the sentence begins with `where`.
    """
    if name not in domains:
        raise unknown_variable(domains, name, where)
    domain = domains[name]
    found = domain.find_state(state)
    if found is None:
        got = "nothing" if state == "" else repr(state)
        raise InputError(
            f"{where}, variable {name!r}: expected one of {', '.join(domain.states)}, got {got}."
        )
    return domain.literals(found)


def unknown_variable(names: Iterable[str], name: str, where: str) -> InputError:
    """Return the refusal of a name that no variable has, with the names that are like it."""
    known = list(names)
    like = difflib.get_close_matches(name, known, 3)
    listed = ", ".join(map(repr, like or known[:8]))
    kind = "the most similar" if like else "the first"
    return InputError(f"{where}: there is no variable {name!r}; {kind} names are {listed}.")


def parse_evidence(
    text: str, model: Any, where: str = "evidence"
) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Return the row of evidence that a person writes, and which columns are not known.

    Parameters
    ----------
    text : str
        `variable=state`, or several with commas between them.
    model : Model
        Has the variables.
    where : str
        Beginning of messages.

    Raises
    ------
    InputError
        An item names no variable or none of its states, or a variable is named twice.
    """
    domains = domains_and_columns(model)
    row, asked = np.zeros((1, model.n_vars), np.uint8), np.ones((1, model.n_vars), bool)
    items = _items(text, where)
    for item in items:
        name, state = _split(item.strip(), domains, where, several=len(items) > 1)
        literals = find_literals(domains, name, state, where)
        if not asked[0, list(literals)].all():
            raise InputError(f"{where}: names the variable {name!r} twice.")
        for c, value in literals.items():
            row[0, c], asked[0, c] = value, False
    return row, asked


def _items(text: str, where: str) -> list[str]:
    """Return the parts of a text between commas; quotes protect commas."""
    try:
        return next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error:
        raise InputError(
            f"{where}: expected one line of variable=state, got {text[:40]!r}."
        ) from None


def _split(
    item: str, domains: Mapping[str, Domain], where: str, *, several: bool
) -> tuple[str, str]:
    """Return the name and the state of an item; names may have `=` themselves."""
    if "=" in item and item in domains:
        name, _, state = item.partition("=")
        # As in a table: with several columns for `age`, those of its other states are 0.
        is_state = name in domains and state in domains[name].states
        return (name, state) if is_state else (item, "1")
    parts = item.split("=")
    for k in range(len(parts) - 1, 0, -1):
        name = "=".join(parts[:k]).strip()
        if name in domains:
            return name, "=".join(parts[k:]).strip()
    if len(parts) < 2 or not parts[0].strip():
        got = repr(item[:40]) if item else "nothing"
        is_part = several and item
        advice = "; an item with a comma in it needs quotes around it" if is_part else ""
        raise InputError(f"{where}: expected variable=state, got {got}{advice}.")
    return parts[0].strip(), "=".join(parts[1:]).strip()


def state_probabilities(
    model: Any, probability: NDArray[np.float64], asked: NDArray[np.bool_]
) -> list[tuple[str, str, float]]:
    """Return the variable, state and probability of each state of what is not known.

    Parameters
    ----------
    model : Model
        Has the variables.
    probability : ndarray of float64, shape (n_vars,)
        P(column = 1 | evidence).
    asked : ndarray of bool, shape (n_vars,)
        Which columns are not known.
    """
    out = []
    for name, domain in domains_of(model).items():
        p, is_open = probability[list(domain.columns)], asked[list(domain.columns)]
        if len(p) == 1:
            p, is_open = np.array([1.0 - p[0], p[0]]), is_open.repeat(2)
        # Evidence may say of some states that the variable is not in them.
        out += [
            (name, state, float(x))
            for state, x, wanted in zip(domain.states, p, is_open, strict=True)
            if wanted
        ]
    return out


def labels_of_answers(model: Any) -> tuple[str, ...] | None:
    """Return what the probabilities of the columns of a model are of: a name, or name=state.

    The state is the second one, if the states have names. None for a model without names.
    """
    if model.names is None:
        return None
    pairs = zip(model.names, states_of(model), strict=True)
    return tuple(name if own == BINARY else f"{name}={own[1]}" for name, own in pairs)


def format_states(found: Sequence[tuple[str, str, float]]) -> str:
    """Return the probabilities of states as CSV text."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["variable", "state", "probability"])
    writer.writerows([name, state, f"{p:.6f}"] for name, state, p in found)
    return text.getvalue()


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
