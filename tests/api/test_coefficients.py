"""Coefficients of logistic regressions, as tables."""

import numpy as np
import pandas as pd
import pytest

import mnlearn as mn
from mnlearn.models.dependency_network import DependencyNetwork, flat_trees
from mnlearn.models.features import features_of

NAMES = ("sleep", "mood", "work", "sport", "music")
RNG = np.random.default_rng(7)
ROWS = (RNG.random((200, 5)) < [0.3, 0.5, 0.6, 0.4, 0.7]).astype(int)
ROWS[:, 1] = ROWS[:, 0] ^ (RNG.random(200) < 0.2)
FRAME = pd.DataFrame(ROWS, columns=NAMES)


def test_coefficients_of_logistic_regressions():
    network = mn.DNLR(lambda_=2.0).fit(FRAME).model_
    table, x = network.coefficients_frame(), FRAME.to_numpy(float)
    odds = table["(Intercept)"].to_numpy() + x @ table[list(NAMES)].to_numpy().T
    assert table.index.tolist() == list(NAMES)
    assert (np.diag(table[list(NAMES)]) == 0).all()
    log_p = -np.logaddexp(0, np.where(x == 1, -odds, odds)).sum(axis=1)
    np.testing.assert_allclose(log_p, network.score_samples(FRAME, "pll"), atol=1e-9)
    features = network.features_frame()
    assert features["weight"].abs().is_monotonic_decreasing
    assert set(features["target"]) <= set(NAMES)
    assert len(features) == len(network.features)


def test_coefficients_for_other_literals():
    trees = flat_trees(2)
    features = features_of([[(0, 0)], [(0, 1), (1, 0)], [(0, 0), (1, 1)], [(0, 1), (1, 1)]])
    target = [0, 0, 1, 1]
    network = DependencyNetwork(trees, features, target, [1.0, 2.0, 3.0, 5.0])
    odds = {(0, 0): -1.0 + 2.0, (0, 1): -1.0}
    table = network.coefficients_frame()
    for (_, other), expected in odds.items():
        found = table.loc["V0", "(Intercept)"] + other * table.loc["V0", "V1"]
        assert found == pytest.approx(expected)
    assert table.loc["V1"].tolist() == [3.0, 2.0, 0.0]


def test_trees_have_no_coefficients():
    network = mn.DNTree(kappa=1e-9).fit(FRAME).model_
    with pytest.raises(mn.InputError, match="expected logistic regressions; the network has trees"):
        network.coefficients_frame()
    with pytest.raises(mn.InputError, match="a dependency network of trees has no features"):
        network.features_frame()
