"""Examples of people: files of any table, with or without missing cells."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.columns import Column
from mnlearn.data.dataset import Dataset, load_npz, merge_rows
from mnlearn.data.incomplete import MISSING, IncompleteData, incomplete, merge_cells
from mnlearn.data.rules import ARGUMENT, KEY, OPTION, OPTIONS, Rules
from mnlearn.data.table_files import is_typed, open_table
from mnlearn.data.tables import match_data, some_of
from mnlearn.data.text import parse_plain
from mnlearn.data.text_tables import TableFile, name_row, parse_named
from mnlearn.runtime.decompression import DEFAULT_LIMIT, ExpansionLimit, read_limited
from mnlearn.runtime.errors import InputError, name_data
from mnlearn.runtime.progress import say
from mnlearn.variables.schema import BINARY, Schema, binary_schema

# Of fewer rows, a column of 0 and 1 may number them.
_FEW_ROWS = 2
# A column with more values hardly names groups that a person wants to compare.
MOST_GROUPS = 20
# What can be done about missing cells, by how a person asked.
_ADVICE = {
    OPTION: "drop them or fill them in, with --missing or mnlearn impute",
    ARGUMENT: "missing= says what is done about them",
    KEY: "fill them in with mnlearn impute",
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
            advice = _ADVICE[self.rules.form]
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
    """Read examples by suffix: `.npz`, a table of another program, else text.

    Text may have a header: a first line without any number in it; numbers in quotation marks are
    names too. It may be compressed. With a `schema`, the file is read by the variables of a model
    or of other data.
    """
    path, rules = Path(path), Rules() if rules is None else rules
    if path.suffix.lower() == ".npz":
        return Examples(_load_native(path, limit, rules, schema), rules)
    content = None
    if not is_typed(path):
        content = read_limited(path, limit)
        with name_data(path):
            plain = _read_plain(content, rules, schema)
        if plain is not None:
            return plain
    return read_file(open_table(path, limit, rules, content), rules, schema)


def read_file(file: TableFile, rules: Rules, schema: Schema | None = None) -> Examples:
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


def _read_plain(content: bytes, rules: Rules, schema: Schema | None) -> Examples | None:
    """Return the examples of a text of 0 and 1 of which nothing is said, else None."""
    said = rules != Rules(form=rules.form)
    if said or (schema is not None and any(v.states != BINARY for v in schema)):
        return None
    matrix = parse_plain(content)
    if matrix is not None:
        if schema is not None and len(schema) != matrix.shape[1]:
            return None
        return Examples(merge_rows(matrix, schema=schema), rules, range(1, len(matrix) + 1))
    named = parse_named(content)
    if named is None or len(named[1]) <= _FEW_ROWS or schema not in (None, binary_schema(named[0])):
        return None
    own = binary_schema(named[0]) if schema is None else schema
    return Examples(merge_rows(named[1], schema=own), rules, range(2, len(named[1]) + 2))


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
    """Read examples, and divide them by a column that names the group of each.

    Returns all examples, and those of each group in the order in which the groups appear. With
    `leave_out`, rows whose group is missing are left out and not refused.
    """
    rules = Rules() if rules is None else rules
    if path.suffix.lower() == ".npz":
        raise InputError(f"{path}: expected a table; the column {column!r} names groups.")
    if rules.weights is not None:
        raise InputError(f"{rules.option('weights')}: is not read with groups of rows.")
    file = open_table(path, limit, rules)
    if not file.is_named:
        raise InputError(f"{path}: expected a table whose first line has names of columns.")
    own = [found for found in file.columns if found.name == column]
    if not own:
        listed = ", ".join(found.name for found in file.columns)
        raise InputError(f"{path}: there is no column {column!r}; the columns are {listed}.")
    rest = [found for found in file.columns if found.name != column]
    examples = read_file(file._replace(columns=rest), rules)
    known = own[0].known(rules.na)
    _check_groups(file, own[0], known, leave_out)
    if not 2 <= len(known) <= MOST_GROUPS:
        raise InputError(
            f"{path}, column {column!r}: expected 2 to {MOST_GROUPS} groups, got {len(known)}."
        )
    data = incomplete(examples.data)
    rows = data.rows[data.row_of]
    return examples, {
        str(own[0].values[k]): merge_cells(rows[own[0].codes == k], schema=data.schema)
        for k in known
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
