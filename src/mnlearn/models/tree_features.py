"""The five feature sets that DTSL reads off probability trees (Lowd & Davis 2010, Section III)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mnlearn.models.dependency_network import Trees
from mnlearn.models.features import (
    FeatureSet,
    canonicalise,
    concatenate,
    feature_set,
    with_literal,
)

FEATURE_MODES = ("default", "prune", "prune-10", "prune-5", "nonzero")


@dataclass(frozen=True, eq=False)
class TreeFeatures:
    """Features that were read off trees.

    Attributes
    ----------
    features : FeatureSet
        The distinct features of all trees, in canonical order.
    trees : Trees
        The trees.
    place : ndarray of int64, shape (n_features,), or None
        Twice a node plus a value of the target: the feature is the path to the node, with that
        value. If it is so at several nodes, the first of them. None if some feature is not the
        path to a node.
    """

    features: FeatureSet
    trees: Trees
    place: NDArray[np.int64] | None


def tree_features(trees: Trees, feature_mode: str) -> FeatureSet:
    """Return the distinct features of all trees, in canonical order; see `find_tree_features`."""
    return find_tree_features(trees, feature_mode).features


def find_tree_features(trees: Trees, feature_mode: str) -> TreeFeatures:
    """Return the distinct features of all trees.

    Parameters
    ----------
    trees : Trees
        Probability trees of all variables.
    feature_mode : str
        One of FEATURE_MODES:

        - "default": the path to each leaf, with each value of the tree's target;
        - "prune": the same for every node, as if each tree were cut there in turn; the roots give
          the atomic features;
        - "prune-10", "prune-5": the same for the nodes with at most 10 or 5 tests above them;
        - "nonzero": "default" without the literals that ask for 0; empty features are dropped.

    References
    ----------
    Lowd & Davis, "Learning Markov network structure with decision trees", ICDM 2010, Section III.
    """
    if feature_mode not in FEATURE_MODES:
        raise ValueError(f"feature_mode: expected one of {FEATURE_MODES}, got {feature_mode!r}")
    if feature_mode in ("default", "nonzero"):
        nodes = np.flatnonzero(trees.is_leaf)
    else:
        limit = {"prune": np.inf, "prune-10": 10, "prune-5": 5}[feature_mode]
        nodes = np.flatnonzero(trees.depth <= limit)
    paths = trees.paths().select(nodes)
    target = trees.target[nodes]
    both = concatenate([with_literal(paths, target, value) for value in (0, 1)])
    if feature_mode == "nonzero":
        positive = both.value == 1
        length = np.bincount(both.owner[positive], minlength=len(both))
        start = np.concatenate([[0], np.cumsum(length)])
        both = feature_set(start, both.var[positive], both.value[positive])
        features, _ = canonicalise(both)
        return TreeFeatures(features.select(features.length > 0), trees, None)
    features, position = canonicalise(both)
    _, first = np.unique(position, return_index=True)
    return TreeFeatures(features, trees, np.concatenate([2 * nodes, 2 * nodes + 1])[first])
