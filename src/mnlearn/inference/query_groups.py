"""Partitions of the variables into query groups, made once from the seed and kept as a file."""

import numpy as np

from mnlearn.runtime.random_streams import stream

Groups = list[list[int]]


def partitions(seed: int, dataset: str, n_vars: int, n_groups: int, *, n: int) -> list[Groups]:
    """Return `n` random partitions of the variables into `n_groups` query groups.

    Each depends on the seed, the dataset and its own number, so that asking for more
    partitions leaves the first ones as they were.
    """
    return [
        random_partition(n_vars, n_groups, stream(seed, dataset, "query groups", str(k)))
        for k in range(n)
    ]


def random_partition(n_vars: int, n_groups: int, rng: np.random.Generator) -> Groups:
    """Return a random partition into groups whose sizes differ by at most one."""
    order = rng.permutation(n_vars)
    return [sorted(part.tolist()) for part in np.array_split(order, n_groups) if len(part)]
