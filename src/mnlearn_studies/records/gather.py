"""The numbers of all records of a study in one tidy table."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from mnlearn.runtime.errors import InputError
from mnlearn_studies.datasets.sample_names import list_means
from mnlearn_studies.records.files import read_record, refuse_damaged
from mnlearn_studies.records.kind import Row
from mnlearn_studies.records.kinds import KINDS
from mnlearn_studies.study.definition import Study
from mnlearn_studies.study.frames import read_frame

COLUMNS = ("study", "dataset", "method", "variant", "quantity", "value", "stderr")


def gather(study: Study, records: Mapping[str, Sequence[Path]]) -> pd.DataFrame:
    """Return the numbers of all records of a study by kind, tidy: one row per number; see COLUMNS.

    Means over folds stand at the end, see `study.samples`.
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


def mean_over_folds(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the means over the folds of each size, with their standard errors.

    The error is missing for a single fold. A number that only some folds have has no mean.
    """
    means = {d: list_means([d]) for d in scores["dataset"].unique()}
    of_samples = scores[scores["dataset"].map(lambda d: bool(means[d]))]
    if not len(of_samples):
        return scores.iloc[:0]
    named = of_samples.assign(
        fold=of_samples["dataset"], dataset=of_samples["dataset"].map(lambda d: means[d][0])
    )
    n_folds = named.groupby(["dataset", "method"])["fold"].nunique()
    keys = ["study", "dataset", "method", "variant", "quantity"]
    values = named.dropna(subset=["value"]).groupby(keys, sort=False)["value"]
    table = values.agg(["mean", "std", "count"]).reset_index()
    all_folds = [n_folds[row.dataset, row.method] for row in table.itertuples()]
    table = table[table["count"] == all_folds]
    stderr = table["std"] / table["count"] ** 0.5
    return table[keys].assign(value=table["mean"], stderr=stderr)


def with_means(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the scores, and after them their means over folds."""
    means = mean_over_folds(scores)
    return pd.concat([scores, means], ignore_index=True) if len(means) else scores
