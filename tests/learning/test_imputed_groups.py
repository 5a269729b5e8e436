"""Missing cells of columns that are states of one variable."""

import numpy as np
import pandas as pd
import pytest

import mnlearn as mn
from mnlearn.data.incomplete import MISSING, merge_incomplete
from mnlearn.learning.imputation import Imputation, OpenGroup, impute, open_groups
from mnlearn.variables.schema import binary_schema

N = 4000
NAMES = ("v=p", "v=q", "z", "v=r", "w")
V, OTHERS = [0, 1, 3], [2, 4]
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
    data = merge_incomplete(holes, schema=binary_schema(NAMES))
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
    found = impute(merge_incomplete(holes, schema=binary_schema(NAMES)), Imputation(fill="likely"))
    filled = found.rows[found.row_of][np.ix_(lacks, V)]
    assert (filled.sum(axis=1) == 1).all()
    p = np.sort(posterior(rows[lacks]), axis=1)
    clear = p[:, -1] - p[:, -2] > 0.1
    best = posterior(rows[lacks]).argmax(axis=1)
    assert (filled.argmax(axis=1) == best)[clear].all()


def test_what_is_known_of_a_state_counts():
    rows, _ = made(2)
    holes = rows.copy()
    # Another column has the 1; the known column has a 0; two states are left.
    with_1 = np.flatnonzero(rows[:, 0])[:50]
    holes[with_1, 1] = MISSING
    without = np.flatnonzero(rows[:, 0] == 0)[:400]
    holes[np.ix_(without, [1, 3])] = MISSING
    found = impute(merge_incomplete(holes, schema=binary_schema(NAMES)), seed=1)
    filled = found.rows[found.row_of]
    np.testing.assert_array_equal(filled[with_1], rows[with_1])
    assert (filled[:, V].sum(axis=1) == 1).all()
    assert not filled[without, 0].any()
    assert 0.3 < filled[without, 1].mean() < 0.9


def test_which_columns_are_states_of_one_variable():
    def groups(rows, names=("v=p", "v=q", "z")):
        return [
            each.columns.tolist()
            for each in open_groups(merge_incomplete(rows, schema=binary_schema(names)))
        ]

    hole = [MISSING, MISSING, 0]
    assert groups([[1, 0, 0], hole]) == [[0, 1]]
    assert groups([[1, 0, 0], [0, 1, MISSING]]) == []
    assert groups([[1, 1, 0], hole]) == []
    assert groups([[0, 0, 0], hole]) == []
    assert groups([[1, 0, 0], hole], ("p", "q", "z")) == []
    assert groups([[1, 0, 0], hole], None) == []


def test_draws_never_take_what_is_ruled_out():
    possible = np.array([[True, False, True], [False, True, True]])
    group = OpenGroup(np.array([0, 1, 2]), np.array([0, 1]), possible)
    p = group.shares(np.array([0.0, 0.5, 0.0]))
    np.testing.assert_allclose(p, [[0.5, 0.0, 0.5], [0.0, 1.0, 0.0]])
    values = np.full((2, 3), MISSING, np.uint8)
    for uniform in (0.0, 0.3, 1 - 1e-12):
        group.draw(values, group.shares(np.array([1.0, 1.0, 1.0])), np.full(2, uniform))
        assert (values.sum(axis=1) == 1).all()
        assert (possible | (values == 0)).all()


def test_a_state_that_was_never_seen():
    rows = np.array([[1, 0, 0, 1], [0, 1, 0, 0]] * 20, np.uint8)
    rows[:3, :3] = MISSING
    found = impute(merge_incomplete(rows, schema=binary_schema(("v=p", "v=q", "v=r", "z"))))
    filled = found.rows[found.row_of]
    assert (filled[:, :3].sum(axis=1) == 1).all()
    assert not filled[:, 2].any()


def test_groups_with_missing_cells_are_learned_from():
    rows, lacks = made(3)
    table = pd.DataFrame(rows[:300], columns=list(NAMES)).astype(float)
    table.loc[lacks[:300], ["v=p", "v=q", "v=r"]] = np.nan
    data = mn.read_data(table, groups="names", missing="impute")
    assert data.groups == ((0, 1, 3),)
    filled = mn.impute(table)
    assert (filled[["v=p", "v=q", "v=r"]].sum(axis=1) == 1).all()
