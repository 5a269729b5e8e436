"""What a person says about the columns of a table, and how messages say it back."""

import csv
import json
import re
import shlex
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_text
from mnlearn.variables.matching import number_of
from mnlearn.variables.schema import NO_STATE

_TEXTS = ("columns", "leave_out", "keep", "na")
MEDIAN = "median"
# The numbers at which a column is cut, or MEDIAN.
Cut = tuple[float, ...] | str
# A text that a shell takes as it is, and what is not safe between its double quotes.
_BARE = re.compile(r"[\w.]+")
_SPECIAL = re.compile(r"""["'$`\\!]""")
# A state with such a sign stands in double quotes, and an equals sign outside of them.
_DIVIDES = re.compile('[,="]')
_EQUALS = re.compile(r"""=(?=(?:[^"]*"[^"]*")*[^"]*$)""")
# Stands for all columns of numbers.
ALL = ""

# How messages write what a person says: an option of a command, an argument of `read_data`, an
# argument of `read_data` where another function reads the table, or a key of a file.
OPTION = "--{}"
ARGUMENT = "{}={}"
READ_DATA = "mn.read_data(X, {}={})"
KEY = "{}: {} of the dataset in config.yaml"


@dataclass(frozen=True)
class Rules:
    """What a person says about the columns of a table.

    `cut` has the numbers that begin intervals, `ALL` for every column of more than two numbers.
    Only `columns` are variables, `leave_out` are none, and `keep` are some though they look like
    row numbers. `na` are texts of missing cells, `empty` what those of a column, or of `ALL`, mean;
    `form` is that of messages.
    """

    states: Mapping[str, tuple[Hashable, ...]] = field(default_factory=dict)
    cut: Mapping[str, Cut] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    leave_out: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    na: tuple[str, ...] = ()
    empty: Mapping[str, str] = field(default_factory=dict)
    weights: str | None = None
    baskets: bool = False
    form: str = OPTION

    @classmethod
    def said(cls, given: Mapping[str, Any], form: str) -> "Rules":
        """Return the rules of arguments, options or keys, by the names in OPTIONS.

        States, cuts and what is empty are mappings, or texts such as `sex=f,m`, `age=30,50` and
        `smokes=no`; a cut, or a state, without a column is one of all columns.
        """
        texts: dict[str, Any] = {n: _texts_of(n, given.get(n), form) for n in _TEXTS}
        if form == OPTION:
            texts["columns"] = _divided(texts["columns"])
        states, cut = _states_of(given.get("states"), form), _cuts_of(given.get("cut"), form)
        texts["empty"] = _empty_of(given.get("empty"), form)
        texts["weights"] = _text_of("weights", given.get("weights"), form)
        return cls(states, cut, **texts, baskets=bool(given.get("baskets")), form=form)

    def as_settings(self) -> dict[str, Any]:
        """Return what is said, as `said` takes it."""
        said = {name: getattr(self, name) for name in OPTIONS}
        return {name: list(own) if isinstance(own, tuple) else own for name, own in said.items()}

    def option(self, name: str) -> str:
        """Return the name of an option or argument as messages write it."""
        return f"--{name.replace('_', '-')}" if self.form == OPTION else name

    def write(self, name: str, column: str, value: Any = None) -> str:
        """Return what a person would write to say something of a column."""
        if self.form == OPTION:
            texts = [] if value is None else [value] if isinstance(value, str) else value
            said = f"{column}={','.join(map(_quoted, texts))}" if texts else column
            quoted = shlex.quote(said) if _SPECIAL.search(said) else f'"{said}"'
            return f"{self.option(name)} {said if _BARE.fullmatch(said) else quoted}"
        said = json.dumps(column if value is None else {column: value}, ensure_ascii=False)
        return self.form.format(name, said)

    def write_cut(self, column: str, cuts: Sequence[float]) -> str:
        """Return the two ways to cut a column, as a person would write them."""
        if self.form == OPTION:
            return f"{self.write('cut', column, cuts)} or {self.write('cut', column, [MEDIAN])}"
        return f"{self.write('cut', column, list(cuts))} or {self.write('cut', column, MEDIAN)}"


# What a person can say, as arguments.
OPTIONS = tuple(each.name for each in fields(Rules) if each.name != "form")


def _states_of(given: Any, form: str) -> dict[str, tuple[Hashable, ...]]:
    """Return the states that are given for columns."""
    if not given:
        return {}
    if isinstance(given, Mapping):
        pairs = list(given.items())
    else:
        texts = [given] if isinstance(given, str | Path) else given
        pairs = [pair for text in texts for pair in _pairs_of(str(text), form)]
    out: dict[str, tuple[Hashable, ...]] = {}
    for name, states in pairs:
        where = f"{_named('states', form)}, column {name!r}"
        if isinstance(states, str) or not isinstance(states, Sequence) or not states:
            raise InputError(f"{where}: expected a list of states, got {states!r}.")
        if len({str(state) for state in states}) < len(states):
            raise InputError(f"{where}: names a state twice.")
        out[str(name)] = tuple(states)
    return out


