"""Examples of people: files of any table (text, Parquet, Feather, SPSS, Stata, Excel)."""

import csv
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.columns import Column, order_of
from mnlearn.data.dataset import Dataset, load_npz, merge_rows
from mnlearn.data.frames import columns_of_frame
from mnlearn.data.incomplete import MISSING, IncompleteData, incomplete, merge_cells
from mnlearn.data.rules import ARGUMENT, KEY, OPTION, OPTIONS, Rules
from mnlearn.data.streams import stream_table
from mnlearn.data.tables import match_data, plain_schema, some_of
from mnlearn.data.text_lines import SPACE, check_width, separator_of, tidy_lines
from mnlearn.data.text_tables import TableFile, name_row, parse_table, plain_table
from mnlearn.runtime.decompression import DEFAULT_LIMIT, ExpansionLimit, read_limited
from mnlearn.runtime.errors import InputError, name_data
from mnlearn.runtime.files import decode_text, split_lines
from mnlearn.runtime.progress import say
from mnlearn.variables.matching import number_of
from mnlearn.variables.schema import Schema

# A column with more values hardly names groups that a person wants to compare.
MOST_GROUPS = 20
# What can be done about missing cells, by how a person asked.
MISSING_ADVICE = {
    OPTION: "drop them or fill them in, with --missing or mnlearn impute",
    ARGUMENT: 'missing="drop" leaves these out, and missing="impute" fills the cells in',
    KEY: "fill them in with mnlearn impute",
}
# So many items at most; the table has a cell for each row and item.
_MOST_ITEMS = 65_536
# The reader of pandas for each suffix, and what it needs beside the package.
_READERS: dict[str, tuple[str, dict[str, Any], str]] = {
    ".parquet": ("read_parquet", {}, "pyarrow"),
    ".pq": ("read_parquet", {}, "pyarrow"),
    ".feather": ("read_feather", {}, "pyarrow"),
    ".arrow": ("read_feather", {}, "pyarrow"),
    ".sav": ("read_spss", {"convert_categoricals": False}, "pyreadstat"),
    ".zsav": ("read_spss", {"convert_categoricals": False}, "pyreadstat"),
    ".dta": ("read_stata", {"order_categoricals": False}, ""),
    ".xlsx": ("read_excel", {}, "openpyxl"),
}


class Examples(NamedTuple):
    """Data that were read; `lines` are those of the examples in a text file."""

    data: Dataset | IncompleteData
    rules: Rules
    lines: Sequence[int] | None = None

    def name_row(self, where: Path | str, example: int) -> str:
        """Return the place of an example, counted from 0, for messages."""
        return name_row(where, self.lines, example)

    def complete(self, where: Path | str, advice: str | None = None) -> Dataset:
        """Return the data; refuse a missing cell, with the advice what can be done about it."""
        if isinstance(self.data, Dataset):
            return self.data
        if advice is None:
            advice = MISSING_ADVICE[self.rules.form]
        row, column = np.argwhere(self.data.values == MISSING)[0]
        schema = self.data.schema
        v = int(schema.variable_of[column])
        name = repr(schema.names[v]) if schema.is_named else v + 1
        raise InputError(
            f"{self.name_row(where, int(row))}, column {name}: is missing, and "
            f"{self.data.n_with_missing} of {len(self.data.row_of)} examples have missing cells; "
            f"{advice}."
        )


def load_dataset(
    path: Path | str,
    limit: ExpansionLimit = DEFAULT_LIMIT,
    rules: Rules | None = None,
    schema: Schema | None = None,
) -> Dataset:
    """Read complete examples from a file; see `load_examples`."""
    return load_examples(path, limit, rules, schema).complete(path)


