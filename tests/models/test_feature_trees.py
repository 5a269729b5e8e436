"""Leaf features of feature trees, their limits, and files; for the rest test_distributions.py."""

import itertools

import numpy as np
import pytest

from made_feature_trees import learned_twice
from mnlearn.models import feature_tree as feature_trees
from mnlearn.models.feature_tree import FeatureTree, _expand, leaf_features
from mnlearn.models.io.formats import load_model, save_model
from mnlearn.runtime.arrays import read_arrays, write_arrays
from mnlearn.runtime.errors import InputError
from mnlearn.variables.schema import binary_schema

SEEDS = range(25)


@pytest.fixture(scope="module")
def trees():
    """Random trees with their definitions and states, learned once."""
    return [learned_twice(seed) for seed in SEEDS]


def holds(literals, x):
    return all(x[v] == value for v, value in literals)


@pytest.mark.parametrize("seed", SEEDS)
def test_the_leaf_features_that_a_state_satisfies_add_up_to_its_probability(seed, trees):
    tree, _, states = trees[seed]
    leaves = list(leaf_features(tree))
    assert len(leaves) == tree.n_leaves
    log_p = tree.log_likelihood(tree.schema.rows(states))
    for x, expected in zip(states[:200], log_p, strict=False):
        total = sum(
            leaf.weight
            for leaf in leaves
            if holds(leaf.literals, x) and not any(holds(c, x) for c in leaf.negated)
        )
        assert total == pytest.approx(expected, abs=1e-10)


def tree_of(features, edges, variables):
    """A tree of F-nodes with two A-nodes each that fix nothing.

    edges : for each A-node, root first, its F-nodes.
    """
    n_a = len(edges)
    pairs = [literal for feature in features for literal in feature]
    arrays = {
        "literal_start": np.cumsum([0, *map(len, features)]),
        "literal_var": [v for v, _ in pairs],
        "literal_value": [x for _, x in pairs],
        "branch_start": 1 + 2 * np.arange(len(features) + 1),
        "log_prob": np.zeros(n_a),
        "fixed_start": np.zeros(n_a + 1),
        "fixed_var": [],
        "fixed_value": [],
        "child_start": np.cumsum([0, *map(len, edges)]),
        "child": list(itertools.chain(*edges)),
    }
    return FeatureTree(variables, **arrays)


def test_figure_1_of_the_paper():
    """10 A-nodes, and the 8 leaf features of Figure 1 (b)."""

    def both(a, b):
        return ((a - 1, 1), (b - 1, 1))

    features = [both(1, 2), both(3, 4), both(5, 6), both(3, 5), both(4, 6)]
    edges = [[0], [1, 2], [3, 4], *[[]] * 8]
    tree = tree_of(features, edges, binary_schema(6))
    assert tree.n_a_nodes == 10
    top, *below = features
    found = [(leaf.literals, leaf.negated) for leaf in leaf_features(tree)]
    assert found == [
        ((), (top, below[0])), (below[0], (top,)),
        ((), (top, below[1])), (below[1], (top,)),
        (top, (below[2],)), (top + below[2], ()),
        (top, (below[3],)), (top + below[3], ()),
    ]  # fmt: skip


def test_equal_subtrees_are_counted_once_when_merged():
    one, two, three = ((0, 1),), ((1, 1),), ((2, 1),)
    # Both A-nodes of the root's F-node lead to F-nodes that are equal, with all below them.
    edges = [[0], [1], [2], [3], [], [4], [], [], [], [], []]
    tree = tree_of([one, two, two, three, three], edges, binary_schema(3))
    assert tree.describe() == {
        "n_vars": 3,
        "n_a_nodes": 10,
        "n_f_nodes": 5,
        "n_leaves": 6,
        "n_tables": 0,
        "longest_feature": 1,
        "depth": 3,
        "n_a_nodes_merged": 6,
    }


def test_as_many_features_as_a_network_has(trees, monkeypatch):
    tree = trees[0][0]
    n_features = sum(1 for leaf in leaf_features(tree) for _ in _expand(tree.schema, leaf))
    monkeypatch.setattr(feature_trees, "MAX_FEATURES", n_features)
    assert tree.to_markov_network().n_vars == tree.n_vars
    monkeypatch.setattr(feature_trees, "MAX_FEATURES", n_features - 1)
    with pytest.raises(InputError, match=f"feature tree: has more than {n_features - 1} features"):
        tree.to_markov_network()


def test_rows_with_several_states_of_a_variable_are_impossible(trees):
    tree = next(t for t, _, _ in trees if t.schema.several)
    rows = tree.schema.rows(np.zeros((2, tree.n_vars), np.uint8))
    rows[0, tree.schema.several[0][1]] = 1
    rows[1, tree.schema.several[0][0]] = 0
    assert np.isneginf(tree.log_likelihood(rows)).all()


def test_a_file_whose_tree_shares_variables_between_children(tmp_path, trees):
    tree = next(t for t, _, _ in trees if len(t.children(0)) == 1 and t.n_f_nodes > 1)
    save_model(tree, tmp_path / "a.npz")
    arrays = read_arrays(tmp_path / "a.npz")
    start = arrays["child_start"] + 1
    start[0] = 0
    child = np.insert(arrays["child"], 0, arrays["child"][0])
    write_arrays(tmp_path / "a.npz", {**arrays, "child_start": start, "child": child})
    with pytest.raises(InputError, match="a product whose factors share one"):
        load_model(tmp_path / "a.npz")
