"""Sums over the rows where conjunctions hold, against sums over matrices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mnlearn.kernels.search.conjunctions import add_where


@pytest.mark.parametrize("span", [(0, 3), (1, 2)])
def test_amounts_are_added_where_features_hold(span):
    rng = np.random.default_rng(0)
    holds = rng.integers(0, 2, (5, 192)).astype(np.uint8)
    bits = np.packbits(holds, axis=1, bitorder="little").view(np.uint64)
    amount = np.array([0.5, 0.0, -1.25, 0.0, 2.0])
    out = rng.normal(size=192)
    expected = out.copy()
    rows = slice(64 * span[0], 64 * span[1])
    expected[rows] += (amount @ holds)[rows]
    add_where(bits, amount, *span, out)
    assert_allclose(out, expected, rtol=1e-12)
