"""The sizes that models say they have."""

import pytest

from made_hidden_trees import random_hidden_tree
from made_models import log_prob_of, trees_of
from mnlearn.models.dependency_network import flat_trees, tree_network
from mnlearn.models.features import features_of
from mnlearn.models.markov_network import markov_network


@pytest.mark.parametrize(
    ("n_vars", "n_states", "expected"),
    # Root, two edges and three emissions; one state; one variable.
    [(3, 2, 1 + 2 * 2 + 3 * 2), (4, 1, 4), (1, 3, 2 + 3)],
)
def test_hidden_trees(n_vars, n_states, expected):
    tree = random_hidden_tree(0, n_vars, n_states)
    assert repr(tree) == f"<HiddenTree: {n_vars} variables, {n_states} states>"
    assert tree.describe() == {"n_vars": n_vars, "n_states": n_states, "n_parameters": expected}


def test_markov_networks():
    features = features_of([[(0, 1)], [(0, 1), (1, 0)], [(1, 1), (2, 1)], [(2, 0)]])
    assert markov_network(4, features, [1.0, 0.0, -2.0, 0.5]).describe() == {
        "n_vars": 4,
        "n_features": 4,
        "n_nonzero": 3,
        "features_by_length": {"1": 2, "2": 2},
        "n_edges": 1,
    }


def test_leaves_that_say_something():
    """A tree that is one leaf of log-odds 0 says nothing; each leaf of a split counts."""
    flat, other = log_prob_of(0.0), log_prob_of(1.0)
    network = tree_network(trees_of([flat, other, (0, flat, (1, flat, other))]))
    assert network.n_informative_leaves == 1 + 3
    assert network.describe() == {
        "n_vars": 3, "n_leaves": 4, "deepest_leaf": 2, "n_features": 0, "n_edges": 2,
    }  # fmt: skip
    assert tree_network(flat_trees(2)).n_informative_leaves == 0