def load_examples(
    path: Path | str,
    limit: ExpansionLimit = DEFAULT_LIMIT,
    rules: Rules | None = None,
    schema: Schema | None = None,
) -> Examples:
    """Read examples by suffix: `.npz`, a table of another program, else text, perhaps compressed.

    A first line without any number is a header. A `schema` gives the variables of a model or of
    other data.
    """
    path, rules = Path(path), Rules() if rules is None else rules
    if path.suffix.lower() == ".npz":
        return Examples(_load_native(path, limit, rules, schema), rules)
    says_nothing = rules == Rules(form=rules.form)
    plain = stream_table(path) if says_nothing else None
    content = None
    with name_data(path):
        if plain is None and not _is_typed(path):
            content = read_limited(path, limit)
            plain = plain_table(content) if says_nothing else None
        own = None if plain is None else plain_schema(plain.schema, schema)
        if plain is not None and own is not None:
            check_width(len(own), f"{path}, line 1")
            for note in plain.notes if schema is None else ():
                say(f"{path}: {note}.")
            first = 1 + plain.schema.is_named
            lines = None if _is_typed(path) else range(first, first + len(plain.values))
            return Examples(merge_rows(plain.values, schema=own), rules, lines)
    return _read_file(_open_table(path, limit, rules, content), rules, schema)


def _read_file(file: TableFile, rules: Rules, schema: Schema | None = None) -> Examples:
    """Return the examples of a file that was opened; a line says what was left out."""
    table = file.read(rules, schema)
    if schema is not None and table.left_out:
        verb = "is" if len(table.left_out) == 1 else "are"
        listed = some_of(list(map(repr, table.left_out)))
        say(f"{file.path}: left out {listed}, which {verb} not needed.")
    for note in (*file.notes, *table.notes):
        say(f"{file.path}: {note}.")
    with name_data(file.path):
        return Examples(table.data(file.weight), rules, file.lines)


def _load_native(
    path: Path, limit: ExpansionLimit, rules: Rules, schema: Schema | None
) -> Dataset | IncompleteData:
    for name in OPTIONS:
        if getattr(rules, name) and schema is None:
            raise InputError(f"{path}: holds states; {rules.option(name)} is for tables.")
    data: Dataset | IncompleteData = load_npz(path, limit)
    if not data.n_rows:
        raise InputError(f"{path}: holds no examples.")
    return data if schema is None else match_data(data, schema, str(path))


def load_groups(
    path: Path,
    column: str,
    limit: ExpansionLimit = DEFAULT_LIMIT,
    rules: Rules | None = None,
    *,
    leave_out: bool = False,
) -> tuple[Examples, dict[str, Dataset | IncompleteData]]:
    """Return all examples, and those of each group that a column names, in order of its states.

    `leave_out` leaves out rows whose group is missing.
    """
    rules = Rules() if rules is None else rules
    if path.suffix.lower() == ".npz":
        raise InputError(f"{path}: expected a table; the column {column!r} names groups.")
    if rules.weights is not None:
        raise InputError(f"{rules.option('weights')}: is not read with groups of rows.")
    file = _open_table(path, limit, rules)
    if not file.is_named:
        raise InputError(f"{path}: expected a table whose first line has names of columns.")
    own = [found for found in file.columns if found.name == column]
    if not own:
        listed = ", ".join(found.name for found in file.columns)
        raise InputError(f"{path}: there is no column {column!r}; the columns are {listed}.")
    rest = [found for found in file.columns if found.name != column]
    examples = _read_file(file._replace(columns=rest), rules)
    known = own[0].known(rules.na)
    _check_groups(file, own[0], known, leave_out)
    if not 2 <= len(known) <= MOST_GROUPS:
        raise InputError(
            f"{path}, column {column!r}: expected 2 to {MOST_GROUPS} groups, got {len(known)}."
        )
    data = incomplete(examples.data)
    rows = data.rows[data.row_of]
    texts = [str(value) for value in own[0].values]
    states = own[0].categories or sorted(texts, key=order_of(texts))
    place = {str(state): k for k, state in enumerate(states)}
    ranked = sorted(known, key=lambda k: place[texts[k]])
    return examples, {
        str(own[0].values[k]): merge_cells(rows[own[0].codes == k], schema=data.schema)
        for k in ranked
    }


def _check_groups(
    file: TableFile, column: Column, known: NDArray[np.intp], leave_out: bool
) -> None:
    """Refuse rows whose group is missing, or say how many are left out."""
    has_group = np.isin(column.codes, known)
    if has_group.all():
        return
    if not leave_out:
        where = name_row(file.path, file.lines, int(np.flatnonzero(~has_group)[0]))
        raise InputError(
            f"{where}, column {column.name!r}: the group is missing; --missing drop or impute "
            "leaves such rows out."
        )
    n = (~has_group).sum()
    say(f"{file.path}, column {column.name!r}: left out {n} rows without a group.")


