"""Random partitions of the variables into query groups."""

import numpy as np

from mnlearn.runtime.random_streams import stream

Groups = list[list[int]]


def partitions(seed: int, dataset: str, n_vars: int, n_groups: int, *, n: int) -> list[Groups]:
    """Return random partitions of the variables into query groups.

    Each partition depends on the seed, the dataset and its own number. A larger `n` therefore keeps
    the first partitions.

    Parameters
    ----------
    seed : int
        Seed of the study.
    dataset : str
        Name of the dataset.
    n_vars, n_groups, n : int
        Numbers of variables, of groups in a partition, and of partitions.
    """
    return [
        random_partition(n_vars, n_groups, stream(seed, dataset, "query groups", str(k)))
        for k in range(n)
    ]


def random_partition(n_vars: int, n_groups: int, rng: np.random.Generator) -> Groups:
    """Return a random partition into groups whose sizes differ by at most one."""
    order = rng.permutation(n_vars)
    return [sorted(part.tolist()) for part in np.array_split(order, n_groups) if len(part)]
