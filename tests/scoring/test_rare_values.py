"""Values of very low probability keep their digits, whatever the way of inference."""

import numpy as np
import pytest

import mnlearn as mn
from mnlearn.data.dataset import Dataset
from mnlearn.inference.settings import Inference
from mnlearn.models.dependency_network import DependencyNetwork, flat_trees, tree_network
from mnlearn.models.features import features_of
from mnlearn.models.markov_network import markov_network
from mnlearn.scoring.any_model import cmll
from oracles import all_states, log_potentials


def log_marginals(network):
    """Return log P(X_v = x), of shape (n_vars, 2), by a sum over all states."""
    states = all_states(network.n_vars)
    energy = log_potentials(network)
    energy -= np.logaddexp.reduce(energy)
    return np.array(
        [
            [np.logaddexp.reduce(energy[states[:, v] == x]) for x in (0, 1)]
            for v in range(network.n_vars)
        ]
    )


def score(network, row, method):
    data = Dataset.from_arrays(np.array([row]))
    inference = Inference(method, iterations=400, tolerance=1e-12)
    return cmll(network, data, [range(network.n_vars)], inference, seed=0)


@pytest.mark.parametrize("method", ["exact", "bp", "meanfield"])
@pytest.mark.parametrize("weight", [5.0, 45.0, -45.0, 300.0, -300.0])
def test_both_values_of_one_variable(method, weight):
    network = markov_network(1, features_of([[(0, 1)]]), [weight])
    for x in (0, 1):
        found = score(network, [x], method)
        assert found.mean == pytest.approx(log_marginals(network)[0, x], rel=1e-12)


@pytest.mark.parametrize("method", ["exact", "bp"])
@pytest.mark.parametrize("weight", [-20.0, -45.0, -300.0, 45.0, 300.0])
def test_chains_of_strong_features(method, weight):
    """The first feature forces a value on one variable, the others pass it on."""
    conjunctions = [[(0, 1)], [(0, 1), (1, 0)], [(1, 1), (2, 0)], [(2, 1), (3, 0)]]
    network = markov_network(4, features_of(conjunctions), [35.0, weight, weight, -40.0])
    expected = log_marginals(network)
    for row in ([0, 1, 0, 1], [1, 0, 1, 0], [0, 0, 0, 0], [1, 1, 1, 1]):
        found = score(network, row, method)
        assert found.mean == pytest.approx(expected[np.arange(4), row].sum(), rel=1e-9)
        assert found.converged in (None, 1.0)


def test_cpds_of_rare_values():
    """A CPD that follows its rare parent: Gibbs sampling converges to their joint distribution."""
    conjunctions = [[(0, 1)], [(0, 0), (1, 1)], [(0, 1), (1, 1)]]
    network = tree_network(flat_trees(2))
    network = DependencyNetwork(
        network.trees, features_of(conjunctions), np.array([0, 1, 1], np.int32), [-50.0, -60.0, 3.0]
    )
    log_p = {0: -np.logaddexp(0.0, -50.0), 1: -np.logaddexp(0.0, 50.0)}
    log_q = {x: [-np.logaddexp(0.0, w), -np.logaddexp(0.0, -w)] for x, w in ((0, -60.0), (1, 3.0))}
    for x in (0, 1):
        for y in (0, 1):
            one = np.logaddexp(log_p[0] + log_q[0][y], log_p[1] + log_q[1][y])
            assert score(network, [x, y], "exact").mean == pytest.approx(log_p[x] + one, rel=1e-9)


def test_impossible_values_of_a_circuit():
    rows = np.array([[0, 0], [0, 0], [1, 1], [1, 1], [1, 1]])
    tree = mn.ChowLiu(pseudocount=0).fit(rows)
    for row in ([0, 1], [1, 0]):
        for metric in ("cmll", "cll", "ll", "pll"):
            groups = {"groups": [[0], [1]]} if metric in ("cmll", "cll") else {}
            assert mn.score(tree, np.array([row]), metric, **groups).mean == -np.inf
    assert mn.score(tree, np.array([[1, 1]]), "cmll", groups=[[0], [1]]).mean == 0.0
