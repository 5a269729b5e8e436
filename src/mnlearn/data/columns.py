"""One column of a table: the variable that it is, and the number of the state in each cell."""

import math
import re
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.rules import ALL, MEDIAN, Rules
from mnlearn.runtime.errors import InputError
from mnlearn.variables.matching import (
    find_state,
    intervals_between,
    is_missing,
    is_word,
    match_states,
    number_of,
    shorten,
    truth_of,
)
from mnlearn.variables.schema import BINARY, NO_STATE, Variable
from mnlearn.variables.variable import PANDAS_STATES

# A column of more different values is refused, unless a person names its states.
MOST_STATES = 50
# So many rows, all different, show that a column names its rows.
FEWEST_DIFFERENT = 10
# Of fewer empty cells, a word is hardly a tick.
_FEWEST_EMPTY = 0.1
# Names a cell by its row, for messages.
Place = Callable[[int], str]
# As 2026-11-01, 1.11.2026, 11/1/26 or 2026/11/01, perhaps with a time.
_DATE = re.compile(
    r"(\d{4}-\d{2}-\d{2}|\d{1,2}([./])\d{1,2}\2(\d{4}|\d{2})|\d{4}/\d{1,2}/\d{1,2})([ T].*)?"
)
_ERROR = re.compile(r"#(N/A|NV|NULL!|DIV/0!|VALUE!|WERT!|REF!|BEZUG!|NAME\?|NUM!|ZAHL!)")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufffe\uffff]")
_LEADING_ZERO = re.compile(r"[-+]?0\d+")


@dataclass(frozen=True, eq=False)
class Column:
    """A column of a table, of which each different value is kept once, in order of appearance.

    `codes`, int32 of shape (n_rows,), numbers the values, -1 where pandas says that a cell is
    missing. `dtype` is that of pandas, None for texts; `categories` are all states of a category.
    """

    name: str
    values: list[Any]
    codes: NDArray[np.int32]
    dtype: str | None = None
    categories: tuple[Hashable, ...] | None = None
    ordered: bool = False

    def first_row(self, k: int) -> int:
        """Return the first row with a value."""
        return int(np.argmax(self.codes == k))

    def filled(self, text: str, rules: Rules) -> "Column":
        """Return the column with a value in its missing cells; see `Rules.empty`."""
        missing = np.ones(len(self.values) + 1, bool)
        given = self.known(rules.na, rules.states.get(self.name, ()))
        missing[given] = False
        # The code of a missing cell is -1.
        empty = missing[self.codes]
        if not empty.any():
            return self
        number = number_of(text)
        has_numbers = not any(isinstance(self.values[k], str) for k in given)
        value: Hashable = text
        if self.dtype is not None and has_numbers and number is not None:
            value = int(number) if number.is_integer() else number
        categories = self.categories
        if categories is not None and value not in categories:
            categories = (*categories, value)
        codes = np.where(empty, len(self.values), self.codes).astype(np.int32)
        return replace(self, values=[*self.values, value], codes=codes, categories=categories)

    def known(self, na: Sequence[str] = (), states: Iterable[Hashable] = ()) -> NDArray[np.intp]:
        """Return the numbers of the values that are not missing, by the texts `na` too.

        Texts such as NA are known if they are categories, or `states`.
        """
        named = {str(state) for state in (*(self.categories or ()), *states)}
        missing = [
            any(is_word(value, word) for word in na)
            or (is_missing(value) and not (isinstance(value, str) and value.strip() in named))
            for value in self.values
        ]
        return np.flatnonzero(~np.array(missing, bool))


def read_column(column: Column, rules: Rules, place: Place) -> tuple[Variable, NDArray[np.uint8]]:
    """Return the variable that a column is, and the number of the state in each row, or NO_STATE.

    What is no variable, such as dates and fractions, is refused.
    """
    said = rules.states.get(column.name)
    known = column.known(rules.na, said or ())
    if not len(known) and not column.categories and said is None:
        raise InputError(
            f"{_of_column(place)}: all cells are missing; {_leaving_out(column, rules)}."
        )
    _refuse_objects(column, rules, place)
    _refuse_single(column, known, rules, place)
    cut = _cut_of(column, known, rules)
    if said is not None:
        variable = _variable_said(column, known, said)
    elif cut is not None:
        return _cut(column, known, cut, place, rules)
    elif column.categories is not None:
        # A category may be called NA, unless a person says what it means.
        states = tuple(s for s in column.categories if not any(is_word(s, na) for na in rules.na))
        variable = Variable(column.name, states, column.ordered, column.dtype)
        if len(states) > MOST_STATES:
            raise InputError(_too_many(column, np.arange(len(column.values)), rules, place))
    else:
        variable = _find_variable(column, known, rules, place)
    return variable, match(column, known, variable, place)


