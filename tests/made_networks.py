"""Markov networks that several tests use."""

import numpy as np

from mnlearn.models.features import features_of
from mnlearn.models.markov_network import markov_network


def drawn_network(n_vars, n_features, longest, seed):
    rng = np.random.default_rng(seed)
    features = []
    for _ in range(n_features):
        length = int(rng.integers(1, min(n_vars, longest) + 1))
        chosen = sorted(rng.choice(n_vars, length, replace=False).tolist())
        features.append([(v, int(rng.integers(2))) for v in chosen])
    return markov_network(n_vars, features_of(features), rng.normal(size=n_features))


def dense_network(n_vars):
    """A network of all pairs, which cannot be compiled if it has many variables."""
    pairs = [[(u, 1), (v, 1)] for v in range(n_vars) for u in range(v)]
    return markov_network(n_vars, features_of(pairs), np.full(len(pairs), 0.01))


def grid_network(side, seed=0):
    pairs = []
    for i in range(side):
        for j in range(side):
            pairs += [((i, j), (i + 1, j))] if i + 1 < side else []
            pairs += [((i, j), (i, j + 1))] if j + 1 < side else []
    features = [[(side * a + b, 1), (side * c + d, 1)] for (a, b), (c, d) in pairs]
    rng = np.random.default_rng(seed)
    return markov_network(side * side, features_of(features), rng.normal(size=len(pairs)))
