"""Features by random generalisation of examples (GSSL; Van Haaren & Davis 2012, Algorithm 1)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.data.dataset import Dataset
from mnlearn.kernels.search.generation import generalise, literal_keys
from mnlearn.learning.features.literals import INITIAL, asked_columns
from mnlearn.models.features import (
    FeatureSet,
    atomic_features,
    canonicalise,
    concatenate,
    feature_set,
)
from mnlearn.runtime.arrays import read_only
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.progress import LOGGER
from mnlearn.runtime.random_streams import stream_seed


@dataclass(frozen=True, eq=False, kw_only=True)
class GeneratedFeatures:
    """A run of random generalisation: all features in order, with duplicates, examples first.

    start : int64, (n_initial + n_generated + 1,). literal : uint16, 2 * column + value.
    digest : uint64, equal for equal features.
    """

    n_columns: int
    n_initial: int
    start: NDArray[np.int64]
    literal: NDArray[np.uint16]
    digest: NDArray[np.uint64]

    def distinct(self, n_generated: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return where the distinct of the first `n_generated` occur first, and how often."""
        part = self.digest[self.n_initial : self.n_initial + n_generated]
        _, first, count = np.unique(part, return_index=True, return_counts=True)
        order = np.argsort(first)
        return first[order] + self.n_initial, count[order]

    def features(self, n_generated: int, threshold: int) -> FeatureSet:
        """Return the features generated more than `threshold` times, and all atomic ones."""
        return self.nested(n_generated, threshold).features

    def nested(self, n_generated: int, threshold: int) -> "NestedFeatures":
        """Return these features, with what it takes to find those of a shorter run."""
        position, count = self.distinct(n_generated)
        position = position[count > threshold]
        begin, length = self.start[position], self.start[position + 1] - self.start[position]
        start = np.concatenate([[0], np.cumsum(length)])
        source = np.repeat(begin - start[:-1], length) + np.arange(start[-1])
        literal = self.literal[source]
        kept = feature_set(start, literal >> 1, literal & 1)
        features, target = canonicalise(concatenate([atomic_features(self.n_columns), kept]))
        digest = np.zeros(len(features), np.uint64)
        digest[target[self.n_columns :]] = self.digest[position]
        return NestedFeatures(self, features, read_only(digest))


@dataclass(frozen=True, eq=False)
class NestedFeatures:
    """The features of one run and threshold, with those of shorter and stricter ones."""

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
    """Generate features by dropping random literals of features drawn from a growing list.

    The list starts with the distinct examples. Each step drops a uniform number of literals,
    between 1 and all but 2, of a feature of at least three that is drawn from the list, and appends
    the result (Van Haaren & Davis 2012, Algorithm 1; there the examples count as generated).
    """
    if n_generated < 1:
        raise InputError(f"generation: expected at least one feature, got {n_generated}.")
    given, length = _convert_examples(data, initial)
    if length.max() < 3:
        LOGGER.warning("GSSL: no example has three literals, so no feature is generated.")
        n_generated = 0
    start = np.empty(data.n_rows + n_generated + 1, np.int64)
    start[: data.n_rows + 1] = np.concatenate([[0], np.cumsum(length)])
    # Each generation halves the length, so that the mean length falls with the square root of the
    # number drawn. Memory asked for here costs less than memory that the kernel asks for later,
    # because NumPy takes it in large pages.
    mean = 3 + 1.4 * length.mean() * np.sqrt(data.n_rows / (data.n_rows + n_generated))
    literal = np.empty(len(given) + int(mean * n_generated), np.uint16)
    literal[: len(given)] = given
    digest = np.empty(data.n_rows + n_generated, np.uint64)
    keys = literal_keys(2 * data.n_columns, np.uint64(stream_seed(seed, "gssl", "hash")))
    draws = np.uint64(stream_seed(seed, "gssl", initial))
    literal = generalise(start, literal, data.n_rows, keys, draws, digest)
    return GeneratedFeatures(
        n_columns=data.n_columns,
        n_initial=data.n_rows,
        start=read_only(start),
        literal=read_only(literal[: start[-1]]),
        digest=read_only(digest),
    )


def _convert_examples(data: Dataset, initial: str) -> tuple[NDArray[np.uint16], NDArray[np.int64]]:
    """Return the literals of the features that examples become, and the lengths of these."""
    if initial not in INITIAL:
        raise InputError(f"initial: expected one of {', '.join(INITIAL)}, got {initial!r}.")
    asked = asked_columns(data, initial)
    column = np.nonzero(asked)[1]
    literal = (2 * column + data.rows[asked]).astype(np.uint16)
    return literal, asked.sum(axis=1, dtype=np.int64)
