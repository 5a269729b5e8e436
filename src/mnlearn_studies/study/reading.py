"""Read parts of a study's YAML file into the dataclasses that describe them.

The fields of a dataclass are the keys that a part may have, and their annotations say what the
values have to be: text, true or false, whole numbers from 0, numbers, one of some words
(`Literal`), other dataclasses, lists (`tuple`, or `list` if it may be empty) and mappings of these.
"""

import dataclasses
import difflib
import reprlib
import sys
import types
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import (
    Annotated,
    Any,
    Literal,
    TypeVar,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from mnlearn.runtime.errors import InputError

Part = TypeVar("Part")
# How alike two words are of which one is taken for the other misspelt.
_ALIKE = 0.65
Pair = tuple[str, str]
_WORDS = {str: "a text", bool: "true or false", int: "a whole number from 0", float: "a number"}
_LISTED = {
    str: "names",
    int: "whole numbers from 0",
    float: "numbers",
    Pair: "pairs of names",
    Any: "values",
}


@dataclass(frozen=True)
class Limit:
    """What a value has to be beyond its type, as the annotation `Annotated[type, Limit(…)]`.

    words : what is expected, for messages. fits : whether a value of the type is within the limit.
    """

    words: str
    fits: Callable[[Any], bool]


def from_to(low: int, high: int | None = None) -> Limit:
    """Return the limit of whole numbers from one number, and to another if there is one."""
    words = f"a whole number from {low}" + (f" to {high}" if high is not None else "")
    return Limit(words, lambda value: value >= low and (high is None or value <= high))


def at_least(n: int, what: str = "mappings") -> Limit:
    """Return the limit of lists that have so many items or more."""
    return Limit(f"a list of {n} {what} or more", lambda value: len(value) >= n)


Decimals = Annotated[int, from_to(0, 15)]
Whole = Annotated[int, from_to(1)]
Share = Annotated[float, Limit("a number from 0 and below 1", lambda value: 0 <= value < 1)]
NotNegative = Annotated[float, Limit("a number from 0", lambda value: value >= 0)]
# Of a list.
ONCE = Limit("a list of names, each once", lambda names: all(names.count(n) == 1 for n in names))


def read(cls: type[Part], given: Mapping[str, Any], where: str) -> Part:
    """Return a part of a study as the dataclass that describes it.

    A method `check(where)` of the class refuses values that do not fit together. If the class says
    `leaves_others = True`, keys that it does not have are left out instead of refused; classes that
    derive from it refuse them. where : the place of the part, for messages.
    """
    forms = _forms(cast(Any, cls))
    for key in given:
        if key not in forms and not vars(cls).get("leaves_others"):
            raise InputError(f"no option {key!r}{suggestion(str(key), forms)}", where=where)
    values = {}
    for field in dataclasses.fields(cls):  # type: ignore[arg-type]
        if field.name in given:
            values[field.name] = _value(forms[field.name], given[field.name], where, field.name)
        elif field.default is field.default_factory is dataclasses.MISSING:
            raise InputError(f"expected the key {field.name!r}.", where=where)
    part = cls(**values)
    if hasattr(part, "check"):
        part.check(where)
    return part


@cache
def _forms(cls: Any) -> dict[str, Any]:
    """Return the annotation of each field; None, which YAML files never give, is left out."""
    hints = get_type_hints(cls, include_extras=True)
    return {field.name: _without_none(hints[field.name]) for field in dataclasses.fields(cls)}


def _without_none(form: Any) -> Any:
    if get_origin(form) not in (Union, types.UnionType):
        return form
    return Union[tuple(arg for arg in get_args(form) if arg is not types.NoneType)]  # noqa: UP007


def _value(form: Any, value: Any, where: str, key: str) -> Any:
    if not _fits(form, value):
        shown = reprlib.repr(value)
        raise InputError(f"expected {_words(form)}, got {shown}.", where=f"{where}, {key}")
    return _made(form, value, where, key)


def _fits(form: Any, value: Any) -> bool:
    """Tell whether a value is of a form; parts are looked into when they are made."""
    origin, args = get_origin(form), get_args(form)
    if origin is Annotated:
        return _fits(args[0], value) and all(limit.fits(value) for limit in args[1:])
    if origin in (Union, types.UnionType):
        return any(_fits(arg, value) for arg in args)
    if origin is Literal:
        return isinstance(value, str) and value in args
    if origin in (tuple, list):
        if not isinstance(value, list) or (form == Pair and len(value) != 2):
            return False
        return (bool(value) or origin is list) and all(
            _fits(_type(args[0]), item) for item in value
        )
    if origin is Mapping:
        return isinstance(value, Mapping)
    if form in (int, float):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        fits_type = is_number and (form is float or (isinstance(value, int) and value >= 0))
        return fits_type and abs(value) <= sys.float_info.max
    if form in (str, bool):
        return isinstance(value, form)
    return isinstance(value, Mapping) if dataclasses.is_dataclass(form) else True


def _type(form: Any) -> Any:
    """Return the type of a form without its limits, which are those of each item of a list."""
    return get_args(form)[0] if get_origin(form) is Annotated else form


def _words(form: Any) -> str:
    origin, args = get_origin(form), get_args(form)
    if origin is Annotated:
        return str(args[-1].words)
    if origin in (Union, types.UnionType):
        return " or ".join(map(_words, args))
    if origin is Literal:
        return f"one of {', '.join(args)}"
    if origin in (tuple, list):
        if form == Pair:
            return "a list of two names"
        listed = "lists of names" if get_origin(args[0]) is tuple else "mappings"
        return f"a list of {_LISTED.get(_type(args[0]), listed)}"
    return _WORDS.get(form, "a mapping")


def _made(form: Any, value: Any, where: str, key: str) -> Any:
    """Return a value that fits, with lists as tuples and mappings as their dataclasses."""
    origin, args = get_origin(form), get_args(form)
    if origin is Annotated:
        return _made(args[0], value, where, key)
    if origin in (Union, types.UnionType):
        return _made(next(arg for arg in args if _fits(arg, value)), value, where, key)
    if origin in (tuple, list):
        names = [part_name(key, number, item) for number, item in enumerate(value, start=1)]
        return tuple(
            _value(args[0], item, where, name) for name, item in zip(names, value, strict=True)
        )
    if origin is Mapping:
        return {
            _value(args[0], each, where, key): _value(args[1], inner, f"{where}, {key}", str(each))
            for each, inner in value.items()
        }
    if dataclasses.is_dataclass(form):
        return read(cast(type, form), value, f"{where}, {key}")
    return value


def walk(part: Any, place: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield every mapping inside a part of a study, with the words that lead to it."""
    if isinstance(part, Mapping):
        yield place, part
        for key, inner in part.items():
            yield from walk(inner, (*place, str(key)))
    elif isinstance(part, list) and place:
        *before, last = place
        for number, inner in enumerate(part, start=1):
            yield from walk(inner, (*before, part_name(last, number, inner)))


def part_name(key: str, number: int, part: Any) -> str:
    """Return how messages name the part with a number of the list under a key."""
    word = {"series": "series", "studies": "study"}.get(key, key.removesuffix("s"))
    names = part if isinstance(part, Mapping) else {}
    return f"{word} {next((names[key] for key in ('name', 'head', 'id') if key in names), number)}"


def place_name(study: str, kind: str, entry: Mapping[str, Any], place: Collection[str] = ()) -> str:
    """Return how messages name a table, figure or claim, or a place in one."""
    name = entry.get("name", entry.get("id"))
    return ", ".join((f"study {study}", f"{kind.removesuffix('s')} {name}", *place))


def suggestion(name: str, known: Collection[str]) -> str:
    """Return the end of a sentence with the most similar name, or all names if none is similar."""
    return hint(name, known) or f"; expected one of {', '.join(known)}."


def hint(name: str, known: Collection[str]) -> str:
    """Return the end of a sentence with the most similar name; nothing if none is similar."""
    by_lower = {each.lower(): each for each in known}
    near = difflib.get_close_matches(name.lower(), by_lower, n=1, cutoff=_ALIKE)
    return f"; did you mean {by_lower[near[0]]!r}?" if near else ""
