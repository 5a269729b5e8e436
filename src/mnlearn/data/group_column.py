"""Groups of examples, which a column of a table names."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.columns import Column
from mnlearn.data.dataset import Dataset, merge_rows
from mnlearn.data.examples import Examples, read_file
from mnlearn.data.incomplete import IncompleteData, incomplete, merge_cells
from mnlearn.data.rules import Rules
from mnlearn.data.table_files import TableFile, name_row, open_table
from mnlearn.runtime.decompression import DEFAULT_LIMIT, ExpansionLimit
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.progress import say

# A column with more values hardly names groups that a person wants to compare.
MOST_GROUPS = 20


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
