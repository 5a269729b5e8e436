"""The factors of every kind of model multiply to its distribution."""

import itertools

import numpy as np
import pytest

import oracles
from made_factors import log_joint
from made_networks import drawn_network
from made_state_models import random_states_network
from made_state_networks import joint as joint_of_conditionals
from made_state_networks import mixed_network
from made_states import every_row, schema_of
from mnlearn.inference.tables.factors import factors_of
from mnlearn.models.features import features_of
from mnlearn.models.junction_tree import JunctionTree
from mnlearn.models.markov_network import markov_network


def distribution(factors):
    p = np.exp(log_joint(factors)).ravel()
    return p / p.sum()


@pytest.mark.parametrize("seed", range(6))
def test_factors_of_markov_networks(seed):
    for network in (random_states_network(seed), drawn_network(6, 20, 4, seed)):
        found = distribution(factors_of(network))
        assert found == pytest.approx(oracles.joint(network), abs=1e-12)


def test_no_scope_is_inside_another():
    scopes = [set(scope) for scope in factors_of(random_states_network(3)).scopes]
    assert not any(a <= b for a, b in itertools.permutations(scopes, 2))


def test_features_may_be_impossible():
    network = markov_network(2, features_of([[(0, 1), (1, 0)], [(1, 1)]]), [-np.inf, 1.0])
    assert distribution(factors_of(network)) == pytest.approx(oracles.joint(network))


@pytest.mark.parametrize("seed", range(4))
def test_factors_of_bayesian_networks(seed):
    network = mixed_network(np.random.default_rng(seed), (2, 3, 1, 4, 2))
    factors = factors_of(network)
    assert np.exp(log_joint(factors)).ravel() == pytest.approx(joint_of_conditionals(network))
    assert factors.child.tolist() == [0, 1, 2, 3, 4]


def test_factors_of_a_junction_tree():
    rng = np.random.default_rng(0)
    root, below = rng.dirichlet(np.ones(6)), rng.dirichlet(np.ones(4), 3)
    cells = np.log([*root, *below.ravel()])
    tree = JunctionTree(schema_of(2, 3, 4), [0, 2, 4], [0, 1, 1, 2], [-1, 0], cells)
    p = np.exp(tree.log_likelihood(every_row(tree.schema)))
    assert np.exp(log_joint(factors_of(tree))).ravel() == pytest.approx(p)


def test_a_long_feature_is_no_table():
    network = markov_network(40, features_of([[(v, 1) for v in range(30)]]), [1.0])
    assert factors_of(network) is None


def test_circuits_have_no_factors():
    assert factors_of(drawn_network(4, 5, 2, 0).to_circuit()) is None
