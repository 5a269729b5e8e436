"""Names of samples: training data of growing size, several folds of each, as datasets.

`msnbc-n1000-f0` is the first fold of MSNBC with 1,000 training examples. `msnbc-n1000` stands for
the mean over the folds; it is a row of scores and never a dataset.
"""

import re
from typing import NamedTuple

_NAME = re.compile(r"(?P<base>[a-z0-9_]+)-n(?P<size>[1-9][0-9]*)(-f(?P<fold>0|[1-9][0-9]*))?")


class Sample(NamedTuple):
    """A sample of the dataset `base`; without a fold, the mean over the folds of this size."""

    base: str
    size: int
    fold: int | None = None

    @property
    def name(self) -> str:
        """Name of the dataset, or of the rows with means."""
        fold = "" if self.fold is None else f"-f{self.fold}"
        return f"{self.base}-n{self.size}{fold}"

    @property
    def mean(self) -> str:
        """Name of the rows with means over the folds."""
        return self._replace(fold=None).name

    def label(self, of_base: str) -> str:
        """Return the name for readers; of_base : that of the dataset."""
        fold = "" if self.fold is None else f", fold {self.fold}"
        return f"{of_base}, {self.size:,}{fold}"


def parse_sample(name: str) -> Sample | None:
    """Return what a name stands for; None if it is not that of a sample or of a mean."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    fold = found["fold"]
    return Sample(found["base"], int(found["size"]), None if fold is None else int(fold))


def parse_drawn(name: str) -> Sample | None:
    """Return the sample that is a dataset of this name; None for means and for other names."""
    sample = parse_sample(name)
    return None if sample is None or sample.fold is None else sample


def base_of(dataset: str) -> str:
    """Return the dataset that a sample is drawn from; any other dataset is its own base."""
    sample = parse_drawn(dataset)
    return dataset if sample is None else sample.base
