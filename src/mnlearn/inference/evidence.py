"""Evidence as people give it, as numbers of states: mappings, rows, texts and files."""

import csv
import difflib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.column_checks import names_people
from mnlearn.data.tables import describe_order
from mnlearn.data.text_checks import Cells
from mnlearn.data.text_lines import tidy_lines
from mnlearn.data.text_tables import rows_of, without_empty
from mnlearn.models.io.suffixes import form_of
from mnlearn.models.io.uai import read_uai_evidence
from mnlearn.runtime.decompression import COMPRESSED
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.file_kinds import kind_of_file
from mnlearn.runtime.files import read_text, split_lines
from mnlearn.variables.frames import as_frame, column_names, is_frame, name_of
from mnlearn.variables.matching import (
    find_state,
    is_missing,
    list_states,
    match_column,
    match_states,
    number_of,
)
from mnlearn.variables.schema import NO_STATE, Schema

# A cell of a variable that is asked for, beside empty cells and those that are missing.
_ASKED = "*"


class Evidence(NamedTuple):
    """What is known of the variables in some rows.

    values : uint8, shape (n_rows, n_vars). Numbers of states; NO_STATE where nothing is known.
    name_row : returns the name of a row, counted from 0, for messages.
    """

    values: NDArray[np.uint8]
    name_row: Callable[[int], str]


def find_variable(schema: Schema, given: Any, argument: str) -> int:
    """Return the number of a variable that is given by its name or number."""
    if isinstance(given, str) or schema.is_named:
        # A variable may be called by a number.
        with suppress(InputError):
            return schema.number(name_of(given))
    if isinstance(given, str):
        like = difflib.get_close_matches(given, schema.names, 3)
        listed = ", ".join(map(repr, like or schema.names[:8]))
        kind = "the most similar" if like else "the first"
        fault = f"there is no variable {given!r}; {kind} names are {listed}."
        raise InputError(f"{argument}: {fault}")
    is_number = isinstance(given, int | np.integer) and not isinstance(given, bool)
    if is_number and 0 <= given < len(schema):
        return int(given)
    expected = f"a name or a number from 0 to {len(schema) - 1}"
    raise InputError(f"{argument}: expected {expected}, got {given!r}.")


def find_variables(schema: Schema, given: Iterable[Any], argument: str) -> list[int]:
    """Return the numbers of different variables; see `find_variable`."""
    found: dict[int, None] = {}
    for each in given:
        v = find_variable(schema, each, argument)
        if v in found:
            raise InputError(f"{argument}: names the variable {schema.names[v]!r} twice.")
        found[v] = None
    return list(found)


def read_mapping(schema: Schema, given: Mapping[Any, Any] | None, argument: str) -> Evidence:
    """Return what a mapping of variables to states says, as one row."""
    items = {} if given is None else dict(given)
    values = np.full((1, len(schema)), NO_STATE, np.uint8)
    found = find_variables(schema, items, argument)
    for v, value in zip(found, items.values(), strict=True):
        where = f"{argument}, variable {schema.names[v]!r}"
        values[:, v] = match_states(schema[v], [value], where)
    return Evidence(values, lambda _: argument)


def read_rows(schema: Schema, rows: Any, argument: str) -> Evidence:
    """Return what rows say: a table of some variables by name, or an array of all in their order.

    Variables without a column, and missing cells, are not known.
    """
    table: Any = as_frame(rows) if is_frame(rows) else _to_array(rows, argument)
    names = column_names(table, schema.names)
    if names is not None and (schema.is_named or set(names) <= set(schema.names)):
        found = find_variables(schema, names, argument)
    elif table.shape[1] == len(schema):
        found = list(range(len(schema)))
    else:
        raise InputError(f"{argument}: expected {len(schema)} columns, got {table.shape[1]}.")
    values = np.full((len(table), len(schema)), NO_STATE, np.uint8)
    name_row = partial("{}, row {}".format, argument)
    for k, v in enumerate(found):
        column = table.iloc[:, k] if is_frame(table) else table[:, k]
        place = partial(_name_cell, name_row, schema.names[v])
        values[:, v] = match_column(schema[v], column, place)
    return Evidence(values, name_row)


