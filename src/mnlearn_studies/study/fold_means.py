"""Scores of samples, averaged over the folds of each size."""

import pandas as pd

from mnlearn_studies.study.samples import list_means


def mean_over_folds(scores: pd.DataFrame) -> pd.DataFrame:
    """Return the means over the folds of each size, with their standard errors.

    The standard error is the sample standard deviation over folds divided by the square root of
    their number; it is missing for a single fold. A number that only some folds have has no mean.
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
