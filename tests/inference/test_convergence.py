"""R-hat, effective sample size and errors of answers, by their definitions and by ArviZ."""

import numpy as np
import pytest
from scipy import stats

from mnlearn.inference.convergence import bounded_error, diagnose, effective_size
from mnlearn.inference.weighting import judge_weights, pareto_shape


def three_answers():
    """Slow chains of which one is elsewhere, a mixture of two modes, and independent draws."""
    rng = np.random.default_rng(3)
    slow = rng.normal(size=(4, 100))
    for t in range(1, 100):
        slow[:, t] += 0.8 * slow[:, t - 1]
    slow[0] += 1
    modes = rng.normal(size=(4, 100)).cumsum(1) * 0.01 + rng.choice([0, 1], (4, 100))
    return np.stack([slow, modes, rng.choice([0, 1.0, 2], (4, 100))], axis=2)


def test_equal_to_arviz():
    """ArviZ 0.21: rhat (rank), ess (bulk), mcse (mean). Its sum of autocorrelations is longer by a
    term."""
    found = diagnose(three_answers())
    expected = [1.1316147721230603, 1.1139627201307507, 1.0049316071815362]
    np.testing.assert_allclose(found.r_hat, expected, rtol=1e-12)
    np.testing.assert_allclose(found.ess, [27.459, 27.684, 344.281], rtol=0.06)
    np.testing.assert_allclose(found.standard_error, [0.3068, 0.02412, 0.04448], rtol=0.04)


def test_effective_size_by_its_definition():
    draws = three_answers()[:, :, :1]
    m, n = draws.shape[:2]
    x = draws[..., 0]
    within = x.var(axis=1, ddof=1).mean()
    total = within * (n - 1) / n + x.mean(axis=1).var(ddof=1)
    rho = [1.0]
    for t in range(1, n):
        own = [((c - c.mean())[t:] * (c - c.mean())[: n - t]).sum() / n for c in x]
        rho.append(1 - (within - np.mean(own)) / total)
    tau, least, t = -1.0, np.inf, 0
    while t + 1 < n and rho[t] + rho[t + 1] > 0:
        least = min(least, rho[t] + rho[t + 1])
        tau += 2 * least
        t += 2
    np.testing.assert_allclose(effective_size(draws)[0], m * n / tau, rtol=1e-9)


def test_chains_that_never_change():
    """All at one value they agree; at two values they do not."""
    same, apart = np.ones((4, 50, 1)), np.ones((4, 50, 1))
    apart[2] = 0.0
    found = diagnose(np.concatenate([same, apart], axis=2))
    assert found.r_hat[0] == 1.0
    assert np.isinf(found.r_hat[1])
    assert found.standard_error[0] == 0.0


@pytest.mark.parametrize(("p", "n"), [(0.3, 400), (0.01, 50), (0.0, 200), (1.0, 1000)])
def test_five_errors_reach_the_farther_end_of_the_interval_of_wilson(p, n):
    error = bounded_error(np.sqrt(p * (1 - p) / n), n)
    z = 5.0
    ends = [
        (p + z * z / 2 / n + s * z * np.sqrt(p * (1 - p) / n + z * z / 4 / n / n)) / (1 + z * z / n)
        for s in (-1, 1)
    ]
    assert np.all(np.abs(np.array(ends) - p) <= 5 * error + 1e-15)


@pytest.mark.parametrize("shape", [0.1, 0.5, 0.9])
def test_shape_of_a_generalised_pareto_distribution(shape):
    n = 4000
    quantiles = stats.genpareto.ppf((np.arange(n) + 0.5) / n, shape)
    assert pareto_shape(quantiles) == pytest.approx(shape, abs=0.03)


def test_weights_with_a_heavy_tail_are_not_trusted():
    rng = np.random.default_rng(0)
    light, heavy = rng.normal(size=(2, 10_000))
    assert judge_weights(0.3 * light)[1]
    assert not judge_weights(4.0 * heavy)[1]
    assert judge_weights(np.zeros(100)) == (100.0, True)
    assert judge_weights(np.full(100, -np.inf)) == (0.0, False)
