"""Learners say processor seconds (lab note 0047)."""

import time

import pytest

from made_random import random_data
from mnlearn.learning.tuning import tune
from mnlearn.methods import learner_names, load_learner


@pytest.mark.parametrize("name", learner_names())
def test_seconds_are_those_of_the_processor(name, monkeypatch):
    learner, data = load_learner(name), random_data(1, 60, 4)
    given = {"n_generated": [100]} if name == "gssl" else {}
    network = None
    if learner.network == "required":
        trees = load_learner("dn_tree")
        network = tune(trees, data, trees.grid({}), None).best.fitted.model
    # The clock of the processor stands, so that another clock shows.
    monkeypatch.setattr(time, "process_time", lambda: 1.0)
    found = tune(learner, data, learner.grid(given), None, network=network).best.fitted
    assert set(found.seconds.values()) == {0.0}
