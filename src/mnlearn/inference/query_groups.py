"""Random partitions of the variables into query groups, and those in files."""

from pathlib import Path
from typing import Any

import numpy as np

from mnlearn.inference.score import check_groups
from mnlearn.runtime.errors import InputError, name_file
from mnlearn.runtime.files import read_json
from mnlearn.runtime.random_streams import stream

Groups = list[list[int]]


def partitions(seed: int, dataset: str, n_vars: int, n_groups: int, *, n: int) -> list[Groups]:
    """Return random partitions of the variables into query groups.

    Each partition depends on the seed, the dataset and its own number. A larger `n` therefore keeps
    the first partitions.
    """
    return [
        random_partition(n_vars, n_groups, stream(seed, dataset, "query groups", str(k)))
        for k in range(n)
    ]


def random_partition(n_vars: int, n_groups: int, rng: np.random.Generator) -> Groups:
    """Return a random partition into groups whose sizes differ by at most one."""
    order = rng.permutation(n_vars)
    return [sorted(part.tolist()) for part in np.array_split(order, n_groups) if len(part)]


def read_partitions(path: Path, n_vars: int) -> list[Groups]:
    """Return a list of partitions in a JSON file, each a list of groups of numbers."""
    found = read_json(path)
    if not isinstance(found, list) or not found:
        raise InputError(f"{path}: expected a list of partitions into query groups.")
    return [_check(path, groups, n_vars) for groups in found]


def _check(path: Path, groups: Any, n_vars: int) -> Groups:
    if (
        not isinstance(groups, list)
        or not groups
        or not all(isinstance(group, list) and group for group in groups)
        or not all(type(v) is int for group in groups for v in group)
    ):
        raise InputError(f"{path}: expected a list of query groups, lists of variables from 0.")
    with name_file(path):
        check_groups(groups, n_vars)
    return groups
