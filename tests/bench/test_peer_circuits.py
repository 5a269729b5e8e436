"""Other libraries evaluate the circuit that the bench gives them, where they are installed."""

import numpy as np
import pytest
from benchmarks.peer_circuits import find_peers, prepare_klay, prepare_sparc
from numpy.testing import assert_allclose

from made_random import random_data
from mnlearn.inference.circuits.evaluation import Batch
from mnlearn.learning.circuits.growth import CircuitGrowth
from mnlearn.learning.circuits.markov import MarkovGrowth
from mnlearn.learning.weights.descent import Penalty


@pytest.fixture(scope="module")
def circuit():
    growth = CircuitGrowth(MarkovGrowth(random_data(1, 200, 6), Penalty(1.0, 1.0)), 0.1, 1.0, 300)
    growth.grow(300)
    return growth.model.model()


def test_only_what_is_installed_is_compared_with(monkeypatch):
    monkeypatch.setattr("benchmarks.peer_circuits.find_spec", lambda name: None)
    assert find_peers() == {}
    monkeypatch.setattr(
        "benchmarks.peer_circuits.find_spec",
        lambda name: True if name == "sparc" else None,
    )
    assert find_peers() == {"SparC": prepare_sparc}


def test_klay_finds_our_values_and_flows(circuit):
    pytest.importorskip("klay")
    rows = random_data(2, 20, 6).rows[:16]
    batch = Batch(circuit, False)
    expected, flows = batch.values(rows), batch.flows()
    values, gradients = prepare_klay(circuit, rows)()
    assert_allclose(values, expected, rtol=1e-4)
    assert_allclose(gradients[0][:, circuit.n_vars :].T, flows[2 * circuit.n_vars :], atol=1e-4)


def test_sparc_finds_the_values_of_means(circuit):
    pytest.importorskip("sparc")
    rows = random_data(2, 20, 6).rows[:16]
    found = prepare_sparc(circuit, rows)()[0]
    values = np.zeros((circuit.n_nodes, len(rows)))
    values[: 2 * circuit.n_vars] = (
        np.stack([rows == 0, rows == 1], axis=-1).reshape(len(rows), -1).T
    )
    values[2 * circuit.n_vars : circuit.n_leaves] = 1.0
    for i, is_sum in enumerate(circuit.is_sum):
        below = values[circuit.child[circuit.start[i] : circuit.start[i + 1]]]
        values[circuit.n_leaves + i] = below.mean(axis=0) if is_sum else below.prod(axis=0)
    assert_allclose(found, np.log(values[-1]).mean())
