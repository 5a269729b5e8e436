"""What the construction of a model converts, and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest

from made_hidden_trees import random_hidden_tree
from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.circuit import ArithmeticCircuit, product_of_marginals
from mnlearn.models.dependency_network import DependencyNetwork, Trees, flat_trees
from mnlearn.models.features import FeatureSet, features_of
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.runtime.errors import InputError

ONE = features_of([[(0, 1)]])


def test_arrays_are_converted_and_made_read_only():
    features = FeatureSet([0, 1], np.array([3]), [1.0])
    dtypes = [a.dtype for a in (features.start, features.var, features.value)]
    assert dtypes == [np.int64, np.int32, np.uint8]

    network = MarkovNetwork(4, features, [1])
    assert network.weight.dtype == np.float64
    with pytest.raises(ValueError, match="read-only"):
        network.weight[0] = 2.0


def test_infinite_weights_and_missing_numbers_are_kept():
    features = features_of([[(0, 1)], [(0, 0)]])
    weight = MarkovNetwork(1, features, [-np.inf, np.nan]).weight
    np.testing.assert_array_equal(weight, [-np.inf, np.nan])


def circuit(**changes):
    whole = product_of_marginals(np.array([0.5]))
    names = ("is_sum", "start", "child", "weight", "features", "target", "names")
    fields = {name: getattr(whole, name) for name in names}
    return ArithmeticCircuit(1, **{**fields, **changes})


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: FeatureSet([0, 1], [0.5], [1]), "FeatureSet, var: expected int32, got float64"),
        (lambda: FeatureSet([0, 1], ["a"], [1]), "FeatureSet, var: expected int32, got <U1"),
        (lambda: FeatureSet([0, 1], [0], [256]), "FeatureSet, value: expected uint8, got int64"),
        (
            lambda: FeatureSet([0, 1], [0], [1, 0]),
            r"FeatureSet, value: expected shape \(1\), got \(2,\)",
        ),
        (lambda: FeatureSet([], [], []), "FeatureSet, start: expected positions from 0 to 0"),
        (lambda: FeatureSet([0, 2], [0], [1]), "FeatureSet, start: expected positions from 0 to 1"),
        (
            lambda: Trees([0, 1], [-1], [[-1, -1]], [0.0]),
            r"Trees, log_prob: expected shape \(1, 2\), got \(1,\)",
        ),
        (
            lambda: Trees([0, 1], [-1], [[-1]], [[0.0, 0.0]]),
            r"Trees, child: expected shape \(1, 2\), got \(1, 1\)",
        ),
        (
            lambda: replace(random_hidden_tree(0, n_vars=2), names=("a", "a")),
            "two columns are called 'a'|HiddenTree, names",
        ),
        (
            lambda: DependencyNetwork(flat_trees(2), ONE, [0, 1], [1.0]),
            r"DependencyNetwork, target: expected shape \(1\), got \(2,\)",
        ),
        (lambda: BayesianNetwork(flat_trees(2), [0, 0]), "order: expected each variable once"),
        (
            lambda: MarkovNetwork(2, ONE, [1.0], names=("a",)),
            "MarkovNetwork, names: expected 2, got 1",
        ),
        (
            lambda: MarkovNetwork(2, ONE, [1.0], names=("a", "a")),
            "MarkovNetwork, names: two columns are called 'a'",
        ),
        (
            lambda: MarkovNetwork(2, ONE, [1.0], names=("a", "b\x01")),
            "MarkovNetwork, names, column 2: .* has a control character",
        ),
        (
            lambda: circuit(features=ONE),
            "features: expected 2, one for each parameter, got 1",
        ),
        (lambda: circuit(target=[0]), r"target: expected shape \(2\), got \(1,\)"),
        (lambda: circuit(start=[0, 2]), r"start: expected shape \(5\), got \(2,\)"),
    ],
)
def test_what_does_not_fit_together_is_refused(build, sentence):
    with pytest.raises(InputError, match=sentence):
        build()
