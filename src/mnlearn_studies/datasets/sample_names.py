"""Names of samples: `msnbc-n1000-f0` is the first fold of MSNBC with 1,000 training examples.

`msnbc-n1000` stands for the mean over the folds; it is a row of scores and never a dataset.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

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


def list_samples(base: str, samples: Mapping[str, Any]) -> Iterator[Sample]:
    """Yield the samples of a dataset that a study has.

    samples : `sizes` of the training data; `folds`, a number, or a list with one for each size.
    """
    sizes, folds = samples["sizes"], samples["folds"]
    numbers = folds if isinstance(folds, list) else [folds] * len(sizes)
    for size, number in zip(sizes, numbers, strict=True):
        for fold in range(number):
            yield Sample(base, size, fold)


def list_means(names: Iterable[str]) -> list[str]:
    """Return the names of the means over folds of some samples, in their order."""
    samples = (parse_sample(name) for name in names)
    return list(dict.fromkeys(sample.mean for sample in samples if sample is not None))


def expand_names(names: Iterable[str], known: Sequence[str], *, keep_means: bool) -> list[str]:
    """Return the datasets that short names stand for: BASE, or BASE-nSIZE, for all samples.

    keep_means : whether BASE-nSIZE stays, as the name of the means over folds.
    """
    found: list[str] = []
    for name in names:
        sample = parse_sample(name)
        of_base = [d for d in known if d != name and base_of(d) == name]
        if sample is not None and sample.fold is None and not keep_means:
            of_base = [d for d in known if list_means([d]) == [name]]
        found += of_base or [name]
    return list(dict.fromkeys(found))


def label_samples(datasets: Sequence[str], labels: Mapping[str, str]) -> dict[str, str]:
    """Return the names for readers of datasets, their samples and the means over folds.

    labels : of the datasets that samples are drawn from, and of all others.
    """
    out: dict[str, str] = {}
    for dataset in datasets:
        sample = parse_sample(dataset)
        if sample is None:
            out[dataset] = labels.get(dataset, dataset)
            continue
        base = out.setdefault(sample.base, labels.get(sample.base, sample.base))
        out.setdefault(sample.mean, sample._replace(fold=None).label(base))
        out[dataset] = sample.label(base)
    return out
