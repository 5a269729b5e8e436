"""Tables in CSV files that a study writes and reads again."""

import io
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_text


def read_frame(path: Path, columns: Iterable[str], **options: Any) -> pd.DataFrame:
    """Return the table in a CSV file, which has to have some columns; options : of pandas."""
    try:
        frame = pd.read_csv(io.StringIO(read_text(path)), **options)
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: is not a CSV table.") from error
    for name in columns:
        if name not in frame:
            raise InputError(f"{path}: expected the column {name}.")
    return frame
