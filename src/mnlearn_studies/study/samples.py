"""The samples of a study: which there are, what short names stand for, their names for readers."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mnlearn_studies.datasets.sample_names import Sample, base_of, parse_sample


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
    """Return the datasets that short names stand for: that of a dataset for all its samples.

    known : the datasets of the study, with the samples. keep_means : whether BASE-nSIZE stays, as
    the name of the means over folds. Otherwise it stands for the folds.
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
