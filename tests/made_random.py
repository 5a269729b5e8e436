"""Random data and models that several tests use."""

import numpy as np

from mnlearn.data.dataset import merge_rows
from mnlearn.learning.trees import learn_tree_path
from mnlearn.models.dependency_network import DependencyNetwork, tree_network
from mnlearn.models.features import features_of
from mnlearn.models.markov_network import markov_network


def random_features(rng, n_vars, n_features, max_length):
    conjunctions = []
    for _ in range(n_features):
        length = rng.integers(1, max_length + 1)
        variables = rng.choice(n_vars, length, replace=False)
        conjunctions.append([(int(v), int(rng.integers(2))) for v in variables])
    return features_of(conjunctions)


def random_network(seed, n_vars=6, n_features=20, max_length=4, scale=1.0):
    rng = np.random.default_rng(seed)
    features = random_features(rng, n_vars, n_features, min(max_length, n_vars))
    return markov_network(n_vars, features, rng.normal(scale=scale, size=n_features))


def random_data(seed, n_examples=300, n_vars=6):
    """Examples with dependent columns, many duplicates and one dense column."""
    rng = np.random.default_rng(seed)
    rows = rng.random((n_examples, n_vars)) < 0.3
    rows[:, 0] = rng.random(n_examples) < 0.9
    for v in range(2, n_vars, 2):
        copied = rng.random(n_examples) < 0.7
        rows[copied, v] = rows[copied, v - 1]
    return merge_rows(rows)


def random_dependency_network(seed, n_vars=5):
    """Trees learned from random data, with some log-linear features on top."""
    rng = np.random.default_rng(seed)
    trees = learn_tree_path(random_data(seed, n_vars=n_vars), 1.0).trees
    conjunctions, target = [], []
    for _ in range(6):
        variables = rng.choice(n_vars, rng.integers(1, 4), replace=False)
        conjunctions.append(sorted((int(v), int(rng.integers(2))) for v in variables))
        target.append(int(variables[0]))
    base = tree_network(trees)
    return DependencyNetwork(
        base.trees, features_of(conjunctions), np.array(target, np.int32), rng.normal(size=6)
    )