def _refuse_objects(column: Column, rules: Rules, place: Place) -> None:
    """Refuse what is no word, such as lists and bytes; intervals of pandas are words."""
    for k, value in enumerate(column.values):
        is_plain = isinstance(value, str | float | np.floating) or is_missing(value)
        is_single = not hasattr(value, "__len__") and number_of(value) is not None
        if not (is_plain or is_single or _is_of_pandas(value) or _is_date(value)):
            got = f"expected a word or a number, got {shorten(value)}"
            raise InputError(f"{place(column.first_row(k))}: {got}; {_leaving_out(column, rules)}.")


def _is_of_pandas(value: Any) -> bool:
    return type(value).__name__ in PANDAS_STATES


def _is_date(value: Any) -> bool:
    return _DATE.fullmatch(str(value)) is not None


def _refuse_single(column: Column, known: NDArray[np.intp], rules: Rules, place: Place) -> None:
    """Refuse missing cells in a column of one value.

    They may say no, as empty cells beside ticks do; and a variable of one state cannot keep them.
    """
    states = rules.states.get(column.name, column.categories or ())
    empty = ~_known_cells(column, known)
    if len(known) != 1 or len(states) > 1 or not empty.any() or column.name in rules.cut:
        return
    value = column.values[known[0]]
    few = len(empty) < FEWEST_DIFFERENT or empty.mean() < _FEWEST_EMPTY
    # A variable of 0 and 1 has a state beside this one.
    is_kept = isinstance(value, bool | np.bool_) or number_of(value) in BINARY
    if is_kept and (few or truth_of(value) is not True):
        return
    text, no = str(value).strip(), "no" if number_of(value) is None else "0"
    fault = f"{place(int(np.argmax(empty)))}: is missing, and all other cells are {shorten(value)}"
    if few or truth_of(value) is False:
        more = rules.write("states", column.name, [text, "..."])
        raise InputError(f"{fault}; {_leaving_out(column, rules)}, or {more} names other states.")
    raise InputError(
        f"{fault}; {rules.write('empty', column.name, no)} says that missing cells are {no} "
        f"({rules.write('empty', no)}: those of all columns), and "
        f"{rules.write('states', column.name, [no, text])} that they are not known."
    )


