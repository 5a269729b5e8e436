"""A pass of bottom-up search, against the same pass by definition, in plain Python."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from scipy.special import expit

from made_words import packed
from mnlearn.kernels.search import generalisation as kernels
from mnlearn.kernels.search.gains import gain_bound


class Search:
    """Features as dictionaries from variables to values, over rows with log-odds."""

    def __init__(self, seed, n_vars, n_rows=40, n_features=6):
        rng = np.random.default_rng(seed)
        rows = rng.integers(0, 2, (n_rows, n_vars))
        # Rows near each other, and near all features.
        rows[1:] = np.where(rng.random((n_rows - 1, n_vars)) < 0.15, rows[1:], rows[0])
        self.rows, self.weight = rows, rng.integers(1, 4, n_rows).astype(float)
        self.theta = rng.normal(scale=0.7, size=(n_rows, n_vars))
        length = rng.integers(2, min(n_vars, 9) + 1, n_features)
        chosen = [rng.choice(n_vars, n, replace=False) for n in length]
        origin = rng.integers(0, n_rows, n_features)
        self.features = [
            {int(v): int(rows[i, v]) for v in own} for own, i in zip(chosen, origin, strict=True)
        ]
        self.w = np.where(rng.random(n_features) < 0.5, rng.normal(size=n_features), 0.0)
        self.l1, self.precision = float(rng.choice([0.0, 0.3])), float(rng.choice([0.5, 2.0]))
        self.price = float(rng.choice([0.0, 0.4, 2.0]))
        for feature, w in zip(self.features, self.w, strict=True):
            self.shift(feature, w)
        self.known = {frozenset(feature.items()) for feature in self.features}

    def masks(self):
        """The features as the kernels take them."""
        asked, value = np.zeros((2, len(self.features), self.rows.shape[1]), bool)
        for f, feature in enumerate(self.features):
            for v, x in feature.items():
                asked[f, v], value[f, v] = True, x
        return packed(asked), packed(value)

    def cells(self, feature):
        """For each log-odds that the weight moves: row, variable, and whether the row holds."""
        out = []
        for i, row in enumerate(self.rows):
            violated = [v for v, x in feature.items() if row[v] != x]
            if len(violated) < 2:
                out += [(i, v, not violated) for v in (violated or feature)]
        return out

    def shift(self, feature, w):
        for i, v, _ in self.cells(feature):
            self.theta[i, v] += w if feature[v] else -w

    def odds_of(self, feature):
        """Log-odds of the value asked for, weights, and where it is the value of the row."""
        cells = self.cells(feature)
        sign = np.array([1.0 if feature[v] else -1.0 for _, v, _ in cells])
        odds = sign * np.array([self.theta[i, v] for i, v, _ in cells])
        amount = np.array([self.weight[i] for i, _, _ in cells])
        return odds, amount, np.array([holds for *_, holds in cells], bool)

    def gain(self, feature, w):
        odds, amount, holds = self.odds_of(feature)
        sign = np.where(holds, -1.0, 1.0)
        rise = np.logaddexp(0, sign * (odds + w)) - np.logaddexp(0, sign * odds)
        return -amount @ rise - self.l1 * abs(w) - 0.5 * self.precision * w * w

    def best(self, feature):
        """The best weight, what it gains, and the bound of that at the weight 0."""
        odds, amount, holds = self.odds_of(feature)
        p = expit(odds)
        slope = amount @ (holds - p)
        bound, _ = gain_bound(abs(slope) - self.l1, amount @ (p * (1 - p)), self.precision)
        bounds = (0, 30) if slope > 0 else (-30, 0)
        found = minimize_scalar(
            lambda w: -self.gain(feature, w),
            bounds=bounds,
            method="bounded",
            options={"xatol": 1e-9},
        )
        return (found.x, -found.fun, bound) if found.fun < 0 else (0.0, 0.0, bound)

    def candidates(self, feature, k):
        """Generalisations by the nearest rows that are no member yet, in the order of the rows."""
        distance = [sum(row[v] != x for v, x in feature.items()) for row in self.rows]
        nearest = sorted((d, i) for i, d in enumerate(distance) if d > 0)[:k]
        out = []
        for _, i in nearest:
            kept = {v: x for v, x in feature.items() if self.rows[i, v] == x}
            new = frozenset(kept.items()) not in self.known and kept not in out
            if len(kept) > 1 and new:
                out.append(kept)
        return out

    def generalise(self, f, k):
        """Treat one feature; return the number of replacements and what its score rose by."""
        feature, w = self.features[f], self.w[f]
        before = 0.0
        if w:
            self.shift(feature, -w)
            score = before = self.gain(feature, w) - self.price * len(feature)
        else:
            w, gain, _ = self.best(feature)
            score = gain - self.price * len(feature)
            w = w if score > 0 else 0.0
        n = 0
        while True:
            if score <= 0:
                w, score = 0.0, -self.price * len(feature)
            found = [(*self.best(c), self.price * len(c), c) for c in self.candidates(feature, k)]
            chosen = max(found, key=lambda c: c[1] - c[3], default=None)
            if chosen is not None and chosen[1] - chosen[3] > max(score, 0.0):
                score, w = chosen[1] - chosen[3], chosen[0]
            elif score <= 0 and found:
                chosen = max(found, key=lambda c: c[2] - c[3])
                if chosen[2] - chosen[3] <= score:
                    break
            else:
                break
            feature = chosen[4]
            self.known.add(frozenset(feature.items()))
            n += 1
        self.features[f], self.w[f] = feature, w
        self.shift(feature, w)
        return n, max(score, 0.0) - before


@pytest.mark.parametrize("n_vars", [4, 9, 66])
@pytest.mark.parametrize("seed", range(5))
def test_a_pass_by_its_definition(seed, n_vars):
    made, k = Search(seed, n_vars), 4
    asked, value = made.masks()
    features = kernels.MaskedFeatures(asked, value, made.w.copy(), np.zeros(len(asked), bool))
    theta = made.theta.T.copy()
    own = np.arange(len(theta))[:, None] + [0, 1]
    examples = kernels.Examples(packed(made.rows), made.weight, theta, own)
    price = kernels.Price(made.l1, made.precision, made.price)
    table = np.zeros(256, np.uint64)
    kernels.remember_all(asked, value, table)
    # The second time many features have no candidates left.
    order = np.array([3, 0, 5, 1, 0, 3, 3, 1])
    expected = [made.generalise(f, k) for f in order]
    n, gained = kernels.generalise_pass(examples, order, features, k, price, table)
    assert n == sum(n for n, _ in expected)
    assert gained == pytest.approx(sum(gain for _, gain in expected), rel=1e-4, abs=1e-4)
    masks, values = made.masks()
    assert (features.asked == masks).all()
    assert (features.value & features.asked == values).all()
    assert_allclose(features.weight, made.w, rtol=1e-2, atol=1e-3)
    assert ((features.weight == 0) == (made.w == 0)).all()
    assert_allclose(examples.theta.T, made.theta, atol=1e-2)
    # Each member is remembered once, with those that it replaced.
    assert np.count_nonzero(table) == len(made.known)
    assert not kernels.remember_all(features.asked, features.value, table).any()
