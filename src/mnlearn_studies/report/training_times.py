"""The minutes in which a paper learns at one size of the training data, beside ours."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from mnlearn_studies.datasets.sample_names import parse_sample
from mnlearn_studies.report.options import NAMES, PLACE, TEXT, WHOLE, Keys, Options, listed, needed
from mnlearn_studies.report.products import Labels
from mnlearn_studies.study.published import Number, Source, lookup, numbers

MINUTES, SECONDS, FEATURES = "minutes_learn", "seconds_learn", "n_atomic_features"
TIMES: Keys = {
    **PLACE,
    "size": needed(WHOLE),
    "methods": needed(listed(dict.fromkeys(("head", "method", "published"), needed(TEXT)))),
    "unavailable": NAMES,
}


@dataclass(frozen=True)
class TimeRow:
    """The times on one dataset.

    Attributes
    ----------
    dataset, label : str
        Name of the dataset and its name for readers.
    unavailable : bool
        Whether the options call the dataset unavailable.
    features : Number or None
        Number of atomic features in the paper.
    n_vars : int or None
        Number of our binary columns; None if the dataset is not scored.
    published : mapping of str to Number
        Published minutes by method of ours.
    seconds : mapping of str to float
        Our seconds by method, the mean over the samples that were timed.
    """

    dataset: str
    label: str
    unavailable: bool
    features: Number | None
    n_vars: int | None
    published: Mapping[str, Number]
    seconds: Mapping[str, float]


def list_times(
    scores: pd.DataFrame, published: pd.DataFrame, labels: Labels, options: Options
) -> list[TimeRow]:
    """Return a row for each dataset of a published table of times.

    Parameters
    ----------
    scores, published : pandas.DataFrame
        Our scores and the published numbers.
    labels : mapping of str to str
        Names of datasets for readers.
    options : mapping
        study, table : where the published minutes are. size : number of training examples.
        methods : each with head, method (ours) and published (its name among the published).
        unavailable : datasets that are not public, if any.
    """
    study, table, size, methods = (options[key] for key in ("study", "table", "size", "methods"))

    def printed(method: str, quantity: str) -> dict[str, Number]:
        return lookup(published, Source(method, quantity, study=str(study), table=str(table)))

    features = printed("", FEATURES)
    minutes = {m["method"]: printed(str(m["published"]), MINUTES) for m in methods}
    columns = _of_size(scores, "n_vars", int(size))
    return [
        TimeRow(
            dataset,
            labels.get(dataset, dataset),
            dataset in options.get("unavailable", ()),
            number,
            int(columns[dataset]) if dataset in columns else None,
            {m: of[dataset] for m, of in minutes.items() if dataset in of},
            {
                m: of[dataset]
                for m in minutes
                if dataset in (of := _of_size(scores, SECONDS, int(size), m))
            },
        )
        for dataset, number in features.items()
    ]


def _of_size(
    scores: pd.DataFrame, quantity: str, size: int, method: str | None = None
) -> dict[str, float]:
    """Return the mean of a quantity over the folds of one size that have it, by base."""
    methods = [method] if method is not None else list(scores["method"].unique())
    found: dict[str, list[float]] = {}
    for one in methods:
        for dataset, number in numbers(scores, scores.iloc[:0], Source(one, quantity)).items():
            sample = parse_sample(dataset)
            if sample is not None and sample.size == size and sample.fold is not None:
                found.setdefault(sample.base, []).append(number.value)
    return {base: sum(values) / len(values) for base, values in found.items()}
