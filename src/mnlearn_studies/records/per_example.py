"""Scores by test example, which are files of their own and no part of the record."""

from math import isclose
from pathlib import Path

from mnlearn.runtime.errors import InputError
from mnlearn_studies.records.files import CHOSEN, read_record
from mnlearn_studies.study.frames import read_frame

# Sums in another order round otherwise.
_TOLERANCE = 1e-9


def are_of_cell(scores: Path, cell: Path) -> bool:
    """Tell whether scores by test example are those of a cell: both have the same means.

    A checkout in git brings new cells, and leaves the scores of old ones.

    Parameters
    ----------
    scores, cell : Path
        Files as `score_cell` writes them.
    """
    try:
        found = read_frame(scores, ()).mean()
        means = read_record(cell)["variants"][CHOSEN]["scores"]
        return all(isclose(found[q], means[q]["mean"], rel_tol=_TOLERANCE) for q in found.index)
    except (InputError, LookupError, TypeError):
        return False
