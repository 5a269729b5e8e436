"""Random trees of hidden variables, and what they mean by enumeration."""

import itertools

import numpy as np

from mnlearn.models.hidden_tree import HiddenTree
from oracles import all_states


def random_hidden_tree(seed, n_vars=5, n_states=3):
    """A tree with random tables whose variables are in random order."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(n_vars)
    parent = np.full(n_vars, -1)
    for k in range(1, n_vars):
        parent[order[k]] = order[rng.integers(k)]
    transition = rng.random((n_vars, n_states, n_states)) + 0.05
    transition /= transition.sum(axis=2, keepdims=True)
    transition[order[0]] = transition[order[0], 0]
    return HiddenTree(parent, transition, rng.uniform(0.05, 0.95, (n_vars, n_states)))


def complete_joint(tree):
    """P(x, z) of all states x (rows) and z (columns), and the states z."""
    n, k = tree.n_vars, tree.n_states
    hidden = np.array(list(itertools.product(range(k), repeat=n)))
    p = np.ones((2**n, len(hidden)))
    for v in range(n):
        above = hidden[:, tree.parent[v]] if tree.parent[v] >= 0 else np.zeros(len(hidden), int)
        one = tree.emission[v, hidden[:, v]]
        p *= tree.transition[v, above, hidden[:, v]]
        p *= np.where(all_states(n)[:, v, None] == 1, one, 1.0 - one)
    return p, hidden
