"""Sums over the rows where conjunctions hold, against sums over matrices."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar

from made_words import packed
from mnlearn.kernels.search import gains
from mnlearn.kernels.search.gains import add_where


@pytest.mark.parametrize("span", [(0, 3), (1, 2)])
def test_amounts_are_added_where_features_hold(span):
    rng = np.random.default_rng(0)
    holds = rng.integers(0, 2, (5, 192)).astype(np.uint8)
    bits = packed(holds)
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

        prices = gains.GainPrices(l1, precision, 0.0)
        found = gains._score_cells(odds, amount, len(odds), held, prices)
        best = minimize_scalar(loss, bounds=(-20, 20), method="bounded", options={"xatol": 1e-10})
        if best.fun < -1e-9:
            assert_allclose(found, [best.x, -best.fun], rtol=1e-4, atol=1e-6)
        # Where it cannot gain enough, only a bound is found.
        prices = gains.GainPrices(l1, precision, 1e9)
        weight, bound = gains._score_cells(odds, amount, len(odds), held, prices)
        assert weight == 0.0
        assert -best.fun - 1e-9 <= bound < 1e9


class MadeRows:
    """Rows with log-odds, and conjunctions of variables, also in the second word."""

    def __init__(self, n_rows, n_vars=70):
        rng = np.random.default_rng(n_rows)
        self.rows = rng.random((n_rows, n_vars)) < 0.7
        self.weight, self.theta = rng.uniform(0.5, 2.0, n_rows), rng.normal(size=(n_vars, n_rows))
        self.members = [[0], [63, 64], [0, 1, 69], [2, 5, 64, 65, 69]]
        masks = np.zeros((len(self.members), n_vars), bool)
        for mask, own in zip(masks, self.members, strict=True):
            mask[own] = True
        self.masks, columns = packed(masks), packed(self.rows.T)
        last_word = np.uint64(2 ** ((n_rows - 1) % 64 + 1) - 1)
        self.packed = gains.PackedRows(columns, last_word, self.weight, self.theta)

    def cells(self, own):
        """Pairs of a row and a variable whose log-odds the conjunction moves, and who hold it."""
        zeros = (~self.rows[:, own]).sum(axis=1)
        cells = [(i, v) for i in np.flatnonzero(zeros == 0) for v in own]
        cells += [
            (i, next(v for v in own if not self.rows[i, v])) for i in np.flatnonzero(zeros == 1)
        ]
        return sorted(cells, key=lambda cell: (cell[1], cell[0]))


@pytest.mark.parametrize("n_rows", [1, 63, 64, 65, 130])
def test_rows_cells_and_weights_of_conjunctions(n_rows):
    made = MadeRows(n_rows)
    columns = made.packed.columns
    n_words = columns.shape[1]
    bits = np.full((4, n_words), 9, np.uint64)
    gains.find_rows(columns, made.masks, 1, 4, bits)
    assert (bits[0] == 9).all()
    holds = [made.rows[:, own].all(axis=1) for own in made.members]
    found = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little")
    for c in range(1, 4):
        assert found[c, :n_rows].tolist() == holds[c].tolist()
        assert not found[c, n_rows:].any()
    one, other, out = np.array([1, 2, 3, 1]), np.array([2, 3, 3, 3]), np.full(4, np.nan)
    gains.weigh_pairs(bits, one, other, made.weight, 1, 4, out)
    expected = [made.weight @ (holds[a] & holds[b]) for a, b in zip(one, other, strict=True)]
    assert np.isnan(out[0])
    assert_allclose(out[1:], expected[1:])
    for own, mask, all_hold in zip(made.members, made.masks, holds, strict=True):
        odds, amount = np.full((2, n_rows * 5 + 1), np.nan)
        scratch = np.empty((2, n_words), np.uint64)
        n, held = gains.list_conjunction_cells(made.packed, mask, scratch, odds, amount)
        cells = made.cells(own)
        assert n == len(cells)
        assert held == pytest.approx(len(own) * (made.weight @ all_hold))
        assert odds[:n].tolist() == [made.theta[v, i] for i, v in cells]
        assert amount[:n].tolist() == [made.weight[i] for i, _ in cells]


def best_gain(objective):
    """The best weight and its gain, by a search of either side."""
    found = [
        minimize_scalar(
            lambda w: -objective(w), bounds=b, method="bounded", options={"xatol": 1e-9}
        )
        for b in ((-20, 0), (0, 20))
    ]
    best = min(found, key=lambda f: f.fun)
    return (best.x, -best.fun) if best.fun < -1e-7 else (0.0, 0.0)


@pytest.mark.parametrize("needed", [0.0, 0.5])
def test_gains_in_pseudo_likelihood(needed):
    made, chosen = MadeRows(65), np.array([3, 0, 1, 2])
    prices = gains.GainPrices(0.8, 0.5, needed)
    weight, gain = np.full((2, 4), np.nan)
    gains.pseudo_likelihood_gains(made.packed, made.masks, chosen, prices, 1, 4, weight, gain)
    assert np.isnan([weight[0], gain[0]]).all()
    for w, g, c in zip(weight[1:], gain[1:], chosen[1:], strict=True):
        own = made.members[c]

        def objective(w, own=own):
            total = -0.8 * abs(w) - 0.25 * w * w
            for i, v in made.cells(own):
                odds, sign = made.theta[v, i], 1.0 if made.rows[i, v] else -1.0
                rise = np.logaddexp(0, -sign * odds) - np.logaddexp(0, -sign * (odds + w))
                total += made.weight[i] * rise
            return total

        best = best_gain(objective)
        if w:
            assert (w, g) == pytest.approx(best, rel=1e-3, abs=1e-4)
        else:
            assert best[1] - 1e-9 <= g <= needed


def test_gains_in_likelihood():
    share, expected = np.array([9.0, 0.3, 0.2, 0.0, 0.5, 1.0]), np.array([9, 0.2, 0.2, 0.1, 0, 1.0])
    prices = gains.GainPrices(0.0, 0.5, 0.0)
    weight, gain = np.full((2, 6), np.nan)
    gains.likelihood_gains(share, expected, 40.0, prices, 1, 6, weight, gain)
    assert np.isnan([weight[0], gain[0]]).all()
    for j in (1, 2, 3):

        def objective(w, j=j):
            return 40.0 * (share[j] * w - np.log1p(expected[j] * np.expm1(w))) - 0.25 * w * w

        assert (weight[j], gain[j]) == pytest.approx(best_gain(objective), rel=1e-3, abs=1e-4)
    assert weight[4] > 10
    assert weight[5] == pytest.approx(0.0, abs=1e-9)
