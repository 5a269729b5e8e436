"""Our numbers of the variants of a method, such as its feature conversions, by dataset."""

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from mnlearn_studies.study.published import Number, Source, numbers

# The numbers of each variant by dataset.
ByVariant = Mapping[str, Mapping[str, Number]]


def variants_of(scores: pd.DataFrame, method: str, order: Sequence[str] | None = None) -> list[str]:
    """Return the variants of a method that have scores, in a given order or that of the scores."""
    found = scores[(scores["method"] == method) & (scores["variant"] != "")]
    present = list(dict.fromkeys(found["variant"]))
    return present if order is None else [v for v in order if v in present]


def numbers_by_variant(
    scores: pd.DataFrame, method: str, quantity: str, variants: Iterable[str]
) -> dict[str, dict[str, Number]]:
    """Return a quantity of each variant by dataset."""
    none_published = scores.iloc[:0]
    return {v: numbers(scores, none_published, Source(method, quantity, v)) for v in variants}


def complete_datasets(found: ByVariant, datasets: Iterable[str]) -> list[str]:
    """Return the datasets on which every variant has a number; none if there are no variants."""
    return [d for d in datasets if found and all(d in column for column in found.values())]


def best_variants(found: ByVariant, dataset: str) -> set[str]:
    """Return the variants with the highest number on a dataset; several if they tie."""
    values = {v: column[dataset].value for v, column in found.items() if dataset in column}
    return {v for v, value in values.items() if value == max(values.values())}


def chosen_variant(
    validation: ByVariant, dataset: str, variants: Iterable[str] | None = None
) -> str:
    """Return the variant with the highest validation score; the first of equals wins.

    variants : to choose from; all, if not given. The result is empty if none has a score.
    """
    own = validation if variants is None else variants
    values = {v: validation[v][dataset].value for v in own if dataset in validation[v]}
    return max(values, key=lambda variant: values[variant], default="")