def _known_cells(column: Column, known: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Tell of each cell whether it is not missing."""
    return np.isin(column.codes, known)


def _refuse_marks(column: Column, known: NDArray[np.intp], rules: Rules, place: Place) -> None:
    """Refuse an error of a spreadsheet, and one sign among numbers: they may be missing cells."""
    marks = [k for k in known if _ERROR.fullmatch(str(column.values[k]).strip())]
    if not marks and len(known) > 2:
        others = [k for k in known if number_of(column.values[k]) is None]
        is_sign = len(others) == 1 and not any(map(str.isalnum, str(column.values[others[0]])))
        marks = others if is_sign else []
    for k in marks:
        mark = str(column.values[k]).strip()
        states = [str(column.values[j]).strip() for j in known]
        raise InputError(
            f"{place(column.first_row(int(k)))}: expected a number or a word, got {mark!r}; "
            f"{rules.write('na', mark)} says that such cells are missing, and "
            f"{rules.write('states', column.name, sorted(states))} that it is a state."
        )


def match(
    column: Column, known: NDArray[np.intp], variable: Variable, place: Place
) -> NDArray[np.uint8]:
    """Return the number of the state in each row, NO_STATE where the value is not `known`."""
    state_of = np.full(len(column.values) + 1, NO_STATE, np.uint8)
    values = [column.values[k] for k in known]
    state_of[known] = match_states(
        variable, values, lambda k: place(column.first_row(int(known[k])))
    )
    # The code of a missing cell is -1.
    return state_of[column.codes]


def _variable_said(column: Column, known: NDArray[np.intp], said: Sequence[Hashable]) -> Variable:
    """Return the variable with the states that a person names, as the column writes them."""
    states = list(said)
    if column.dtype is None and all(_is_plain_number(state) for state in said):
        states = [_whole(state) for state in said]
    elif column.dtype is not None:
        draft = Variable(column.name, tuple(said))
        for k in known:
            found = find_state(draft, column.values[k])
            if found is not None:
                states[found] = _as_state(column.values[k])
    dtype = _kept_dtype(column, states)
    return Variable(column.name, tuple(states), column.ordered, dtype)


def _as_state(value: Any) -> Hashable:
    """Return a value as a state: a text, a number or a boolean of Python."""
    if isinstance(value, str):
        return value.strip()
    return value.item() if isinstance(value, np.generic) else value


def _whole(value: Any) -> Hashable:
    """Return a number as a whole one if it is whole."""
    number = number_of(value)
    assert number is not None
    return int(number) if float(number).is_integer() else number


def _is_plain_number(value: Any) -> bool:
    """Tell whether a value is a number, and no name such as 007."""
    if isinstance(value, str) and _LEADING_ZERO.fullmatch(value.strip()):
        return False
    return number_of(value) is not None


def _kept_dtype(column: Column, states: Sequence[Hashable]) -> str | None:
    """Return the dtype of a table of samples; None where it says no more than the states."""
    if column.dtype is None:
        whole = all(isinstance(state, int) for state in states)
        dtype = "int64" if whole else "str"
    else:
        dtype = column.dtype
    return None if dtype == "int64" and tuple(states) == BINARY else dtype


def _find_variable(column: Column, known: NDArray[np.intp], rules: Rules, place: Place) -> Variable:
    """Return the variable of a column of which a person says nothing."""
    values = [column.values[k] for k in known]
    _refuse_marks(column, known, rules, place)
    for k in known:
        if isinstance(column.values[k], float) and math.isinf(column.values[k]):
            where = place(column.first_row(int(k)))
            raise InputError(f"{where}: expected a number, got {column.values[k]}.")
    kind = column.dtype or ""
    if kind.startswith(("date", "time", "period")) or all(map(_is_date, values)):
        raise InputError(
            f"{place(column.first_row(int(known[0])))}: {shorten(values[0])} is a date; "
            f"{_leaving_out(column, rules)}."
        )
    if all(isinstance(value, bool | np.bool_) for value in values):
        return Variable(column.name, (False, True), dtype=column.dtype)
    is_text = column.dtype is not None and any(isinstance(value, str) for value in values)
    if not is_text and all(map(_is_plain_number, values)):
        return _whole_numbers(column, known, rules, place)
    _refuse_many(column, known, rules, place)
    texts: dict[str, Hashable] = {}
    for value in values:
        text = str(value).strip()
        # Spaces are kept if all cells have them alike.
        kept = text not in texts and str(value).strip(" ") == text
        texts[text] = str(value) if kept and isinstance(value, str) else _as_state(value)
    for k in known:
        if _CONTROL.search(str(column.values[k]).strip()):
            where = place(column.first_row(int(k)))
            raise InputError(f"{where}: {column.values[k]!r} has a control character.")
    if all(map(_is_of_pandas, texts.values())):
        states = tuple(sorted(texts.values()))  # type: ignore[type-var]
    else:
        states = tuple(texts[text] for text in sorted(texts, key=order_of(list(texts))))
    return Variable(column.name, states, dtype=_kept_dtype(column, states))


def _whole_numbers(column: Column, known: NDArray[np.intp], rules: Rules, place: Place) -> Variable:
    """Return the variable of a column of numbers, which are whole; 0 and 1 are states together."""
    numbers = [_whole(column.values[k]) for k in known]
    for k, number in zip(known, numbers, strict=True):
        if not isinstance(number, int):
            raise InputError(
                f"{place(column.first_row(int(k)))}: {shorten(column.values[k])} is a fraction; "
                f"{_remedies(column, known, rules)}."
            )
    _refuse_many(column, known, rules, place)
    found = set(numbers)
    states = BINARY if found <= set(BINARY) else tuple(sorted(found, key=number_of))  # type: ignore[arg-type]
    return Variable(column.name, states, dtype=_kept_dtype(column, states))


def order_of(texts: Sequence[str]) -> Callable[[str], Any]:
    """Return what sorts states: numbers by value, no before yes, else by text."""
    numbers = {text: number_of(text) for text in texts}
    if None not in numbers.values():
        return lambda text: numbers[text]
    truths = {text: truth_of(text) for text in texts}
    if len(texts) == 2 and set(truths.values()) == {False, True}:
        return lambda text: truths[text]
    return lambda text: text


def _refuse_many(column: Column, known: NDArray[np.intp], rules: Rules, place: Place) -> None:
    """Refuse a column of too many values, or of a value of its own in each row."""
    values = {str(column.values[k]).strip() for k in known}
    if len(values) > MOST_STATES:
        raise InputError(_too_many(column, known, rules, place))
    n_known = int(_known_cells(column, known).sum())
    if len(values) == n_known >= FEWEST_DIFFERENT and column.name not in rules.keep:
        first = int(known[0])
        raise InputError(
            f"{place(column.first_row(first))}: all {len(values)} values are different, the first "
            f"is {shorten(column.values[first])}; {_remedies(column, known, rules)}."
        )


def _too_many(column: Column, known: NDArray[np.intp], rules: Rules, place: Place) -> str:
    extra = int(known[MOST_STATES])
    return (
        f"{place(column.first_row(extra))}: {shorten(column.values[extra])} is one of {len(known)} "
        f"different values, expected at most {MOST_STATES}; {_remedies(column, known, rules)}."
    )


def _remedies(column: Column, known: NDArray[np.intp], rules: Rules) -> str:
    """Return what a person can do: cut a column of numbers, or leave it out."""
    numbers = [number_of(column.values[k]) for k in known]
    if None in numbers or column.categories is not None:
        return _leaving_out(column, rules)
    found = np.array([number for number in numbers if number is not None])
    cuts = _round_cuts(np.quantile(found, [1 / 3, 2 / 3]), found)
    return f"cut it with {rules.write_cut(column.name, cuts)}, or {_leaving_out(column, rules)}"


def _leaving_out(column: Column, rules: Rules) -> str:
    return f"leave it out with {rules.write('leave_out', column.name)}"


def _round_cuts(cuts: NDArray[np.float64], numbers: NDArray[np.float64]) -> list[float]:
    """Return two numbers near those given that are short to write and divide the values."""
    span = float(numbers.max() - numbers.min()) or 1.0
    for digits in range(-12, 13):
        if 10.0**-digits > span:
            continue
        rounded = sorted({round(float(cut), digits) for cut in cuts})
        if len(rounded) == len(cuts) and rounded[0] > numbers.min():
            return [int(cut) if cut.is_integer() else cut for cut in rounded]
    return [float(cut) for cut in cuts]


def _cut_of(column: Column, known: NDArray[np.intp], rules: Rules) -> Any:
    """Return what a person says of cutting a column; a cut for all is for more than two numbers."""
    if column.name in rules.cut:
        return rules.cut[column.name]
    values = [column.values[k] for k in known]
    is_number = all(number_of(v) is not None and not isinstance(v, bool | np.bool_) for v in values)
    return rules.cut.get(ALL) if is_number and len(values) > 2 else None


def _cut(
    column: Column, known: NDArray[np.intp], cut: Any, place: Place, rules: Rules
) -> tuple[Variable, NDArray[np.uint8]]:
    """Return the ordered variable of intervals, and the number of the interval in each row."""
    for k in known:
        if number_of(column.values[k]) is None:
            raise InputError(
                f"{place(column.first_row(int(k)))}: expected a number, because "
                f"{rules.option('cut')} cuts the column, got {shorten(column.values[k])}."
            )
    number = np.array([number_of(value) for value in column.values], float)
    given = _known_cells(column, known)
    ends = [float(np.median(number[column.codes[given]]))] if cut == MEDIAN else list(cut)
    if cut == MEDIAN and ends[0] == number[known].min():
        # The smaller values would be none.
        ends = [float(min(x for x in number[known] if x > ends[0]))] if len(known) > 1 else ends
    states = tuple(interval.text for interval in intervals_between(ends))
    out = np.full(len(column.codes), NO_STATE, np.uint8)
    out[given] = np.searchsorted(ends, number[column.codes[given]], side="right")
    return Variable(column.name, states, ordered=True), out


def _of_column(place: Place) -> str:
    """Return the name of a column without that of a row."""
    return re.sub(r", (line|row) \d+,", ",", place(0))
