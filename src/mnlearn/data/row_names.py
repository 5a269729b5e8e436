"""Columns of a table that are no variables: numbers or names of the rows."""

import re
from collections.abc import Sequence
from typing import Any

from mnlearn.data.columns import FEWEST_DIFFERENT, Column
from mnlearn.data.rules import Rules
from mnlearn.runtime.errors import InputError
from mnlearn.variables.matching import number_of

# Headers of the column of row numbers that pandas and R write, and of columns that name people.
_INDEX = ("", "unnamed: 0", "index", "rownames", "row.names")
_PERSON = "id|no|nr|number|case|subject|participant|respondent"
_ID = re.compile(rf"(?i:(.*[_. ])?({_PERSON}))|.*[a-z](ID|Id)")


def names_rows(columns: Sequence[Column], v: int, rules: Rules, where: str) -> bool:
    """Tell whether a column only numbers or names the rows: its values are all different."""
    column, n_rows = columns[v], len(columns[v].codes)
    # A text that stands for missing cells elsewhere may be the number of a row.
    known = [column.values[k] for k in column.known()]
    said = column.name in (*rules.columns, *rules.keep, *rules.states, *rules.cut)
    if said or column.categories is not None or len(known) < n_rows:
        return False
    is_index = v == 0 and column.name.lower() in _INDEX
    if is_index or names_people(column.name):
        return _numbers_rows(column, known, rules, is_index, where)
    # Samples have names, which stand in the first column.
    texts = all(number_of(value) is None for value in known)
    return v == 0 and len(columns) > 1 and n_rows >= FEWEST_DIFFERENT and texts


def names_people(name: str) -> bool:
    """Tell whether a column is called as those that number people."""
    return _ID.fullmatch(name) is not None


def _numbers_rows(
    column: Column, known: Sequence[Any], rules: Rules, is_index: bool, where: str
) -> bool:
    # An index of one or two rows may be a variable, and a variable may be called `answer_no`.
    if not {number_of(value) for value in known} <= {0.0, 1.0}:
        return is_index or len(known) > 1
    if column.name == "":
        return True
    raise InputError(
        f"{where}, column {column.name!r}: may number the rows or be a variable; "
        f"{rules.write('leave_out', column.name)} or {rules.write('keep', column.name)} says."
    )
