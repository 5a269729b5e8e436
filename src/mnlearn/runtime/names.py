"""Names of variables, as data and models may have them, and texts of one line."""

import re
from collections.abc import Sequence

from mnlearn.runtime.errors import DATA, InputError

# What a formula of a spreadsheet begins with.
_FORMULA = ("=", "+", "-", "@")
# How programs write a text that a spreadsheet shall not take for a number.
_AS_FORMULA = re.compile('="([^"]*)"')
# Signs that nobody sees, which come with texts of web pages.
_NO_WIDTH = "\ufeff\u200b\u200e\u200f\u2060"
# XML has no way to write these, and model files may be XML (.graphml).
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


def check_names(names: Sequence[str], where: str = DATA) -> tuple[str, ...]:
    """Return the names of variables as a tuple if they are different, not empty and printable."""
    column_of: dict[str, int] = {}
    for column, name in enumerate(names, start=1):
        if not name:
            raise InputError("has no name.", where=where, column=column)
        if _UNPRINTABLE.search(name):
            raise InputError(f"{name!r} has a control character.", where=where, column=column)
        if name in column_of:
            raise InputError(
                f"two columns are called {name!r} ({column_of[name]} and {column}); "
                "give one of them another name.",
                where=where,
            )
        column_of[name] = column
    return tuple(column_of)


def labels_of(names: Sequence[str] | None, n_vars: int) -> tuple[str, ...]:
    """Return the names of variables; V0, V1, ... if they have none."""
    return tuple(names) if names else tuple(f"V{v}" for v in range(n_vars))


def guarded(text: str) -> str:
    """Return a text with `'` before it if a spreadsheet would take it for a formula."""
    if not text.startswith(_FORMULA):
        return text
    try:
        float(text)
    except ValueError:
        return f"'{text}"
    return text


def unguarded(cell: str) -> str:
    """Return the text in a cell, without spaces around it and what guards it; see `guarded`."""
    text = cell.strip().strip(_NO_WIDTH).strip()
    formula = _AS_FORMULA.fullmatch(text)
    if formula:
        return formula[1]
    return text[1:] if text.startswith("'") and text[1:].startswith(_FORMULA) else text


def one_line(text: str) -> str:
    """Return a text with one space for each run of spaces, line ends and control characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def counted(n: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun in the singular or the plural."""
    return f"{n:,} {noun if n == 1 else plural or f'{noun}s'}"


def frame_names(table: object) -> tuple[str, ...] | None:
    """Return the names of the columns of a DataFrame; None unless all of them are texts."""
    names = tuple(getattr(table, "columns", ()))
    return names if names and all(isinstance(name, str) for name in names) else None
