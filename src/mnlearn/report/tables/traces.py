"""Numbers that only the traces of tuning have: the largest of a quantity over grid points."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from mnlearn.report.products import Options, option
from mnlearn.study.gather import COLUMNS


def trace_numbers(
    entries: Iterable[Options], study: str, datasets: Sequence[str], folder: Path, *, where: str
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
    where : str
        Name of the table, for error messages.

    Returns
    -------
    pandas.DataFrame
        With the columns of `study.gather.COLUMNS`.
    """
    rows = []
    for entry in entries:
        method, quantity, name = (
            str(option(entry, key, f"{where}, traces")) for key in ("method", "quantity", "name")
        )
        for dataset in datasets:
            path = folder / dataset / f"{method}.csv"
            if not path.exists():
                continue
            points = pd.read_csv(path)
            for parameter, value in entry.get("equal", {}).items():
                points = points[points[parameter] == value]
            for parameter, value in entry.get("at_least", {}).items():
                points = points[points[parameter] >= value]
            if len(points):
                largest = float(points[quantity].max())
                rows.append((study, dataset, method, "", name, largest, None))
    return pd.DataFrame(rows, columns=list(COLUMNS))
