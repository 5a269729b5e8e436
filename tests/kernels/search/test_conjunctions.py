"""Sums over the rows where conjunctions hold, against sums over matrices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar

from mnlearn.kernels.search import conjunctions
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


@pytest.mark.parametrize(("l1", "precision"), [(0.0, 0.1), (2.0, 0.5)])
def test_the_best_weight_of_cells_and_what_it_gains(l1, precision):
    """Against a search of the objective, which is 0 at the weight 0."""
    rng = np.random.default_rng(4)
    odds, amount = rng.normal(size=30), rng.uniform(0.5, 2.0, 30)
    for held in (amount.sum() * np.array([0.2, 0.5, 0.9])).tolist():

        def loss(w, held=held):
            rise = amount @ (np.logaddexp(0, odds + w) - np.logaddexp(0, odds))
            return rise - held * w + l1 * abs(w) + 0.5 * precision * w * w

        prices = conjunctions.GainPrices(l1, precision, 0.0)
        found = conjunctions._score_cells(odds, amount, len(odds), held, prices)
        best = minimize_scalar(loss, bounds=(-20, 20), method="bounded", options={"xatol": 1e-10})
        if best.fun < -1e-9:
            assert_allclose(found, [best.x, -best.fun], rtol=1e-4, atol=1e-6)
        # Where it cannot gain enough, only a bound is found.
        prices = conjunctions.GainPrices(l1, precision, 1e9)
        weight, bound = conjunctions._score_cells(odds, amount, len(odds), held, prices)
        assert weight == 0.0
        assert -best.fun - 1e-9 <= bound < 1e9
