"""Groups of examples, which a column of a table names."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mnlearn.data.cell_texts import is_missing
from mnlearn.data.dataset import Dataset, merge_rows
from mnlearn.data.examples import Examples, load_labelled
from mnlearn.data.incomplete import IncompleteData, incomplete, merge_cells
from mnlearn.data.reading import Reading
from mnlearn.runtime.decompression import DEFAULT_LIMIT, ExpansionLimit
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.progress import say

# A column with more values hardly names groups that a person wants to compare.
MOST_GROUPS = 20


def load_groups(
    path: Path,
    column: str,
    limit: ExpansionLimit = DEFAULT_LIMIT,
    reading: Reading | None = None,
    *,
    leave_out: bool = False,
) -> tuple[Examples, dict[str, Dataset | IncompleteData]]:
    """Read examples, and divide them by a column that names the group of each.

    Parameters
    ----------
    path : Path
        A text file with names of columns.
    column : str
        The column of the groups; it is no variable.
    limit : ExpansionLimit
        How far a compressed file may expand.
    reading : Reading, optional
        What a person says about the values, which all groups share.
    leave_out : bool
        Whether rows whose group is missing are left out, and not refused.

    Returns
    -------
    Examples, dict of str to Dataset or IncompleteData
        All examples, and those of each group in the order in which the groups appear.

    Raises
    ------
    InputError
        There is no such column, a cell of it is missing, or it has one value or more than
        `MOST_GROUPS`; see also `load_examples`.
    """
    reading = Reading() if reading is None else reading
    found, labels = load_labelled(path, column, limit, reading)
    known = np.array([not is_missing(t, reading.na) for t in labels])
    if not known.all():
        row = int(np.flatnonzero(~known)[0])
        if not leave_out:
            raise InputError(
                f"{path}, line {row + 2}, column {column!r}: the group is missing; "
                "--missing drop or impute leaves such rows out."
            )
        say(f"{path}, column {column!r}: left out {(~known).sum()} rows without a group.")
    names = list(dict.fromkeys(t for t, is_known in zip(labels, known, strict=True) if is_known))
    if not 2 <= len(names) <= MOST_GROUPS:
        raise InputError(
            f"{path}, column {column!r}: expected 2 to {MOST_GROUPS} groups, got {len(names)}."
        )
    data = incomplete(found.data)
    values, of_row = data.rows[data.row_of], np.array(labels, object)
    return found, {name: merge_cells(values[of_row == name], schema=data.schema) for name in names}


def join_groups(groups: Mapping[str, Dataset]) -> Dataset:
    """Return the examples of all groups, which have the same variables."""
    schema = next(iter(groups.values())).schema
    rows = np.vstack([data.rows[data.row_of] for data in groups.values()])
    return merge_rows(rows, schema=schema)
