"""Learners of trees on variables of any number of states: what their networks say."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from mnlearn.inference.conditionals import log_conditionals
from mnlearn.learning.conversion import (
    Orders,
    choose_base,
    consistency_gap,
    to_markov_network,
)
from mnlearn.learning.mixtures import average_networks
from mnlearn.learning.trees import learn_tree_path
from mnlearn.models.dependency_network import tree_network
from state_oracles import log_softmax, random_states

ARITIES = [(2, 3, 4), (4, 1, 2, 3), (2, 2, 2)]


def networks_of(arities):
    samples = [random_states(seed, arities) for seed in range(3)]
    return [tree_network(learn_tree_path(one, 1.0).trees, one.schema) for one in samples], samples[
        0
    ]


def by_variable(matrix, schema):
    return np.split(matrix, np.cumsum(schema.arity)[:-1], axis=1)


@pytest.mark.parametrize("arities", ARITIES)
def test_averages_are_normalised_geometric_means(arities):
    networks, data = networks_of(arities)
    shares = [0.5, 0.2, 0.3]
    mean = average_networks(list(zip(shares, networks, strict=True)))
    found = by_variable(log_conditionals(mean, data), data.schema)
    parts = [by_variable(log_conditionals(one, data), data.schema) for one in networks]
    for v, own in enumerate(found):
        total = sum(share * part[v] for share, part in zip(shares, parts, strict=True))
        assert_allclose(own, [log_softmax(row) for row in total], atol=1e-10)


@pytest.mark.parametrize("arities", ARITIES[:2])
def test_the_gap_is_the_mean_divergence_of_the_conditionals(arities):
    (network, *_), data = networks_of(arities)
    found = to_markov_network(
        network, choose_base("marginals", data), Orders(np.arange(len(arities)))
    )
    p, q = (
        [np.exp(own) for own in by_variable(log_conditionals(m, data), data.schema)]
        for m in (network, found)
    )
    expected = sum(data.weight @ (a * np.log(a / b)).sum(axis=1) for a, b in zip(p, q, strict=True))
    expected /= data.n_examples * len(arities)
    assert expected > 1e-4
    assert consistency_gap(network, found, data) == pytest.approx(expected)
