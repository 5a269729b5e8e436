"""Mean field, iteration by iteration, against sums over all states."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from made_terms import (
    Term,
    arrays,
    log_odds,
    log_potential,
    numbered_states,
    random_terms,
    single_blocks,
)
from mnlearn.kernels.sampling.mean_field import fit_mean_field


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def mean_field(terms, evidence, n, n_iterations):
    """Log-odds, the change of the last iteration, and the bound of log Z, by all states."""
    states, odds, p = numbered_states(n), np.zeros(n), np.full(n, 0.5)
    change = np.inf

    def chance(without=None):
        each = np.where(states == 1, p, 1 - p)
        if without is not None:
            each[:, without] = 0.5
        return each.prod(axis=1)

    for _ in range(n_iterations):
        change = 0.0
        for v in range(n):
            own = [log_odds(terms, evidence, x, v) for x in states]
            before, odds[v] = odds[v], chance(v) @ own
            change = max(change, abs(odds[v] - before))
            p[v] = sigmoid(odds[v])
    expected = chance() @ [log_potential(terms, evidence, x) for x in states]
    return odds, change, expected - (p * np.log(p) + (1 - p) * np.log(1 - p)).sum()


@pytest.mark.parametrize("owned", [True, False])
@pytest.mark.parametrize("n_iterations", [0, 1, 4])
def test_iterations_of_mean_field(owned, n_iterations):
    """More rows than are conditioned at once, the first of them left out."""
    rng = np.random.default_rng(n_iterations)
    n, n_rows = 4, 66
    terms = random_terms(rng, n, 4, 14, owned=owned)
    evidence = rng.integers(0, 2, (n_rows, 4)).astype(np.uint8)
    odds, report = np.full((n_rows, n), np.nan), np.full((n_rows, 3), np.nan)
    fit_mean_field(
        arrays(terms), evidence, single_blocks(n), n_iterations, 0.0, 1, n_rows, odds, report
    )
    assert np.isnan(odds[0]).all()
    for i in (1, 2, 64, 65):
        found, change, bound = mean_field(terms, evidence[i], n, n_iterations)
        assert_allclose(odds[i], found, atol=1e-9)
        assert report[i, 0] == n_iterations
        assert report[i, 1] == pytest.approx(change, abs=1e-9)
        if not owned:
            assert report[i, 2] == pytest.approx(bound, abs=1e-9)


def test_mean_field_ends_at_the_tolerance():
    terms = [Term([], [(0, 1), (1, 1)], 1.5), Term([], [(0, 1)], -0.5), Term([], [(1, 0)], 0.3)]
    nothing = np.empty((1, 0), np.uint8)
    odds, report = np.empty((1, 2)), np.empty((1, 3))
    changes = [mean_field(terms, (), 2, k)[1] for k in range(1, 9)]
    fit_mean_field(
        arrays(terms), nothing, single_blocks(2), 100, changes[3] * (1 + 1e-9), 0, 1, odds, report
    )
    assert report[0, 0] == 4
    # Certain variables have no entropy, and the bound is a number.
    terms = [Term([], [(0, 1)], 800.0), Term([], [(1, 0)], 800.0), Term([], [(0, 1), (1, 0)], 2.0)]
    fit_mean_field(arrays(terms), nothing, single_blocks(2), 5, 0.0, 0, 1, odds, report)
    assert report[0, 2] == pytest.approx(1602.0)
    assert odds[0].tolist() == [802.0, -802.0]
