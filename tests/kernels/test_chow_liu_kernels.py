"""Kernels of Chow-Liu trees and of mixtures of them, against their definitions."""

import itertools

import numpy as np
import pytest

from mnlearn.kernels.arithmetic.ties import EQUAL
from mnlearn.kernels.chow_liu import (
    add_pair_weights,
    add_weights_of_ones,
    fill_pair_information,
    fill_spanning_tree,
)

N_VARS = 70  # More than two of the blocks that are mirrored together.


@pytest.fixture(scope="module")
def rows():
    out = (np.random.default_rng(0).random((200, N_VARS)) < 0.3).astype(np.uint8)
    out[:, 1] = out[:, 0]
    out[:, 2] = 1 - out[:, 0]
    out[:, 3] = 0
    out[:, 4] = 1
    return out


def test_weights_of_ones_are_those_of_the_rows(rows):
    weight = np.random.default_rng(1).integers(0, 2**20, (len(rows), 3)) / 2**20
    out = np.full((N_VARS, 3), 0.5)
    add_weights_of_ones(rows, weight, out)
    np.testing.assert_array_equal(out, 0.5 + rows.T.astype(np.float64) @ weight)


def test_pairs_of_ones_are_counted_in_the_chosen_rows(rows):
    row, var = np.nonzero(rows)
    start = np.searchsorted(row, np.arange(len(rows) + 1))
    chosen, weight = np.array([3, 5, 199]), np.array([1.0, 0.5, 4.0])
    out = np.zeros((N_VARS, N_VARS))
    add_pair_weights(var, start, chosen, weight, out)
    few = rows[chosen].astype(np.float64)
    np.testing.assert_array_equal(out, np.triu((few * weight[:, None]).T @ few))


def test_information_of_pairs_is_that_of_the_definition(rows):
    both = np.triu(rows.T.astype(np.float64) @ rows)
    out = np.full((N_VARS, N_VARS), np.nan)
    fill_pair_information(both, rows.sum(axis=0).astype(np.float64), float(len(rows)), out)
    for u, v in itertools.product(range(N_VARS), repeat=2):
        expected = 0.0
        for a, b in itertools.product((0, 1), repeat=2):
            p_u, p_v = (rows[:, u] == a).mean(), (rows[:, v] == b).mean()
            p = ((rows[:, u] == a) & (rows[:, v] == b)).mean()
            expected += p * np.log(p / (p_u * p_v)) if p > 0 else 0.0
        assert out[u, v] == pytest.approx(0.0 if u == v else expected, abs=0.51 * EQUAL)
    # Variables that are equal, or never 1, or always, say all or nothing of the others.
    np.testing.assert_array_equal(out[0, 5:], out[1, 5:])
    np.testing.assert_array_equal(out[0, 5:], out[2, 5:])
    assert not out[[3, 4]].any()


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
