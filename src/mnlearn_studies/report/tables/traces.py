"""Numbers that only the traces of tuning have: the largest of a quantity over grid points."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from mnlearn_studies.records.files import find_version
from mnlearn_studies.records.gather import COLUMNS
from mnlearn_studies.report.options import MAPPING, NUMBER_BY_NAME, TEXT, Options, listed, needed
from mnlearn_studies.study.frames import read_frame

TRACES = listed(
    {
        **dict.fromkeys(("method", "quantity", "name"), needed(TEXT)),
        "equal": MAPPING,
        "at_least": NUMBER_BY_NAME,
    }
)


def trace_numbers(
    entries: Iterable[Options], study: str, datasets: Sequence[str], folder: Path
) -> pd.DataFrame:
    """Return one number per entry and dataset, as a table like the scores.

    Parameters
    ----------
    entries : iterable of mapping
        Each with `method`; `quantity`, a column of its trace; `name`, the name of the number; and,
        to leave out grid points, `equal` (values by parameter) and `at_least` (smallest values by
        parameter). The number is the largest of the quantity over the remaining points.
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
        method, quantity, name = (str(entry[key]) for key in ("method", "quantity", "name"))
        columns = (quantity, *entry.get("equal", {}), *entry.get("at_least", {}))
        for dataset in datasets:
            path = find_version(folder, dataset, method, ".csv")
            if path is None:
                continue
            points = read_frame(path, columns)
            for parameter, value in entry.get("equal", {}).items():
                points = points[points[parameter] == value]
            for parameter, value in entry.get("at_least", {}).items():
                points = points[points[parameter] >= value]
            if len(points):
                largest = float(points[quantity].max())
                rows.append((study, dataset, method, "", name, largest, None))
    return pd.DataFrame(rows, columns=list(COLUMNS))
