"""Examples of people: files as pandas, R and people write them, with or without missing cells."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from mnlearn.data.arrangement import arrange_columns, arrange_dataset
from mnlearn.data.cell_texts import RawColumn
from mnlearn.data.dataset import Dataset, load_npz, merge_rows
from mnlearn.data.incomplete import MISSING, IncompleteData, merge_cells
from mnlearn.data.reading import (
    OPTIONS,
    Place,
    Reading,
    read_columns,
    reading_of,
    unmatched_na,
)
from mnlearn.data.text import (
    TextTable,
    check_rows,
    columns_of,
    decode_text,
    has_quoted_numbers,
    parse_lines,
    parse_plain,
)
from mnlearn.runtime.decompression import DEFAULT_LIMIT, ExpansionLimit, read_limited
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import split_lines
from mnlearn.runtime.names import check_names
from mnlearn.runtime.progress import say
from mnlearn.variables.schema import binary_schema


class Examples(NamedTuple):
    """Data that were read, and how data of the same variables are read in the same way."""

    data: Dataset | IncompleteData
    reading: Reading
    # What is wrong with a file without names that is read as one with missing cells.
    fault: InputError | None = None
    # The line of a text file that has the first example; None for other files.
    first_line: int | None = None

    def name_row(self, where: Path | str, example: int, complete: bool = False) -> str:
        """Return the place of an example, for messages.

        Parameters
        ----------
        where : path-like
            The file.
        example : int
            Number of the example, from 0.
        complete : bool
            Whether the number counts only examples without a missing cell.
        """
        if complete and isinstance(self.data, IncompleteData):
            example = int(np.flatnonzero((self.data.values != MISSING).all(axis=1))[example])
        if self.first_line is None:
            return f"{where}, row {example + 1}"
        return f"{where}, line {self.first_line + example}"

    def complete(self, where: Path | str, advice: str | None = None) -> Dataset:
        """Return the data if no cell is missing.

        Parameters
        ----------
        where : path-like
            The file.
        advice : str, optional
            What can be done about missing cells; to drop them or fill them in, if not given.

        Raises
        ------
        InputError
            A cell is missing; the sentence begins with `where`.
        """
        if isinstance(self.data, Dataset):
            return self.data
        if self.fault is not None and advice is None:
            raise self.fault
        if advice is None:
            option = self.reading.option("missing")
            advice = f"drop them or fill them in, with {option} or mnlearn impute"
        row, column = np.argwhere(self.data.values == MISSING)[0]
        name = column + 1 if self.data.names is None else repr(self.data.names[column])
        raise InputError(
            f"{self.name_row(where, int(row))}, column {name}: is missing, and "
            f"{self.data.n_with_missing} of {len(self.data.row_of)} examples have missing cells; "
            f"{advice}."
        )


def load_dataset(
    path: Path | str, limit: ExpansionLimit = DEFAULT_LIMIT, reading: Reading | None = None
) -> Dataset:
    """Read complete examples from a file; see `load_examples`.

    Raises
    ------
    InputError
        See `load_examples`; or a cell is missing.
    """
    return load_examples(path, limit, reading).complete(path)


def load_examples(
    path: Path | str, limit: ExpansionLimit = DEFAULT_LIMIT, reading: Reading | None = None
) -> Examples:
    """Read examples by suffix: `.npz`, else text with or without a header.

    `.gz` and `.xz` of the text forms are read as well. A first line without any number in it is a
    header; numbers in quotation marks are names too. Besides 0 and 1, files may have 0.0 and 1.0,
    True and False, yes and no, 1 and 2 (2 counts as 1), and missing cells. A first column of row
    numbers or a column of ids is left out. Commas, semicolons or tabs separate cells; see
    `separator_of`.

    Parameters
    ----------
    path : path-like
        The file.
    limit : ExpansionLimit
        How far a compressed file may expand.
    reading : Reading, optional
        What a person says about the values.

    Raises
    ------
    InputError
        The file is missing, truncated, ragged, empty or not binary, or expands beyond the limit;
        or a column could be read in two ways. The sentence names the line or column.
    """
    path, reading = Path(path), Reading() if reading is None else reading
    if path.suffix.lower() == ".npz":
        _refuse_options(path, reading)
        data = arrange_dataset(load_npz(path, limit), reading.names)
        if not data.n_rows:
            raise InputError(f"{path}: holds no examples.")
        return Examples(data, replace(reading, names=data.names))
    content = read_limited(path, limit)
    matrix = parse_plain(content) if reading.is_plain() else None
    if matrix is not None:
        return Examples(merge_rows(matrix), reading, first_line=1)
    return _read_lines(path, list(split_lines(_decode(content, path))), reading)


def load_labelled(
    path: Path, column: str, limit: ExpansionLimit, reading: Reading
) -> tuple[Examples, list[str]]:
    """Read examples from a text file, and the cells of one column, which is no variable.

    Raises
    ------
    InputError
        The file cannot be read as a table with names, or there is no such column; see also
        `load_examples`.
    """
    if path.suffix.lower() == ".npz":
        raise InputError(f"{path}: expected a text file; the column {column!r} has texts.")
    lines = list(split_lines(_decode(read_limited(path, limit), path)))
    table = columns_of(lines)
    if table is None:
        check_rows(lines, str(path))
    if table is None or not table.has_names:
        raise InputError(f"{path}: expected a table whose first line has names of columns.")
    for found in table.columns:
        if found.name == column:
            texts = [found.texts[code] for code in found.codes.tolist()]
            others = replace(reading, leave_out=(*reading.leave_out, column))
            return _read_lines(path, lines, others), texts
    listed = ", ".join(found.name for found in table.columns)
    raise InputError(f"{path}: there is no column {column!r}; the columns are {listed}.")


def _read_lines(path: Path, lines: list[str], reading: Reading) -> Examples:
    """Read lines of 0 and 1 as they are, and others as a table."""
    fault = None
    # Quoted numbers are names, which a reader of 0 and 1 takes for values.
    if reading.is_plain() and not has_quoted_numbers(lines):
        try:
            data = parse_lines(path, list(lines))
        except InputError as error:
            # Not 0 and 1 as they are; perhaps True and False, 1.0, or a column of row numbers.
            table, fault = columns_of(lines), error
            if table is None:
                check_rows(lines, str(path))
                raise
        else:
            own = reading if data.names is None else replace(reading, names=data.names)
            table = None
            if reading.names not in (None, own.names):
                table = columns_of(lines)
            elif _may_number_rows(data):
                table = columns_of(lines[:3])
            if table is None:
                return Examples(data, own, first_line=1 if data.names is None else 2)
    else:
        table = columns_of(lines)
        if table is None:
            check_rows(lines, str(path))
            data = parse_lines(path, list(lines))
            if any(getattr(reading, name) for name in OPTIONS):
                raise InputError(f"{path}: expected a table without weights, got {data!r}.")
            return Examples(data, reading)
    return _read_table(path, table, reading, fault)


def _read_table(
    path: Path, table: TextTable, reading: Reading, fault: InputError | None
) -> Examples:
    """Read the columns of a file.

    fault : what is wrong if the file is one of 0 and 1 without names.
    """
    columns, has_names, first = table
    for v, column in enumerate(columns[1:], start=2):
        if not column.name:
            raise InputError(f"{path}, line 1, column {v}: has no name.")
    place = _places(path, first, [column.name for column in columns] if has_names else None)
    unmatched = unmatched_na(columns, reading)
    if has_names and reading.names is not None:
        columns, place = arrange_columns(columns, reading, str(path), place)
    named = reading if has_names and reading.names else _take_by_place(columns, reading)
    try:
        found = read_columns(columns, named, str(path), place)
    except InputError:
        # Without names of columns, the first line that is wrong says more.
        if fault is None or has_names:
            raise
        if fault.line == 1:
            fault.advice = (
                "names in line 1 that are numbers have to be in quotation marks, all of them"
            )
        raise fault from None
    if found.note is not None:
        say(found.note)
    if unmatched is not None:
        say(f"{path}: {unmatched}.")
    names = check_names(found.names, f"{path}, line 1") if has_names else None
    made = merge_cells(found.values, schema=binary_schema(found.values.shape[1], names))
    after = reading_of(found, reading)
    labels = _labels_of(reading, len(found.names))
    if reading.is_for_model and len(labels) == len(found.names):
        # By the variables of the model, whatever the file calls its columns.
        after = replace(after, codes=dict(zip(labels, found.codes.values(), strict=True)))
    if has_names:
        return Examples(made, after, None, first)
    return Examples(made, replace(after, names=reading.names), fault, first)


def _places(path: Path, first: int, names: Sequence[str] | None) -> Place:
    """Return what names the place of a cell.

    first : line of the first row. names : of the columns, if the file has some.
    """

    def place(row: int, column: int) -> str:
        # The first column may number the rows, without a name of its own.
        label = repr(names[column]) if names and names[column] else column + 1
        return f"{path}, line {row + first}, column {label}"

    return place


def _take_by_place(columns: Sequence[RawColumn], reading: Reading) -> Reading:
    """Return the reading of columns whose states and values of 1 are those of their place.

    The file has no names, or the variables have none.
    """
    labels = _labels_of(reading, len(columns))
    pairs = list(zip(columns, labels, strict=True)) if len(labels) == len(columns) else []
    states = {c.name: reading.states[label] for c, label in pairs if label in reading.states}
    codes = {c.name: reading.codes[label] for c, label in pairs if label in reading.codes}
    return replace(reading, states=states, codes=codes)


def _labels_of(reading: Reading, n_columns: int) -> Sequence[str]:
    """Return the names of the variables; numbers from 1, as many as there are columns, if none."""
    return reading.names or [str(v + 1) for v in range(n_columns)]


def _refuse_options(path: Path, reading: Reading) -> None:
    """Refuse what is said about texts, unless a file that was read before has them."""
    for name in OPTIONS:
        if getattr(reading, name) and (reading.is_for_model or not reading.codes):
            option = reading.option(name)
            raise InputError(f"{path}: holds 0 and 1; {option} is for text files.")


def _decode(content: bytes, path: Path) -> str:
    try:
        return decode_text(content, path)
    except InputError as error:
        error.advice = "if it is one, save it in UTF-8, which Excel calls CSV UTF-8"
        raise


def _may_number_rows(data: Dataset) -> bool:
    """Tell whether a column of 0 and 1 may number the rows: there are two rows at most."""
    return data.names is not None and len(data.row_of) <= 2 and not data.is_weighted
