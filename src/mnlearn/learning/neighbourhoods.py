"""Pairs of variables from the neighbourhoods of logistic regressions (Ravikumar et al. 2010)."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mnlearn.models.features import FeatureSet, atomic_features, concatenate, feature_set

MERGES = ("and", "or")


def merge_pairs(coefficient: sparse.csr_array, merge: str) -> NDArray[np.int64]:
    """Return the pairs (u, v), u < v, int64 of shape (n_pairs, 2), in ascending order.

    Parameters
    ----------
    coefficient : sparse array of shape (n_vars, n_vars)
        Row v has the weights of the other variables in the regression of v.
    merge : str
        "and": each variable is in the neighbourhood of the other; "or": at least one is.
    """
    found = (coefficient != 0).astype(np.int8)
    pairs = found.multiply(found.T) if merge == "and" else found + found.T
    upper = sparse.triu(pairs, 1).tocoo()
    both = np.column_stack([upper.row, upper.col]).astype(np.int64)
    return both[np.lexsort((both[:, 1], both[:, 0]))]


def build_pair_features(n_vars: int, pairs: NDArray[np.int64]) -> FeatureSet:
    """Return the atomic features X_v = 1 and those of the pairs, X_u = 1 and X_v = 1."""
    both = feature_set(2 * np.arange(len(pairs) + 1), pairs.ravel(), np.ones(2 * len(pairs)))
    return concatenate([atomic_features(n_vars), both])
