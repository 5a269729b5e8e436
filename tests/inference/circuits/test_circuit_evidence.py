"""Circuits given evidence against the circuit itself."""

import itertools

import numpy as np
import pytest

from made_circuits import N, grown
from mnlearn.inference.circuits.exact import (
    UNKNOWN,
    condition,
    conditionals,
    log_partition,
    log_value,
)
from mnlearn.models.circuit import product_of_marginals
from mnlearn.runtime.errors import InputError
from oracles import all_states


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("extend", [True, False])
def test_values_of_all_states(seed, extend):
    """Those that agree keep their value, all others have none; also once more given more."""
    circuit, _ = grown(seed, extend)
    states = all_states(N)
    value = log_value(circuit, states)
    rng = np.random.default_rng(seed)
    for _ in range(8):
        evidence = rng.choice(np.array([0, 1, UNKNOWN], np.uint8), N, p=[0.25, 0.25, 0.5])
        left = condition(circuit, evidence)
        left.check()
        agrees = ((states == evidence) | (evidence == UNKNOWN)).all(axis=1)
        np.testing.assert_allclose(
            log_value(left, states), np.where(agrees, value, -np.inf), atol=1e-12
        )
        assert log_partition(left) == pytest.approx(log_value(circuit, evidence[None])[0])
        np.testing.assert_allclose(
            conditionals(left, np.full((1, N), UNKNOWN, np.uint8))[1],
            conditionals(circuit, evidence[None])[1],
            atol=1e-12,
        )
        assert left.n_edges <= circuit.n_edges
        known = evidence != UNKNOWN
        if known.any():
            assert left.n_edges < circuit.n_edges
            assert len(left.weight) < len(circuit.weight)


def test_all_evidence_of_one_variable_and_of_all():
    circuit = product_of_marginals(np.array([0.3]))
    left = condition(circuit, np.array([1], np.uint8))
    left.check()
    assert log_partition(left) == pytest.approx(np.log(0.3))
    circuit, _ = grown(3)
    for state in itertools.islice(all_states(N), 0, None, 7):
        left = condition(circuit, state)
        assert log_partition(left) == pytest.approx(log_value(circuit, state[None])[0])
        assert not left.is_sum.any()


def test_impossible_evidence():
    circuit, _ = grown(0)
    weight = circuit.weight.copy()
    weight[1] = -np.inf
    evidence = np.full(N, UNKNOWN, np.uint8)
    evidence[0] = 1
    with pytest.raises(InputError, match="evidence: has probability 0"):
        condition(circuit.with_parameters(weight), evidence)
