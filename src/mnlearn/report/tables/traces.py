"""Numbers that only the traces of tuning hold: the largest of a quantity over grid points."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pandas as pd

from mnlearn.report.products import Options, option
from mnlearn.study.gather import COLUMNS


def trace_numbers(
    entries: Iterable[Options], study: str, datasets: Sequence[str], folder: Path, *, where: str
) -> pd.DataFrame:
    """Return one number per entry and dataset in the form of the scores; see `study.gather.gather`.

    Parameters
    ----------
    entries
        Each with `method`; `quantity`, a column of its trace; `name`, what the number is called;
        and, to leave out grid points, `equal` (values by parameter) and `at_least` (the smallest
        value by parameter). The number is the largest of the quantity over the points that are
        left.
    study, datasets
        Whose traces are read. A dataset without a trace, or without such a point, is left out.
    folder
        Has the traces as <dataset>/<method>.csv.
    where
        Name of the table, for sentences on what is wrong with its options.

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
