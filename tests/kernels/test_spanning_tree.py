"""The spanning tree of greatest weight, against all trees and against another implementation."""

import itertools

import numpy as np
import pytest

from mnlearn.kernels.spanning_tree import fill_spanning_tree
from mnlearn.learning.latent_trees.chow_liu import maximum_spanning_tree


def spanning_tree(weight):
    parent = np.empty(len(weight), np.int64)
    fill_spanning_tree(weight, parent)
    return parent


def random_weights(n, seed, n_values=10**9):
    weight = np.random.default_rng(seed).integers(0, n_values, (n, n)).astype(np.float64)
    return np.minimum(weight, weight.T)


def is_tree(edges, n):
    joined = list(range(n))
    for u, v in edges:
        if joined[u] == joined[v]:
            return False
        joined = [joined[u] if part == joined[v] else part for part in joined]
    return True


@pytest.mark.parametrize("seed", range(5))
def test_no_tree_weighs_more(seed):
    weight = random_weights(5, seed)
    parent = spanning_tree(weight)
    trees = itertools.combinations(itertools.combinations(range(5), 2), 4)
    best = max(sum(weight[e] for e in edges) for edges in trees if is_tree(edges, 5))
    assert is_tree([(v, int(parent[v])) for v in range(1, 5)], 5)
    assert sum(weight[v, parent[v]] for v in range(1, 5)) == best


@pytest.mark.parametrize("n", [1, 2, 30])
@pytest.mark.parametrize("n_values", [1, 4, 10**9])
def test_equal_edges_are_taken_as_from_rows_on_demand(n, n_values):
    weight = random_weights(n, n, n_values)
    expected = maximum_spanning_tree(n, lambda u, others: weight[u, others])
    np.testing.assert_array_equal(spanning_tree(weight), expected)
