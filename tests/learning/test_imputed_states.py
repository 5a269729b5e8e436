"""Missing cells of variables of several states."""

import numpy as np
import pytest

from made_states import schema_of
from mnlearn.data.incomplete import MISSING, merge_incomplete
from mnlearn.learning.imputation import Imputation, impute

N = 4000
SCHEMA = schema_of(2, 3, 2)
V, OTHERS = [1, 2, 3], [0, 4]
# P(v), and P(z = 1 | v) and P(w = 1 | v); z and w are independent given v.
PRIOR = np.array([0.5, 0.3, 0.2])
P_ONE = np.array([[0.1, 0.5, 0.9], [0.8, 0.2, 0.7]])


def made(seed=0):
    """Return complete rows, and which of them lack the variable."""
    rng = np.random.default_rng(seed)
    state = rng.choice(3, N, p=PRIOR)
    rows = np.zeros((N, 5), np.uint8)
    rows[:, V] = np.eye(3)[state]
    rows[:, OTHERS] = rng.random((N, 2)) < P_ONE[:, state].T
    return rows, rng.random(N) < 0.3


def posterior(rows):
    """Return P(v | z, w) for each row by Bayes' rule."""
    others = rows[:, OTHERS, None]
    p = PRIOR * np.where(others, P_ONE, 1 - P_ONE).prod(axis=1)
    return p / p.sum(axis=1, keepdims=True)


def test_states_are_drawn_as_often_as_bayes_rule_says():
    rows, lacks = made()
    holes = rows.copy()
    holes[np.ix_(lacks, V)] = MISSING
    data = merge_incomplete(holes, schema=SCHEMA)
    found = impute(data, seed=3)
    filled = found.rows[found.row_of]
    np.testing.assert_array_equal(filled[~lacks], rows[~lacks])
    np.testing.assert_array_equal(filled[:, OTHERS], rows[:, OTHERS])
    drawn = filled[np.ix_(lacks, V)]
    assert (drawn.sum(axis=1) == 1).all()
    for z in (0, 1):
        for w in (0, 1):
            own = (rows[lacks][:, OTHERS] == [z, w]).all(axis=1)
            share = drawn[own].mean(axis=0)
            expected = posterior(rows[lacks][own][:1])[0]
            # Four standard errors of the draws, and the error of regressions that are learned.
            assert share == pytest.approx(expected, abs=0.05 + 2 / np.sqrt(own.sum()))


def test_the_likely_state_is_that_of_bayes_rule():
    rows, lacks = made(1)
    holes = rows.copy()
    holes[np.ix_(lacks, V)] = MISSING
    found = impute(merge_incomplete(holes, schema=SCHEMA), Imputation(fill="likely"))
    filled = found.rows[found.row_of][np.ix_(lacks, V)]
    assert (filled.sum(axis=1) == 1).all()
    p = np.sort(posterior(rows[lacks]), axis=1)
    clear = p[:, -1] - p[:, -2] > 0.1
    best = posterior(rows[lacks]).argmax(axis=1)
    assert (filled.argmax(axis=1) == best)[clear].all()


def test_a_state_that_was_never_seen():
    rows = np.array([[1, 0, 0, 1], [0, 1, 0, 0]] * 20, np.uint8)
    rows[:3, :3] = MISSING
    found = impute(merge_incomplete(rows, schema=schema_of(3, 2)))
    filled = found.rows[found.row_of]
    assert (filled[:, :3].sum(axis=1) == 1).all()
    assert not filled[:, 2].any()
