"""Numbers that only the traces of tuning have: the largest of a quantity over grid points."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from mnlearn_studies.records.files import find_version
from mnlearn_studies.records.gather import COLUMNS
from mnlearn_studies.report.tables.table import (
    Trace,
)
from mnlearn_studies.study.frames import read_frame


def trace_numbers(
    entries: Iterable[Trace], study: str, datasets: Sequence[str], folder: Path
) -> pd.DataFrame:
    """Return one number per entry and dataset, as a table like the scores.

    Parameters
    ----------
    entries : iterable of Trace
        What the numbers are.
    study : str
        Name of the study.
    datasets : sequence of str
        Datasets whose traces are read. A dataset without a trace, or without remaining points, is
        left out.
    folder : Path
        Has the traces as <dataset>/<method>.csv.

    Returns
    -------
    pandas.DataFrame
        With the columns of `study.gather.COLUMNS`.
    """
    rows = []
    for entry in entries:
        columns = (entry.quantity, *entry.equal, *entry.at_least)
        for dataset in datasets:
            path = find_version(folder, dataset, entry.method, ".csv")
            if path is None:
                continue
            points = read_frame(path, columns)
            for parameter, value in entry.equal.items():
                points = points[points[parameter] == value]
            for parameter, value in entry.at_least.items():
                points = points[points[parameter] >= value]
            if len(points):
                largest = float(points[entry.quantity].max())
                rows.append((study, dataset, entry.method, "", entry.name, largest, None))
    return pd.DataFrame(rows, columns=list(COLUMNS))
