"""Circuits against the polynomial that they stand for, summed over all states."""

from dataclasses import replace

import numpy as np
import pytest

from made_circuits import N, grown
from mnlearn.inference.circuits.evaluation import Evaluator, LogSpace, Values
from mnlearn.inference.circuits.exact import (
    UNKNOWN,
    conditionals,
    draw,
    log_partition,
    log_value,
    most_probable,
    row_evaluator,
)
from mnlearn.learning.circuits.splitting import split
from mnlearn.models.circuit import ArithmeticCircuit, product_of_marginals
from mnlearn.models.circuit_building import mixture_circuit
from oracles import all_states


def log_polynomial(circuit, features):
    """Log of the polynomial in every state, in the order of `all_states`."""
    return features.satisfied(all_states(N)) @ circuit.weight


@pytest.mark.parametrize("extend", [True, False])
@pytest.mark.parametrize("seed", range(12))
def test_splits_give_the_polynomial_of_the_features(seed, extend):
    circuit, features = grown(seed, extend)
    np.testing.assert_allclose(
        log_value(circuit, all_states(N)), log_polynomial(circuit, features), atol=1e-10
    )


def test_a_split_leaves_the_polynomial_as_it_was():
    circuit, _ = grown(3)
    for extend in (True, False):
        after = split(circuit, np.array([2]), 4, extend)
        np.testing.assert_allclose(
            log_value(after, all_states(N)), log_value(circuit, all_states(N)), atol=1e-10
        )


@pytest.mark.parametrize("seed", range(6))
def test_partial_evidence_is_summed_out(seed):
    circuit, features = grown(seed)
    potential = np.exp(log_polynomial(circuit, features))
    rng = np.random.default_rng(seed)
    rows = rng.choice([0, 1, UNKNOWN], (40, N)).astype(np.uint8)
    p_one = conditionals(circuit, rows)[1][:, :, 1]
    for row, value, p in zip(rows, log_value(circuit, rows), p_one, strict=True):
        agrees = ((all_states(N) == row) | (row == UNKNOWN)).all(axis=1)
        total = potential[agrees].sum()
        assert value == pytest.approx(np.log(total), abs=1e-10)
        np.testing.assert_allclose(p, potential[agrees] @ all_states(N)[agrees] / total, atol=1e-10)
    assert log_partition(circuit) == pytest.approx(np.log(potential.sum()), abs=1e-10)


@pytest.mark.parametrize("shift", [0.0, 300.0, -300.0])
def test_expectations_of_features_also_beyond_the_range_of_numbers(shift):
    circuit, features = grown(1)
    # Every state satisfies one of the two literals of each variable: all become likelier alike.
    weight = circuit.weight + np.where(np.arange(len(circuit.weight)) < 2 * N, shift, 0.0)
    potential = np.exp(log_polynomial(circuit, features))
    evaluator = Evaluator(circuit)
    log_z, expected = evaluator.expectations(weight)
    assert log_z == pytest.approx(np.log(potential.sum()) + N * shift, abs=1e-9)
    share = potential / potential.sum()
    np.testing.assert_allclose(expected, share @ features.satisfied(all_states(N)), atol=1e-10)

    rows = np.full((3, N), UNKNOWN, np.uint8)
    rows[1, 2], rows[2, [0, 5]] = 1, (0, 1)
    value, p_one = evaluator.marginals(weight, rows)
    np.testing.assert_allclose(value, log_value(circuit.with_parameters(weight), rows), atol=1e-9)
    np.testing.assert_allclose(p_one, conditionals(circuit, rows)[1][:, :, 1], atol=1e-10)


@pytest.mark.parametrize("shift", [0.0, 300.0, -300.0])
@pytest.mark.parametrize("seed", range(4))
def test_rows_evaluated_one_at_a_time_give_what_many_give(seed, shift):
    circuit, features = grown(seed)
    circuit = replace(circuit, features=features if seed % 2 else None)
    shifted = np.where(np.arange(len(circuit.weight)) < 2 * N, shift, 0.0)
    circuit = circuit.with_parameters(circuit.weight + shifted)
    rows = np.random.default_rng(seed).choice([0, 1, UNKNOWN], (20, N)).astype(np.uint8)
    log_values_of, p = conditionals(circuit, rows)
    evaluator = row_evaluator(circuit)
    for row, log_value_of, expected in zip(rows, log_values_of, p, strict=True):
        value, found = evaluator.conditionals(row)
        assert value == pytest.approx(log_value_of, abs=1e-9)
        np.testing.assert_allclose(found, expected, atol=1e-12)


