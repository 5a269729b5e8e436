"""Feature algebra, trees and their conversions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from made_models import log_prob_of, trees_of
from made_random import random_features
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


def test_features_of_two_states_of_a_variable_are_impossible():
    """Columns 0 to 2 are of a variable of three states, the last is binary."""
    start = np.array([0, 3, 4])
    conjunctions = [
        [(0, 1), (1, 1)],
        [(0, 1), (3, 0)],
        # The two others are excluded, so that the third is asked for.
        [(1, 0), (2, 0), (3, 0)],
        [(0, 0), (1, 0), (2, 0)],
        [(0, 1), (1, 0)],
    ]
    features, place = canonicalise(features_of(conjunctions), start)
    assert place.tolist() == [-1, 1, 1, -1, 0]
    assert [features.literals(f) for f in range(2)] == [[(0, 1)], [(0, 1), (3, 0)]]
