"""Mixtures of circuits against the mean of their distributions; bagged trees."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp

from made_random import random_data
from mnlearn.inference.circuits.exact import log_partition, log_value
from mnlearn.learning.junction_trees.search import SearchSettings, learn_junction_tree
from mnlearn.learning.learner import Task
from mnlearn.learning.lem.growth import LemSettings, learn_feature_tree
from mnlearn.methods.tree_bag import TreeBag
from mnlearn.models.circuit import product_of_marginals
from mnlearn.models.circuit_building import mixture_circuit
from mnlearn.models.io.formats import load_model, save_model
from mnlearn.runtime.random_streams import stream
from oracles import all_states


def test_a_mixture_is_the_weighted_mean_of_its_circuits():
    data = random_data(3)
    trees = [
        learn_feature_tree(data, LemSettings(delta=0.01)),
        learn_junction_tree(data, SearchSettings(search="greedy")),
    ]
    circuits = [tree.to_circuit() for tree in trees]
    circuits.append(product_of_marginals(np.linspace(0.1, 0.9, 6)))
    share = np.array([0.5, 0.2, 0.3])
    mixture = mixture_circuit(circuits, np.log(share))
    mixture.check()
    assert mixture.schema == circuits[0].schema
    named = [replace(one, schema=one.schema.rename(tuple("abcdef"))) for one in circuits]
    assert mixture_circuit(named, np.log(share)).schema.names == tuple("abcdef")
    assert log_partition(mixture) == pytest.approx(0.0, abs=1e-12)
    states = all_states(6)
    parts = [log_value(one, states) for one in circuits]
    expected = logsumexp(parts, axis=0, b=share[:, None])
    np.testing.assert_allclose(log_value(mixture, states), expected, atol=1e-12)


@pytest.mark.parametrize("base", ["lem", "junction_tree"])
def test_bagged_trees_are_those_of_the_bootstrap_samples(tmp_path, base):
    data = random_data(4)
    learner = TreeBag(base=base, n_bags=3, bag_seed=5)
    model = learner.learn(Task(data, TreeBag.grid({}))).model
    rng = stream(5, "bagging")
    samples = [data.resample(rng) for _ in range(3)]
    states = all_states(6)
    if base == "lem":
        trees = [learn_feature_tree(sample, LemSettings()) for sample in samples]
    else:
        trees = [learn_junction_tree(s, SearchSettings(search="greedy")) for s in samples]
    expected = np.mean([np.exp(tree.log_likelihood(states)) for tree in trees], axis=0)
    np.testing.assert_allclose(np.exp(log_value(model, states)), expected, atol=1e-12)
    for name in ("a", "b"):
        again = learner.learn(Task(data, TreeBag.grid({}), threads=2)).model
        save_model(again, tmp_path / f"{name}.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    read = load_model(tmp_path / "a.npz")
    np.testing.assert_allclose(log_value(read, states), log_value(model, states), atol=1e-15)
