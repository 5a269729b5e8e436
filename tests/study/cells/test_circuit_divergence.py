"""Divergence between circuits: estimates against enumeration, their errors, the record."""

from dataclasses import replace

import numpy as np
import pytest

from command import refuse, succeed
from made_circuits import N, grown
from mnlearn.inference.circuits.exact import log_partition, log_value
from mnlearn.models.circuit import product_of_marginals
from mnlearn.models.io.formats import save_model
from mnlearn.runtime.files import read_json
from mnlearn_studies.records.gather import gather
from mnlearn_studies.records.kinds.divergences import N_SAMPLES, log_ratios
from oracles import all_states

SAMPLES = 4000
COMMAND = "divergence --study s --dataset d --first acbn p.npz --second acmn q.npz --out kl.json"


def log_distribution(circuit):
    return log_value(circuit, all_states(N)) - log_partition(circuit)


def enumerated(first, second):
    """KL(first || second), and the standard deviation of the log-ratio under the first."""
    log_p, log_q = log_distribution(first), log_distribution(second)
    p, ratio = np.exp(log_p), log_p - log_q
    kl = p @ ratio
    return kl, np.sqrt(p @ (ratio - kl) ** 2)


@pytest.mark.parametrize("seed", range(8))
def test_estimates_are_within_their_errors_of_enumeration(seed):
    first, second = grown(seed)[0], grown(seed + 20)[0]
    for p, q in ((first, second), (second, first)):
        kl, deviation = enumerated(p, q)
        ratios = log_ratios(p, q, SAMPLES, seed)
        assert kl > 0.1
        assert abs(ratios.mean() - kl) < 4 * deviation / np.sqrt(SAMPLES)
        assert ratios.std(ddof=1) == pytest.approx(deviation, rel=0.25)


def test_estimates_of_many_seeds_scatter_as_their_standard_error_says():
    p, q = grown(1)[0], grown(21)[0]
    kl, deviation = enumerated(p, q)
    n = 400
    means = np.array([log_ratios(p, q, n, seed).mean() for seed in range(200)])
    z = (means - kl) / (deviation / np.sqrt(n))
    assert abs(z.mean()) < 4 / np.sqrt(200)
    assert 0.85 < z.std() < 1.15


def test_a_circuit_does_not_diverge_from_itself_whatever_its_partition_function():
    circuit, _ = grown(2)
    # All states satisfy one of the two literals of variable 0: the distribution stays the same.
    weight = circuit.weight + np.where(np.arange(len(circuit.weight)) < 2, 3.0, 0.0)
    ratios = log_ratios(circuit, circuit.with_parameters(weight), 100, 0)
    np.testing.assert_allclose(ratios, 0.0, atol=1e-10)


@pytest.fixture
def models(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    circuits = grown(3)[0], grown(5)[0]
    for circuit, name in zip(circuits, "pq", strict=True):
        save_model(circuit, f"{name}.npz")
    return circuits


def test_the_record_has_the_estimate_and_the_sizes_of_both(models):
    p, q = models
    succeed(f"{COMMAND} --seed 7")
    record = read_json("kl.json")
    kl, deviation = enumerated(p, q)
    assert record["kl"]["mean"] == pytest.approx(kl, abs=4 * deviation / np.sqrt(N_SAMPLES))
    assert record["kl"]["stderr"] == pytest.approx(deviation / np.sqrt(N_SAMPLES), rel=0.25)
    assert record["circuits"] == {
        "acbn": {"n_nodes": p.n_nodes, "n_edges": p.n_edges},
        "acmn": {"n_nodes": q.n_nodes, "n_edges": q.n_edges},
    }
    assert (record["n_samples"], record["seed"]) == (N_SAMPLES, 7)
    first = record["kl"]
    succeed(f"{COMMAND} --seed 7 --threads 2")
    assert read_json("kl.json")["kl"] == first
    succeed(f"{COMMAND} --seed 8")
    assert read_json("kl.json")["kl"] != first


def test_divergences_are_gathered_once_each(models):
    succeed(f"{COMMAND}")
    again = COMMAND.replace("acmn", "ltm").replace("kl.json", "other.json")
    succeed(f"{again}")
    scores = gather(divergence_paths=["kl.json", "other.json"])
    assert scores["quantity"].tolist() == ["kl_to_acmn", "n_nodes", "kl_to_ltm"]
    assert set(scores["method"]) == {"acbn"}
    record = read_json("kl.json")
    of = scores.set_index("quantity")
    assert of.loc["kl_to_acmn", "value"] == record["kl"]["mean"]
    assert of.loc["kl_to_acmn", "stderr"] == record["kl"]["stderr"]
    assert of.loc["n_nodes", "value"] == models[0].n_nodes


def test_what_has_no_finite_divergence_is_refused(models):
    circuit, features = grown(3)
    save_model(replace(circuit, features=features), "m.mn")
    refuse(COMMAND.replace("q.npz", "m.mn"), "m.mn: expected a circuit")
    save_model(product_of_marginals(np.full(N + 1, 0.5)), "wide.npz")
    refuse(COMMAND.replace("q.npz", "wide.npz"), f"expected {N} variables, got {N + 1}")
    weight = np.where(np.arange(len(circuit.weight)) == 1, -np.inf, circuit.weight)
    save_model(circuit.with_parameters(weight), "zero.npz")
    refuse(COMMAND.replace("q.npz", "zero.npz"), "the divergence is infinite")
