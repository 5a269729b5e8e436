"""Gibbs sampling of variables of several states, against enumeration."""

import numpy as np
import pytest
from mnlearn.models.grouped_variables import grouped_variables

import mnlearn as mn
from mnlearn.inference.group_sampling import (
    column_groups,
    groups_asked,
    sample_grouped_rows,
)
from mnlearn.inference.queries import answer
from mnlearn.inference.sampling import sample_rows
from mnlearn.inference.settings import inference_of
from mnlearn.models.features import features_of
from mnlearn.models.markov_network import markov_network
from mnlearn.variables.schema import binary_schema

GROUPS = [(0, 2, 5), (1, 3), (6, 7, 8, 9)]
N = 11
SAMPLES = 20_000


def network(seed, hard=True, n=N, groups=GROUPS):
    """Random features over columns, and features that exclude states, or make them unlikely."""
    rng = np.random.default_rng(seed)
    features, weights = [], []
    for _ in range(3 * n):
        own = np.sort(rng.choice(n, rng.integers(1, 4), replace=False))
        features.append([(int(v), int(rng.integers(0, 2))) for v in own])
        weights.append(float(rng.normal()))
    excluded = list(grouped_variables(n, groups).impossible())
    features += excluded
    weights += [-np.inf if hard else -2.0] * len(excluded)
    return markov_network(n, features_of(features), weights)


def named(model, groups=GROUPS):
    names = [f"V{v}" for v in range(model.n_vars)]
    for g, own in enumerate(groups):
        for c in own:
            names[c] = f"g{g}={c}"
    return markov_network(binary_schema(model.n_vars, tuple(names)), model.features, model.weight)


def ask(model, rows, asked, method, samples=SAMPLES):
    how = inference_of(method) if method == "exact" else inference_of(method, samples=samples)
    return answer(model, rows, asked, how, seed=3)


def questions():
    """Rows that ask for whole groups, for parts of them, and for all."""
    rng = np.random.default_rng(5)
    values = np.stack([rng.integers(0, k, 6) for k in (3, 2, 2, 4, 2)], axis=1)
    rows = grouped_variables(N, GROUPS).one_hot(values)
    asked = np.zeros(rows.shape, bool)
    for row, columns in enumerate(
        [range(N), (0, 2, 5, 10), (0, 2, 6, 7), (1, 3, 4), (2, 5, 6, 8, 9), (0, 1, 2, 3, 4, 5)]
    ):
        asked[row, list(columns)] = True
    return rows, asked


@pytest.mark.parametrize("hard", [True, False], ids=["excluded", "unlikely"])
@pytest.mark.parametrize("seed", range(4))
def test_sampling_agrees_with_enumeration(seed, hard):
    model = network(seed, hard)
    rows, asked = questions()
    exact = ask(model, rows, asked, "exact")
    np.testing.assert_allclose(ask(named(model), rows, asked, "gibbs"), exact, atol=0.025)
    if hard:
        # Without names, what is excluded says which columns are one variable.
        np.testing.assert_allclose(ask(model, rows, asked, "gibbs"), exact, atol=0.025)


def test_the_groups_of_a_model():
    model = network(0)
    assert sorted(map(sorted, column_groups(model))) == sorted(map(sorted, GROUPS))
    assert sorted(column_groups(named(network(0, hard=False)))) == sorted(GROUPS)
    assert not column_groups(network(0, hard=False))
    assert not column_groups(mn.DNTree().fit(np.eye(3, dtype=int)).model_)
    asked = groups_asked(np.array([0, 2, 3, 8]), GROUPS)
    assert (asked.start.tolist(), asked.column.tolist()) == ([0, 2], [0, 1])
    assert asked.is_single.tolist() == [False, False, True, True]
    assert groups_asked(np.array([0, 3, 8]), GROUPS) is None


def test_threads_and_equal_rows_change_nothing():
    model = named(network(1))
    rows, asked = np.zeros((4, N), np.uint8), np.ones((4, N), bool)
    asked[:, 10] = False
    rows[::2, 10] = 1
    how = inference_of("gibbs", samples=33, burn_in=2)
    one = answer(model, rows, asked, how, seed=1)
    np.testing.assert_array_equal(one, answer(model, rows, asked, how, seed=1, threads=3))
    np.testing.assert_array_equal(one[:2], one[2:])
    assert ((one[:, :10] > 0) & (one[:, :10] < 1)).all()


LARGE = [tuple(range(4 * g, 4 * g + 4)) for g in range(6)]


def test_chains_of_examples_move_between_values():
    """24 columns are too many to enumerate; the oracle is the circuit."""
    model = network(7, n=24, groups=LARGE)
    circuit = mn.MarkovNetwork(24, model.features, model.weight).compile()
    exact = circuit.query().to_numpy()
    rows = sample_grouped_rows(model, 3000, 30, seed=2)
    for own in LARGE:
        assert (rows[:, list(own)].sum(axis=1) == 1).all()
    np.testing.assert_allclose(rows.mean(axis=0), exact, atol=0.04)
    np.testing.assert_array_equal(rows, sample_grouped_rows(model, 3000, 30, seed=2, threads=2))
    assert len(sample_grouped_rows(model, 2, 0, seed=2)) == 2


def test_other_models_are_sampled_as_before():
    plain = network(3, hard=False, n=24, groups=LARGE)
    np.testing.assert_array_equal(
        sample_grouped_rows(plain, 5, 10, seed=4), sample_rows(plain, 5, 10, seed=4)
    )
    small = network(3)
    np.testing.assert_array_equal(
        sample_grouped_rows(small, 5, 10, seed=4), sample_rows(small, 5, 10, seed=4)
    )
