"""The numbers of all records of a study in one tidy table."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from mnlearn.runtime.errors import InputError
from mnlearn_studies.records.files import read_record, refuse_damaged
from mnlearn_studies.records.kind import Row
from mnlearn_studies.records.kinds import KINDS
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.fold_means import with_means
from mnlearn_studies.study.frames import read_frame

COLUMNS = ("study", "dataset", "method", "variant", "quantity", "value", "stderr")


def gather(study: Study, records: Mapping[str, Sequence[Path]]) -> pd.DataFrame:
    """Return the numbers of all records of a study, tidy: one row per number; see COLUMNS.

    Means over folds stand at the end, see `study.samples`. records : the files of its records by
    kind. What the rows of a kind are is said in `records.kinds`.
    """
    rows: list[Row] = []
    for name, kind in KINDS.items():
        for path in records.get(name, ()):
            with refuse_damaged(path):
                rows += kind.rows(study, read_record(path), path)
    # Each circuit's nodes are in the records of all its divergences.
    return with_means(pd.DataFrame(list(dict.fromkeys(rows)), columns=list(COLUMNS)))


def read_scores(path: Path) -> pd.DataFrame:
    """Return the table that was written to a CSV file, with the empty variant as empty text."""
    missing = {"value": [""], "stderr": [""]}
    frame = read_frame(path, COLUMNS, keep_default_na=False, na_values=missing)
    try:
        return frame.astype({"value": float, "stderr": float})
    except ValueError as error:
        raise InputError(f"{path}: expected numbers as value and stderr.") from error