def _to_array(rows: Any, argument: str) -> NDArray[Any]:
    try:
        matrix = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows)
    except ValueError:
        raise InputError(f"{argument}: expected rows of equal length.") from None
    if matrix.ndim != 2:
        raise InputError(
            f"{argument}: expected a mapping of variables to states, or rows of states, got "
            f"{type(rows).__name__} of {matrix.ndim} axes."
        )
    return matrix


def parse_evidence(text: str, schema: Schema, where: str) -> Evidence:
    """Return the row of evidence that a person writes: `variable=state`, or several with commas."""
    items = _items(text, where)
    pairs = [_split(item.strip(), schema, where, several=len(items) > 1) for item in items]
    find_variables(schema, [name for name, _ in pairs], where)
    return read_mapping(schema, dict(pairs), where)


def _items(text: str, where: str) -> list[str]:
    """Return the parts of a text between commas; quotes protect commas."""
    try:
        return next(csv.reader([text], skipinitialspace=True), [])
    except csv.Error:
        fault = f"expected one line of variable=state, got {text[:40]!r}."
        raise InputError(f"{where}: {fault}") from None


def _split(item: str, schema: Schema, where: str, *, several: bool) -> tuple[str, str]:
    """Return the name and the state of an item; names may have `=` themselves."""
    parts = item.split("=")
    if len(parts) < 2 or not parts[0].strip():
        got = repr(item[:40]) if item else "nothing"
        is_part = several and item
        advice = "; an item with a comma in it needs quotes around it" if is_part else ""
        raise InputError(f"{where}: expected variable=state, got {got}{advice}.")
    cuts = [("=".join(parts[:k]).strip(), "=".join(parts[k:]).strip()) for k in range(len(parts))]
    name, state = next((cut for cut in reversed(cuts) if cut[0] in schema.names), cuts[1])
    if not state and name in schema.names:
        expected = list_states(schema[name])
        raise InputError(f"{where}, variable {name!r}: expected {expected}, got nothing.")
    return name, state


def read_evidence(path: Path, schema: Schema) -> tuple[Evidence, str | None]:
    """Read rows of evidence from a file whose cells commas, semicolons or tabs separate.

    path : `.uai.evid` and `.uai` have the numbers of variables and states, as the UAI competitions
    give evidence. Else a cell is a state of its variable; or it is *, empty or NA if its variable
    is asked for. The first line may have the names of variables, in any order; variables that it
    does not name are asked for. A first column without a name numbers the rows. Without names each
    line has a cell for every variable.
    """
    if form_of(path) in (".evid", ".uai"):
        return _read_numbers(path, schema), None
    kind = None if path.suffix.lower() in COMPRESSED else kind_of_file(path)
    if kind is not None:
        raise InputError(f"{path}: is {kind[0]}, not a text file; evidence is written as CSV.")
    return _read_table(path, schema)


def _read_table(path: Path, schema: Schema) -> tuple[Evidence, str | None]:
    """Read rows of states; see `read_evidence`."""
    table = list(
        rows_of(tidy_lines(split_lines(read_text(path)), str(path), "evidence"), str(path))
    )
    first, names = table.pop(0) if _is_header(table[0][1], schema) else (1, None)
    if not table:
        raise InputError(f"{path}: holds no evidence.")
    cells = Cells(names, [row for _, row in table], [line for line, _ in table])
    cells = _without_last_separator(cells, schema)
    _check_widths(cells, len(schema), path)
    cells, _ = without_empty(cells, keep_empty=True)
    variables, note = _variables_of(cells, schema, f"{path}, line {first}")
    values = np.full((len(table), len(schema)), NO_STATE, np.uint8)

    def name_row(row: int) -> str:
        return f"{path}, line {cells.lines[row]}"

    for k, v in variables.items():
        column = ["" if row[k] == _ASKED else row[k] for row in cells.rows]
        place = partial(_name_cell, name_row, schema.names[v])
        values[:, v] = match_states(schema[v], column, place)
    return Evidence(values, name_row), note


