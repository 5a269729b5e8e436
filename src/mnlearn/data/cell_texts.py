"""Columns of texts, and what a text means: a number, a word for 0 or 1, or a missing value."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Texts of a missing cell, in any capitals: what pandas, R and databases write.
MISSING_TEXTS = frozenset(("", "na", "nan", "n/a", "<na>", "null"))
# Words for 0 and 1, in any capitals.
_WORDS = (("false", "true"), ("no", "yes"), ("n", "y"), ("f", "t"))
PLAIN = {("0", "1"), *_WORDS}
# What a threshold begins with, and whether its own number is above it.
_THRESHOLDS = {">=": True, ">": False}
# What separates cells; the first that a line has, if nothing else decides.
_SEPARATORS = (",", ";", "\t")
# So many values of a column are named in an error.
_LISTED = 5


@dataclass(frozen=True, eq=False)
class RawColumn:
    """A column of texts.

    name : its name, or its number from 1 if the table has no names.
    texts : its different texts in order of appearance.
    codes : int32, shape (n_rows,). The number of the text of each row.
    """

    name: str
    texts: list[str]
    codes: NDArray[np.int32]

    def first_row(self, k: int) -> int:
        """Return the first row with a text."""
        return int(np.argmax(self.codes == k))


def separator_of(lines: Sequence[str]) -> str:
    """Return what separates the cells of a table: a comma, a semicolon or a tab.

    Of several that the first line has, it is the one that the next line has as often: a name may
    have a comma. The next line may have one more, for the name of a row or at its end.
    """
    # Quoted names may have commas.
    bare = [re.sub('"[^"]*"', "", line) for line in lines[:2]]
    found = [mark for mark in _SEPARATORS if bare and mark in bare[0]]
    if len(found) > 1 and len(bare) > 1:
        for more in (0, 1):
            fitting = [mark for mark in found if bare[1].count(mark) == bare[0].count(mark) + more]
            # Numbers may have decimal commas, and have no semicolons and tabs.
            if fitting:
                return fitting[-1]
    return found[0] if found else ","


def cut_of(given: str) -> tuple[str, float] | None:
    """Return the column, empty for all, and the number of a text such as `mood>=3`."""
    name, mark, text = given.rpartition(">=")
    number = number_of(text)
    return None if not mark or number is None else (name, number)


def is_above(text: str, one: str) -> bool | None:
    """Tell whether a number is above a threshold, such as >=3 or >3; None if they are none."""
    number = number_of(text)
    for mark, at_number in _THRESHOLDS.items():
        threshold = number_of(one.removeprefix(mark)) if one.startswith(mark) else None
        if threshold is not None and number is not None:
            return number > threshold or (at_number and number == threshold)
    return None


def least_above(one: str) -> str:
    """Return the least number above a threshold, such as >=3 or >3."""
    if one.startswith(">="):
        return one.removeprefix(">=")
    return text_of(math.nextafter(float(one.removeprefix(">")), math.inf))


def values_of_two(known: Sequence[str]) -> tuple[str, str] | None:
    """Return the values of 0 and 1 if only one reading is possible."""
    numbers = {number_of(text) for text in known}
    if None not in numbers:
        for zero, one in ((0.0, 1.0), (1.0, 2.0)):
            if numbers <= {zero, one}:
                return f"{zero:g}", f"{one:g}"
        return None
    words = {text.lower() for text in known}
    return next((pair for pair in _WORDS if words <= set(pair)), None)


def number_of(text: str) -> float | None:
    """Return the finite number that a text is; None if it is none."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if np.isfinite(number) else None


def text_of(number: float) -> str:
    """Return the shortest text that is a number, without `.0` for whole ones."""
    is_whole = float(number).is_integer() and abs(number) < 2.0**53
    return str(int(number)) if is_whole else repr(float(number))


def cell_text(value: Any) -> str:
    """Return a value of Python as a file would have it; missing ones are empty."""
    if value is None or repr(value) in ("<NA>", "NaT") or (np.ndim(value) == 0 and value != value):
        return ""
    return text_of(value) if isinstance(value, float) else str(value).strip()


def key_of(text: str) -> float | str:
    """Return what is the same for texts of the same value: their number, or their small letters."""
    number = number_of(text)
    return text.lower() if number is None else number


def is_same(text: str, other: str) -> bool:
    """Tell whether two texts are the same value: equal numbers, or words in any capitals."""
    return key_of(text) == key_of(other)


def matches(text: str, given: str) -> bool:
    """Tell whether a text is one that a person gave: the same text, or the same number."""
    number = number_of(given)
    return text == given or (number is not None and number_of(text) == number)


def is_missing(text: str, given: Sequence[str] = ()) -> bool:
    """Tell whether a text is that of a missing cell, or one of those that a person gave."""
    return text.lower() in MISSING_TEXTS or any(matches(text, each) for each in given)


def shorten(text: str) -> str:
    """Return a text in quotes for a message, cut if it is long."""
    return repr(text) if len(text) <= 40 else f"{text[:40]!r} and {len(text) - 40} more characters"


def some_of(texts: Sequence[str], most: int = _LISTED) -> str:
    """Return the first of some texts for a message."""
    return ", ".join(texts[:most]) + (", ..." if len(texts) > most else "")
