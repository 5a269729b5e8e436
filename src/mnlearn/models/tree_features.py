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
    literals_of_states,
    with_least_literals,
    with_literal,
)
from mnlearn.variables.schema import Schema, binary_schema

FEATURE_MODES = ("default", "prune", "prune-10", "prune-5", "nonzero")


@dataclass(frozen=True, eq=False)
class TreeFeatures:
    """The distinct features of trees, in canonical order; each is the path to a node and a state.

    `place` is the first such node times `trees.most_states`, plus the state; None if some feature
    is no path.
    """

    features: FeatureSet
    trees: Trees
    place: NDArray[np.int64] | None


def tree_features(trees: Trees, feature_mode: str, schema: Schema | None = None) -> FeatureSet:
    """Return the distinct features of all trees, in canonical order; see `find_tree_features`."""
    return find_tree_features(trees, feature_mode, schema).features


def find_tree_features(
    trees: Trees, feature_mode: str, schema: Schema | None = None
) -> TreeFeatures:
    """Return the distinct features of all trees (Lowd & Davis, ICDM 2010, Section III).

    "default" is the path to each leaf, with each state of the tree's target. "prune" is the same
    for every node, as if each tree were cut there in turn; "prune-10" and "prune-5" for those with
    at most 10 or 5 tests above them. "nonzero" is "default" without the literals that ask for 0.
    """
    if feature_mode not in FEATURE_MODES:
        raise ValueError(f"feature_mode: expected one of {FEATURE_MODES}, got {feature_mode!r}")
    if feature_mode in ("default", "nonzero"):
        nodes = np.flatnonzero(trees.is_leaf)
    else:
        limit = {"prune": np.inf, "prune-10": 10, "prune-5": 5}[feature_mode]
        nodes = np.flatnonzero(trees.depth <= limit)
    schema = binary_schema(trees.n_vars) if schema is None else schema
    paths, place = paths_with_states(trees, schema, nodes)
    if feature_mode == "nonzero":
        if not schema.is_binary:
            paths, _ = with_least_literals(paths, schema.start)
        positive = paths.value == 1
        length = np.bincount(paths.owner[positive], minlength=len(paths))
        start = np.concatenate([[0], np.cumsum(length)])
        paths = feature_set(start, paths.var[positive], paths.value[positive])
        features, _ = canonicalise(paths, schema.start)
        return TreeFeatures(features.select(features.length > 0), trees, None)
    features, position = canonicalise(paths, schema.start)
    _, first = np.unique(position, return_index=True)
    return TreeFeatures(features, trees, place[first])


def paths_with_states(
    trees: Trees, schema: Schema, nodes: NDArray[np.int64]
) -> tuple[FeatureSet, NDArray[np.int64]]:
    """Return the paths to some nodes, each with every state of its target, and their places.

    Those with state 0 come first. For places see `TreeFeatures`.
    """
    paths, target = trees.paths().select(nodes), trees.target[nodes]
    sets, places = [], []
    width = np.diff(schema.start)[target]
    for state in range(trees.most_states):
        at = np.flatnonzero((state < schema.arity[target]) & (width > 0))
        own = paths if len(at) == len(nodes) else paths.select(at)
        sets.append(with_literal(own, *literals_of_states(schema, target[at], state)))
        places.append(nodes[at] * trees.most_states + state)
    return concatenate(sets), np.concatenate(places)
