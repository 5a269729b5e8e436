"""Columns of a table that are no variables: numbers or names of the rows."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from mnlearn.data.cell_texts import RawColumn, number_of, values_of_two
from mnlearn.runtime.errors import InputError

# Headers of the column of row numbers that pandas and R write, and of columns that name people.
_INDEX = ("", "unnamed: 0", "index", "rownames", "row.names")
_ID = re.compile(r"(?i:(.*[_. ])?(id|no|nr|number|case|subject|participant|respondent))|.*[a-z]ID")
# The first column has names of the rows if so many texts or more all differ.
_FEWEST_NAMES = 10


class Said(Protocol):
    """What a person says about a table; see `mnlearn.data.reading.Reading`."""

    @property
    def keep(self) -> tuple[str, ...]:
        """Columns that are variables."""

    @property
    def names(self) -> tuple[str, ...] | None:
        """The variables of a model or of other data."""

    @property
    def codes(self) -> Mapping[str, Any]:
        """Values of columns that were read before."""

    def option(self, name: str) -> str:
        """Return how messages write an option."""


def names_rows(
    columns: Sequence[RawColumn], v: int, known: Sequence[str], reading: Said, where: str
) -> bool:
    """Tell whether a column only numbers or names the rows.

    known : the texts of its cells that are not missing. where : the table, for messages.

    Raises
    ------
    InputError
        The column may be a variable too.
    """
    if _numbers_rows(columns[v], v, known, reading, where):
        return True
    return len(columns) > 1 and _has_names(columns[v], v, known, reading)


def _numbers_rows(
    column: RawColumn, v: int, known: Sequence[str], reading: Said, where: str
) -> bool:
    """Tell whether a column only numbers the rows: an index, or a name for each row."""
    n_rows = len(column.codes)
    is_index = v == 0 and column.name.lower() in _INDEX
    if column.name in reading.keep or len(known) < n_rows:
        return False
    if not is_index and not _ID.fullmatch(column.name):
        return False
    if reading.names is not None:
        return column.name not in reading.names
    # An index of one or two rows may be a variable, and a variable may be called `answer_no`.
    if values_of_two(known) is None:
        return is_index or n_rows > 1
    if column.name == "":
        return True
    raise InputError(
        f"{where}, column {column.name!r}: may number the rows or be a variable; say "
        f"{reading.option('leave_out')} or {reading.option('keep')}."
    )


def _has_names(column: RawColumn, v: int, known: Sequence[str], reading: Said) -> bool:
    """Tell whether the first column has a text of its own in each row, as samples have names."""
    said = column.name in (*reading.keep, *reading.codes, *(reading.names or ()))
    differ = len(known) == len(column.codes) >= _FEWEST_NAMES
    return v == 0 and not said and differ and all(number_of(text) is None for text in known)
