"""Weights learned as by Libra's program: from 0, by its rule, whatever was learned before."""

import numpy as np
import pytest

from made_random import random_data
from mnlearn.learning.tuning import tune
from mnlearn.learning.weights.arrangement import arrange
from mnlearn.learning.weights.descent import Penalty, Stopping
from mnlearn.learning.weights.fit import fit_weights
from mnlearn.methods import load_learner
from mnlearn.scoring.any_model import pll

DATA = random_data(0, n_examples=400)
PENALTY = Penalty(2.0, 0.5)
SETTINGS = {
    "dtsl": {"kappa": [0.5]},
    "gssl": {"n_generated": [300]},
    "l1": {"lambda": [1.0]},
}


def learn(name, **grid):
    learner = load_learner(name)
    grid = learner.grid({**SETTINGS[name], "l1": [0.5], **grid})
    return tune(learner, DATA, grid, lambda model: pll(model, DATA).mean).best


@pytest.mark.parametrize("name", SETTINGS)
def test_a_point_starts_at_zero_and_ends_by_the_rule(name):
    rule = {"stopping": ["reference"], "max_iterations": [100]}
    found, alone = learn(name, sd=[0.3, 2.0], **rule), learn(name, sd=[2.0], **rule)
    assert found.parameters == alone.parameters
    network = alone.fitted.model
    np.testing.assert_array_equal(found.fitted.model.weight, network.weight)
    likelihood = arrange(network.features, DATA)
    never = {"stopping": Stopping(-1.0, 1000, gap=False), "memory": 7}

    def objective(n):
        """After n iterations without scaling."""
        ones = np.ones(likelihood.n_features)
        return fit_weights(likelihood, PENALTY, max_iterations=n, scale=ones, **never).objective

    n = alone.fitted.details["n_iterations"]
    gained = [objective(k - 5) - objective(k) for k in (n - 1, n)]
    assert gained[0] > 1e-3 * objective(n - 1)
    assert gained[1] <= 1e-3 * objective(n)
    assert objective(n) == pytest.approx(alone.fitted.details["objective"], rel=1e-9)