def _pairs_of(text: str, form: str) -> list[tuple[str, list[str]]]:
    """Return columns and states of a text such as `sex=f,m`, or of a `.schema` file of Libra."""
    if not text.endswith(".schema") or "=" in text:
        return [_divide(text, form)]
    sizes = read_text(text).strip().rstrip(",").split(",")
    if not all(size.strip().isdecimal() and 1 <= int(size) < NO_STATE for size in sizes):
        raise InputError(f"{text}, line 1: expected the numbers of states, such as 2,3,2.")
    # Columns without names are called by their numbers.
    return [(str(c), [str(s) for s in range(int(k))]) for c, k in enumerate(sizes, start=1)]


def _divide(text: str, form: str) -> tuple[str, list[str]]:
    """Return the column and the states of a text such as `sex=f,m`."""
    column, values = _parts_of(text)
    if not column or not values:
        expected = 'expected a column and its states, such as "sex=f,m"'
        raise InputError(f"{_named('states', form)}: {expected}, got {text!r}.")
    return column, list(_divided([values]))


def _parts_of(text: str) -> tuple[str, str]:
    """Return what stands before and after the last equals sign outside of quotes."""
    found = [equals.start() for equals in _EQUALS.finditer(text)]
    return (text[: found[-1]], text[found[-1] + 1 :]) if found else (ALL, text)


def _quoted(value: Hashable) -> str:
    """Return a state as it stands among others: in quotes if it has a comma or an equals sign."""
    text = str(value)
    return '"{}"'.format(text.replace('"', '""')) if _DIVIDES.search(text) else text


def _empty_of(given: Any, form: str) -> dict[str, str]:
    """Return what missing cells mean, by column; a text without a column stands for all of them."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        pairs = [(str(name), _text_of("empty", text, form)) for name, text in given.items()]
    else:
        pairs = [_parts_of(text) for text in _texts_of("empty", given, form)]
    return {name: str(text) for name, text in pairs if text is not None}


def _cuts_of(given: Any, form: str) -> dict[str, Cut]:
    """Return where columns are cut; a text or a number without a name stands for all of them."""
    if given is None or (isinstance(given, list | tuple) and not given):
        return {}
    if isinstance(given, Mapping):
        pairs = [(str(name), cut) for name, cut in given.items()]
    elif isinstance(given, str):
        pairs = [_cut_of_text(given)]
    elif isinstance(given, Sequence) and all(isinstance(text, str) for text in given):
        pairs = [_cut_of_text(text) for text in given]
    else:
        pairs = [(ALL, given)]
    return {name: _numbers(name, cut, form) for name, cut in pairs}


def _cut_of_text(text: str) -> tuple[str, Any]:
    name, values = _parts_of(text)
    return name, [value.strip() for value in values.split(",")]


def _numbers(name: str, cut: Any, form: str) -> Cut:
    """Return rising numbers, or MEDIAN."""
    if cut in (MEDIAN, [MEDIAN]):
        return MEDIAN
    values = cut if isinstance(cut, Sequence) and not isinstance(cut, str) else [cut]
    numbers = [None if isinstance(v, bool) else number_of(v) for v in values]
    found = [number for number in numbers if number is not None]
    if len(found) < len(numbers) or not found or sorted(set(found)) != found:
        place = f", column {name!r}" if name else ""
        expected = f"expected rising numbers or {MEDIAN}"
        raise InputError(f"{_named('cut', form)}{place}: {expected}, got {cut!r}.")
    return tuple(found)


def _texts_of(name: str, given: Any, form: str) -> tuple[str, ...]:
    if given is None:
        return ()
    texts = [given] if isinstance(given, str | int | float) else given
    known = isinstance(texts, Sequence) and all(isinstance(t, str | int | float) for t in texts)
    if not known:
        raise InputError(f"{_named(name, form)}: expected a text or several, got {given!r}.")
    return tuple(map(str, texts))


def _divided(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the parts of texts between commas, which quotes protect."""
    rows = csv.reader(texts, skipinitialspace=True)
    return tuple(part.strip() for row in rows for part in row)


def _text_of(name: str, given: Any, form: str) -> str | None:
    if given is not None and (isinstance(given, bool) or not isinstance(given, str | int | float)):
        raise InputError(f"{_named(name, form)}: expected one text, got {given!r}.")
    return None if given is None else str(given)


def _named(name: str, form: str) -> str:
    return Rules(form=form).option(name)
