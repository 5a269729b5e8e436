"""Log-odds of every variable in one pass, against one evaluation for each flipped row."""

import numpy as np
import pytest

from made_circuits import N, grown
from mnlearn.inference.circuits.exact import conditional_scores, log_value
from mnlearn.models.circuit_building import NO_PARENT, mixture_circuit, tree_circuit
from oracles import all_states


def expected_log_odds(circuit, rows):
    out = np.empty(rows.shape)
    own = log_value(circuit, rows)
    for v in range(rows.shape[1]):
        flipped = rows.copy()
        flipped[:, v] ^= 1
        with np.errstate(invalid="ignore"):
            out[:, v] = (own - log_value(circuit, flipped)) * np.where(rows[:, v], 1, -1)
    return out


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("extend", [True, False])
def test_log_odds_of_grown_circuits(seed, extend):
    circuit, _ = grown(seed, extend)
    rows = all_states(N)
    np.testing.assert_allclose(
        conditional_scores(circuit, rows, threads=2),
        expected_log_odds(circuit, rows),
        rtol=1e-9,
        atol=1e-9,
    )


def test_values_of_0_are_no_numbers_only_where_both_are_0():
    """A tree in which X_1 equals X_0 and X_2 is never 1."""
    with np.errstate(divide="ignore"):
        log_prob = np.log(
            [[[0.3, 0.7], [0, 0]], [[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]]]
        )
    tree = tree_circuit(np.array([NO_PARENT, 0, 1]), log_prob, 3)
    other = tree_circuit(np.array([NO_PARENT, 0, 0]), np.log(np.full((3, 2, 2), 0.5)), 3)
    rows = all_states(3)
    np.testing.assert_array_equal(
        np.isnan(conditional_scores(tree, rows)), np.isnan(expected_log_odds(tree, rows))
    )
    np.testing.assert_allclose(
        conditional_scores(tree, rows), expected_log_odds(tree, rows), rtol=1e-12
    )
    mixture = mixture_circuit([tree, other], np.log([0.4, 0.6]))
    np.testing.assert_allclose(
        conditional_scores(mixture, rows), expected_log_odds(mixture, rows), rtol=1e-9, atol=1e-12
    )
