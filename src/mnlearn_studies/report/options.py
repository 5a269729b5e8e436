"""Options of tables, figures and claims: which ones each kind reads, and what they have to be."""

import dataclasses
import reprlib
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from mnlearn.runtime.errors import InputError
from mnlearn_studies.study.reading import part_name, suggestion

Options = Mapping[str, Any]
Material = TypeVar("Material")
Product = TypeVar("Product")


@dataclass(frozen=True)
class Form:
    """What the value of an option has to be.

    Attributes
    ----------
    words : str
        What is expected, for messages.
    fits : callable
        Whether a value is of this form.
    inside : mapping of str to Form, optional
        The options of the value, a mapping, or of each mapping that the value lists.
    needed : bool
        Whether the option has to be given.
    along : str
        Another option that has to be given along with this one; empty for none.
    """

    words: str
    fits: Callable[[Any], bool]
    inside: "Keys | None" = None
    needed: bool = False
    along: str = ""


Keys = Mapping[str, Form]


@dataclass(frozen=True)
class Kind(Generic[Material, Product]):
    """A kind of table or figure.

    Attributes
    ----------
    make : callable
        Returns the product of an entry.
    options : mapping of str to Form
        The options that an entry may have besides those of every entry.
    """

    make: Callable[[Material, Options], Product]
    options: Keys = field(default_factory=dict)


def check_options(options: Options, known: Keys, where: str) -> None:
    """Refuse options that are unknown, missing or of another form.

    Parameters
    ----------
    options : mapping
        An entry of a study, or a part of one.
    known : mapping of str to Form
        The options that it may have.
    where : str
        The place of the options, for messages.

    Raises
    ------
    InputError
        The sentence names the place, the key, and what is expected.
    """
    for key in options:
        if key not in known:
            raise InputError(f"{where}: no option {key!r}{suggestion(str(key), known)}")
    for key, form in known.items():
        if key not in options:
            if form.needed:
                raise InputError(f"{where}: expected the key {key!r}.")
            continue
        if form.along and form.along not in options:
            raise InputError(f"{where}: expected the key {form.along!r}.")
        value = options[key]
        if not form.fits(value):
            raise InputError(f"{where}, {key}: expected {form.words}, got {reprlib.repr(value)}.")
        if form.inside is not None:
            for place, part in _parts(key, value):
                check_options(part, form.inside, f"{where}, {place}")


def _parts(key: str, value: Any) -> Iterator[tuple[str, Options]]:
    """Yield the mappings of a value with their names: itself, or those that it lists."""
    if isinstance(value, Mapping):
        yield key, value
    else:
        yield from ((part_name(key, n, part), part) for n, part in enumerate(value, start=1))


def needed(form: Form) -> Form:
    """Return the form of an option that has to be given."""
    return dataclasses.replace(form, needed=True)


def mapping(keys: Keys) -> Form:
    """Return the form of a mapping with options of its own."""
    return Form("a mapping", _is_mapping, keys)


def listed(keys: Keys, least: int = 0) -> Form:
    """Return the form of a list of mappings with options of their own, of which some are needed."""
    words = f"a list of {least} mappings or more" if least else "a list of mappings"
    fits = _is_list_of(_is_mapping)
    return Form(words, lambda value: fits(value) and len(value) >= least, keys)


def one_or_more(keys: Keys) -> Form:
    """Return the form of a mapping, or of a list of mappings, with options of their own."""
    fits = _is_list_of(_is_mapping)
    return Form(
        "a mapping or a list of mappings", lambda value: _is_mapping(value) or fits(value), keys
    )


def one_of(words: Collection[str]) -> Form:
    """Return the form of one of some words."""
    return Form(
        f"one of {', '.join(words)}", lambda value: isinstance(value, str) and value in words
    )


def _is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_number(value: Any) -> bool:
    """Whether a value is a number that fits in a float; true and false are none."""
    is_one = isinstance(value, int | float) and not isinstance(value, bool)
    return is_one and abs(value) <= sys.float_info.max


def _is_whole(value: Any) -> bool:
    return _is_number(value) and isinstance(value, int) and value >= 0


def _is_list_of(fits: Callable[[Any], bool], least: int = 1) -> Callable[[Any], bool]:
    """Return the test for a list of such values, as many as `least` or more."""
    return lambda value: isinstance(value, list) and len(value) >= least and all(map(fits, value))


ANYTHING = Form("anything", lambda value: True)
TEXT = Form("a text", _is_text)
# YAML reads the numbers of tables as numbers.
TABLE = Form("the name of a table", lambda value: _is_text(value) or _is_number(value))
FLAG = Form("true or false", lambda value: isinstance(value, bool))
NUMBER = Form("a number", _is_number)
POSITIVE = Form("a number above 0", lambda value: _is_number(value) and value > 0)
WHOLE = Form("a whole number from 0", _is_whole)
DECIMALS = Form("a whole number from 0 to 15", lambda value: _is_whole(value) and value <= 15)
LEVEL = Form("a number between 0 and 1", lambda value: _is_number(value) and 0 < value < 1)
NAMES = Form("a list of names", _is_list_of(_is_text))
NAMES_IF_ANY = Form("a list of names", _is_list_of(_is_text, 0))
NUMBERS = Form("a list of numbers", _is_list_of(_is_number))
WHOLES = Form("a list of whole numbers from 0", _is_list_of(_is_whole))
LISTS_OF_NAMES = Form("a list of lists of names", _is_list_of(NAMES.fits))
PAIR = Form("a list of two names", lambda value: NAMES.fits(value) and len(value) == 2)
PAIRS = Form("a list of pairs of names", _is_list_of(PAIR.fits))
MAPPING = Form("a mapping", _is_mapping)
NUMBER_BY_NAME = Form(
    "a mapping of names to numbers",
    lambda value: _is_mapping(value) and all(map(_is_number, value.values())),
)

# A table of a paper.
PLACE: Keys = {"study": needed(TEXT), "table": needed(TABLE)}
# See `study.published.source`. Several lists may share a source, so all take its names.
SOURCE: Keys = {
    "method": needed(TEXT),
    "quantity": needed(TEXT),
    "study": dataclasses.replace(TEXT, along="table"),
    "table": TABLE,
    **dict.fromkeys(("variant", "name", "head"), TEXT),
}
# Values of hyperparameters, each with the variants of the method that have it.
PARAMETERS = listed(
    {
        "head": needed(TEXT),
        "values": needed(
            listed({"name": needed(TEXT), "head": needed(TEXT), "variants": needed(NAMES)})
        ),
    }
)