def _without_last_separator(cells: Cells, schema: Schema) -> Cells:
    """Return cells without the empty one after the last separator of each row.

    A row that is one cell longer than the names may also begin with a name of its own, as R writes
    it; then its first cell is no state of the first variable.
    """
    header = cells.header
    if header is None or header[0] not in schema.names:
        return cells
    first = schema[schema.names.index(header[0])]
    for row in cells.rows:
        is_state = is_missing(row[0]) or row[0] == _ASKED or find_state(first, row[0]) is not None
        if len(row) != len(header) + 1 or row[-1] or not is_state:
            return cells
    return Cells(header, [row[:-1] for row in cells.rows], cells.lines)


def _check_widths(cells: Cells, n_vars: int, path: Path) -> None:
    """Refuse a row that is longer or shorter than the first one, or than the names say."""
    expected = n_vars if cells.header is None else len(cells.header)
    # R does not name the column of the names of rows.
    expected += cells.header is not None and len(cells.rows[0]) == expected + 1
    for line, row in zip(cells.lines, cells.rows, strict=True):
        if len(row) != expected:
            raise InputError(
                f"expected {expected} values, got {0 if row == [''] else len(row)}.",
                where=path,
                line=line,
                advice=f"write {_ASKED} for a variable that is asked for",
            )


def _variables_of(cells: Cells, schema: Schema, where: str) -> tuple[dict[int, int], str | None]:
    """Return the variable of each column, without those that number the rows, and what to say."""
    if cells.header is None:
        return dict(enumerate(range(len(schema)))), None
    names = cells.header if len(cells.header) == len(cells.rows[0]) else ["", *cells.header]
    known = set(schema.names)
    own = [
        k
        for k, name in enumerate(names)
        if name in known or not (names_people(name) or (k == 0 and not name))
    ]
    own_names = [names[k] for k in own]
    if schema.is_named or set(own_names) <= known:
        found = find_variables(schema, own_names, where)
        return dict(zip(own, found, strict=True)), None
    if len(own) != len(schema):
        raise InputError(f"{where}: expected {len(schema)} values, got {len(own)}.")
    note = describe_order(schema, own_names)
    return dict(zip(own, range(len(schema)), strict=True)), note and f"{where}: {note}."


def _read_numbers(path: Path, schema: Schema) -> Evidence:
    """Return the evidence in a file of the UAI competitions, a row for each sample."""
    samples = read_uai_evidence(path, schema)
    values = np.full((len(samples), len(schema)), NO_STATE, np.uint8)
    for row, known in zip(values, samples, strict=True):
        row[list(known)] = list(known.values())
    return Evidence(values, lambda row: f"{path}, sample {row + 1}")


def _name_cell(name_row: Callable[[int], str], name: str, row: int) -> str:
    return f"{name_row(row)}, column {name!r}"


def _is_header(cells: Sequence[str], schema: Schema) -> bool:
    """Tell whether a line has names: those of the schema, or no cell that a row could have."""
    given = [cell for cell in cells if cell]
    # Variables may be called 0 and 1, but a line of numbers alone is a row.
    only_numbers = all(number_of(cell) is not None for cell in given)
    names = set(schema.names)
    are_names = all(cell in names or names_people(cell) for cell in given)
    if schema.is_named and not only_numbers and are_names:
        return True
    is_asked = any(cell == _ASKED or is_missing(cell) for cell in cells)
    if not cells or is_asked or any(number_of(cell) is not None for cell in cells):
        return False
    if len(cells) != len(schema):
        return True
    return all(find_state(v, cell) is None for v, cell in zip(schema, cells, strict=True))
