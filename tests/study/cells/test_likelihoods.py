"""Log-likelihoods with approximate partition functions, and timed queries, of cells."""

import json

import numpy as np
import pytest

from command import refuse, succeed
from mnlearn.data.dataset import load_npz
from mnlearn.inference.settings import Inference
from mnlearn.models.io.native import read_npz
from mnlearn.runtime.files import read_json
from mnlearn.scoring.any_model import approximate_ll, ll
from mnlearn_studies.records.gather import gather

GRIDS = {
    "l1": {"merge": ["or", "and"], "lambda": [5, 20]},
    "lem": {"delta": [0.02, 0.1]},
    "chow_liu": {},
}
SETTINGS = {
    "beliefs": {"iterations": 200, "tolerance": 1e-8},
    "annealing": {"n_chains": 200, "n_steps": 200},
    "queries": {"examples": 10, "percentage": 50},
}
COMMAND = "likelihoods models/{0} --study s --label {0} --dataset triples --test test.npz --seed 3"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Models of three kinds, learned from samples of a network of 12 variables."""
    path = tmp_path_factory.mktemp("likelihoods")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(path)
        succeed("prepare triples --folder data --seed 5")
        (path / "test.npz").write_bytes((path / "data/triples/test.npz").read_bytes())
        for method, grid in GRIDS.items():
            files = "--train data/triples/train.npz --valid data/triples/valid.npz"
            succeed(
                f"tune {method} --study s --label {method} --dataset triples {files} "
                f"--models models/{method} --threads 1 --grid",
                json.dumps(grid),
            )
            line = COMMAND.format(method)
            succeed(f"{line} --out {method}.json --threads 1 --settings", json.dumps(SETTINGS))
    return path


def test_networks_are_scored_by_both_estimates(folder, monkeypatch):
    monkeypatch.chdir(folder)
    test, record = load_npz("test.npz"), read_json("l1.json")
    assert set(record["variants"]) == {"", "or", "and"}
    for name, entry in record["variants"].items():
        network = read_npz(folder / "models/l1" / f"{name or 'chosen'}.npz")
        exact = ll(network, test)
        annealed = entry["scores"]["ll_annealed"]
        error = annealed["monte_carlo_error"]
        assert 0 < error < 0.2
        assert annealed["mean"] == pytest.approx(exact.mean, abs=5 * error)
        assert annealed["stderr"] == pytest.approx(exact.standard_error)
        beliefs = approximate_ll(network, test, Inference("bp", iterations=200, tolerance=1e-8))
        assert entry["scores"]["ll_beliefs"]["mean"] == beliefs.mean
        assert entry["numbers"]["converged_beliefs"] == beliefs.converged


def test_the_samples_do_not_depend_on_threads(folder, monkeypatch):
    monkeypatch.chdir(folder)
    settings = json.dumps(SETTINGS)
    succeed(f"{COMMAND.format('l1')} --out again.json --threads 2 --settings", settings)
    first, again = read_json("l1.json"), read_json("again.json")
    for name, entry in first["variants"].items():
        assert again["variants"][name]["scores"] == entry["scores"]


def test_annealed_estimates_depend_on_the_seed(folder, monkeypatch):
    monkeypatch.chdir(folder)
    settings = json.dumps({**SETTINGS, "annealing": {"n_chains": 4, "n_steps": 4}})
    found = set()
    for seed in (3, 4):
        line = COMMAND.format("l1").replace("--seed 3", f"--seed {seed}")
        succeed(f"{line} --out seed.json --settings", settings)
        scores = read_json("seed.json")["variants"][""]["scores"]
        found.add(scores["ll_annealed"]["mean"])
    assert len(found) == 2


def test_queries_of_exact_models_are_timed(folder, monkeypatch):
    monkeypatch.chdir(folder)
    tree, record = read_npz(folder / "models/lem/chosen.npz"), read_json("lem.json")
    assert set(record["variants"]) == {""}
    numbers = record["variants"][""]["numbers"]
    assert 0 < numbers["milliseconds_single_query"] < 1000
    assert numbers["n_test"] == load_npz("test.npz").n_examples
    # Each leaf is one conjunction or several, over the same variables.
    lengths = tree.to_markov_network().features.length
    assert numbers["treewidth_at_least"] >= lengths.max() - 1
    other = read_json("chow_liu.json")["variants"][""]["numbers"]
    assert "treewidth_at_least" not in other
    assert other["n_circuit_edges"] == read_npz(folder / "models/chow_liu/chosen.npz").n_edges


def test_likelihoods_are_gathered(folder):
    scores = gather(likelihood_paths=[folder / "l1.json", folder / "lem.json"])
    of = scores.set_index(["method", "variant", "quantity"])["value"]
    record = read_json(folder / "l1.json")
    entry = record["variants"]["and"]
    assert of["l1", "and", "ll_beliefs"] == entry["scores"]["ll_beliefs"]["mean"]
    annealed = entry["scores"]["ll_annealed"]
    assert of["l1", "and", "ll_annealed_monte_carlo_error"] == annealed["monte_carlo_error"]
    assert of["l1", "and", "converged_beliefs"] in (0.0, 1.0)
    assert of["lem", "", "milliseconds_single_query"] > 0
    assert np.isfinite(scores["value"].astype(float)).all()


def test_settings_and_models_that_do_not_fit_are_refused(folder, monkeypatch):
    monkeypatch.chdir(folder)
    line = f"{COMMAND.format('l1')} --out none.json --settings"
    refuse(f"{line} '{{}}'", "settings: expected the key 'beliefs'")
    refuse(f"{line} []", "--settings: expected a JSON object")
    settings = json.dumps({**SETTINGS, "annealing": {"n_chains": 1}})
    refuse(f"{line} '{settings}'", "expected at least 2 chains")
    missing = line.replace("models/l1", "models")
    refuse(f"{missing} '{json.dumps(SETTINGS)}'", "tuning.json")
