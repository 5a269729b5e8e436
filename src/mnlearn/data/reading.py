"""How columns of values become 0 and 1, for files and for tables in Python.

A column is read only if one reading of its values is possible. What was read otherwise than as
written is told in one line. Where two readings are possible, an option of `Reading` decides.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.cell_texts import (
    PLAIN,
    RawColumn,
    is_above,
    is_missing,
    is_same,
    key_of,
    matches,
    number_of,
    shorten,
    some_of,
    values_of_two,
)
from mnlearn.data.domains import BINARY, Domain
from mnlearn.data.incomplete import MISSING
from mnlearn.data.ones import (
    check_cuts,
    check_fits,
    columns_named,
    is_one,
    stays_whole,
    texts_asked,
)
from mnlearn.data.row_names import names_rows
from mnlearn.runtime.errors import InputError

# What a person can say about a table.
OPTIONS = ("ones", "leave_out", "keep", "na")
# A line of cells that spaces separate.
_SPACED = re.compile(r"\S+( +\S+)+")
# So many columns of a table are named in an error.
_LISTED_NAMES = 20


@dataclass(frozen=True)
class Reading:
    """What a person says about the values of a table.

    Attributes
    ----------
    ones : tuple of str
        VALUE or COLUMN=VALUE: the value that counts as 1; the other value of the column is 0.
        >=NUMBER or COLUMN>=NUMBER: numbers from this one on count as 1, and smaller ones as 0.
    leave_out, keep : tuple of str
        Columns that are no variables, and columns that are, though they look like row numbers.
    na : tuple of str
        Further texts of missing cells; a number stands for all texts of this number.
    codes : mapping of str to (str, str)
        The values that count as 0 and 1 in columns that were read before. Of a model, columns
        are there only if their values are others than 0 and 1; `ones` comes before them.
    states : mapping of str to (str, str)
        The names that a model has for the values 0 and 1 of its variables.
    names : tuple of str, optional
        The variables of a model or of other data. Columns that number rows are left out if they
        are none of these, and kept if they are.
    is_for_model : bool
        Whether the data are for a model, which was learned from other data.
    form : str
        How messages write an option: "--{}" on the command line, "{}=" in Python.
    """

    ones: tuple[str, ...] = ()
    leave_out: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    na: tuple[str, ...] = ()
    codes: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    states: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    names: tuple[str, ...] | None = None
    is_for_model: bool = False
    form: str = "--{}"

    @classmethod
    def said(cls, given: Mapping[str, str | Sequence[str]], form: str) -> "Reading":
        """Return the reading of `ones`, `leave_out`, `keep` and `na`, each a text or several."""
        for name, value in given.items():
            if not isinstance(value, str) and not (
                isinstance(value, Sequence) and all(isinstance(text, str) for text in value)
            ):
                raise InputError(f"{name}: expected a text or several, got {value!r}.")
        texts = {k: (v,) if isinstance(v, str) else tuple(v) for k, v in given.items()}
        ones, leave_out, keep, na = (texts.get(name, ()) for name in OPTIONS)
        return cls(ones, leave_out, keep, na, form=form)

    def as_settings(self) -> dict[str, list[str]]:
        """Return what is said, as `said` takes it."""
        return {name: list(getattr(self, name)) for name in OPTIONS}

    def option(self, name: str) -> str:
        """Return the name of an option as messages write it."""
        return self.form.format(name.replace("_", "-") if self.form.startswith("--") else name)

    def for_model(
        self, model: Any, codes: Mapping[str, tuple[str, str]] | None = None
    ) -> "Reading":
        """Return the reading of data of a model, by its names of variables and of their states.

        codes : the values of its own data; see `mnlearn.data.coding.codes_by_column`.
        """
        names, states = model.names, getattr(model, "states", None)
        named = {} if names is None or states is None else dict(zip(names, states, strict=True))
        return replace(self, names=names, states=named, codes=codes or {}, is_for_model=True)

    def is_plain(self) -> bool:
        """Tell whether nothing is said, so that values 0 and 1 are read as they are."""
        said = self.ones or self.leave_out or self.keep or self.na or self.codes
        return not said and all(map(has_values, self.states.values()))


@dataclass(frozen=True, eq=False)
class ReadColumns:
    """Columns as 0, 1 and MISSING.

    values : uint8, shape (n_rows, n_kept).
    names : the names of the columns that are kept.
    place : the numbers of these columns in the table.
    codes : the texts that count as 0 and 1 in each of them.
    note : one line on what was not read as written; None if all was.
    """

    values: NDArray[np.uint8]
    names: tuple[str, ...]
    place: tuple[int, ...]
    codes: dict[str, tuple[str, str]]
    note: str | None


@dataclass
class _Code:
    """How one column is read: the texts of 0 and 1 in lower case, None if it is left out.

    given : whether a person or other data said so.
    """

    column: RawColumn
    texts: tuple[str, str] | None
    given: bool = False


# Names a cell by its row and the number of its column, for messages.
Place = Callable[[int, int], str]


def read_columns(
    columns: Sequence[RawColumn], reading: Reading, where: str, place: Place
) -> ReadColumns:
    """Return columns as 0, 1 and MISSING.

    Parameters
    ----------
    columns : sequence of RawColumn
        All columns of the table.
    reading : Reading
        What is known about their values.
    where : str
        Name of the table, for messages.
    place : callable
        Returns the name of a cell, given the row and the column.

    Raises
    ------
    InputError
        A column cannot be read, or could be read in two ways; the message names the option that
        decides. Or an option names a column that does not exist.
    """
    _check_options(columns, reading, where)
    read = [_choose(columns, v, reading, where, place) for v in range(len(columns))]
    kept = [v for v, code in enumerate(read) if code.texts is not None]
    if not kept:
        raise InputError(f"{where}: holds no variables.")
    _check_ones_and_twos(where, [read[v] for v in kept], reading)
    known = [(columns[v], _known(columns[v], reading)) for v in kept]
    if reading.is_for_model:
        check_cuts(known, reading.ones, reading.codes, where, reading.option("ones"))
    if not reading.codes:
        check_fits(known, reading.ones, f"{where}, {reading.option('ones')}")
    values = np.column_stack([_values_of(read[v], reading) for v in kept])
    codes = {columns[v].name: read[v].texts or ("", "") for v in kept}
    names = tuple(columns[v].name for v in kept)
    return ReadColumns(values, names, tuple(kept), codes, _note(where, read, reading))


def _check_options(columns: Sequence[RawColumn], reading: Reading, where: str) -> None:
    """Refuse options that name columns that do not exist."""
    # A later file may lack what is left out of the first.
    first = reading.names is None
    named = [("leave_out", name) for name in reading.leave_out if first]
    named += [("keep", name) for name in reading.keep if first]
    named += [("ones", name) for name in columns_named(columns, reading.ones)]
    names = [column.name for column in columns]
    for option, name in named:
        if name not in names:
            listed = some_of(list(map(repr, names)), _LISTED_NAMES)
            advice = "; a threshold is '>=NUMBER'" if name.endswith((">", "<")) else ""
            raise InputError(
                f"{where}, {reading.option(option)}: there is no column {name!r}{advice}; the "
                f"columns are {listed}."
            )


def has_values(states: tuple[str, str]) -> bool:
    """Tell whether 0 and 1 stand for two states; see `Domain.has_values`."""
    return Domain((0,), states).has_values


def _known(column: RawColumn, reading: Reading) -> list[str]:
    """Return the different texts of a column that are no missing cells."""
    return [text for text in column.texts if not is_missing(text, reading.na)]


def _choose(
    columns: Sequence[RawColumn], v: int, reading: Reading, where: str, place: Place
) -> _Code:
    """Return how a column is read."""
    column = columns[v]
    if column.name in reading.leave_out:
        return _Code(column, None, given=True)
    known = _known(column, reading)
    if names_rows(columns, v, known, reading, where):
        return _Code(column, None)
    label = repr(column.name) if column.name else str(v + 1)
    if not known and reading.is_for_model:
        # Exact likelihoods sum the column out.
        return _Code(column, ("0", "1"), given=True)
    if not known:
        raise InputError(
            f"{where}, column {label}: all cells are missing; leave it out with "
            f"{reading.option('leave_out')}."
        )
    has_codes = column.name in reading.codes
    if reading.is_for_model or not has_codes:
        asked = texts_asked(column, known, reading.ones, reading.option("ones"))
        if asked is not None:
            return _Code(column, asked, given=True)
    if has_codes:
        return _as_before(column, v, known, reading, place)
    states = reading.states.get(column.name, BINARY)
    if states != BINARY:
        return _Code(column, _texts_of_states(column, v, known, states, place), given=True)
    if column.name == "":
        raise InputError(f"{where}, line 1, column {v + 1}: has no name.")
    found = values_of_two(known)
    if found is None:
        raise InputError(_unreadable(columns, v, known, reading, place))
    return _Code(column, found)


def _texts_of_states(
    column: RawColumn, v: int, known: Sequence[str], states: tuple[str, str], place: Place
) -> tuple[str, str]:
    """Return the texts of 0 and 1 in a column of names of states, or of values that stand for them.

    Raises
    ------
    InputError
        A text is neither, or the column has both.
    """
    domain = Domain((0,), states)
    if not any(domain.find_name(text) is not None for text in known):
        values = values_of_two(known)
        if values in PLAIN and all(domain.find_state(text) is not None for text in known):
            return values
    for text in known:
        if domain.find_name(text) is None:
            where = place(column.first_row(column.texts.index(text)), v)
            raise InputError(f"{where}: expected {' or '.join(states)}, got {shorten(text)}.")
    return states


def _as_before(
    column: RawColumn, v: int, known: Sequence[str], reading: Reading, place: Place
) -> _Code:
    """Return the reading of other data for the same column."""
    zero, one = reading.codes[column.name]
    natural = values_of_two(known)
    if natural in PLAIN and (zero, one) in PLAIN:
        # 0 and 1, True and False, yes and no are the same in all files.
        return _Code(column, natural, given=True)
    # The other value is not known if a column was always 1.
    is_open = zero == "" and len({key_of(text) for text in known}) <= 2
    option = reading.option("ones")
    for text in known:
        is_number = is_above(text, one) is not None
        if not (is_open or is_number or is_same(text, one) or is_same(text, zero)):
            where = place(column.first_row(column.texts.index(text)), v)
            advice = f"; {option} says which value counts as 1" if reading.is_for_model else ""
            expected = f"{zero or 'another value'} or {one}"
            raise InputError(f"{where}: expected {expected}, got {shorten(text)}{advice}.")
    return _Code(column, (zero, one), given=True)


def _unreadable(
    columns: Sequence[RawColumn], v: int, known: Sequence[str], reading: Reading, place: Place
) -> str:
    """Return the sentence on a column that cannot be read."""
    column = columns[v]
    wrong = next(text for text in known if text not in ("0", "1"))
    where = place(column.first_row(column.texts.index(wrong)), v)
    sentence = f"{where}: expected 0 or 1, got {shorten(wrong)}"
    if len(columns) == 1 and all(map(_SPACED.fullmatch, known)):
        return f"{sentence}; cells are separated by commas, semicolons or tabs, not by spaces."
    ones, leave_out = reading.option("ones"), reading.option("leave_out")
    if len({key_of(text) for text in known}) <= 2:
        return f"{sentence}; {ones} says which value counts as 1, or {leave_out} leaves it out."
    values = some_of(list(map(shorten, known)))
    numbers = all(number_of(text) is not None for text in known)
    cut = f"with {ones} '>=NUMBER' which count as 1, " if numbers else ""
    return (
        f"{sentence}; the column has {len(known)} different values ({values}): say with "
        f"{reading.option('na')} which are missing, {cut}leave the column out with {leave_out}, "
        "or encode it (mnlearn convert --categories)."
    )


def _check_ones_and_twos(where: str, codes: Sequence[_Code], reading: Reading) -> None:
    """Refuse columns of 1 and 2 beside columns of 0 and 1, and beside columns of ones."""
    told = [code for code in codes if not code.given]
    twos = [code.column.name for code in told if code.texts == ("1", "2")]
    if not twos:
        return
    option = reading.option("ones")
    for code in told:
        if code.texts != ("0", "1"):
            continue
        if any(number_of(text) == 0 for text in code.column.texts):
            raise InputError(
                f"{where}, column {twos[0]!r}: has 1 and 2, but {code.column.name!r} has 0 and 1; "
                f"{option} says which value counts as 1 in the first."
            )
        raise InputError(
            f"{where}, column {code.column.name!r}: has only 1, which could be 0 or 1, because "
            f"other columns have 1 and 2; {option} says which value counts as 1."
        )


def _values_of(code: _Code, reading: Reading) -> NDArray[np.uint8]:
    assert code.texts is not None
    of_text = [
        MISSING if is_missing(text, reading.na) else int(is_one(text, code.texts[1]))
        for text in code.column.texts
    ]
    return np.array(of_text, np.uint8)[code.column.codes]


def _note(where: str, codes: Sequence[_Code], reading: Reading) -> str | None:
    """Return one line on columns that are left out or not cut, and on values that count as 1."""
    left_out = [repr(code.column.name) for code in codes if code.texts is None and not code.given]
    parts = [f"left out {', '.join(left_out)}, which numbers the rows"] if left_out else []
    counted: dict[str, list[str]] = {}
    for code in codes:
        if code.texts is not None and not code.given and code.texts != ("0", "1"):
            counted.setdefault(code.texts[1], []).append(code.column.name)
    for one, names in counted.items():
        parts.append(f"{one} counts as 1 in {len(names)} columns ({some_of(names)})")
    whole = [
        code.column.name
        for code in codes
        if not code.given and stays_whole(_known(code.column, reading), reading.ones)
    ]
    if whole:
        option = reading.option("ones")
        parts.append(
            f"{some_of(whole)}: only 0 and 1, so not cut; {option} with {whole[0]!r} before the "
            "threshold cuts it"
        )
    return f"{where}: {'; '.join(parts)}." if parts else None


def unmatched_na(columns: Sequence[RawColumn], reading: Reading) -> str | None:
    """Return one sentence, without a full stop, on texts of missing cells that no cell has.

    columns : all columns of a table, also those that are no variables.
    """
    # Other data of a person, such as validation data, may have no missing cells.
    given = () if reading.codes and not reading.is_for_model else reading.na
    texts = {text for column in columns for text in column.texts}
    unmatched = [na for na in given if not any(matches(text, na) for text in texts)]
    if not unmatched:
        return None
    listed = some_of(list(map(shorten, unmatched)))
    verb = "matches" if len(unmatched) == 1 else "match"
    return f"{reading.option('na')} {listed} {verb} no cell"


def reading_of(found: ReadColumns, reading: Reading) -> Reading:
    """Return the reading by which other data are read like data that were read."""
    return replace(reading, codes={**reading.codes, **found.codes}, names=found.names)
