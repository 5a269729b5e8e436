"""Which state a value is: the one place that compares what people write with states.

A value is a state if it is the same as the text of the state. Otherwise it is the state of the
same number (`1.0`, `"1"` and `1`), the state that is the same in other capitals, the state that
says the same of yes or no (`True`, `yes`, `1`) where a variable has one of each, or the interval
that it lies in. It is none of them where two states fit.
"""

import math
import re
from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mnlearn.runtime.errors import InputError
from mnlearn.variables.variable import NO_STATE, Variable

# Texts of a missing cell, in any capitals: what pandas, R and databases write.
MISSING_TEXTS = frozenset(("", "na", "nan", "n/a", "<na>", "null", "nat"))
# Words that say no, and words that say yes, in any capitals.
NO_WORDS = frozenset(("false", "no", "n", "f", "absent", "0"))
YES_WORDS = frozenset(("true", "yes", "y", "t", "present", "1"))
# What separates the ends of an interval, which holds the lower one.
_BETWEEN = "-<"
# So many states are named in an error.
_LISTED = 12


class Interval(NamedTuple):
    """The numbers from `low` on that are smaller than `high`."""

    low: float
    high: float

    @property
    def text(self) -> str:
        """The state that it is: `<30`, `30-<50` or `>=50`."""
        if self.low == -math.inf:
            return f"<{text_of_number(self.high)}"
        if self.high == math.inf:
            return f">={text_of_number(self.low)}"
        return f"{text_of_number(self.low)}{_BETWEEN}{text_of_number(self.high)}"


def intervals_between(cuts: Sequence[float]) -> tuple[Interval, ...]:
    """Return the intervals into which rising numbers cut all numbers."""
    ends = (-math.inf, *cuts, math.inf)
    return tuple(map(Interval, ends[:-1], ends[1:]))


def find_state(variable: Variable, value: Any) -> int | None:
    """Return the number of the state that a value is; None if it is none, or could be two."""
    texts = variable.texts
    # States of a category may differ in the spaces around them.
    for text in (str(value), str(value).strip()):
        if text in texts and not (isinstance(value, bool | np.bool_) and _numbers(variable)):
            return texts.index(text)
    number = number_of(value)
    if number is not None and not isinstance(value, bool | np.bool_):
        same = [k for k, state in enumerate(variable.states) if number_of(state) == number]
        if len(same) == 1:
            return same[0]
    else:
        folded = text.casefold()
        same = [k for k, state in enumerate(texts) if state.strip().casefold() == folded]
        if len(same) == 1:
            return same[0]
    says = truth_of(value)
    truths = [truth_of(state) for state in variable.states]
    if says is not None and sorted(map(str, truths)) == ["False", "True"]:
        return truths.index(says)
    if number is None:
        return None
    intervals = enumerate(_intervals(texts))
    return next((k for k, (low, high) in intervals if low <= number < high), None)


def match_state(variable: Variable, value: Any, where: str) -> int:
    """Return the number of the state that a value is; refuse it, with the states, if it is none."""
    state = find_state(variable, value)
    if state is None:
        raise InputError(f"{where}: expected {list_states(variable)}, got {shorten(value)}.")
    return state


def match_states(
    variable: Variable, values: Sequence[Any] | NDArray, where: Callable[[int], str] | str
) -> NDArray[np.uint8]:
    """Return the numbers of the states of values, NO_STATE where one is missing, shape (n,).

    `where` names the place of a value, given its position, or of them all.
    """
    state_of: dict[Any, int] = {}
    out = np.empty(len(values), np.uint8)
    for row, value in enumerate(values.tolist() if isinstance(values, np.ndarray) else values):
        # True and 1 are equal, and may be different states; lists are no keys.
        key = (repr(value), type(value))
        found = state_of.get(key)
        if found is None:
            is_text = isinstance(value, str) and value.strip() in variable.texts
            if is_missing(value) and not is_text:
                found = NO_STATE
            else:
                found = match_state(variable, value, where(row) if callable(where) else where)
            state_of[key] = found
        out[row] = found
    return out


def match_column(
    variable: Variable, column: Any, where: Callable[[int], str] | str
) -> NDArray[np.uint8]:
    """Return the numbers of the states of a column of a table; see `match_states`."""
    import pandas as pd

    codes, values = pd.factorize(column)

    def place(k: int) -> str:
        return where(int(np.argmax(codes == k))) if callable(where) else where

    numbers = match_states(variable, list(values), place)
    # The code of a missing cell is -1.
    return np.append(numbers, np.uint8(NO_STATE))[codes]


def is_missing(value: Any, words: Collection[Hashable] = ()) -> bool:
    """Tell whether a value is that of a missing cell: None, NaN, NaT, NA, no text, or a word."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, float | np.floating) and math.isnan(value):
        return True
    if isinstance(value, str) and value.strip().casefold() in MISSING_TEXTS:
        return True
    return any(is_word(value, word) for word in words)


def is_word(value: Any, word: Any) -> bool:
    """Tell whether a value is what a person gave: the same text, or the same number."""
    if str(value).strip() == str(word):
        return True
    number = None if isinstance(value, bool) else number_of(word)
    return number is not None and number_of(value) == number


def number_of(value: Any) -> float | None:
    """Return the finite number that a value, such as 1, "1.0" or True, is; None if it is none."""
    if isinstance(value, str) and "_" in value:
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def text_of_number(number: float) -> str:
    """Return the shortest text that is a number, without `.0` for whole ones."""
    is_whole = float(number).is_integer() and abs(number) < 2.0**53
    return str(int(number)) if is_whole else repr(float(number))


def truth_of(value: Any) -> bool | None:
    """Return what a value says of yes or no; None if it says something else."""
    number = number_of(value)
    word = str(value).strip().casefold() if number is None else text_of_number(number)
    if word in YES_WORDS:
        return True
    return False if word in NO_WORDS else None


def list_states(variable: Variable) -> str:
    """Return the states of a variable for a sentence: `'f' or 'm'`."""
    shown = [repr(text) for text in variable.texts[:_LISTED]]
    if variable.arity > _LISTED:
        return f"one of {variable.arity} states ({', '.join(shown)}, ...)"
    return " or ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def shorten(value: Any) -> str:
    """Return a value for a message, cut if it is long."""
    text = str(value)
    return repr(text) if len(text) <= 40 else f"{text[:40]!r} and {len(text) - 40} more characters"


def _numbers(variable: Variable) -> bool:
    """Tell whether states are numbers, so that a boolean is none of their texts."""
    return all(not isinstance(s, bool) and number_of(s) is not None for s in variable.states)


_NUMBER = r"(-?[0-9.]+(?:e[+-]?[0-9]+)?)"
_MIDDLE = re.compile(f"{_NUMBER}{_BETWEEN}{_NUMBER}")


def _intervals(texts: Sequence[str]) -> tuple[Interval, ...]:
    """Return the intervals that states are; none unless the states are all intervals of numbers."""
    found: list[Interval] = []
    for text in texts:
        middle = _MIDDLE.fullmatch(text)
        if middle:
            low, high = map(number_of, middle.groups())
        elif text.startswith(">="):
            low, high = number_of(text[2:]), math.inf
        elif text.startswith("<"):
            low, high = -math.inf, number_of(text[1:])
        else:
            return ()
        if low is None or high is None or (found and low != found[-1].high):
            return ()
        found.append(Interval(low, high))
    is_whole = found and found[0].low == -math.inf and found[-1].high == math.inf
    return tuple(found) if is_whole else ()
