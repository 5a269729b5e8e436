"""Two methods compared test example by test example."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import write_json
from mnlearn_studies.study.frames import read_frame


def compare_paired(
    identity: Mapping[str, Any], first: tuple[str, Path], second: tuple[str, Path], out: Path
) -> None:
    """Write the mean differences of the scores that two methods both have, as JSON.

    Each difference is the score of the first less that of the second, with the standard error of
    the mean over test examples, in nats.

    Parameters
    ----------
    identity : Mapping
        Study, dataset and recipe (see `study.recipes`), which go into the record.
    first, second : tuple of str and Path
        Name of the method, and its scores by test example as `score_cell` writes them.
    out : Path
        File of the record.

    Raises
    ------
    InputError
        The files do not have scores of equally many examples.
    """
    a, b = (_read_scores(path) for _, path in (first, second))
    if len(a) != len(b) or len(a) < 2:
        raise InputError(
            f"{second[1]}: expected scores of the {len(a)} examples of {first[1]}, "
            f"at least two, got {len(b)}."
        )
    differences = {}
    for quantity in (q for q in a.columns if q in b.columns):
        difference = (a[quantity] - b[quantity]).to_numpy()
        differences[quantity] = {
            "mean": float(difference.mean()),
            "stderr": float(difference.std(ddof=1) / np.sqrt(len(difference))),
        }
    record = {
        **identity,
        "method": first[0],
        "less": second[0],
        "n_test": len(a),
        "differences": differences,
    }
    write_json(out, record)


def _read_scores(path: Path) -> pd.DataFrame:
    try:
        scores = read_frame(path, ()).astype(float)
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{path}: expected a score in each cell.") from error
    if not np.isfinite(scores).all(axis=None):
        raise InputError(f"{path}: expected a finite score in each cell.")
    return scores
