"""Scores of rows that a model rules out: minus infinity, and no standard error."""

from dataclasses import replace

import numpy as np
import pytest

import mnlearn as mn
from made_hidden_trees import random_hidden_tree
from mnlearn.inference.circuits.exact import condition
from mnlearn.models.features import features_of
from mnlearn.models.markov_network import markov_network

RNG = np.random.default_rng(3)
ROWS = RNG.integers(0, 2, (60, 4))
ROWS[:, 1] = ROWS[:, 0] ^ (RNG.random(60) < 0.2)
EVIDENCE = np.array([1, 2, 2, 2], np.uint8)


def hidden_tree():
    tree = random_hidden_tree(0, n_vars=4)
    emission = tree.emission.copy()
    emission[0] = 1.0
    return replace(tree, emission=emission)


# Models in which V0 is 1.
MODELS = {
    "conditioned circuit": condition(mn.ChowLiu().fit(ROWS).model_, EVIDENCE),
    "network": markov_network(4, features_of([[(0, 0)], [(1, 1), (2, 1)]]), [-np.inf, 0.5]),
    "hidden tree": hidden_tree(),
}


@pytest.mark.parametrize("metric", ["pll", "cmll", "cll", "ll"])
@pytest.mark.parametrize("kind", MODELS)
def test_a_mean_of_minus_infinity_has_no_standard_error(kind, metric):
    model = MODELS[kind]
    # Sampled marginals are never 0.
    how = {"inference": "exact"} if (kind, metric) == ("network", "cmll") else {}
    found = mn.score(model, ROWS, metric, **how)
    np.testing.assert_array_equal(np.isneginf(found.per_example), ROWS[:, 0] == 0)
    assert found.mean == -np.inf
    assert np.isnan(found.stderr)
    assert repr(found) == f"<{metric}: -inf ± nan nats, 60 examples>"
    possible = mn.score(model, ROWS[ROWS[:, 0] == 1], metric, **how)
    assert np.isfinite(possible.per_example).all()
    assert possible.stderr > 0


def test_rows_with_missing_cells_too():
    holes = ROWS.astype(float)
    holes[:30, 3] = np.nan
    found = mn.score(MODELS["conditioned circuit"], holes)
    assert found.mean == -np.inf
    assert np.isnan(found.stderr)
