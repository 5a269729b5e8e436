"""The spanning tree of greatest weight, against all trees and against its definition."""

import itertools

import numpy as np
import pytest

from mnlearn.kernels.chow_liu import fill_spanning_tree


def spanning_tree(weight):
    parent, joined = np.empty(len(weight), np.int64), np.empty(len(weight), np.int64)
    fill_spanning_tree(weight, parent, joined)
    return parent, joined


def grown_tree(weight):
    """The tree node by node; of equal ones `max` takes the first."""
    parent, joined = [-1] * len(weight), [0]
    while len(joined) < len(weight):
        outside = [v for v in range(len(weight)) if v not in joined]
        v = max(outside, key=lambda v: weight[joined, v].max())
        parent[v] = max(joined, key=lambda u: weight[u, v])
        joined.append(v)
    return parent, joined


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
    parent, _ = spanning_tree(weight)
    trees = itertools.combinations(itertools.combinations(range(5), 2), 4)
    best = max(sum(weight[e] for e in edges) for edges in trees if is_tree(edges, 5))
    assert is_tree([(v, int(parent[v])) for v in range(1, 5)], 5)
    assert sum(weight[v, parent[v]] for v in range(1, 5)) == best


@pytest.mark.parametrize("n", [1, 2, 30])
@pytest.mark.parametrize("n_values", [1, 4, 10**9])
def test_of_equal_edges_the_first_is_taken(n, n_values):
    weight = random_weights(n, n, n_values)
    for made, expected in zip(spanning_tree(weight), grown_tree(weight), strict=True):
        np.testing.assert_array_equal(made, expected)