def test_a_row_of_probability_0_has_no_conditionals():
    circuit, _ = grown(1)
    weight = np.where(np.arange(len(circuit.weight)) == 1, -np.inf, circuit.weight)
    row = np.full(N, UNKNOWN, np.uint8)
    row[0] = 1
    value, p = row_evaluator(circuit.with_parameters(weight)).conditionals(row)
    assert value == -np.inf
    assert np.isnan(p).all()


def test_many_variables_stay_in_the_range_of_plain_numbers(monkeypatch):
    """800 variables whose two weights add up to e^2 each: log Z is 1,600 and a sum of ones."""
    n = 800
    circuit = product_of_marginals(np.full(n, 0.5))
    weight = np.tile([2.0 + np.log(0.25), 2.0 + np.log(0.75)], n)
    monkeypatch.setattr(
        "mnlearn.inference.circuits.evaluation.LogSpace", None
    )  # no way to log space
    evaluator = Evaluator(circuit, atomic=True)
    log_z, expected = evaluator.expectations(weight)
    assert log_z == pytest.approx(2.0 * n)
    np.testing.assert_allclose(expected, np.tile([0.25, 0.75], n))
    rows = np.full((2, n), UNKNOWN, np.uint8)
    rows[1, :3] = 1
    value, p_one = evaluator.marginals(weight, rows)
    np.testing.assert_allclose(value, [2.0 * n, 2.0 * n + 3.0 * np.log(0.75)])
    np.testing.assert_allclose(p_one[1], [1.0] * 3 + [0.75] * (n - 3))


def test_rows_beyond_plain_numbers_are_answered_in_log_space():
    """Probabilities of 1e-150 and values of e^-1,381, beside rows that plain numbers can hold."""
    n = 4
    circuit = product_of_marginals(np.full(n, 1e-150))
    rows = np.array([[0, 0, 0, 0], [1, 1, 1, 1], [0, 1, UNKNOWN, 0], [UNKNOWN] * n], np.uint8)
    tiny = np.log(1e-150)
    expected = np.array([0.0, 4 * tiny, tiny, 0.0])
    np.testing.assert_allclose(log_value(circuit, rows), expected, rtol=1e-14, atol=1e-14)
    value, p = conditionals(circuit, rows)
    np.testing.assert_allclose(value, expected, rtol=1e-14, atol=1e-14)
    np.testing.assert_allclose(p[3, :, 1], 1e-150, rtol=1e-12)
    np.testing.assert_allclose(p[2], [[1, 0], [0, 1], [1, 1e-150], [1, 0]], rtol=1e-12, atol=1e-300)
    for row in range(len(rows)):
        alone = conditionals(circuit, rows[row : row + 1])
        assert alone[0].tobytes() == value[row : row + 1].tobytes()
        assert alone[1].tobytes() == p[row : row + 1].tobytes()


@pytest.mark.parametrize("n_parts", [1, 3])
def test_plain_numbers_agree_with_log_space(n_parts):
    parts = [grown(5 + part)[0] for part in range(n_parts)]
    circuit = mixture_circuit(parts, np.log([0.5, 0.3, 0.2])[:n_parts])
    rows = np.random.default_rng(1).choice([0, 1, UNKNOWN], (16, N)).astype(np.uint8)
    batch = LogSpace(circuit, circuit.weight)
    value, p = conditionals(circuit, rows)
    np.testing.assert_allclose(value, batch.values(rows), rtol=1e-13)
    np.testing.assert_allclose(p.reshape(16, -1), batch.flows()[: 2 * N].T, atol=1e-14)


@pytest.mark.parametrize("seed", range(6))
def test_values_in_rows_that_nodes_share_are_those_of_the_polynomial(seed):
    circuit, features = grown(seed, seed % 2 == 0)
    states = all_states(N)
    found = Values(circuit, False).values(states[:16])
    np.testing.assert_allclose(found, log_polynomial(circuit, features)[:16], atol=1e-10)
    many = np.tile(states, (2, 1))
    assert len(many) > 64
    np.testing.assert_allclose(
        log_value(circuit, many), np.tile(log_value(circuit, states[:64]), 2), atol=1e-12
    )


