"""Divergence between circuits: estimates against enumeration, their errors, the record."""

import numpy as np
import pytest

from made_circuits import N, grown
from made_study import make, scores_of
from mnlearn.inference.circuits.exact import log_partition, log_value
from mnlearn.models.circuit import product_of_marginals
from mnlearn.models.io.formats import save_model
from mnlearn.models.markov_network import markov_network
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_json
from mnlearn_studies.records.kinds.divergences import N_SAMPLES, log_ratios
from oracles import all_states

SAMPLES = 4000


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
        save_model(circuit, f"{name}/chosen.npz")
    return circuits


def diverge(out="kl.json", *, pair="acbn-acmn", second="q", seed=20, **more):
    """Return the record of a divergence."""
    inputs = {"models": ["p/tuning.json", f"{second}/tuning.json"]}
    return read_json(make("divergences", out, {"seed": seed}, method=pair, inputs=inputs, **more))


def test_the_record_has_the_estimate_and_the_sizes_of_both(models):
    p, q = models
    record = diverge(seed=7)
    kl, deviation = enumerated(p, q)
    assert record["kl"]["mean"] == pytest.approx(kl, abs=4 * deviation / np.sqrt(N_SAMPLES))
    assert record["kl"]["stderr"] == pytest.approx(deviation / np.sqrt(N_SAMPLES), rel=0.25)
    assert record["circuits"] == {
        "acbn": {"n_nodes": p.n_nodes, "n_edges": p.n_edges},
        "acmn": {"n_nodes": q.n_nodes, "n_edges": q.n_edges},
    }
    assert (record["n_samples"], record["seed"]) == (N_SAMPLES, 7)
    assert diverge(seed=7, threads=2)["kl"] == record["kl"]
    assert diverge(seed=8)["kl"] != record["kl"]


def test_divergences_are_gathered_once_each(models):
    record = diverge()
    diverge("other.json", pair="acbn-ltm")
    scores = scores_of(divergences=["kl.json", "other.json"])
    assert scores["quantity"].tolist() == ["kl_to_acmn", "n_nodes", "kl_to_ltm"]
    assert set(scores["method"]) == {"acbn"}
    of = scores.set_index("quantity")
    assert of.loc["kl_to_acmn", "value"] == record["kl"]["mean"]
    assert of.loc["kl_to_acmn", "stderr"] == record["kl"]["stderr"]
    assert of.loc["n_nodes", "value"] == models[0].n_nodes


def test_what_has_no_finite_divergence_is_refused(models):
    circuit, features = grown(3)
    weight = np.where(np.arange(len(circuit.weight)) == 1, -np.inf, circuit.weight)
    network = markov_network(N, features, np.ones(len(features)))
    for name, other, message in (
        ("network", network, "network/chosen.npz: expected a circuit"),
        ("wide", product_of_marginals(np.full(N + 1, 0.5)), f"expected {N} variables, got {N + 1}"),
        ("zero", circuit.with_parameters(weight), "the divergence is infinite"),
    ):
        save_model(other, f"{name}/chosen.npz")
        with pytest.raises(InputError, match=message):
            diverge(second=name)
