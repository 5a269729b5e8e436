"""Bagged trees: the network of the mean log-odds over trees of bootstrap samples."""

import numpy as np

import oracles
from made_random import random_data
from mnlearn.learning.learner import Task
from mnlearn.learning.trees import learn_tree_path
from mnlearn.methods.dn_bag import DNBag
from mnlearn.models.dependency_network import tree_network
from mnlearn.runtime.random_streams import stream

DATA = random_data(0, n_vars=5)


def learn(**settings):
    learner = DNBag(kappa=0.01, **settings)
    task = Task(DATA, {"kappa": [0.01]})
    return learner.learn(learner.prepare(task)).model


def log_odds(network):
    return oracles.log_odds_matrix(network, oracles.all_states(5))


def test_the_log_odds_are_the_mean_over_trees_of_samples():
    rng = stream(7, "bagging")
    samples = [DATA.resample(rng) for _ in range(3)]
    assert not np.array_equal(samples[0].weight, samples[1].weight)
    trees = [tree_network(learn_tree_path(s, 0.01, pseudocount=1.0).trees) for s in samples]
    expected = np.mean([log_odds(one) for one in trees], axis=0)
    found = log_odds(learn(n_bags=3, bag_seed=7, pseudocount=1.0))
    np.testing.assert_allclose(found, expected, atol=1e-12)
