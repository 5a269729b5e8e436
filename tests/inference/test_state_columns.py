"""Numbers by variable and state: one layout for one, two and more states."""

import numpy as np
from numpy.testing import assert_allclose, assert_array_equal

from mnlearn.inference.state_columns import (
    log_state_probabilities,
    of_values,
    state_probabilities,
    state_start,
)
from mnlearn.variables.schema import NO_STATE, Schema, Variable

SCHEMA = Schema(tuple(Variable(f"V{k}", tuple(range(n))) for k, n in enumerate((2, 3, 1, 4, 2))))
START = SCHEMA.start


def test_the_states_of_one_variable_follow_those_of_the_other():
    assert_array_equal(state_start(START), [0, 2, 5, 6, 10, 12])


def test_probabilities_of_columns_become_those_of_states():
    p = np.array([0.3, 0.1, 0.7, 0.2, 0.4, 0.3, 0.2, 0.1, 1e-9])
    expected = [0.7, 0.3, 0.1, 0.7, 0.2, 1, 0.4, 0.3, 0.2, 0.1, 1 - 1e-9, 1e-9]
    assert_allclose(state_probabilities(p, START), expected)
    found = state_probabilities(p[None], START, complement=np.full((1, 9), 0.25))
    assert_allclose(found[0, [0, 1, 2, 10]], [0.25, 0.3, 0.1, 0.25])


def test_scores_become_log_probabilities():
    rng = np.random.default_rng(0)
    scores = rng.normal(scale=3, size=(5, 9))
    found = log_state_probabilities(scores, START)
    assert_allclose(np.add.reduceat(np.exp(found), state_start(START)[:-1], axis=1), 1.0)
    assert_allclose(found[:, 1] - found[:, 0], scores[:, 0])
    assert_allclose(found[:, 7] - found[:, 9], scores[:, 5] - scores[:, 7])
    assert_array_equal(found[:, 5], 0.0)


def test_the_numbers_of_what_each_variable_is():
    values = np.array([[1, 2, 0, 3, 0], [0, 1, 0, NO_STATE, 1]], np.uint8)
    by_state = np.arange(24.0).reshape(2, 12)
    expected = [[1, 4, 5, 9, 10], [12, 15, 17, -1, 23]]
    assert_array_equal(of_values(by_state, values, START, otherwise=-1), expected)
