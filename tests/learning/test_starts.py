"""What a grid point is told of the points that were learned before it."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

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
    assert tuned.best.parameters == {"kappa": 0.5, "n": 10, "l1": 5.0}


# What each point scores after 100, 200, ... iterations, and how far its objective may still fall.
RISES = {5.0: [(-3.0, 0.0)], 2.0: [(-4.0, 150.0), (-3.5, 30.0)], 1.0: [(-6.0, 60.0)]}


@dataclass(eq=False, kw_only=True)
class Slow(Learner):
    """Learns weights that are at their optimum after as many iterations as the scores above say."""

    l1: float = parameter(1.0, "penalty")
    max_iterations: int = parameter(1000, "iterations")

    def learn(self, task, start):
        made = start.fitted.details["n_iterations"] if start.goes_on else 0
        made += min(start.iterations, self.max_iterations)
        score, may_fall = RISES[self.l1][min(made // 100, len(RISES[self.l1])) - 1]
        details = {
            "n_iterations": made - (start.fitted.details["n_iterations"] if start.goes_on else 0),
            "may_fall": may_fall,
            "stopped_by": self.stopped_by if may_fall else "gap",
        }
        model = markov_network(task.train.n_vars, features_of([[(0, 1)]]), np.array([score]))
        return Fitted(model, {"weights": 1.0}, details)

    title = "Slow"
    stopped_by = "iterations"
    stages = (Stage(("l1",), learn, Path(penalty=(falling("l1"),))),)


@pytest.mark.parametrize(("most", "made"), [(1000, 200), (150, 150)])
def test_only_points_that_may_still_win_go_on(most, made):
    data = random_data(0, 100)
    grid = {"l1": [1.0, 2.0, 5.0], "max_iterations": [most]}
    tuned = tune(Slow, data, grid, lambda model: float(model.weight[0]))
    rows = {row["l1"]: row for row in tuned.trace}
    # -4 may gain 1.5, and -3.5 no more than 0.3; -6 may gain 0.6.
    assert {l1: row["n_iterations"] for l1, row in rows.items()} == {5.0: 100, 2.0: made, 1.0: 100}
    assert rows[2.0]["seconds_weights"] == 2.0
    assert tuned.best.parameters["l1"] == 5.0


def test_a_point_that_fell_behind_goes_on_if_the_best_gets_worse(monkeypatch):
    # At -3 after 100 iterations, the second point is behind the first, whose optimum is at -4.
    monkeypatch.setitem(RISES, 5.0, [(-2.0, 50.0), (-4.0, 0.0)])
    monkeypatch.setitem(RISES, 2.0, [(-3.0, 50.0), (-3.2, 0.0)])
    monkeypatch.setitem(RISES, 1.0, [(-9.0, 0.0)])
    monkeypatch.setattr(Slow, "stopped_by", "behind")
    grid = {"l1": [1.0, 2.0, 5.0], "max_iterations": [1000]}
    tuned = tune(Slow, random_data(0), grid, lambda model: float(model.weight[0]))
    assert tuned.best.parameters["l1"] == 2.0
    assert tuned.best.fitted.details["stopped_by"] == "gap"


@pytest.mark.parametrize(("difference", "chosen"), [(9e-5, 5.0), (1.1e-4, 1.0)])
def test_of_scores_that_are_equal_the_stronger_prior_wins(monkeypatch, difference, chosen):
    monkeypatch.setitem(RISES, 1.0, [(-3.0 + difference, 0.0)])
    monkeypatch.setitem(RISES, 2.0, [(-9.0, 0.0)])
    grid = {"l1": [1.0, 2.0, 5.0], "max_iterations": [1000]}
    tuned = tune(Slow, random_data(0), grid, lambda model: float(model.weight[0]))
    assert tuned.best.parameters["l1"] == chosen
