"""The estimate of the Hessian by heavy cells, by its definition and against differences."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit
from test_weights_of_states import made

from made_random import random_data, random_features
from mnlearn.kernels.likelihood.heavy_cells import factorise
from mnlearn.learning.weights import heavy_cells
from mnlearn.learning.weights.descent import Penalty
from mnlearn.learning.weights.fit import fit_weights
from mnlearn.learning.weights.heavy_cells import HeavyCells
from mnlearn.learning.weights.packed_likelihood import arrange_packed
from mnlearn.learning.weights.stored_likelihood import arrange_stored
from mnlearn.models.features import atomic_features, canonicalise, concatenate


def problem(n_features, n_vars=8, seed=0):
    """Features, data, their likelihood, and weights of which some are 0."""
    rng = np.random.default_rng(seed)
    features = concatenate([atomic_features(n_vars), random_features(rng, n_vars, n_features, 4)])
    features, _ = canonicalise(features)
    data = random_data(seed, n_vars=n_vars)
    w = rng.normal(size=len(features)) * (rng.random(len(features)) < 0.7)
    return features, data, arrange_stored(features, data), w


def matrix_of(product, n):
    """The matrix whose inverse a product multiplies by."""
    return np.linalg.inv(np.transpose([product(row) for row in np.eye(n)]))


def touched(features, rows):
    """X[row, variable, feature]: by how much a feature changes the log-odds of a variable there."""
    out = np.zeros((*rows.shape, len(features)))
    for v in range(rows.shape[1]):
        sides = [rows.copy() for _ in range(2)]
        for value, side in enumerate(sides):
            side[:, v] = value
        absent, present = (features.satisfied(side).astype(float) for side in sides)
        out[:, v] = present - absent
    return out


def slope(likelihood, w):
    return likelihood.value_and_gradient(w)[1]


@pytest.fixture
def all_cells(monkeypatch):
    monkeypatch.setattr(heavy_cells, "FEATURES_OF_CELL", 0.001)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_features", [5, 60])
def test_all_cells_make_the_hessian(all_cells, n_features, seed):
    features, data, likelihood, w = problem(n_features, seed=seed)
    w[w == 0] = 0.1
    product = HeavyCells.of(features, data).inverse_hessian(w, likelihood.curvature, 0.25)
    by = 1e-5 * np.eye(len(w))
    slopes = [slope(likelihood, w + d) - slope(likelihood, w - d) for d in by]
    expected = np.array(slopes) / 2e-5 + 0.25 * np.eye(len(w))
    assert_allclose(matrix_of(product, len(w)), expected, rtol=1e-5, atol=1e-6 * expected.max())


def test_cells_that_have_the_whole_curvature_need_no_prior(all_cells):
    features, data, likelihood, w = problem(300)
    product = HeavyCells.of(features, data).inverse_hessian(w, likelihood.curvature, 0.0)
    rng = np.random.default_rng(0)
    for x in rng.normal(size=(20, len(w))):
        assert x @ product(x) > 0


@pytest.mark.parametrize("most_rows", [5, 40, 10**4])
@pytest.mark.parametrize("most_cells", [1, 30, 100])
def test_some_cells_are_the_heaviest(all_cells, monkeypatch, most_rows, most_cells):
    monkeypatch.setattr(heavy_cells, "MOST_ROWS", most_rows)
    monkeypatch.setattr(heavy_cells, "MOST_CELLS", most_cells)
    features, data, likelihood, w = problem(60)
    product = HeavyCells.of(features, data).inverse_hessian(w, likelihood.curvature, 0.25)
    kept = np.argsort(-data.weight, kind="stable")[:most_rows]
    x = touched(features, data.rows[kept])
    p = expit(x @ w)
    curved = (p * (1 - p) * data.weight[kept, None]).ravel()
    x, held = x.reshape(-1, len(w)), np.repeat(data.weight[kept], data.n_columns)
    heaviest = np.argsort(-curved, kind="stable")[:most_cells]
    # Cells of equal weight at the border may be taken in another order.
    assert len(heaviest) == len(curved) or curved[heaviest[-1]] > np.sort(curved)[-most_cells - 1]
    x = x[heaviest] * (w != 0)
    others = likelihood.curvature - 0.25 * held[heaviest] @ np.abs(x)
    left = 0.25 * (held.sum() - held[heaviest].sum())
    share = (curved.sum() - curved[heaviest].sum()) / left if left else 0.0
    others = np.maximum(share * others, 1e-6 * likelihood.curvature)
    expected = np.diag(0.25 + others) + x.T * curved[heaviest] @ x
    assert_allclose(matrix_of(product, len(w)), expected, rtol=1e-9, atol=1e-9)


def test_fewer_cells_are_taken_where_many_features_touch_them(all_cells, monkeypatch):
    features, data, likelihood, w = problem(60)
    cells = HeavyCells.of(features, data)
    sizes = []
    monkeypatch.setattr(heavy_cells, "factorise", lambda matrix: sizes.append(len(matrix)))
    for most in (10**6, 1000, 20):
        monkeypatch.setattr(heavy_cells, "MOST_ENTRIES", most)
        cells.inverse_hessian(w, likelihood.curvature, 1.0)
    assert sizes[0] == data.n_rows * data.n_columns > sizes[1] > sizes[2] >= 1


def test_few_features_that_move_need_no_estimate():
    cells = HeavyCells.of(*problem(5)[:2])
    assert cells.may_help(np.repeat([1.0, 0.0], [1000, 60]))
    assert not cells.may_help(np.repeat([1.0, 0.0], [999, 60]))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 31, 32, 33, 63, 64, 65, 100])
def test_the_factor_of_a_matrix_is_that_of_numpy(n):
    rows = np.random.default_rng(n).normal(size=(n, n + 5))
    matrix = rows @ rows.T
    expected = np.linalg.cholesky(matrix)
    factorise(matrix)
    assert_allclose(np.tril(matrix), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("arrange", [arrange_stored, arrange_packed])
def test_the_optimum_is_the_same_in_fewer_iterations(arrange):
    features, data, _, _ = problem(3000, n_vars=12)
    likelihood, screen = arrange(features, data), arrange is arrange_packed
    plain, quick = (
        fit_weights(likelihood, Penalty(3.0), screen=screen, cells=cells)
        for cells in (None, HeavyCells.of(features, data))
    )
    assert plain.stopped_by == quick.stopped_by == "gap"
    assert abs(plain.objective - quick.objective) <= 1e-5 * plain.objective
    assert 100 < quick.n_iterations < 0.7 * plain.n_iterations


def test_states_of_a_variable_are_told_apart(all_cells):
    """The diagonal is that of the Hessian for features that ask each variable for one state."""
    rng, features, data = made(seed=4)
    asked = np.zeros((len(features), data.n_vars), int)
    np.add.at(asked, (features.owner, data.schema.variable_of[features.var]), 1)
    features = features.select((asked <= 1).all(axis=1))
    assert len(features) > 20
    likelihood = arrange_stored(features, data)
    w = rng.normal(size=len(features))
    product = HeavyCells.of(features, data).inverse_hessian(w, likelihood.curvature, 4.0)
    by = 1e-5 * np.eye(len(w))
    slopes = [(slope(likelihood, w + d) - slope(likelihood, w - d)) @ d for d in by]
    expected = 4.0 + np.array(slopes) / 2e-10
    assert_allclose(np.diag(matrix_of(product, len(w))), expected, rtol=1e-4)