def join_groups(groups: Mapping[str, Dataset]) -> Dataset:
    """Return the examples of all groups, which have the same variables."""
    schema = next(iter(groups.values())).schema
    rows = np.vstack([data.rows[data.row_of] for data in groups.values()])
    return merge_rows(rows, schema=schema)


def _is_typed(path: Path) -> bool:
    """Tell whether a file is one of another program, whose columns have types."""
    return path.suffix.lower() in _READERS


def _open_table(
    path: Path, limit: ExpansionLimit, rules: Rules, content: bytes | None = None
) -> TableFile:
    """Return the columns of a file; `content` has the bytes of a text file that is read already."""
    if _is_typed(path):
        frame = _read_frame(path)
        return TableFile(path, columns_of_frame(frame, str(path)), True, None)
    if content is None:
        content = read_limited(path, limit)
    lines = split_lines(decode_text(content, path))
    if rules.baskets:
        return _parse_baskets(lines, path)
    # A row without any tick is a row.
    return parse_table(lines, path, keep_empty=bool(rules.empty))


def _read_frame(path: Path) -> Any:
    import pandas as pd

    name, how, package = _READERS[path.suffix.lower()]
    read: Callable[..., Any] = partial(getattr(pd, name), **how)
    if not path.is_file():
        raise InputError(f"{path}: no such file.")
    try:
        frame = read(path)
        # A name with a blank at its end could not be written in evidence.
        frame.columns = [c.strip() if isinstance(c, str) else c for c in frame.columns]
        return _labelled(frame)
    except ImportError as error:
        advice = f"pip install 'mnlearn[tables]' or {package}"
        raise InputError(f"{path}: needs the package {package}; {advice}.") from error
    except Exception as error:  # each format has errors of its own
        raise InputError(f"{path}: cannot be read as {path.suffix}: {error}") from error


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _labelled(frame: Any) -> Any:
    """Return a table of SPSS with labels in place of numbers, in the order of the numbers."""
    import pandas as pd

    for name, labels in frame.attrs.get("variable_value_labels", {}).items():
        present = sorted(value for value in frame[name].dropna().unique())
        # Two numbers may have one label.
        meant = {value: labels.get(value, _whole(value)) for value in present}
        states = dict.fromkeys(meant.values())
        values = [meant.get(value) for value in frame[name]]
        frame[name] = pd.Categorical(values, categories=list(states))
    return frame


def _parse_baskets(texts: Sequence[str], path: Path) -> TableFile:
    """Return a column of 0 and 1 for each item; commas, semicolons, tabs or spaces separate items.

    An empty line is a row without items.
    """
    lines = tidy_lines(texts, str(path))
    separator = separator_of([max(lines.texts, key=len)])
    if separator == "," and not any("," in text for text in lines.texts):
        separator = SPACE
    rows = [_items(text, separator) for text in lines.texts]
    numbers = {item: number_of(item) for row in rows for item in row}
    if not 0 < len(numbers) <= _MOST_ITEMS:
        raise InputError(f"{path}: expected 1 to {_MOST_ITEMS:,} items, got {len(numbers):,}.")
    if None in numbers.values():
        names = sorted(numbers)
    else:
        names = sorted(numbers, key=lambda item: (numbers[item], item))
    place = {name: k for k, name in enumerate(names)}
    matrix = np.zeros((len(rows), len(names)), np.uint8, order="F")
    for k, row in enumerate(rows):
        matrix[k, [place[item] for item in row]] = 1
    columns = [Column(name, ["0", "1"], matrix[:, v]) for v, name in enumerate(names)]  # type: ignore[arg-type]
    numbers_of_lines = range(lines.first, lines.first + len(rows))
    return TableFile(path, columns, True, numbers_of_lines, None, tuple(lines.notes), True)


def _items(text: str, separator: str) -> list[str]:
    if separator == SPACE:
        return [cell.strip('"') for cell in text.split()]
    cells = next(csv.reader([text], delimiter=separator, skipinitialspace=True), [])
    return [cell.strip() for cell in cells if cell.strip()]
