"""Every number that the tables of the papers print, beside ours, with a verdict."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pandas as pd
from scipy import stats

from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_table
from mnlearn.scoring.metrics import METRIC_NAMES
from mnlearn_studies.datasets.registry import load_registry, registry_path
from mnlearn_studies.datasets.sample_names import list_means
from mnlearn_studies.study.definition import Study

# Quantities of each kind of number. Others, such as settings, have no counterpart to be near to.
KINDS = {
    "accuracy": ("cmll", "pll", "ll"),
    "data": ("n_train", "n_valid", "n_test", "n_vars", "density"),
    "size": ("n_features_generated", "n_unique", "n_features", "mean_length"),
    "time": (
        *("seconds_structure", "seconds_weights", "seconds_learn"),
        *("seconds_learn_and_files", "seconds_tuning_and_files"),
    ),
}
# The greatest relative error of a number that counts as reproduced.
NEAR = 0.01
# A number that is further off than this, on either side, has a reason in `reasons.tsv`.
FAR = 0.05
# Scores of equal models may differ by this share of their size.
_ROUNDING = 1e-9
REASON_COLUMNS = ("study", "dataset", "method", "quantity", "reason", "record")


@dataclass(frozen=True)
class PublishedNumber:
    """A number of a paper, as it is printed, and ours, if it was computed.

    kind : that of the quantity, a key of `KINDS`. label : name of the dataset. mean, deviation,
    n_partitions : of CMLL over random partitions of the variables.
    """

    study: str
    table: str
    dataset: str
    method: str
    quantity: str
    kind: str
    label: str
    printed: str
    ours: float | None
    mean: float | None = None
    deviation: float | None = None
    n_partitions: int = 0

    @property
    def value(self) -> float:
        """The number of the paper."""
        return float(self.printed)

    @property
    def decimals(self) -> int:
        """How many decimals the paper prints."""
        return len(self.printed.partition(".")[2])

    @property
    def error(self) -> float | None:
        """Ours less that of the paper, as a share of the latter."""
        if self.ours is None:
            return None
        return (self.ours - self.value) / abs(self.value) if self.value else self.ours

    @property
    def is_better(self) -> bool:
        """Whether a score is at least as high as printed, at the printed decimals."""
        return self.ours is not None and round(self.ours, self.decimals) >= self.value

    @property
    def is_near(self) -> bool:
        """Whether ours is equal to the printed number, or within 1 per cent of it."""
        if self.error is None or self.ours is None:
            return False
        return abs(self.error) <= NEAR or round(self.ours, self.decimals) == self.value

    @property
    def is_within_spread(self) -> bool:
        """Whether the printed CMLL may be that of one more random partition, or is lower."""
        if self.mean is None or self.deviation is None or self.n_partitions < 2:
            return False
        return self.mean + prediction_margin(self.deviation, self.n_partitions) >= self.value

    @property
    def is_reached(self) -> bool:
        """Whether a score is as high as printed, within 1 per cent, or within the spread."""
        return self.is_better or self.is_near or self.is_within_spread

    @property
    def needs_reason(self) -> bool:
        """Whether a score is not reached, or more than 5 per cent off on either side."""
        return not self.is_reached or (self.error is not None and abs(self.error) > FAR)


def prediction_margin(deviation: float, n: int) -> float:
    """Return how far one more draw may be from the mean of `n`, with a confidence of 95 per cent.

    t(n - 1, 0.975) s sqrt(1 + 1 / n), for normal draws of the sample standard deviation s.
    """
    return float(stats.t.ppf(0.975, n - 1)) * deviation * math.sqrt(1 + 1 / n)


class Reason(NamedTuple):
    """Why a score is far from the printed one, and the name of the decision record on it."""

    text: str
    record: str


# By study, dataset, method and quantity.
Reasons = Mapping[tuple[str, str, str, str], Reason]


def published_numbers(
    published: pd.DataFrame, scores: Mapping[str, pd.DataFrame]
) -> list[PublishedNumber]:
    """Return the numbers of the papers that have a counterpart; scores : of each study."""
    kind_of = {quantity: kind for kind, names in KINDS.items() for quantity in names}
    is_shown = published["study"].isin(list(scores)) & published["quantity"].isin(kind_of)
    ours = {}
    for study, of_study in scores.items():
        for row in of_study[(of_study["variant"] == "") & of_study["value"].notna()].itertuples():
            error = None if pd.isna(row.stderr) else float(row.stderr)
            ours[study, row.dataset, row.method, row.quantity] = (float(row.value), error)
    registry = load_registry()
    numbers = []
    for row in published[is_shown].itertuples():
        kind, dataset = kind_of[row.quantity], registry.get(row.dataset)
        value, mean, deviation, n_partitions = None, None, None, 0.0
        if kind == "data" and dataset is not None:
            value = dataset.sizes()[row.quantity]
        elif kind == "data" or row.table == "text":
            continue
        else:
            key = (row.study, row.dataset, row.method)
            value, _ = ours.get((*key, row.quantity), (None, None))
            mean, deviation = ours.get((*key, f"{row.quantity}_partition_mean"), (None, None))
            n_partitions, _ = ours.get((*key, f"{row.quantity}_partitions"), (0.0, None))
        place = (row.study, row.table, row.dataset, row.method, row.quantity)
        label = row.dataset if dataset is None else dataset.label
        spread = (mean, deviation, int(n_partitions))
        numbers.append(PublishedNumber(*place, kind, label, row.printed, value, *spread))
    return numbers


def load_reasons(path: Path | None = None) -> Reasons:
    """Read why scores are far from the printed ones; by default from beside the registry."""
    path = path or registry_path().with_name("reasons.tsv")
    reasons: dict[tuple[str, str, str, str], Reason] = {}
    for where, cells in read_table(path, REASON_COLUMNS):
        study, dataset, method, quantity, reason, record = cells.values()
        key = (study, dataset, method, quantity)
        if key in reasons:
            raise InputError(f"{where}: expected each score once, this one is repeated.")
        reasons[key] = Reason(reason, record)
    return reasons


def list_below(study: Study, scores: pd.DataFrame) -> list[tuple[str, str, list[str]]]:
    """Return the methods below independent variables: method, score and datasets.

    Estimates of a log-likelihood count as log-likelihoods. Of samples the means over folds count.
    """
    atomic = [method for method in study.methods if study.learner(method) == "atomic"]
    names = list_means(study.datasets) or study.datasets
    own = scores[(scores["variant"] == "") & scores["value"].notna()]
    own = own[own["dataset"].isin(names)]
    known = (
        own[own["method"].isin(atomic[:1])].set_index(["dataset", "quantity"])["value"].to_dict()
    )
    below: dict[tuple[str, str], list[str]] = {}
    for row in own.itertuples():
        metric = re.sub("_(annealed|beliefs)$", "", row.quantity)
        least = known.get((row.dataset, metric)) if metric in METRIC_NAMES else None
        if least is not None and row.value < least - _ROUNDING * abs(least):
            below.setdefault((row.method, row.quantity), []).append(row.dataset)
    return [(*of, datasets) for of, datasets in below.items()]
