"""A person's own data: three files, or one that is divided at random into three."""

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import numpy as np

from mnlearn.data.categories import Encoding, encode
from mnlearn.data.dataset import Dataset
from mnlearn.data.examples import Examples, load_examples
from mnlearn.data.groups import find_groups
from mnlearn.data.incomplete import IncompleteData
from mnlearn.data.reading import Reading
from mnlearn.runtime.decompression import DEFAULT_LIMIT, ExpansionLimit
from mnlearn.runtime.errors import DATA, InputError, name_data
from mnlearn.runtime.random_streams import stream

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


DEFAULT_FRACTIONS = (0.7, 0.1, 0.2)


def load_local(
    train: Path | str,
    valid: Path | str | None = None,
    test: Path | str | None = None,
    fractions: Sequence[float] = DEFAULT_FRACTIONS,
    *,
    seed: int = 0,
    encoding: Encoding | None = None,
    groups: str | None = None,
    reading: Reading | None = None,
    limit: ExpansionLimit = DEFAULT_LIMIT,
) -> tuple[Dataset, Dataset, Dataset]:
    """Return training, validation and test data of a person's own files.

    Parameters
    ----------
    train, valid, test : path-like
        Three files, or `train` alone, whose examples are then split at random.
    fractions : sequence of float, length 3
        Shares of the three parts where one file is split.
    seed : int
        Seed of the split of one file.
    encoding : Encoding, optional
        How to read categorical CSV files (see `find_encoding`); binary files if not given.
    groups : str, optional
        Which columns are groups (see `find_groups`); those of the files if not given.
    reading : Reading, optional
        What is said about the values of binary files; all are read like the training data.
    limit : ExpansionLimit
        How far a compressed file may expand.

    Raises
    ------
    InputError
        A file is unreadable, two of the three are given, they differ in their variables or groups,
        or a row has not exactly one 1 in the columns of a group.

    """
    if (valid is None) != (test is None):
        raise InputError(
            f"{train}: expected a validation and a test file with it, or neither to split it."
        )
    if valid is None or test is None:
        data, _ = _read(train, encoding, groups, reading, limit)
        with name_data(train):
            return split_examples(data, fractions, stream(seed, "local", "split"))
    paths = (train, valid, test)
    data_of: dict[str, Dataset] = {}
    for split, path in zip(SPLITS, paths, strict=True):
        data_of[split], reading = _read(path, encoding, groups, reading, limit)
    named = next((s for s in SPLITS if data_of[s].names is not None), "train")
    names = data_of[named].names
    path_of = dict(zip(SPLITS, paths, strict=True))
    for split in SPLITS:
        check_same_variables(path_of[named], data_of[named], path_of[split], data_of[split])
    a, b, c = (data_of[split].rename(names) for split in SPLITS)
    return a, b, c


def _read(
    path: Path | str,
    encoding: Encoding | None,
    groups: str | None,
    reading: Reading | None,
    limit: ExpansionLimit,
) -> tuple[Dataset, Reading | None]:
    """Return the data of a file, and how the next one is read."""
    if encoding is None:
        found = read_grouped(path, groups, limit, reading)
        return found.complete(path), found.reading
    data = encode(path, encoding, limit)
    return (data if groups is None else declare_groups(data, groups, str(path))), reading


def read_grouped(
    path: Path | str,
    groups: str | None,
    limit: ExpansionLimit = DEFAULT_LIMIT,
    reading: Reading | None = None,
) -> Examples:
    """Read examples, with the groups that a person declares or else those of the file.

    See `load_examples` and `declare_groups` for what is refused; groups need complete examples.
    """
    found = load_examples(path, limit, reading)
    if groups is None:
        return found
    data = declare_groups(found.complete(path), groups, str(path), partial(found.name_row, path))
    return found._replace(data=data)


def declare_groups(
    data: Dataset, groups: str, where: str, name_row: Callable[[int], str] | None = None
) -> Dataset:
    """Return data with the groups that a person declares; see `find_groups`.

    Raises
    ------
    InputError
        The groups are not those of the data; the sentence begins with `where`, or with the place
        that `name_row` returns for an example, counted from 0.

    """
    found = find_groups(groups, data.n_vars, data.names, f"{where}, groups")
    try:
        return data.with_groups(found, where)
    except InputError as error:
        # A dataset does not know the lines of its file.
        if error.row is not None and name_row is not None:
            error.where, error.row = name_row(error.row - 1), None
        raise


def check_same_variables(
    path: Path | str,
    data: Dataset | IncompleteData,
    other_path: Path | str,
    other: Dataset | IncompleteData,
) -> None:
    """Raise InputError unless both have the same number of variables, groups and, if any, names.

    path, data, other_path, other : a dataset and its file, and those that are compared with them.
    """
    if other.n_vars != data.n_vars:
        raise InputError(
            f"{other_path}: expected {data.n_vars} variables as in {path}, got {other.n_vars}."
        )
    if other.groups != data.groups:
        raise InputError(f"{other_path}: expected the groups of columns of {path}.")
    if data.names is None or other.names is None:
        return
    for position, (name, other_name) in enumerate(
        zip(data.names, other.names, strict=True), start=1
    ):
        if name != other_name:
            raise InputError(
                f"{other_path}: expected {name!r} as column {position} as in {path}, "
                f"got {other_name!r}."
            )
