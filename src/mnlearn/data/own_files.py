"""A person's own data: three files, or one that is divided at random into three."""

import itertools
import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.data.examples import load_dataset
from mnlearn.data.rules import Rules
from mnlearn.runtime.decompression import DEFAULT_LIMIT, ExpansionLimit
from mnlearn.runtime.errors import DATA, InputError, name_data
from mnlearn.runtime.random_streams import stream

SPLITS = ("train", "valid", "test")


def split_examples(
    data: Dataset, fractions: Sequence[float], rng: np.random.Generator
) -> tuple[Dataset, Dataset, Dataset]:
    """Return disjoint training, validation and test data that together are `data`.

    The fractions sum to 1. Each part keeps the order of its examples, which must carry no weights.
    """
    if len(fractions) != len(SPLITS) or not all(0 < share < 1 for share in fractions):
        raise InputError(
            "fractions: expected three numbers between 0 and 1 for training, validation and "
            f"test data, got {', '.join(map(str, fractions))}."
        )
    if not math.isclose(math.fsum(fractions), 1.0, abs_tol=1e-9):
        raise InputError(
            f"fractions: expected a sum of 1, got {' + '.join(map(str, fractions))} "
            f"= {math.fsum(fractions):g}."
        )
    # A merged row no longer knows which of its examples carried which weight.
    if data.is_weighted:
        raise InputError(
            "weighted examples cannot be split at random; give three files instead.", where=DATA
        )
    n = len(data.row_of)
    bounds = [0, round(n * fractions[0]), round(n * (fractions[0] + fractions[1])), n]
    order = rng.permutation(n)
    parts = [np.sort(order[a:b]) for a, b in itertools.pairwise(bounds)]
    for split, part in zip(SPLITS, parts, strict=True):
        if not len(part):
            raise InputError(
                f"fractions: the {split} part of {n} examples would be empty; give it a larger "
                "share or more data."
            )
    train, valid, test = (data.take(part) for part in parts)
    return train, valid, test


DEFAULT_FRACTIONS = (0.7, 0.1, 0.2)


def load_local(
    train: Path | str,
    valid: Path | str | None = None,
    test: Path | str | None = None,
    fractions: Sequence[float] = DEFAULT_FRACTIONS,
    *,
    seed: int = 0,
    rules: Rules | None = None,
    limit: ExpansionLimit = DEFAULT_LIMIT,
) -> tuple[Dataset, Dataset, Dataset]:
    """Return training, validation and test data of own files, with the variables of the first.

    If `train` is the only file, its examples are split at random.
    """
    if (valid is None) != (test is None):
        raise InputError(
            f"{train}: expected a validation and a test file with it, or neither to split it."
        )
    if valid is None or test is None:
        data = load_dataset(train, limit, rules)
        with name_data(train):
            return split_examples(data, fractions, stream(seed, "local", "split"))
    first = load_dataset(train, limit, rules)
    others = [load_dataset(path, limit, rules, first.schema) for path in (valid, test)]
    return first, others[0], others[1]