def test_sums_of_parameters_products_of_one_and_nodes_that_the_root_does_not_need():
    """(0.2 + 0.3) (x 0.4 + (1 - x) 0.6) 0.5, and the same sum twice below a product."""
    weight = np.log([0.2, 0.3, 0.4, 0.6, 0.5])
    children = [[2, 3], [1, 4], [0, 5], [8, 9], [6], [7, 1], [7, 7, 10, 11]]
    is_sum = [1, 0, 0, 1, 0, 0, 0]
    circuit = ArithmeticCircuit(
        1, is_sum, np.cumsum([0, *map(len, children)]), np.concatenate(children), weight
    )
    rows = np.array([[0], [1], [UNKNOWN]], np.uint8)
    expected = np.log(0.5**3 * np.array([0.6, 0.4, 1.0]))
    for found in (Values(circuit, False).values(rows), log_value(circuit, rows)):
        np.testing.assert_allclose(found, expected, atol=1e-14)


def test_threads_do_not_change_values():
    circuit, _ = grown(2)
    rows = np.random.default_rng(0).choice([0, 1, UNKNOWN], (200, N)).astype(np.uint8)
    assert log_value(circuit, rows, 3).tobytes() == log_value(circuit, rows).tobytes()
    assert conditionals(circuit, rows, 3)[1].tobytes() == conditionals(circuit, rows)[1].tobytes()


def test_evidence_that_cannot_hold():
    circuit, _ = grown(4)
    weight = circuit.weight.copy()
    weight[1] = -np.inf
    rows = np.array([[1] + [UNKNOWN] * (N - 1)], np.uint8)
    assert log_value(circuit.with_parameters(weight), rows)[0] == -np.inf
    assert np.isnan(conditionals(circuit.with_parameters(weight), rows)[1]).all()


@pytest.mark.parametrize("seed", range(4))
def test_most_probable_states(seed):
    circuit, features = grown(seed)
    potential = log_polynomial(circuit, features)
    rows = np.random.default_rng(seed).choice([0, 1, UNKNOWN], (30, N)).astype(np.uint8)
    states, value = most_probable(circuit, rows)
    for row, state, v in zip(rows, states, value, strict=True):
        agrees = ((all_states(N) == row) | (row == UNKNOWN)).all(axis=1)
        best = np.flatnonzero(agrees)[np.argmax(potential[agrees])]
        assert v == pytest.approx(potential[best], abs=1e-10)
        np.testing.assert_array_equal(state, all_states(N)[best])


def test_draws_follow_the_distribution():
    circuit, features = grown(7)
    potential = np.exp(log_polynomial(circuit, features))
    share = potential / potential.sum()
    n = 20_000
    drawn = draw(circuit, n, 3) @ (1 << np.arange(N)[::-1])
    counts = np.bincount(drawn, minlength=2**N)
    chi2 = ((counts - n * share) ** 2 / (n * share)).sum()
    assert chi2 < 2**N + 6 * np.sqrt(2 ** (N + 1))
    assert draw(circuit, 50, 3, threads=3).tobytes() == draw(circuit, 50, 3).tobytes()


def test_small_probabilities_are_exact():
    """1 - P would lose what is below the precision of numbers near 1."""
    circuit = product_of_marginals(np.array([0.5]))
    rows = np.full((1, 1), UNKNOWN, np.uint8)
    _, p = conditionals(circuit.with_parameters(np.array([-50.0, 0.0])), rows)
    np.testing.assert_allclose(p[0, 0], [np.exp(-50.0), 1.0])


@pytest.mark.parametrize("n_terms", [1, 2, 3, 7])
def test_sums_of_any_number_of_terms(n_terms):
    rng = np.random.default_rng(n_terms)
    chance = rng.uniform(0.05, 0.95, (n_terms, 4))
    share = rng.dirichlet(np.ones(n_terms))
    mixture = mixture_circuit([product_of_marginals(p) for p in chance], np.log(share))
    states = all_states(4)
    p = np.where(states[:, None] == 1, chance, 1.0 - chance).prod(axis=2) @ share
    np.testing.assert_allclose(np.exp(log_value(mixture, states)), p, rtol=1e-12)
    evidence = np.full((1, 4), UNKNOWN, np.uint8)
    evidence[0, 2] = 1
    one = states[:, 2] == 1
    found = conditionals(mixture, evidence)[1][0, :, 1]
    np.testing.assert_allclose(found, p[one] @ states[one] / p[one].sum(), rtol=1e-12)
