"""What columns of a table say of its form: sums, one answer a row, dummies, names of rows."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.columns import FEWEST_DIFFERENT, Column
from mnlearn.data.rules import ALL, Rules
from mnlearn.runtime.errors import InputError
from mnlearn.variables.matching import number_of, shorten
from mnlearn.variables.schema import NO_STATE, Schema

NAMELESS = "has no name; give it one, or delete the column."
# Of fewer rows nothing is said.
_FEW_ROWS = 5
_LONG_ROWS = 20
# A column of numbers of people has more states.
_FEW_STATES = 8
# Numbers that stand for answers that are missing, and how many numbers show that one is far away.
_CODE = re.compile(r"-?(7+|8+|9+)")
_FEWEST_NUMBERS = 3
_PREFIX = re.compile(r"(.+?)(?:_|=|\.|: ?)[^_=.:]+")
# Headers of the column of row numbers that pandas and R write, and of columns that name people.
_INDEX = ("", "unnamed: 0", "index", "rownames", "row.names")
_PERSON = "id|no|nr|number|case|subject|participant|respondent"
_ID = re.compile(rf"(?i:(.*[_. ])?({_PERSON}))|.*[a-z](ID|Id)")


def refuse_sums(columns: Sequence[Column], where: str, place: str) -> None:
    """Refuse a table whose last row has the sums of the others; `place` is its name."""
    numbers = [n for n in map(_numbers_of, columns) if n is not None]
    if len(numbers) < 2 or len(numbers[0]) < _FEW_ROWS:
        return
    matrix = np.column_stack(numbers)
    above, last = matrix[:-1], matrix[-1]
    larger = int((last > above.max(axis=0)).sum())
    if larger > 1 and np.allclose(above.sum(axis=0), last, rtol=1e-9, atol=0.0):
        raise InputError(f"{place}: the last row has the sums of the rows above; delete it.")


def refuse_long(columns: Sequence[Column], rules: Rules, where: str) -> None:
    """Refuse a table in which each row is the answer of one person to one question."""
    if len(columns) != 3 or rules.columns or len(columns[0].codes) < _LONG_ROWS:
        return
    n_rows = len(columns[0].codes)
    for a, b, c in ((0, 1, 2), (1, 0, 2)):
        person, item = columns[a], columns[b]
        answers = set(zip(person.codes.tolist(), item.codes.tolist(), strict=True))
        sizes = len(person.values), len(item.values)
        if min(sizes) < 2 or len(answers) < n_rows or sizes[0] * sizes[1] != n_rows:
            continue
        roles = zip(_PIVOT, (a, b, c), strict=True)
        names = ", ".join(f"{role}={columns[k].name!r}" for role, k in roles)
        raise InputError(
            f"{where}: each row has one answer of one {person.name!r} to one {item.name!r}; "
            f"expected a row for each {person.name!r}, as frame.pivot({names}) of pandas makes it; "
            f"or {rules.option('columns')} names the columns that are variables."
        )


_PIVOT = ("index", "columns", "values")
# What separates items in one cell, and how many cells show that they are items.
_ITEM_MARKS, _FEWEST_LISTS = ";|,", 3


def refuse_lists(columns: Sequence[Column], rules: Rules, where: str) -> None:
    """Refuse a column whose cells list items, as forms write the answers that a person ticked."""
    for column in columns:
        if column.categories is not None or column.name in (*rules.keep, *rules.states):
            continue
        texts = [v for v in column.values if isinstance(v, str)]
        for mark in _ITEM_MARKS:
            lists = [[item.strip() for item in text.split(mark)] for text in texts if mark in text]
            items = {item for each in lists for item in each}
            are_sets = all(len(set(each)) == len(each) for each in lists)
            are_words = any(number_of(item) is None for item in items)
            # Items come again in other lists: there are fewer of them than lists.
            if len(lists) < max(_FEWEST_LISTS, len(items)) or not (are_sets and are_words):
                continue
            shown = next(text for text in texts if mark in text)
            raise InputError(
                f"lists items in its cells, such as {shorten(shown)}.",
                where=where,
                column=repr(column.name),
                advice=f"frame[{column.name!r}].str.get_dummies({mark!r}) of pandas makes a column "
                f"of each item, and {rules.write('keep', column.name)} says that each list is a "
                "state",
            )


def _numbers_of(column: Column) -> NDArray[np.float64] | None:
    """Return the numbers of a column; None if a cell is none."""
    numbers = [number_of(value) for value in column.values]
    if None in numbers or (column.codes < 0).any() or column.dtype == "bool":
        return None
    return np.array(numbers, np.float64)[column.codes]


def notes_on(schema: Schema, values: NDArray[np.uint8], rules: Rules) -> Iterator[str]:
    """Yield sentences on variables that are read as written and may not be meant so."""
    for variable in schema:
        if rules.columns or variable.name in (*rules.keep, *rules.states, *rules.cut):
            continue
        if variable.arity > _FEW_STATES and names_people(variable.name):
            yield (
                f"{variable.name!r} is a variable of {variable.arity} states; if it only numbers "
                f"people, {rules.write('leave_out', variable.name)}"
            )
        texts: dict[str, str] = {}
        for text in variable.texts:
            other = texts.setdefault(text.casefold(), text)
            if other != text:
                states = f"the states {other!r} and {text!r} of {variable.name!r}"
                yield f"{states} differ in capitals only"
    yield from notes_on_dummies(schema, values)


def odd_rows(values: NDArray[np.uint8], place: Callable[[int], str]) -> Iterator[str]:
    """Yield sentences on a first and a last row of which no value stands in another row."""
    n_rows, n_vars = values.shape
    if n_rows < FEWEST_DIFFERENT or n_vars < 2:
        return
    for row in (0, n_rows - 1):
        if all((values[:, v] == values[row, v]).sum() == 1 for v in range(n_vars)):
            yield (
                f"{place(row)}: no value of this row stands in another one; delete the row if it "
                "describes or sums the columns"
            )


def notes_on_codes(columns: Sequence[Column], rules: Rules) -> Iterator[str]:
    """Yield sentences on numbers such as 9 or -99, far from all others, that may mean no answer."""
    found: dict[str, list[str]] = {}
    for column in columns:
        if rules.columns or column.categories is not None or column.name in rules.states:
            continue
        known = [number_of(column.values[k]) for k in column.known(rules.na)]
        numbers = sorted({number for number in known if number is not None})
        if None in known or len(numbers) < _FEWEST_NUMBERS:
            continue
        for code, others in ((numbers[0], numbers[1:]), (numbers[-1], numbers[:-1])):
            gap = min(abs(code - other) for other in others)
            if _CODE.fullmatch(f"{code:g}") and gap >= others[-1] - others[0]:
                found.setdefault(f"{code:g}", []).append(repr(column.name))
    for text, named in found.items():
        yield (
            f"{text} is far from the other numbers of {', '.join(named)}; if it means that the "
            f"answer is missing, {rules.write('na', text)}"
        )


def notes_on_dummies(schema: Schema, values: NDArray[np.uint8]) -> Iterator[str]:
    """Yield sentences on columns of 0 and 1 of which exactly one is 1 in each row."""
    groups: dict[str, list[int]] = {}
    for v, variable in enumerate(schema):
        found = _PREFIX.fullmatch(variable.name)
        if found and variable.texts in (("0", "1"), ("False", "True")):
            groups.setdefault(found[1], []).append(v)
    for prefix, members in groups.items():
        own = values[:, members]
        alike = (own != NO_STATE).all() and (own.sum(axis=1) == 1).all() and own.any(axis=0).all()
        if len(members) > 1 and len(own) >= _FEW_ROWS and alike:
            yield (
                f"exactly one of the {len(members)} columns that begin with {prefix!r} is 1 in "
                "each row; if they stand for one variable, give its column in their place"
            )


def names_rows(columns: Sequence[Column], v: int, rules: Rules, where: str) -> bool:
    """Tell whether a column only numbers or names the rows: its values are all different."""
    column, n_rows = columns[v], len(columns[v].codes)
    # A text that stands for missing cells elsewhere may be the number of a row.
    known = [column.values[k] for k in column.known()]
    # A cut of all columns of numbers is called "", and so is a column without a name.
    cut = set(rules.cut) - {ALL}
    said = column.name in (*rules.columns, *rules.keep, *rules.states, *cut)
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
