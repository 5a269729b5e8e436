"""Features by random generalisation of examples (GSSL; Van Haaren & Davis 2012, Algorithm 1)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.kernels.search.generation import generalise, literal_keys
from mnlearn.models.features import (
    FeatureSet,
    atomic_features,
    canonicalise,
    concatenate,
    feature_set,
)
from mnlearn.runtime.arrays import read_only
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.random_streams import stream_seed

# What an example becomes at first: a conjunction of all its values, or of its ones.
INITIAL = ("full", "positive")


@dataclass(frozen=True, eq=False)
class GeneratedFeatures:
    """A run of random generalisation, every feature with its duplicates, in order.

    Its beginning is the run that would have ended there, so one run serves every smaller number.

    n_vars : number of variables. n_initial : features made of examples, the first of the list.
    start : int64, (n_initial + n_generated + 1,). literal : uint16, 2 * variable + value, in no
        order within a feature. digest : uint64, (n_initial + n_generated,), equal for equal
        features and, but for a chance of one in 10^6 in a run of millions, different for others.
    """

    n_vars: int
    n_initial: int
    start: NDArray[np.int64]
    literal: NDArray[np.uint16]
    digest: NDArray[np.uint64]

    def distinct(self, n_generated: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the distinct ones of the first generated features, and how often they occur.

        The first value is the position in the list of the first of each, ascending.
        """
        part = self.digest[self.n_initial : self.n_initial + n_generated]
        _, first, count = np.unique(part, return_index=True, return_counts=True)
        order = np.argsort(first)
        return first[order] + self.n_initial, count[order]

    def features(self, n_generated: int, threshold: int) -> FeatureSet:
        """Return the features generated more than `threshold` times, and all atomic ones."""
        return self.nested(n_generated, threshold).features

    def nested(self, n_generated: int, threshold: int) -> "NestedFeatures":
        """Return those features, ready to say which would be left of a shorter run."""
        position, count = self.distinct(n_generated)
        position = position[count > threshold]
        begin, length = self.start[position], self.start[position + 1] - self.start[position]
        start = np.concatenate([[0], np.cumsum(length)])
        source = np.repeat(begin - start[:-1], length) + np.arange(start[-1])
        literal = self.literal[source]
        kept = feature_set(start, literal >> 1, literal & 1)
        features, target = canonicalise(concatenate([atomic_features(self.n_vars), kept]))
        digest = np.zeros(len(features), np.uint64)
        digest[target[self.n_vars :]] = self.digest[position]
        return NestedFeatures(self, features, read_only(digest))


@dataclass(frozen=True, eq=False)
class NestedFeatures:
    """The features of one run and threshold; those of shorter runs and higher ones are among them.

    digest : uint64, (n_features,), as in the run.
    """

    run: GeneratedFeatures
    features: FeatureSet
    digest: NDArray[np.uint64]

    def members(self, n_generated: int, threshold: int) -> NDArray[np.bool_]:
        """Return which features a shorter run and a higher threshold keep, (n_features,)."""
        position, count = self.run.distinct(n_generated)
        kept = self.run.digest[position[count > threshold]]
        return np.isin(self.digest, kept) | (self.features.length == 1)


def generate_features(
    data: Dataset, n_generated: int, initial: str = "full", seed: int = 20
) -> GeneratedFeatures:
    """Generate features by dropping random literals of ones drawn from a growing list.

    The list begins with the distinct examples. A feature of at least three literals is drawn
    from it uniformly, duplicates counting, loses a uniform number of literals between 1 and all
    but 2, chosen at random, and is appended. Algorithm 1 of the paper stops when the list, examples
    included, has the number asked for; here the examples do not count.

    n_generated : how many are appended. initial : one of `INITIAL`.

    Raises
    ------
    InputError
        There is nothing to generate, `initial` is unknown, or no example has three literals.
    """
    if n_generated < 1:
        raise InputError(f"generation: expected at least one feature, got {n_generated}.")
    if initial not in INITIAL:
        raise InputError(f"initial: expected one of {', '.join(INITIAL)}, got {initial!r}.")
    if initial == "full":
        given = (2 * np.arange(data.n_vars) + data.rows).astype(np.uint16).ravel()
        length = np.full(data.n_rows, data.n_vars)
    else:
        given = (2 * np.nonzero(data.rows)[1] + 1).astype(np.uint16)
        length = data.rows.sum(axis=1, dtype=np.int64)
    if length.max() < 3:
        raise InputError("generation: expected an example with at least three literals.")
    start = np.empty(data.n_rows + n_generated + 1, np.int64)
    start[: data.n_rows + 1] = np.concatenate([[0], np.cumsum(length)])
    # Each generation halves the length, so that it falls with the root of the number drawn. Memory
    # that the kernel has to ask for later costs more, because NumPy takes it in large pages.
    mean = 3 + 1.4 * length.mean() * np.sqrt(data.n_rows / (data.n_rows + n_generated))
    literal = np.empty(len(given) + int(mean * n_generated), np.uint16)
    literal[: len(given)] = given
    digest = np.empty(data.n_rows + n_generated, np.uint64)
    keys = literal_keys(2 * data.n_vars, np.uint64(stream_seed(seed, "gssl", "hash")))
    draws = np.uint64(stream_seed(seed, "gssl", initial))
    literal = generalise(start, literal, data.n_rows, keys, draws, digest)
    return GeneratedFeatures(
        data.n_vars,
        data.n_rows,
        read_only(start),
        read_only(literal[: start[-1]]),
        read_only(digest),
    )
