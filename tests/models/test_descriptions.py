"""The sizes that models say they have."""

import pytest

from conftest import random_dependency_network
from made_hidden_trees import random_hidden_tree


@pytest.mark.parametrize(
    ("n_vars", "n_states", "expected"),
    # Root, two edges and three emissions; one state; one variable.
    [(3, 2, 1 + 2 * 2 + 3 * 2), (4, 1, 4), (1, 3, 2 + 3)],
)
def test_hidden_trees(n_vars, n_states, expected):
    tree = random_hidden_tree(0, n_vars, n_states)
    assert tree.describe() == {"n_vars": n_vars, "n_states": n_states, "n_parameters": expected}


def test_dependency_networks():
    network = random_dependency_network(1)
    assert network.describe() == {
        "n_vars": 5,
        "n_leaves": network.trees.n_informative_leaves,
        "deepest_leaf": max(network.trees.depth),
        "n_features": len(network.features),
        "n_edges": len(network.edges()),
    }
