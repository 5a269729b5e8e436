"""Conversion of dependency networks with arguments of people, against the conversion itself."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

import mnlearn as mn
from made_random import random_data, random_dependency_network
from mnlearn.learning.conversion import Orders, smooth_marginals, to_markov_network

N_VARS = 5
ORDER = np.arange(N_VARS)


@pytest.mark.parametrize(
    ("arguments", "orders"),
    [
        ({}, Orders(ORDER)),
        ({"orders": "one"}, Orders(ORDER, rotations=False, reverse=False)),
        ({"orders": "pair"}, Orders(ORDER, rotations=False)),
        ({"orders": "rotations"}, Orders(ORDER, reverse=False)),
        ({"orders": "all"}, Orders(ORDER, all_up_to=8)),
        ({"orders": "all", "max_length": 1}, Orders(ORDER, all_up_to=1)),
        ({"orders": "all", "max_length": 3}, Orders(ORDER, all_up_to=3)),
        ({"max_length": 3}, Orders(ORDER)),
    ],
)
def test_orders_and_the_longest_feature_are_those_that_are_asked_for(arguments, orders):
    network, data = random_dependency_network(5, N_VARS), random_data(3, n_vars=N_VARS)
    found = mn.from_dependency_network(network, data, **arguments)
    expected = to_markov_network(network, smooth_marginals(data), orders)
    assert_array_equal(found.weight, expected.weight)


@pytest.mark.parametrize("base", ["marginals", "uniform", "mode", "examples"])
def test_the_base_is_the_one_that_is_asked_for(base):
    network, data = random_dependency_network(5, N_VARS), random_data(3, n_vars=N_VARS)
    expected = {
        "marginals": smooth_marginals(data),
        "uniform": np.full(N_VARS, 0.5),
        "mode": np.array([0.0 if share < 0.5 else 1.0 for share in data.frequency]),
        "examples": data,
    }
    found = mn.from_dependency_network(network, data, base=base)
    for name, each in expected.items():
        converted = to_markov_network(network, each, Orders(ORDER))
        same = np.array_equal(found.log_potential(data.rows), converted.log_potential(data.rows))
        assert same == (name == base)


def test_columns_of_a_table_are_found_by_name():
    rows = random_data(3, n_vars=3).rows
    table = pd.DataFrame(rows, columns=list("abc"))
    network = mn.DNTree().fit(table)
    found = mn.from_dependency_network(network, table[["c", "a", "b"]])
    expected = mn.from_dependency_network(network, table)
    assert_array_equal(found.weight, expected.weight)
    with pytest.raises(mn.InputError, match="X: there is no column 'b'"):
        mn.from_dependency_network(network, table[["a", "c"]])


def test_data_and_choices_that_are_needed_are_named():
    learner = mn.DNTree().fit(random_data(3, n_vars=3).rows)
    assert mn.from_dependency_network(learner.model_, base="uniform").n_vars == 3
    with pytest.raises(mn.InputError, match="X: expected the training data"):
        mn.from_dependency_network(learner)
    with pytest.raises(mn.InputError, match="base: expected one of"):
        mn.from_dependency_network(learner, learner.sample(5), base="mean")
