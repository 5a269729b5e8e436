"""The pseudo-likelihood of tree features by walks of the trees."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from made_random import random_data
from made_states import random_states
from mnlearn.data.dataset import merge_rows
from mnlearn.kernels.likelihood import tree_walks
from mnlearn.learning.trees import learn_tree_path
from mnlearn.learning.weights import arrangement, tree_likelihood
from mnlearn.learning.weights.arrangement import arrange
from mnlearn.learning.weights.packed_likelihood import PackedLikelihood
from mnlearn.learning.weights.stored_likelihood import arrange_stored
from mnlearn.learning.weights.tree_likelihood import TreeLikelihood, arrange_trees, count_touches
from mnlearn.models.tree_features import find_tree_features
from oracles import loss_and_gradient, loss_of

MODES = ("default", "prune", "prune-10", "prune-5")


def problem(seed, mode="prune", n_rows=700, n_vars=8):
    """Return features of trees with a constant variable and features that two trees share."""
    rng = np.random.default_rng(seed)
    rows = rng.random((n_rows, n_vars)) < 0.5
    for v in range(2, n_vars):
        rows[:, v] ^= rows[:, v - 1] & rows[:, v - 2]
    rows[:, 0] = True
    data = merge_rows(rows, rng.uniform(0.5, 2, n_rows))
    trees = learn_tree_path(data, 0.5).cut(0.5)
    assert trees.depth.max() > 3
    return find_tree_features(trees, mode), data, rng


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of 16 rows, so that small data have many of them."""
    monkeypatch.setattr(tree_likelihood, "_BLOCK_CELLS", 1)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(2))
