"""Pairs of columns from the neighbourhoods of logistic regressions (Ravikumar et al. 2010)."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mnlearn.models.features import FeatureSet, atomic_features, concatenate, feature_set

MERGES = ("and", "or")


def merge_pairs(coefficient: sparse.csr_array, merge: str) -> NDArray[np.int64]:
    """Return the pairs (u, v), u < v, int64 of shape (n_pairs, 2), in ascending order."""
    found = (coefficient != 0).astype(np.int8)
    pairs = found.multiply(found.T) if merge == "and" else found + found.T
    upper = sparse.triu(pairs, 1).tocoo()
    both = np.column_stack([upper.row, upper.col]).astype(np.int64)
    return both[np.lexsort((both[:, 1], both[:, 0]))]


def build_pair_features(n_columns: int, pairs: NDArray[np.int64]) -> FeatureSet:
    """Return the features that a column is 1, and that both columns of a pair are."""
    both = feature_set(2 * np.arange(len(pairs) + 1), pairs.ravel(), np.ones(2 * len(pairs)))
    return concatenate([atomic_features(n_columns), both])
