"""Rows near a feature against the distances of all of them."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from mnlearn.data.rows import pack_columns
from mnlearn.kernels.search import near_rows


def packed(literals):
    return pack_columns(literals[np.newaxis].T)[0]


@pytest.mark.parametrize("n_vars", [7, 70])
@pytest.mark.parametrize("seed", range(20))
def test_rows_are_near_after_literals_are_dropped(seed, n_vars):
    rng = np.random.default_rng(seed)
    n_rows, k = int(rng.integers(1, 200)), int(rng.integers(1, 20))
    values = (rng.random((n_rows, n_vars)) < rng.uniform(0.1, 0.9)).astype(np.uint8)
    rows = pack_columns(values.T)
    near = near_rows.room_for_rows(*rows.shape, n_vars)
    nearest = np.empty(k, np.int64)
    # A second feature finds nothing of the first.
    for _ in range(2):
        wanted = values[rng.integers(n_rows)] ^ (rng.random(n_vars) < 0.05)
        value = pack_columns(wanted[np.newaxis].T)[0]
        literals = rng.random(n_vars) < 0.9
        near_rows.begin(near, rows, packed(literals), value)
        while literals.any():
            distance = ((values != wanted) & literals).sum(axis=1)
            asked = packed(literals)
            n = near_rows.find_nearest(near, rows, asked, value, k, nearest)
            order = np.argsort(distance, kind="stable")
            order = order[distance[order] > 0][:k]
            assert_array_equal(near.row[nearest[:n]], order)
            came = near.row[: near.size[0]]
            assert len(set(came)) == len(came)
            assert_array_equal(near.distance[: len(came)], distance[came])
            assert_array_equal(near.violated[: len(came)], (rows[came] ^ value) & asked)
            farthest = distance[order[-1]] + 1 if len(order) == k else n_vars
            for d in range(min(farthest, n_vars) + 1):
                found = came[near.ordered[: near.until[d]]]
                assert_array_equal(np.sort(found), np.flatnonzero(distance <= d))
            dropped = literals & (rng.random(n_vars) < rng.choice([0.02, 0.3]))
            near_rows.drop(near, packed(dropped))
            literals &= ~dropped


def test_far_rows_are_not_looked_at():
    values = np.zeros((1000, 40), np.uint8)
    values[10:, :20] = 1
    values[:10, 0] = np.arange(10) % 2
    rows = pack_columns(values.T)
    asked, value = packed(np.ones(40, bool)), rows[0]
    near = near_rows.room_for_rows(1000, 1, 40)
    near_rows.begin(near, rows, asked, value)
    nearest = np.empty(5, np.int64)
    assert near_rows.find_nearest(near, rows, asked, value, 5, nearest) == 5
    assert near.row[nearest].tolist() == [1, 3, 5, 7, 9]
    assert near.size[0] == 10