def test_value_gradient_and_curvature_against_enumeration(seed, mode, small_blocks):
    found, data, rng = problem(seed, mode)
    n = len(found.features)
    assert len(np.unique(found.place)) == n
    # Some nodes have no feature of their own, because another tree has the same feature.
    if mode == "prune":
        assert n < 2 * len(found.trees.split_var)
    likelihood = arrange_trees(found, data)
    w = rng.normal(size=n)
    value, gradient = likelihood.value_and_gradient(w)
    assert_allclose(value, loss_of(found.features, w, data), rtol=1e-12)
    stored = arrange_stored(found.features, data)
    assert_allclose(gradient, stored.value_and_gradient(w)[1], atol=1e-9 * data.n_examples)
    assert_allclose(likelihood.curvature, stored.curvature, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("arities", [(2, 3, 4), (3, 1, 5, 2), (9, 3, 3), (1, 2, 2, 2)])
def test_value_and_gradient_of_variables_of_many_states(arities, mode, small_blocks):
    """Against the softmax over the states, by enumeration; few states are deep in the trees."""
    data = random_states(len(mode), arities, weighted=True)
    trees, schema = learn_tree_path(data, 1.0).trees, data.schema
    found = find_tree_features(trees, mode, schema)
    if max(arities) > 3:
        tested = trees.paths().select(trees.is_leaf)
        variables = [
            schema.variable_of[[c for c, _ in tested.literals(f)]] for f in range(len(tested))
        ]
        assert any(len(set(own)) < len(own) for own in variables)
    rng = np.random.default_rng(0)
    likelihood = arrange_trees(found, data)
    w = rng.normal(size=len(found.features))
    assert likelihood.n_features == len(w) == len(np.unique(found.place))
    value, gradient = likelihood.value_and_gradient(w)
    expected, slope = loss_and_gradient(found.features, w, data)
    assert_allclose(value, expected, rtol=1e-12)
    assert_allclose(gradient, slope, atol=1e-9 * data.n_examples)
    second = likelihood.value_and_gradient(1e-4 * np.eye(len(w))[0])[1]
    at_zero = likelihood.value_and_gradient(np.zeros(len(w)))[1]
    assert (second - at_zero)[0] / 1e-4 <= likelihood.curvature[0] * (1 + 1e-6)
    member = rng.random(len(w)) < 0.3
    part, whole = likelihood.restrict(member), likelihood.value_and_gradient(w * member)
    own = part.value_and_gradient(w[member])
    assert_allclose(own[0], whole[0], rtol=1e-12)
    assert_allclose(own[1], whole[1][member], atol=1e-9)


@pytest.mark.parametrize("share", [0.0, 0.5])
def test_walks_that_are_not_stored_give_equal_bytes(share, small_blocks, monkeypatch):
    found, data, rng = problem(0)
    whole = arrange_trees(found, data)
    n_blocks = len(whole.walks.offset) - 1
    assert whole.walks.n_stored == n_blocks > 5
    monkeypatch.setattr(tree_likelihood, "STORED_BYTES", int(share * whole.walks.stored.nbytes))
    part = arrange_trees(found, data)
    assert part.walks.stored.nbytes <= share * whole.walks.stored.nbytes
    assert (part.walks.n_stored == 0) == (share == 0)
    assert part.walks.n_stored < n_blocks
    w = rng.normal(size=len(found.features))
    assert_array_equal(part.curvature, whole.curvature)
    for one, other in zip(part.value_and_gradient(w), whole.value_and_gradient(w), strict=True):
        assert_array_equal(one, other)


def test_threads_give_equal_bytes(small_blocks):
    found, data, rng = problem(1)
    w = rng.normal(size=len(found.features))
    one, more = arrange_trees(found, data, 1), arrange_trees(found, data, 3)
    assert_array_equal(one.curvature, more.curvature)
    assert_array_equal(one.walks.stored, more.walks.stored)
    for a, b in zip(one.value_and_gradient(w), more.value_and_gradient(w), strict=True):
        assert_array_equal(a, b)


def test_as_many_sums_as_leaves_allow(small_blocks, monkeypatch):
    found, data, rng = problem(2)
    w = rng.normal(size=len(found.features))
    value, gradient = arrange_trees(found, data).value_and_gradient(w)
    monkeypatch.setattr(tree_likelihood, "_PART_LEAVES", 1)
    alone, own = arrange_trees(found, data).value_and_gradient(w)
    assert_allclose(alone, value, rtol=1e-12)
    assert_allclose(own, gradient, atol=1e-9 * data.n_examples)


@pytest.mark.parametrize("share", [0.9, 0.3, 0.02])
def test_restricted_is_the_likelihood_of_the_rest(share):
    found, data, rng = problem(3)
    member = rng.random(len(found.features)) < share
    whole = arrange_trees(found, data)
    part = whole.restrict(member)
    # Few features need a part of the trees only.
    assert (len(part.forest.test) < len(whole.forest.test)) == (share < 0.3)
    alone = arrange_stored(found.features.select(member), data)
    w = rng.normal(size=member.sum())
    assert part.n_features == member.sum()
    assert_allclose(part.curvature, alone.curvature, rtol=1e-9, atol=1e-9)
    assert_allclose(part.value_and_gradient(w)[0], alone.value_and_gradient(w)[0], rtol=1e-12)
    assert_allclose(part.value_and_gradient(w)[1], alone.value_and_gradient(w)[1], atol=1e-8)
    none = part.restrict(np.zeros(part.n_features, bool))
    value, gradient = none.value_and_gradient(np.zeros(0))
    assert_allclose(value, data.n_vars * data.n_examples * np.log(2))
    assert gradient.shape == (0,)


def test_trees_with_more_leaves_than_sixteen_bits_number(monkeypatch):
    found, data, rng = problem(5)
    w = rng.normal(size=len(found.features))
    narrow = arrange_trees(found, data)
    monkeypatch.setattr(tree_likelihood, "_SHORT_CODES", 1)
    wide = arrange_trees(found, data)
    assert (narrow.walks.stored.dtype, wide.walks.stored.dtype) == (np.uint16, np.uint32)
    assert narrow.value_and_gradient(w)[0] == wide.value_and_gradient(w)[0]


@pytest.mark.parametrize("mode", ["default", "prune"])
def test_touches_against_enumeration(mode, monkeypatch):
    found, data, _ = problem(6, mode, n_rows=200)
    trees, expected = found.trees, 0
    for node in np.unique(found.place // 2).tolist():
        path, target = trees.paths().literals(node), int(trees.target[node])
        # Both values of a target touch the same rows by the target's literal.
        expected += sum(all(row[v] == x for v, x in path) for row in data.rows)
        for y in (0, 1):
            for k in range(len(path)):
                others = [*path[:k], *path[k + 1 :], (target, y)]
                expected += np.all([data.rows[:, v] == x for v, x in others], axis=0).sum()
    assert count_touches(found, data) == expected
    monkeypatch.setattr(tree_likelihood, "_SAMPLE_ROWS", 50)
    assert abs(count_touches(found, data) - expected) <= 0.2 * expected


def test_long_lists_are_replaced_by_walks(monkeypatch):
    found, data, _ = problem(7)
    assert isinstance(arrange(found, data), PackedLikelihood)
    monkeypatch.setattr(arrangement, "MAX_LISTS", 1000)
    assert isinstance(arrange(found, data), TreeLikelihood)
    conjunctions = find_tree_features(found.trees, "nonzero")
    assert conjunctions.place is None
    assert isinstance(arrange(conjunctions, data), PackedLikelihood)


def test_one_row():
    data = random_data(0, 1, 4)
    found = find_tree_features(learn_tree_path(data, 0.5).cut(0.5), "prune")
    w = np.arange(8) / 8
    value, gradient = arrange_trees(found, data).value_and_gradient(w)
    exact = arrange_stored(found.features, data).value_and_gradient(w)
    assert_allclose(value, exact[0])
    assert_allclose(gradient, exact[1])


def test_visits_of_nodes():
    start, split_var = np.array([0, 3]), np.array([1, -1, -1])
    child = np.array([[1, 2], [-1, -1], [-1, -1]])
    rows = np.array([[0, 0], [0, 1], [1, 1]], np.uint8)
    assert tree_walks.count_visits(start, split_var, child, rows).tolist() == [3, 1, 2]
