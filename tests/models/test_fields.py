"""What the construction of a model converts, and what it refuses."""

from dataclasses import replace

import numpy as np
import pytest

from made_hidden_trees import random_hidden_tree
from mnlearn.models.bayesian_network import BayesianNetwork
from mnlearn.models.circuit import (
    ArithmeticCircuit,
    product_of_marginals,
)
from mnlearn.models.dependency_network import DependencyNetwork, Trees, flat_trees
from mnlearn.models.features import FeatureSet, features_of
from mnlearn.models.markov_network import MarkovNetwork
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import binary_schema

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
    names = ("is_sum", "start", "child", "weight", "features", "target")
    fields = {name: getattr(whole, name) for name in names}
    return ArithmeticCircuit(1, **{**fields, **changes})


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: FeatureSet([0, 1], [0.5], [1]), "FeatureSet, var: expected int32, got float64"),
        (lambda: FeatureSet([0, 1], [0], [256]), "FeatureSet, value: expected uint8, got int64"),
        (
            lambda: FeatureSet([0, 1], [0], [1, 0]),
            r"FeatureSet, value: expected shape \(1\), got \(2,\)",
        ),
        (lambda: FeatureSet([], [], []), "FeatureSet, start: expected positions from 0 to 0"),
        (lambda: FeatureSet([0, 2], [0], [1]), "FeatureSet, start: expected positions from 0 to 1"),
        (
            lambda: Trees([0, 1], [-1], [[-1, -1]], [0.0]),
            r"Trees, log_prob: expected shape \(1, any\), got \(1,\)",
        ),
        (
            lambda: DependencyNetwork(flat_trees(2), ONE, [0, 1], [1.0]),
            r"DependencyNetwork, target: expected shape \(1\), got \(2,\)",
        ),
        (lambda: BayesianNetwork(flat_trees(2), [0, 0]), "order: expected each variable once"),
        (lambda: MarkovNetwork(binary_schema(2, ("a",)), ONE, [1.0]), "expected 2 names, got 1"),
        (lambda: binary_schema(2, ("a", "a")), "two columns are called 'a'"),
        (
            lambda: circuit(features=ONE),
            "features: expected 2, one for each parameter, got 1",
        ),
        (lambda: circuit(target=[0]), r"target: expected shape \(2\), got \(1,\)"),
        (lambda: circuit(start=[0, 2, 4, 6, 8]), "Circuit, start: expected positions from 0 to 7"),
    ],
)
def test_what_does_not_fit_together_is_refused(build, sentence):
    with pytest.raises(InputError, match=sentence):
        build()


HIDDEN = random_hidden_tree(0, n_vars=3, n_states=2)


def hidden(**changes):
    """A tree of hidden variables with single entries of its arrays changed."""
    arrays = {}
    for name, entries in changes.items():
        arrays[name] = getattr(HIDDEN, name).copy()
        for place, value in entries.items():
            arrays[name][place] = value
    return replace(HIDDEN, **arrays)


def test_hidden_trees_may_be_rounded():
    assert HIDDEN.root != 1
    emission = {(0, 0): 1.0 + 0.9e-6, (0, 1): 0.0}
    certain = hidden(emission=emission, transition={(1, 0): [1.0, 0.9e-6]})
    assert certain.emission[0].tolist() == [1.0 + 0.9e-6, 0.0]


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (lambda: hidden(emission={(0, 0): 1.0 + 1.5e-6}), "emission: expected probabilities."),
        (lambda: hidden(emission={(0, 0): -1e-9}), "emission: expected probabilities."),
        (lambda: hidden(transition={(1, 0): [1.1, -0.1]}), "transition: expected probabilities."),
        (
            lambda: hidden(transition={(1, 0): [1.0, 1.5e-6]}),
            "transition: expected rows that add up to 1.",
        ),
        (lambda: hidden(parent={1: -2}), "parent: expected variables 0 to 2 or -1."),
        (lambda: hidden(parent={1: 3}), "parent: expected variables 0 to 2 or -1."),
        (lambda: replace(HIDDEN, parent=[-1, -1, 0]), "parent: expected a tree with one root."),
        (lambda: replace(HIDDEN, parent=[-1, 2, 1]), "parent: expected a tree with one root."),
    ],
)
def test_hidden_trees_that_are_none(build, sentence):
    with pytest.raises(InputError) as caught:
        build()
    assert str(caught.value) == f"hidden tree, {sentence}"


@pytest.mark.parametrize("n_vars", [63, 64, 65, 128, 129, 200])
def test_circuits_of_more_variables_than_a_word_has_bits(n_vars):
    whole = product_of_marginals(np.linspace(0.2, 0.8, n_vars))
    whole.check()
    assert whole.is_deterministic()
    lacking = replace(whole, schema=binary_schema(n_vars + 1), features=None, child=np.where(
        whole.child >= 2 * n_vars, whole.child + 2, whole.child))  # fmt: skip
    with pytest.raises(InputError) as caught:
        lacking.check()
    assert str(caught.value) == f"circuit: variable {n_vars} is not below its root."
    # The last sum has the same literal twice.
    last = 2 * n_vars - 1
    doubled = replace(whole, child=np.where(whole.child == last, last - 1, whole.child))
    assert not doubled.is_deterministic()
    # Its last product has one variable twice.
    shared = replace(whole, child=np.where(whole.child == whole.n_nodes - 2, whole.n_nodes - 3,
                                           whole.child))  # fmt: skip
    if n_vars > 1:
        with pytest.raises(InputError, match="is a product whose factors share one"):
            shared.check()


def test_parameters_that_are_not_known_to_be_those_of_cpds():
    with pytest.raises(InputError, match="are not known to be those of CPDs"):
        product_of_marginals(np.array([0.5])).to_bayesian_network()
