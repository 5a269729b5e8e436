"""Feature algebra, trees and their conversions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import oracles
from made_models import log_prob_of, trees_of
from made_random import random_data, random_dependency_network, random_features, random_network
from mnlearn.learning.trees import learn_tree_path
from mnlearn.models.features import atomic_features, canonicalise, concatenate, features_of
from mnlearn.models.markov_network import markov_network
from mnlearn.models.tree_features import FEATURE_MODES, tree_features
from mnlearn.runtime.errors import InputError

conjunctions = st.lists(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1)), max_size=5), max_size=20
)


@given(conjunctions)
@settings(deadline=None, max_examples=150)
def test_canonical_features_are_the_distinct_satisfiable_ones(given_conjunctions):
    features, target = canonicalise(features_of(given_conjunctions))
    as_sets = [frozenset(c) for c in given_conjunctions]
    possible = [len({v for v, _ in c}) == len(c) for c in as_sets]
    found = [frozenset(features.literals(f)) for f in range(len(features))]
    assert len(set(found)) == len(found)
    assert set(found) == {c for c, p in zip(as_sets, possible, strict=True) if p}
    for c, p, f in zip(as_sets, possible, target.tolist(), strict=True):
        assert (found[f] == c) if p else f == -1
    order = [(len(c), sorted(c)) for c in found]
    assert order == sorted(order)
    assert all(list(c) == sorted(c) for c in (features.literals(f) for f in range(len(features))))


@given(conjunctions, st.randoms())
@settings(deadline=None, max_examples=50)
def test_canonical_form_does_not_depend_on_order(given_conjunctions, random):
    shuffled = [random.sample(c, len(c)) for c in given_conjunctions]
    random.shuffle(shuffled)
    a, _ = canonicalise(features_of(given_conjunctions))
    b, _ = canonicalise(features_of(shuffled))
    for name in ("start", "var", "value"):
        assert_array_equal(getattr(a, name), getattr(b, name))


def test_select_and_concatenate():
    rng = np.random.default_rng(0)
    features = random_features(rng, 6, 10, 4)
    index = np.array([7, 2, 2, 0])
    chosen = features.select(index)
    assert [chosen.literals(k) for k in range(4)] == [features.literals(f) for f in index]
    both = concatenate([features, chosen])
    assert both.literals(12) == features.literals(2)
    assert len(features.select(np.zeros(10, bool))) == 0


def test_weights_of_equal_features_add_up():
    network = markov_network(
        2, features_of([[(0, 1), (1, 0)], [(1, 0), (0, 1)], [(0, 1), (0, 0)], []]), [1, 2, 9, 7]
    )
    assert len(network.features) == 1
    assert network.weight.tolist() == [3.0]
    with pytest.raises(InputError, match="columns 0 to 1"):
        markov_network(2, features_of([[(2, 1)]]), [1.0])


@pytest.mark.parametrize("seed", range(3))
def test_log_potential_matches_the_definition(seed):
    network = random_network(seed)
    states = oracles.all_states(network.n_vars)
    assert_allclose(
        network.potential_of(states), [oracles.log_potential(network, x) for x in states]
    )


def test_edges_of_a_pairwise_network_are_log_odds_ratios():
    features = features_of([[(0, 1), (1, 1)], [(0, 0), (1, 0)], [(1, 1), (2, 0)], [(0, 1)]])
    network = markov_network(3, features, [0.5, 0.25, -1.0, 2.0])
    assert network.edges() == {(0, 1): 0.75, (1, 2): 1.0}


def test_constant_columns_are_kept_and_never_split_on():
    rows = random_data(0).rows.copy()
    rows[:, 2], rows[:, 4] = 0, 1
    from mnlearn.data.dataset import merge_rows

    trees = learn_tree_path(merge_rows(rows), 1.0).trees
    assert trees.n_vars == rows.shape[1]
    assert not set(trees.split_var[trees.split_var >= 0]) & {2, 4}


def test_threads_grow_equal_trees():
    data = random_data(0, n_vars=9)
    one = learn_tree_path(data, 1.0)
    for threads in (2, 4):
        more = learn_tree_path(data, 1.0, threads=threads)
        assert_array_equal(one.trees.split_var, more.trees.split_var)
        assert_array_equal(one.trees.log_prob, more.trees.log_prob)


def test_leaf_features_can_represent_the_distribution_of_a_tree():
    """With leaf log-probabilities as weights the conditional of the target is the tree's own."""
    model = random_dependency_network(2)
    trees = model.trees
    v = 3
    leaves = [n for n in range(trees.start[v], trees.start[v + 1]) if trees.split_var[n] < 0]
    paths = trees.paths()
    features = features_of([[*paths.literals(n), (v, value)] for n in leaves for value in (0, 1)])
    weights = [trees.log_prob[n, value] for n in leaves for value in (0, 1)]
    network = markov_network(trees.n_vars, features, weights)
    for x in oracles.all_states(trees.n_vars):
        log_prob = oracles.tree_log_prob(trees, v, x)
        assert_allclose(oracles.log_odds(network, x, v), log_prob[1] - log_prob[0], atol=1e-12)


def test_atomic_features():
    assert [atomic_features(3).literals(f) for f in range(3)] == [[(0, 1)], [(1, 1)], [(2, 1)]]


def test_interactions_of_edges():
    """The coefficients of x_u x_v in monomials, by inclusion and exclusion."""
    literals = [
        [(0, 1), (1, 1)],
        [(0, 1), (1, 0)],
        [(0, 1), (1, 1), (2, 1)],
        [(0, 0), (1, 0), (2, 1)],
    ]
    weight = [0.5, 0.25, 4.0, 8.0]

    def potential(*ones):
        holds = [all((v in ones) == bool(x) for v, x in own) for own in literals]
        return float(np.dot(weight, holds))

    found = markov_network(3, features_of(literals), weight).edges()
    assert set(found) == {(0, 1), (0, 2), (1, 2)}
    for (u, v), interaction in found.items():
        expected = potential(u, v) - potential(u) - potential(v) + potential()
        assert interaction == pytest.approx(expected)


def test_how_deep_trees_are_cut():
    """A chain of 12 tests: nodes with up to 10 or 5 tests above them are kept."""
    chain = log_prob_of(0.0)
    for v in range(12, 0, -1):
        chain = (v, log_prob_of(1.0), chain)
    trees = trees_of([chain] + [log_prob_of(0.0)] * 12)
    longest = {mode: int(tree_features(trees, mode).length.max()) for mode in FEATURE_MODES}
    assert longest == {
        "default": 13, "prune": 13, "prune-10": 11, "prune-5": 6, "nonzero": 13,
    }  # fmt: skip
    with pytest.raises(ValueError, match=r"feature_mode: expected one of .* got 'prune-7'"):
        tree_features(trees, "prune-7")
