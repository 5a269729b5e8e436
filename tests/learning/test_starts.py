"""What a grid point is told of the points that were learned before it."""

import math
from dataclasses import dataclass

import numpy as np

from made_random import random_data
from mnlearn.learning.grid_order import Path, falling, rising
from mnlearn.learning.learner import Fitted, Learner, Stage
from mnlearn.learning.parameters import parameter
from mnlearn.learning.tuning import tune
from mnlearn.models.features import features_of
from mnlearn.models.markov_network import markov_network

# By n and l1. Neither has its values in the order in which they are tried.
SCORES = {
    (20, 1.0): -5.0, (20, 5.0): -7.0, (20, 2.0): -6.0,
    (10, 1.0): -4.5, (10, 5.0): -3.0, (10, 2.0): -4.0,
}  # fmt: skip
GRID = {"kappa": [0.25, 0.5], "n": [20, 10], "l1": [1.0, 5.0, 2.0]}


@dataclass(eq=False, kw_only=True)
class Told(Learner):
    """Puts what it is told into the details, and its hyperparameters into the weights."""

    kappa: float = parameter(0.25, "of the first stage")
    n: int = parameter(20, "number of features")
    l1: float = parameter(1.0, "penalty")

    def learn(self, task, start=None):
        features = features_of([[(0, 1)], [(1, 1)], [(2, 1)]])
        weight = np.array([self.kappa, self.n, self.l1])
        return Fitted(markov_network(task.train.n_vars, features, weight), {}, {"start": start})

    title = "Told"
    stages = (
        Stage(("kappa",), learn),
        Stage(("n", "l1"), learn, Path(penalty=(falling("l1"),), features=(rising("n"),))),
    )


def score(model):
    """Return a score of the hyperparameters of a model. The second kappa is the better one."""
    kappa, n, l1 = model.weight.tolist()
    return SCORES[n, l1] if kappa == 0.5 else -9.0


def test_a_point_is_told_of_the_point_that_it_starts_at_and_of_the_best_of_its_features():
    tuned = tune(Told, random_data(0), GRID, score)
    starts = {(row["n"], row["l1"]): row["start"] for row in tuned.trace if row["stage"] == 1}
    # The trace has the order of the grid.
    assert list(starts) == [(n, l1) for n in GRID["n"] for l1 in GRID["l1"]]
    first = starts.pop((10, 5.0))
    assert (first.learner, first.fitted, first.same_features) == (None, None, False)
    assert math.isnan(first.score)
    assert first.best_score == -math.inf
    told = {
        point: (start.learner.n, start.learner.l1, start.same_features, start.best_score)
        for point, start in starts.items()
    }
    assert told == {
        (10, 2.0): (10, 5.0, True, -3.0),
        (10, 1.0): (10, 2.0, True, -3.0),
        (20, 5.0): (10, 5.0, False, -math.inf),
        (20, 2.0): (20, 5.0, True, -7.0),
        (20, 1.0): (20, 2.0, True, -6.0),
    }
    for start in starts.values():
        before = start.learner
        assert isinstance(before, Told)
        assert before.kappa == 0.5
        assert start.fitted.model.weight.tolist() == [0.5, before.n, before.l1]
        assert start.score == SCORES[before.n, before.l1]
    assert tuned.best.parameters == {"kappa": 0.5, "n": 10, "l1": 5.0}
