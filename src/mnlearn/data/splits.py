"""One set of examples divided at random into training, validation and test data."""

import itertools
import math
from collections.abc import Sequence

import numpy as np

from mnlearn.data.dataset import Dataset
from mnlearn.runtime.errors import DATA, InputError

SPLITS = ("train", "valid", "test")


def split_examples(
    data: Dataset, fractions: Sequence[float], rng: np.random.Generator
) -> tuple[Dataset, Dataset, Dataset]:
    """Return disjoint training, validation and test data that together are `data`.

    Parameters
    ----------
    data : Dataset
        Examples without weights.
    fractions : sequence of float, length 3
        Shares of the examples for the three parts; they sum to 1.
    rng : numpy.random.Generator
        Decides which example goes where. The examples of a part keep their order.

    Raises
    ------
    InputError
        The fractions are not three positive numbers that sum to 1, a part would be empty, or
        the examples carry weights.

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
