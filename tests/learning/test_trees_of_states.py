"""Probability trees of variables of any number of states, and their features, by definition."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from made_states import every_row, random_states, schema_of
from mnlearn.learning.trees import learn_tree_path
from mnlearn.models.dependency_network import flat_trees, tree_network
from mnlearn.models.features import features_of, with_least_literals
from mnlearn.models.tree_features import FEATURE_MODES, find_tree_features

ARITIES = [(2, 3, 4), (4, 1, 2, 3), (3, 3), (2,) * 7, (5, 2)]


def counts_of(data, v, member):
    state = data.schema.values(data.rows)[:, v]
    arity = data.schema.arity[v]
    return np.array([data.weight[member & (state == a)].sum() for a in range(arity)])


def score(count, pseudocount):
    return count @ np.log((count + pseudocount) / (count.sum() + len(count) * pseudocount))


def grown(data, v, min_gain, min_examples, pseudocount, member):
    """A tree as nested tuples (column, tree for 0, tree for 1); its leaves are probabilities."""
    here, best, chosen = counts_of(data, v, member), min_gain, None
    for c in range(data.n_columns):
        sides = [member & (data.rows[:, c] == x) for x in (0, 1)]
        counts = [counts_of(data, v, side) for side in sides]
        if data.schema.variable_of[c] == v or min(n.sum() for n in counts) < max(
            min_examples, 1e-9
        ):
            continue
        gain = sum(score(n, pseudocount) for n in counts) - score(here, pseudocount)
        if gain > best + 1e-9:
            best, chosen = gain, (c, sides)
    if chosen is None:
        return (here + pseudocount) / (here.sum() + len(here) * pseudocount)
    c, sides = chosen
    below = (grown(data, v, min_gain, min_examples, pseudocount, side) for side in sides)
    return (c, *below)


def check_tree(trees, node, expected):
    if isinstance(expected, tuple):
        assert trees.split_var[node] == expected[0]
        for child, below in zip(trees.child[node], expected[1:], strict=True):
            check_tree(trees, child, below)
    else:
        assert trees.split_var[node] < 0
        k = len(expected)
        assert_allclose(np.exp(trees.log_prob[node, :k]), expected, rtol=1e-12)
        unused = trees.log_prob[node, k:]
        assert_array_equal(unused, np.full(len(unused), -np.inf))


@pytest.mark.parametrize("arities", ARITIES)
@pytest.mark.parametrize(
    ("kappa", "min_examples", "pseudocount", "weighted"),
    [(1.0, 0, 1.0, False), (0.05, 0, 0.25, True), (0.7, 30, 1.0, False)],
)
def test_trees_are_those_of_the_definition(arities, kappa, min_examples, pseudocount, weighted):
    data = random_states(sum(arities), arities, weighted=weighted)
    path = learn_tree_path(data, 1.0, min_examples, pseudocount=pseudocount)
    once = learn_tree_path(data, kappa, min_examples, 2, pseudocount=pseudocount).trees
    assert once.log_prob.shape[1] == max(2, *arities)
    for trees in (path.cut(kappa), once):
        for v in range(data.n_vars):
            every = np.ones(data.n_rows, bool)
            least = -np.log(kappa), min_examples, pseudocount
            check_tree(trees, trees.start[v], grown(data, v, *least, every))


def test_a_variable_of_one_state_is_sure():
    data = random_states(0, (2, 1, 3))
    trees = learn_tree_path(data, 1.0).trees
    assert_array_equal(trees.log_prob[trees.start[1] : trees.start[2]], [[0.0, -np.inf, -np.inf]])
    assert trees.is_flat(data.schema).tolist() == [False, True, False]
    flat = flat_trees(data.schema)
    assert_allclose(np.exp(flat.log_prob), [[0.5, 0.5, 0], [1, 0, 0], [1 / 3] * 3])
    assert flat.is_flat(data.schema).all()


def test_edges_are_between_variables():
    data = random_states(3, (4, 2, 3))
    network = tree_network(learn_tree_path(data, 1.0).trees, data.schema)
    expected = {}
    for node, column in enumerate(network.trees.split_var.tolist()):
        if column >= 0:
            edge = int(data.schema.variable_of[column]), int(network.trees.target[node])
            expected[edge] = expected.get(edge, 0) + 1
    assert network.edges() == expected
    assert all(u != v for u, v in expected)


@pytest.mark.parametrize("mode", FEATURE_MODES[:-1])
@pytest.mark.parametrize("arities", ARITIES)
def test_features_are_paths_with_each_state(arities, mode):
    """As sets of rows; no feature says the same as another in longer words."""
    data = random_states(1, arities)
    schema, rows = data.schema, every_row(data.schema)
    trees = learn_tree_path(data, 1.0).trees
    found = find_tree_features(trees, mode, schema)
    values, paths, expected = schema.values(rows), trees.paths(), {}
    limit = {"prune": 99, "prune-10": 10, "prune-5": 5}.get(mode)
    for state, node in itertools.product(range(trees.most_states), range(len(trees.target))):
        v = trees.target[node]
        is_wanted = trees.is_leaf[node] if limit is None else trees.depth[node] <= limit
        if is_wanted and state < schema.arity[v] > 1:
            holds = values[:, v] == state
            for c, x in paths.literals(node):
                holds = holds & (rows[:, c] == x)
            expected.setdefault(holds.tobytes(), (node, state))
    holds = found.features.satisfied(rows)
    assert {h.tobytes() for h in holds.T} == set(expected)
    assert len(found.features) == len(expected)
    first = [trees.most_states * node + state for node, state in expected.values()]
    assert sorted(found.place.tolist()) == sorted(first)


@pytest.mark.parametrize("arities", ARITIES)
def test_features_without_the_literals_of_zero(arities):
    data = random_states(2, arities)
    trees, schema = learn_tree_path(data, 1.0).trees, data.schema
    whole = find_tree_features(trees, "default", schema).features
    found = find_tree_features(trees, "nonzero", schema)
    expected = {tuple(x for x in whole.literals(f) if x[1]) for f in range(len(whole))} - {()}
    assert {tuple(found.features.literals(f)) for f in range(len(found.features))} == expected
    assert found.place is None


def test_words_for_the_same_rows():
    schema = schema_of(3, 2, 4, 1)  # columns 0 1 2, 3, 4 5 6 7
    given = [
        [(0, 0), (1, 1), (3, 0)],
        [(2, 0), (0, 0)],
        [(3, 1), (4, 0), (7, 0)],
        [(7, 0), (1, 0), (4, 0), (5, 0)],
        [(4, 0), (1, 1), (2, 0), (5, 1)],
        [],
    ]
    given += [[(0, 1), (2, 1)], [(4, 0), (4, 1)], [(0, 0), (1, 0), (2, 0)]]
    found, can_hold = with_least_literals(features_of(given), schema.start)
    assert can_hold.tolist() == [True] * 6 + [False] * 3
    assert [found.literals(f) for f in range(6)] == [
        [(1, 1), (3, 0)],
        [(1, 1)],
        [(3, 1), (4, 0), (7, 0)],
        [(1, 0), (6, 1)],
        [(1, 1), (5, 1)],
        [],
    ]
