"""What the option `ones` says of a column: the value that counts as 1, or a threshold."""

from collections.abc import Iterable, Mapping, Sequence

from mnlearn.data.cell_texts import (
    RawColumn,
    cut_of,
    is_above,
    is_same,
    key_of,
    least_above,
    number_of,
    shorten,
    some_of,
    text_of,
    values_of_two,
)
from mnlearn.runtime.errors import InputError

# The different texts of a column that are no missing cells.
Known = Sequence[str]


def texts_asked(
    column: RawColumn, known: Known, ones: Sequence[str], option: str
) -> tuple[str, str] | None:
    """Return the values of 0 and 1 that a person asks for; None if nothing is said of them.

    Parameters
    ----------
    column, known : RawColumn and sequence of str
        The column, and its different texts that are no missing cells.
    ones : sequence of str
        What the person says. What names the column counts before what is said of all columns.
    option : str
        The name of the option, for messages.

    Raises
    ------
    InputError
        The column that is named has other values than two, or one that is no number; or two
        things are said of it.
    """
    said = [(given, _texts_of(given, column, known, option)) for given in ones]
    told = [(given, texts) for given, texts in said if texts is not None]
    found = [one for one in told if _names(one[0], column)] or told
    if len({key_of(text) for text in known}) == 1:
        # An option that is meant for other columns would make a 0 of the only value.
        own = [one for one in found if is_one(known[0], one[1][1])]
        found = (own or found)[:1]
    for given, texts in found:
        if texts != found[0][1]:
            raise InputError(
                f"{option}, column {column.name!r}: {shorten(found[0][0])} and {shorten(given)} "
                "say different things; expected one of them."
            )
    return found[0][1] if found else None


def _names(given: str, column: RawColumn) -> bool:
    """Tell whether an option names the column that it speaks of."""
    cut = cut_of(given)
    return _value_asked(given, column)[1] or (cut is not None and cut[0] == column.name)


def columns_named(columns: Sequence[RawColumn], ones: Iterable[str]) -> list[str]:
    """Return the columns that a person names, which need not be there."""
    named = []
    for given in ones:
        # A value may itself have an `=`, or look like a threshold.
        if any(_has(column, _value_asked(given, column)[0]) for column in columns):
            continue
        cut = cut_of(given)
        name, equals, _ = given.rpartition("=")
        if cut is not None:
            named += [cut[0]] if cut[0] else []
        elif equals:
            named.append(name)
    return named


def check_fits(columns: Sequence[tuple[RawColumn, Known]], ones: Sequence[str], where: str) -> None:
    """Refuse what says nothing of any column.

    Parameters
    ----------
    columns : sequence of RawColumn and sequence of str
        The variables, with their different texts that are no missing cells.
    ones : sequence of str
        What a person says.
    where : str
        Name of the table and of the option, for messages.
    """
    for given in ones:
        if any(_texts_of(given, column, known, where) for column, known in columns):
            continue
        is_one_sided = (">" in given or "<" in given) and cut_of(given) is None
        advice = "; a threshold is '>=NUMBER'" if is_one_sided else ""
        raise InputError(f"{where}: {shorten(given)} says nothing of any column{advice}.")


def stays_whole(known: Known, ones: Iterable[str]) -> bool:
    """Tell whether a column of 0 and 1 is not cut where columns of other numbers are."""
    cuts = [cut for cut in map(cut_of, ones) if cut is not None and not cut[0]]
    return values_of_two(known) == ("0", "1") and any(not 0.0 < cut[1] <= 1.0 for cut in cuts)


def check_cuts(
    columns: Sequence[tuple[RawColumn, Known]],
    ones: Sequence[str],
    codes: Mapping[str, tuple[str, str]],
    where: str,
    option: str,
) -> None:
    """Refuse a threshold where data of a model do not show what it means.

    Of a rating, data to be scored may have only 0 and 1. Whether they are cut in two already is not
    known.

    Parameters
    ----------
    columns : sequence of RawColumn and sequence of str
        The variables of a model, with their different texts that are no missing cells.
    ones : sequence of str
        What a person says.
    codes : mapping of str to (str, str)
        The values of 0 and 1 in the data of the model, which may be thresholds.
    where, option : str
        Name of the table, and of the option, for messages.

    Raises
    ------
    InputError
        A column that a person does not name has only 0 and 1, and a threshold would change it.
    """
    cuts = [cut for cut in map(cut_of, ones) if cut is not None and not cut[0]]
    of_all = f">={text_of(cuts[0][1])}" if cuts else ""
    open_ = {}
    for column, known in columns:
        one = codes[column.name][1] if column.name in codes else of_all
        # None of a value that is no threshold.
        changed = [t for t in known if is_above(t, one) not in (None, number_of(t) == 1)]
        is_plain = values_of_two(known) == ("0", "1")
        if changed and is_plain and texts_asked(column, known, ones, option) is None:
            open_[column.name] = one
    if not open_:
        return
    name, *others = open_
    more = f"; so of {some_of(others)}" if others else ""
    raise InputError(
        f"{where}, column {name!r}: has only 0 and 1, which may be ratings to cut or answers; say "
        f"{option} '{name}>={least_above(open_[name])}' or {option} '{name}=1'{more}."
    )


def is_one(text: str, one: str) -> bool:
    """Tell whether a text is the value 1: the same text, or a number from a threshold on."""
    return is_same(text, one) or is_above(text, one) is True


def _texts_of(given: str, column: RawColumn, known: Known, option: str) -> tuple[str, str] | None:
    """Return what one option says of the values 0 and 1 of a column."""
    value, own = _value_asked(given, column)
    cut = cut_of(given)
    if cut is not None and not _has(column, value):
        if not _is_cut(column, known, cut, option):
            return None
        number = text_of(cut[1])
        return f"<{number}", f">={number}"
    others = list({key_of(text): text for text in known if not is_same(text, value)}.values())
    # A value for all columns says nothing of a column that has two others.
    n_known = len({key_of(text) for text in known})
    if len(others) < 2 and (own or len(others) < n_known or n_known == 1):
        return (others[0] if others else ""), value
    if own:
        raise InputError(
            f"{option}, column {column.name!r}: expected {value} and one other value, the column "
            f"has {some_of(known)}."
        )
    return None


def _value_asked(given: str, column: RawColumn) -> tuple[str, bool]:
    """Return the value that an option names for a column, and whether it names the column."""
    name, equals, value = given.rpartition("=")
    if equals and name == column.name:
        return value, True
    own = given.removeprefix(f"{column.name}=")
    return own, own != given and _has(column, own)


def _has(column: RawColumn, value: str) -> bool:
    return any(is_same(text, value) for text in column.texts)


def _is_cut(column: RawColumn, known: Known, cut: tuple[str, float], option: str) -> bool:
    """Tell whether a person asks to cut the numbers of a column in two; 0 and 1 stay, unless named.

    Raises
    ------
    InputError
        The column that is named has a value that is no number.
    """
    if cut[0] not in ("", column.name):
        return False
    wrong = next((text for text in known if number_of(text) is None), None)
    if cut[0] and wrong is not None:
        raise InputError(
            f"{option}, column {cut[0]!r}: expected numbers, the column has {shorten(wrong)}."
        )
    return wrong is None and (bool(cut[0]) or values_of_two(known) != ("0", "1"))
