"""Our exponentials and logarithms against those of NumPy, and the choice between near-ties."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit, log_expit

from mnlearn.kernels.arithmetic import logistic
from mnlearn.kernels.arithmetic.ties import EQUAL, first_greatest, rounded
from mnlearn.kernels.jit import kernel


@kernel
def _tabulate(x, exp, log1p, log, both):
    for i in range(len(x)):
        exp[i] = logistic.exp_nonpositive(-x[i])
        log1p[i] = logistic.log1p_unit(exp[i])
        log[i] = logistic.log_normal(x[i])
        both[0, i] = logistic.sigmoid(-x[i])
        both[1, i] = logistic.sigmoid(x[i])
        both[2, i] = logistic.log_sigmoid(-x[i])
        both[3, i] = logistic.log_sigmoid(x[i])


@pytest.mark.parametrize(
    "x",
    [np.geomspace(1e-307, 700, 20001), np.linspace(0.0, 40.0, 20001)[1:]],
    ids=["of all sizes", "near 1"],
)
def test_functions_of_all_sizes(x):
    exp, log1p, log = (np.empty_like(x) for _ in range(3))
    both = np.empty((4, len(x)))
    _tabulate(x, exp, log1p, log, both)
    assert_allclose(exp, np.exp(-x), rtol=2e-15)
    assert_allclose(log1p, np.log1p(exp), rtol=2e-15, atol=1e-300)
    assert_allclose(log, np.log(x), rtol=4e-15, atol=1e-16)
    assert_allclose(both[:2], [expit(-x), expit(x)], rtol=4e-15)
    assert_allclose(both[2:], [log_expit(-x), log_expit(x)], rtol=4e-15, atol=1e-300)


def test_ends_of_the_range():
    x = np.array([0.0, 708.0, 709.0, 1e6])
    exp, log1p, log = (np.empty_like(x) for _ in range(3))
    _tabulate(x, exp, log1p, log, np.empty((4, len(x))))
    assert_allclose(exp, np.exp([0.0, -708.0, -708.0, -708.0]), rtol=2e-15)
    assert log1p[0] == pytest.approx(np.log(2), rel=1e-15)


def test_where_the_series_are_worst():
    """Arguments farthest from those around which the series are, to the last place but one."""
    halves = (np.arange(30)[:, None] + 0.5) * np.log(2) * (1 + np.array([-1e-3, -1e-6, 1e-6, 1e-3]))
    e = np.linspace(-0.03, 0.03, 61) + np.sqrt(2) - 1
    x = np.concatenate([halves.ravel(), -np.log(e), -np.log(np.linspace(0.01, 1, 100)[:-1])])
    exp, log1p, log = (np.empty_like(x) for _ in range(3))
    both = np.empty((4, len(x)))
    _tabulate(x, exp, log1p, log, both)
    assert_allclose(exp, np.exp(-x), rtol=5e-16)
    assert_allclose(log1p, np.log1p(exp), rtol=5e-16)
    assert_allclose(both[:2], [expit(-x), expit(x)], rtol=1e-15)
    assert_allclose(both[2:], [log_expit(-x), log_expit(x)], rtol=1e-15)
    x = (np.sqrt(2) * 2.0 ** np.arange(-6, 6)[:, None] * (1 + np.linspace(-0.05, 0.05, 31))).ravel()
    exp, log1p, log = (np.empty_like(x) for _ in range(3))
    _tabulate(x, exp, log1p, log, np.empty((4, len(x))))
    assert_allclose(log, np.log(x), rtol=5e-16)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([3.0], 0),
        ([1.0, 3.0, 2.0], 1),
        ([3.0 - 0.9 * EQUAL, 3.0, 3.0], 0),
        ([3.0 - 1.1 * EQUAL, 3.0, 3.0], 1),
        # A chain of near-ties: only what is near the greatest counts.
        ([3.0 - 1.6 * EQUAL, 3.0 - 0.8 * EQUAL, 3.0], 1),
        ([-np.inf, -5.0, -5.0], 1),
        ([-np.inf, -np.inf], 0),
    ],
)
def test_the_first_of_the_greatest(values, expected):
    assert first_greatest(np.array(values), EQUAL) == expected


def test_sums_in_another_order_are_rounded_to_the_same_number():
    terms = np.random.default_rng(3).random(1000)
    sums = [float(sum(terms[order])) for order in (np.arange(1000), np.argsort(terms))]
    assert sums[0] != sums[1]
    assert rounded(sums[0], 1e-9) == rounded(sums[1], 1e-9) == pytest.approx(sums[0], abs=1e-9)
    assert rounded(sums[0] + 2e-9, 1e-9) != rounded(sums[0], 1e-9)
    assert rounded(-np.inf, 1e-9) == -np.inf
