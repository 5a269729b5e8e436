"""Bottom-up search against its definition: gains, nearest examples, what a pass leaves behind."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import brentq, minimize_scalar
from scipy.special import expit

from made_random import random_data
from mnlearn.data.rows import pack_columns
from mnlearn.inference.conditionals import conditional_log_odds
from mnlearn.kernels.search import gains, near_rows
from mnlearn.kernels.search import generalisation as kernels
from mnlearn.kernels.search.generalisation import Examples, MaskedFeatures, Price
from mnlearn.learning.features.bottom_up import search_bottom_up
from mnlearn.learning.learner import Start, Task
from mnlearn.learning.tuning import tune
from mnlearn.learning.weights.descent import Penalty
from mnlearn.methods.blm import BLM
from mnlearn.models.features import atomic_features, concatenate, features_of
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.scoring.any_model import pll
from mnlearn.scoring.metrics import mean_score

# The columns of the variable of each column.
OWN = np.arange(99)[:, None] + [0, 1]


def total_pll(features, weight, data):
    network = MarkovNetwork(data.n_vars, features, np.asarray(weight, float))
    return data.n_examples * pll(network, data).mean


def masked(asked, value, weight):
    return MaskedFeatures(asked, value, weight, np.zeros(len(asked), bool))


def cells_of(data, theta, literals):
    """What `_cells` lists, for one feature given as (variable, value) pairs."""
    asked, value = np.zeros((2, 1, -(-data.n_vars // 64)), np.uint64)
    for v, x in literals:
        asked[0, v // 64] |= np.uint64(1 << (v % 64))
        value[0, v // 64] |= np.uint64(x << (v % 64))
    rows = pack_columns(data.rows.T)
    more = asked[0].copy()
    more[0] |= np.uint64(0b111)
    # All rows come near the feature of more literals, and are seen through its mask.
    near = near_rows.room_for_rows(*rows.shape, data.n_vars)
    near_rows.begin(near, rows, more, value[0])
    near_rows.admit(near, rows, more, value[0], data.n_vars)
    near_rows.order_rows(near)
    n_rows = data.n_rows
    assert near.until[-1] == n_rows
    odds, amount = np.empty(theta.size), np.empty(theta.size)
    cells = gains.list_cells(
        near, n_rows, data.weight, theta.T.copy(), asked[0], value[0], odds, amount
    )
    p = expit(theta.T.copy())
    sums = near_rows.room_for_sums(n_rows, data.n_vars)
    near_rows.begin_sums(sums, more)
    near_rows.add_rows(sums, near, data.weight, p, more, value[0])
    found = near_rows.find_slope_and_curvature(
        sums, near, n_rows, data.weight, p, asked[0], value[0], more & ~asked[0]
    )
    return found, (odds, amount, *cells)


def test_the_bound_of_a_gain_is_that_of_the_least_curvature():
    """The greatest value of the objective whose curvature falls as fast as it can."""
    rng = np.random.default_rng(3)
    for _ in range(2000):
        slope, curvature, precision = 10.0 ** rng.uniform([0, -1, -2], [5, 3, 2])
        bound, _ = gains.gain_bound(slope, curvature, precision)

        def slope_at(w, s=slope, c=curvature, p=precision):
            return s + c * np.expm1(-w) - p * w

        top = brentq(slope_at, 0.0, slope / precision, xtol=1e-300, rtol=1e-14, maxiter=2000)
        best = slope * top - curvature * (np.expm1(-top) + top) - 0.5 * precision * top**2
        if np.isfinite(bound):
            assert best * (1 - 1e-6) <= bound <= best * (1 + 1e-5)
        else:
            assert top > 20.0


@pytest.mark.parametrize("n_vars", [6, 70])
def test_best_weight_and_its_gain(n_vars):
    data = random_data(1, 200, n_vars)
    rng = np.random.default_rng(2)
    atoms = atomic_features(n_vars)
    base = rng.normal(size=n_vars)
    theta = conditional_log_odds(MarkovNetwork(n_vars, atoms, base), data)
    before = total_pll(atoms, base, data)
    found_one = False
    for _ in range(6):
        variables = rng.choice(n_vars, 3, replace=False)
        literals = sorted((int(v), int(rng.integers(2))) for v in variables)
        derivatives, cells = cells_of(data, theta, literals)
        features = concatenate([atoms, features_of([literals])])

        def loss(w, features=features):
            gain = total_pll(features, [*base, w], data) - before
            return -(gain - 2.0 * abs(w) - 0.5 * 4.0 * w * w)

        room = abs(derivatives[0]) - 2.0
        start = gains.gain_bound(room, derivatives[1], 4.0)[1] * np.sign(derivatives[0])
        w, gain = gains.best_weight(*cells, 2.0, 4.0, start, 0.0) if start else (0.0, 0.0)
        assert_allclose(gain, -loss(w), atol=1e-8)
        assert_allclose(gains.weight_gain(*cells, 2.0, 4.0, 0.3), -loss(0.3), atol=1e-8)
        free = [total_pll(features, [*base, x], data) for x in (-1e-4, 0.0, 1e-4)]
        assert_allclose(derivatives[0], (free[2] - free[0]) / 2e-4, rtol=1e-4)
        assert_allclose(-derivatives[1], np.diff(free, 2)[0] / 1e-8, rtol=1e-3)
        if w:
            found_one = True
            best = minimize_scalar(loss, bounds=(min(0, 2 * w), max(0, 2 * w)), method="bounded")
            assert_allclose(gain, -best.fun, rtol=1e-4)
        else:
            assert min(loss(1e-4), loss(-1e-4)) >= 0
    assert found_one


@pytest.mark.parametrize("precision", [0.0, 0.1, 4.0])
@pytest.mark.parametrize("seed", range(20))
def test_gains_are_within_their_bounds(seed, precision):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 30))
    odds, amount = rng.normal(scale=2.0, size=n), rng.uniform(0.5, 3.0, n)
    holds = rng.random(n) < 0.7
    p = expit(odds)
    slope = amount @ (holds - p)
    bound, start = gains.gain_bound(abs(slope) - 0.2, amount @ (p * (1 - p)), precision)
    if abs(slope) <= 0.2:
        assert bound == start == 0.0
        return
    cells = odds, amount, n, amount @ holds, 0.2, precision, start * np.sign(slope)
    w, gain = gains.best_weight(*cells, 0.0)
    assert w * slope > 0.0
    assert 0.0 < gain <= bound
    if precision == 4.0 and gain > 0.5:
        assert bound < 2.0 * gain
    # What falls short of what is needed may end early, and does not reach it.
    assert gains.best_weight(*cells, gain + 1e-3)[1] <= gain + 1e-9
    assert_allclose(gains.best_weight(*cells, 0.9 * gain), (w, gain))


def whole_examples():
    """Return data, and what a pass over its examples, all values of each, begins with."""
    data = random_data(3, 300, 8)
    rows = pack_columns(data.rows.T)
    asked = pack_columns(np.ones_like(data.rows.T))
    return (
        data, rows, asked, rows.copy(), np.zeros(len(rows)), np.zeros(2**14, np.uint64),
        np.zeros(data.rows.T.shape),
    )  # fmt: skip


def test_literals_that_gain_nothing_are_dropped_and_left_out():
    data, rows, asked, value, weight, table, theta = whole_examples()
    outcome = kernels.generalise_pass(
        Examples(rows, data.weight, theta, OWN), np.arange(len(rows)),
        masked(asked, value, weight), 5, Price(0.0, 1.0, 1e4), table,
    )  # fmt: skip
    assert outcome[0] > 0
    assert outcome[1] == 0.0
    assert not weight.any()
    assert not theta.any()
    assert np.bitwise_count(asked).min() == 2


def test_a_feature_that_no_longer_pays_is_generalised_like_one_that_never_did():
    data, rows, asked, value, weight, table, theta = whole_examples()

    def treat(features, price):
        return kernels.generalise_pass(
            Examples(rows, data.weight, theta, OWN), features, masked(asked, value, weight), 3,
            Price(0.0, 1.0, price), table,
        )[0]  # fmt: skip

    assert treat(np.arange(len(rows)), 0.5) > 0
    paid = weight != 0.0
    assert treat(np.arange(len(rows)), 2.5) > 0
    dropped = np.flatnonzero(weight == 0.0)
    assert paid[dropped].any()
    # At the weight 0 any shorter feature is better, so that none was left to be found.
    assert treat(dropped, 2.5) == 0


def test_does_not_depend_on_anything_but_the_seed():
    data = random_data(4, 300, 8)
    one, same = (search_bottom_up(data, Penalty(1.0, 1.0), "full", 5, price=1.0) for _ in range(2))
    assert_array_equal(one.features.var, same.features.var)
    assert one.gained == same.gained
    other = search_bottom_up(data, Penalty(1.0, 1.0), "full", 5, price=1.0, seed=7)
    assert one.gained != other.gained


def test_tuned_over_searches_and_penalties():
    data = random_data(5, 300, 8)
    grid = BLM.grid({"initial": ["full", "positive"], "l1": [1, 5], "sd": [0.5, 1]})
    tuned = tune(BLM, data, grid, mean_score(BLM.criterion, data))
    assert set(tuned.variants) == {"full", "positive"}
    assert len(tuned.trace) == 8
    assert tuned.best.fitted.details["n_replaced"] > 0
    again = BLM.choose(tuned.best.parameters).learn(BLM.prepare(Task(data, grid)), Start())
    assert again.details["n_candidates"] == tuned.best.fitted.details["n_candidates"]


@pytest.mark.parametrize("n_slots", [256, 1024])
def test_a_feature_is_new_once(n_slots):
    """The table is nearly full or nearly empty; two words hold the literals of a feature."""
    rng = np.random.default_rng(n_slots)
    asked = rng.integers(0, 9, (600, 2)).astype(np.uint64)
    value = rng.integers(0, 4, (600, 2)).astype(np.uint64)
    features = [tuple(a.tolist() + (a & x).tolist()) for a, x in zip(asked, value, strict=True)]
    first = [features.index(one) == k for k, one in enumerate(features)]
    kept = np.flatnonzero(np.cumsum(first) <= 250)
    table = np.zeros(n_slots, np.uint64)
    found = kernels.remember_all(asked[kept], value[kept], table)
    np.testing.assert_array_equal(found, np.array(first)[kept])
    assert np.count_nonzero(table) == found.sum()
    assert not kernels.remember_all(asked[kept], value[kept], table).any()
