"""Lists of items: each line of a text names the items that a row has."""

from collections.abc import Sequence

import numpy as np

from mnlearn.data.columns import Column
from mnlearn.data.text_lines import SPACE, separator_of, tidy_lines
from mnlearn.data.text_tables import TextTable
from mnlearn.runtime.errors import InputError
from mnlearn.variables.matching import number_of

# So many items at most; the table has a cell for each row and item.
_MOST_ITEMS = 65_536


def parse_baskets(texts: Sequence[str], where: str) -> TextTable:
    """Return a column of 0 and 1 for each item; commas, semicolons, tabs or spaces separate items.

    An empty line is a row without items. Items that are numbers are in their order, others in that
    of the alphabet.
    """
    lines = tidy_lines(texts, where)
    separator = separator_of([max(lines.texts, key=len)])
    if separator == "," and not any("," in text for text in lines.texts):
        separator = SPACE
    rows = [_items(text, separator) for text in lines.texts]
    numbers = {item: number_of(item) for row in rows for item in row}
    if not 0 < len(numbers) <= _MOST_ITEMS:
        raise InputError(f"{where}: expected 1 to {_MOST_ITEMS:,} items, got {len(numbers):,}.")
    if None in numbers.values():
        names = sorted(numbers)
    else:
        names = sorted(numbers, key=lambda item: (numbers[item], item))
    place = {name: k for k, name in enumerate(names)}
    matrix = np.zeros((len(rows), len(names)), np.uint8, order="F")
    for k, row in enumerate(rows):
        matrix[k, [place[item] for item in row]] = 1
    columns = [Column(name, ["0", "1"], matrix[:, v]) for v, name in enumerate(names)]  # type: ignore[arg-type]
    return TextTable(
        columns, True, range(lines.first, lines.first + len(rows)), notes=tuple(lines.notes)
    )


def add_absent(columns: Sequence[Column], names: Sequence[str]) -> list[Column]:
    """Return columns with those of items that no row has."""
    given = {column.name for column in columns}
    none = np.zeros(len(columns[0].codes), np.int32)
    return [*columns, *(Column(name, ["0"], none) for name in names if name not in given)]


def _items(text: str, separator: str) -> list[str]:
    cells = text.split() if separator == SPACE else text.split(separator)
    return [cell.strip().strip('"') for cell in cells if cell.strip()]
