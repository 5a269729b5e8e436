"""Groups of columns: exactly one column of a group is 1 in each row, so a group is one variable."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mnlearn.runtime.errors import DATA, InputError

# The columns of each group in rising order, the groups in the order of their first columns.
Groups = tuple[tuple[int, ...], ...]

BY_NAMES = "names"
_EXPECTED = f"expected `{BY_NAMES}`, or ranges of columns such as 1-3,7-10"


def check_groups(groups: Sequence[Sequence[int]], n_vars: int, where: str = DATA) -> Groups:
    """Return groups in the order of their columns.

    Raises
    ------
    InputError
        A group has fewer than two columns, or a column that does not exist, or one that is in a
        group already; the sentence begins with `where`.

    """
    owner: dict[int, int] = {}
    for number, group in enumerate(groups, start=1):
        if len(group) < 2:
            raise InputError(f"{where}, group {number}: expected two columns or more.")
        for column in group:
            if not 0 <= column < n_vars:
                raise InputError(
                    f"{where}, group {number}: expected columns 1 to {n_vars}, got {column + 1}."
                )
            if column in owner:
                raise InputError(
                    f"{where}, group {number}: column {column + 1} is already in group "
                    f"{owner[column]}."
                )
            owner[column] = number
    return tuple(sorted(tuple(sorted(int(c) for c in group)) for group in groups))


def check_values(
    rows: NDArray[np.uint8], groups: Groups, where: str = DATA, row_of: NDArray | None = None
) -> None:
    """Refuse rows that have no 1 in the columns of a group, or several.

    Parameters
    ----------
    rows : ndarray of uint8, shape (n_rows, n_vars)
        Values 0 and 1.
    groups : tuple of tuple of int
        As `check_groups` returns them.
    where : str
        Beginning of the sentence.
    row_of : ndarray of int, optional
        The row of each example, by which the sentence then counts.

    Raises
    ------
    InputError
        There is such a row; the sentence gives the first one.

    """
    for group in groups:
        ones = rows[:, group].sum(axis=1)
        wrong = np.flatnonzero(ones != 1)
        if len(wrong):
            row = int(wrong[0])
            example = row if row_of is None else int(np.flatnonzero(np.isin(row_of, wrong))[0])
            found = ones[row if row_of is None else row_of[example]]
            raise InputError(
                f"expected exactly one 1 in the columns {describe_columns(group)}, which are one "
                f"group, got {found or 'none'}.",
                where=where,
                row=example + 1,
            )


def describe_columns(columns: Sequence[int]) -> str:
    """Return the numbers of columns, counted from 1, for a sentence."""
    first, last = columns[0] + 1, columns[-1] + 1
    if len(columns) > 4 and last - first == len(columns) - 1:
        return f"{first} to {last}"
    return ", ".join(str(c + 1) for c in columns)


def find_groups(
    text: str, n_vars: int, names: Sequence[str] | None, where: str = "groups"
) -> Groups:
    """Return the groups that a person declares.

    Parameters
    ----------
    text : str
        `names`: columns whose names agree before the first `=` are a group, such as `age=young`
        and `age=old`; a name that stands alone is no group. Or ranges, such as `1-3,7-10`:
        columns from and to, counted from 1.
    n_vars : int
        Number of columns.
    names : sequence of str or None
        Their names.
    where : str
        Beginning of the sentence that refuses the text.

    Raises
    ------
    InputError
        The text is neither; there are no names, or no two that agree; a range is wrong.

    """
    if text.strip() == BY_NAMES:
        return _groups_by_names(names, where)
    ranges = []
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not (dash and first.isdecimal() and last.isdecimal()):
            raise InputError(f"{where}: {_EXPECTED}; got {text[:40]!r}.")
        ranges.append(range(int(first) - 1, int(last)))
    return check_groups(ranges, n_vars, where)


def _groups_by_names(names: Sequence[str] | None, where: str) -> Groups:
    if names is None:
        raise InputError(f"{where}: the columns have no names; {_EXPECTED}.")
    columns: dict[str, list[int]] = {}
    for column, name in enumerate(names):
        variable, equals, _ = name.partition("=")
        # A column `age` beside `age=young` is another variable.
        if equals and variable not in names:
            columns.setdefault(variable, []).append(column)
    groups = [group for group in columns.values() if len(group) > 1]
    if not groups:
        raise InputError(f"{where}: no two columns have names that agree before an `=`.")
    return check_groups(groups, len(names), where)


def labels_of_groups(groups: Groups, n_vars: int) -> NDArray[np.int32]:
    """Return the number of the group of each column, -1 for a column that is in none."""
    label = np.full(n_vars, -1, np.int32)
    for number, group in enumerate(groups):
        label[list(group)] = number
    return label


def read_groups(arrays: Mapping[str, NDArray], n_vars: int, path: Path | str) -> Groups:
    """Return the groups in the array `group_of` of a file, none if it has no such array.

    Raises
    ------
    InputError
        The array is not one that `labels_of_groups` returns.

    """
    if "group_of" not in arrays:
        return ()
    label, where = arrays["group_of"], f"{path}, group_of"
    if label.dtype.kind not in "iu" or label.shape != (n_vars,):
        raise InputError(f"{where}: expected {n_vars} whole numbers, got {label.shape}.")
    found = [np.flatnonzero(label == number).tolist() for number in np.unique(label[label >= 0])]
    groups = check_groups(found, n_vars, where)
    if not np.array_equal(labels_of_groups(groups, n_vars), label):
        raise InputError(f"{where}: expected groups numbered by their first columns, else -1.")
    return groups
