"""Files of tables by their suffix: text, Parquet, Feather, SPSS, Stata, Excel."""

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mnlearn.data.columns import Column
from mnlearn.data.frames import columns_of_frame
from mnlearn.data.rules import Rules
from mnlearn.data.text_lines import SPACE, separator_of, tidy_lines
from mnlearn.data.text_tables import TableFile, parse_table
from mnlearn.runtime.decompression import ExpansionLimit, read_limited
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import decode_text, split_lines
from mnlearn.variables.matching import number_of

# So many items at most; the table has a cell for each row and item.
_MOST_ITEMS = 65_536
# The reader of pandas for each suffix, and what it needs beside the package.
_READERS: dict[str, tuple[str, dict[str, Any], str]] = {
    ".parquet": ("read_parquet", {}, "pyarrow"),
    ".pq": ("read_parquet", {}, "pyarrow"),
    ".feather": ("read_feather", {}, "pyarrow"),
    ".arrow": ("read_feather", {}, "pyarrow"),
    ".sav": ("read_spss", {"convert_categoricals": False}, "pyreadstat"),
    ".zsav": ("read_spss", {"convert_categoricals": False}, "pyreadstat"),
    ".dta": ("read_stata", {"order_categoricals": False}, ""),
    ".xlsx": ("read_excel", {}, "openpyxl"),
}


def is_typed(path: Path) -> bool:
    """Tell whether a file is one of another program, whose columns have types."""
    return path.suffix.lower() in _READERS


def open_table(
    path: Path, limit: ExpansionLimit, rules: Rules, content: bytes | None = None
) -> TableFile:
    """Return the columns of a file; `content` has the bytes of a text file that is read already."""
    if is_typed(path):
        frame = _read_frame(path)
        return TableFile(path, columns_of_frame(frame, str(path)), True, None)
    if content is None:
        content = read_limited(path, limit)
    lines = split_lines(decode_text(content, path))
    if rules.baskets:
        return _parse_baskets(lines, path)
    # A row without any tick is a row.
    return parse_table(lines, path, keep_empty=rules.empty is not None)


def _read_frame(path: Path) -> Any:
    import pandas as pd

    name, how, package = _READERS[path.suffix.lower()]
    read: Callable[..., Any] = partial(getattr(pd, name), **how)
    if not path.is_file():
        raise InputError(f"{path}: no such file.")
    try:
        return _labelled(read(path))
    except ImportError as error:
        advice = f"pip install 'mnlearn[tables]' or {package}"
        raise InputError(f"{path}: needs the package {package}; {advice}.") from error
    except Exception as error:  # each format has errors of its own
        raise InputError(f"{path}: cannot be read as {path.suffix}: {error}") from error


def _labelled(frame: Any) -> Any:
    """Return a table of SPSS with labels in place of numbers, in the order of the numbers."""
    import pandas as pd

    for name, labels in frame.attrs.get("variable_value_labels", {}).items():
        present = sorted(value for value in frame[name].dropna().unique())
        # Two numbers may have one label.
        states = dict.fromkeys(labels.get(value, value) for value in present)
        values = [labels.get(value, value) for value in frame[name]]
        frame[name] = pd.Categorical(values, categories=list(states))
    return frame


def _parse_baskets(texts: Sequence[str], path: Path) -> TableFile:
    """Return a column of 0 and 1 for each item; commas, semicolons, tabs or spaces separate items.

    An empty line is a row without items. Items that are numbers are in their order, others in that
    of the alphabet.
    """
    lines = tidy_lines(texts, str(path))
    separator = separator_of([max(lines.texts, key=len)])
    if separator == "," and not any("," in text for text in lines.texts):
        separator = SPACE
    rows = [_items(text, separator) for text in lines.texts]
    numbers = {item: number_of(item) for row in rows for item in row}
    if not 0 < len(numbers) <= _MOST_ITEMS:
        raise InputError(f"{path}: expected 1 to {_MOST_ITEMS:,} items, got {len(numbers):,}.")
    if None in numbers.values():
        names = sorted(numbers)
    else:
        names = sorted(numbers, key=lambda item: (numbers[item], item))
    place = {name: k for k, name in enumerate(names)}
    matrix = np.zeros((len(rows), len(names)), np.uint8, order="F")
    for k, row in enumerate(rows):
        matrix[k, [place[item] for item in row]] = 1
    columns = [Column(name, ["0", "1"], matrix[:, v]) for v, name in enumerate(names)]  # type: ignore[arg-type]
    numbers_of_lines = range(lines.first, lines.first + len(rows))
    return TableFile(path, columns, True, numbers_of_lines, None, tuple(lines.notes), True)


def _items(text: str, separator: str) -> list[str]:
    cells = text.split() if separator == SPACE else text.split(separator)
    return [cell.strip().strip('"') for cell in cells if cell.strip()]
