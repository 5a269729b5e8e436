"""The lines of a table in a text file, without what other programs leave around it."""

import csv
import re
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from mnlearn.runtime.errors import InputError
from mnlearn.variables.matching import number_of

# What separates cells; the first that a line has, if nothing else decides.
_SEPARATORS = (",", ";", "\t")
SPACE = " "
# A first line of a spreadsheet that says what separates cells.
_SEPARATOR_LINE = re.compile(r'\s*"?sep=(\\t|[^\w"])"?\s*', re.IGNORECASE)
_END_OF_FILE = "\x1a"
_NUMPY = "# "
_MOST_COLUMNS = 100_000
_JSON = "pandas.read_json(FILE), with lines=True if each line has an object of its own"
# The beginning of a file of another form, its name, and what brings it into a table.
_FORMS = (
    (
        re.compile(r"@relation\b", re.I),
        "an ARFF file",
        "pandas.DataFrame(scipy.io.arff.loadarff(FILE)[0])",
    ),
    (re.compile("%%MatrixMarket", re.I), "a file of Matrix Market", "scipy.io.mmread(FILE)"),
    (
        re.compile(r"[-+]?\d+([.,]\d+)*( (\d+|qid):[-+.\deE]+)+ *(#.*)?$"),
        "a libsvm file",
        "sklearn.datasets.load_svmlight_file(FILE)[0]",
    ),
    (re.compile(r"<(\?xml|!doctype|html)\b", re.I), "an XML or HTML file", "save it as CSV UTF-8"),
    (re.compile(r"\{\s*($|[\"\[{])|\[\s*($|[\[{])"), "a JSON file", _JSON),
)


class Lines(NamedTuple):
    """The lines of a table; `first` is the number of the first of them in the file, from 1."""

    texts: list[str]
    first: int
    separator: str
    notes: list[str]

    def reader(self) -> Any:
        """Return a reader of cells; quoted cells may have line breaks."""
        ended = (f"{text.strip() if self.separator == SPACE else text}\n" for text in self.texts)
        # A tab is a space, so that skipping spaces would skip empty cells.
        skips = self.separator != "\t"
        return csv.reader(ended, delimiter=self.separator, skipinitialspace=skips, strict=True)


def tidy_lines(texts: Sequence[str], where: str, what: str = "examples") -> Lines:
    """Return the lines of the table in a file, without comments and empty lines around it.

    The line `sep=;` of a spreadsheet says what separates cells. `what` names what the lines are.
    """
    texts = [texts[0], *texts[1:]] if texts else []
    if texts:
        texts[-1] = texts[-1].rstrip(_END_OF_FILE)
    texts = texts[: max((k for k, text in enumerate(texts) if text.strip()), default=-1) + 1]
    if not texts:
        raise InputError(f"{where}: holds no {what}.")
    _refuse_other_forms(texts, where)
    first = 1 + next(k for k, text in enumerate(texts) if text.strip())
    if first > 1 and not any(mark in texts[first - 1] for mark in (*_SEPARATORS, "sep=")):
        # An empty line of one column may be a missing cell.
        first = 1
    said = _SEPARATOR_LINE.fullmatch(texts[first - 1]) if len(texts) > first else None
    if said is not None:
        first += 1 + next(k for k, text in enumerate(texts[first:]) if text.strip())
    texts = texts[first - 1 :]
    n_before, n_after = _comments(texts), _comments(texts[::-1])
    n_after = n_after if n_before + n_after < len(texts) else 0
    n = n_before + n_after
    notes = [f"left out {n} lines of comments, which begin with #"] if n else []
    texts = texts[n_before : len(texts) - n_after]
    # numpy.savetxt writes the names as a comment.
    texts[0] = texts[0].removeprefix(_NUMPY)
    separator = said[1].replace("\\t", "\t") if said else separator_of(texts)
    check_width(texts[0].count(separator) + 1, f"{where}, line {first + n_before}")
    return Lines(texts, first + n_before, separator, notes)


def check_width(n_columns: int, where: str) -> None:
    """Refuse a table of too many columns."""
    if n_columns > _MOST_COLUMNS:
        raise InputError(f"{where}: expected at most {_MOST_COLUMNS:,} columns, got {n_columns:,}.")


def _refuse_other_forms(texts: Sequence[str], where: str) -> None:
    """Refuse a file of another form by its name; ARFF files may begin with comments."""
    start = next((t.strip() for t in texts if t.strip() and not t.startswith("%")), "")
    for form, name, remedy in _FORMS:
        if form.match(texts[0].strip() if form.pattern.startswith("%") else start):
            advice = remedy
            if "FILE" in remedy:
                advice = f"mnlearn.read_data(X) takes X = {remedy}"
            raise InputError(f"is {name}, not a table.", where=where, advice=advice)


def _comments(texts: Sequence[str]) -> int:
    """Return how many first lines are comments: they begin with # and are no line of the table."""
    n = next((k for k, text in enumerate(texts) if not text.startswith("#")), 0)
    if not n or n == len(texts):
        return 0
    separator = separator_of(texts[n : n + 2])
    width = texts[n].count(separator)
    while n and texts[n - 1].removeprefix(_NUMPY).count(separator) == width:
        n -= 1
    return n


def separator_of(texts: Sequence[str]) -> str:
    """Return what separates the cells of a table: a comma, a semicolon, a tab, or spaces.

    Of several in the first line, the next line has it as often, or once more for the name of a row.
    """
    # Quoted names may have commas.
    bare = [_without_quoted(text) for text in texts[:2]]
    found = [mark for mark in _SEPARATORS if bare and mark in bare[0]]
    if len(found) > 1 and len(bare) > 1:
        for more in (0, 1):
            fitting = [mark for mark in found if bare[1].count(mark) == bare[0].count(mark) + more]
            # Numbers may have decimal commas, and have no semicolons and tabs.
            if fitting:
                return fitting[-1]
    if not found and _are_divided(texts):
        return SPACE
    return found[0] if found else ","


def _are_divided(texts: Iterable[str]) -> bool:
    """Tell whether spaces divide all lines into as many cells; names of rows have no name.

    If the second line is numbers, another line of more or fewer cells is one at fault.
    """
    cells = [_without_quoted(text).split() for text in texts]
    widths = [len(own) for own in cells]
    if len(widths) < 2 or widths[1] < 2 or widths[0] not in (widths[1], widths[1] - 1):
        return False
    return len(set(widths[1:])) == 1 or None not in map(number_of, cells[1])


def _without_quoted(text: str) -> str:
    return re.sub('"[^"]*"', '""', text)
