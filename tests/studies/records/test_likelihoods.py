"""Log-likelihoods with approximate partition functions, and timed queries, of cells."""

import numpy as np
import pytest

from made_study import make, scores_of
from mnlearn.data.dataset import load_npz
from mnlearn.inference.settings import Inference
from mnlearn.models.io.native import read_npz
from mnlearn.runtime.errors import InputError
from mnlearn.runtime.files import read_json
from mnlearn.scoring.any_model import approximate_ll, ll
from mnlearn_studies.datasets.embedded import load_embedded
from mnlearn_studies.records import learn

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


def compare(folder, method, out, *, seed=3, settings=SETTINGS, models="models", **more):
    """Return the record of the likelihoods of a cell."""
    inputs = {"models": str(folder / models / method / "tuning.json")}
    inputs["test"] = str(folder / "test.npz")
    recipe = {"settings": settings, "seed": seed}
    out = make("likelihoods", folder / out, recipe, method=method, inputs=inputs, **more)
    return read_json(out)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Models of three kinds, learned from samples of a network of 12 variables."""
    path = tmp_path_factory.mktemp("likelihoods")
    files = {split: str(path / f"{split}.npz") for split in ("train", "valid", "test")}
    for data, file in zip(load_embedded("triples", 5), files.values(), strict=True):
        data.take(np.arange(500)).save(file)
    # Times do not matter here, so that no kernel has to be warmed up.
    patch = pytest.MonkeyPatch()
    patch.setattr(learn, "warm_up", lambda *_: None)
    for method, grid in GRIDS.items():
        recipe = {"learner": method, "grid": grid, "criterion": {}}
        out = path / "models" / method / "tuning.json"
        make("models", out, recipe, method=method, inputs=files, seed=20)
        compare(path, method, f"{method}.json")
    patch.undo()
    return path


def test_networks_are_scored_by_both_estimates(folder):
    test, record = load_npz(folder / "test.npz"), read_json(folder / "l1.json")
    assert set(record["variants"]) == {"", "or", "and"}
    for name, entry in record["variants"].items():
        network = read_npz(folder / "models/l1" / f"{name or 'chosen'}.npz")
        exact = ll(network, test)
        annealed = entry["scores"]["ll_annealed"]
        error = annealed["monte_carlo_error"]
        assert 0 < error < 0.2
        assert annealed["mean"] == pytest.approx(exact.mean, abs=5 * error)
        assert annealed["stderr"] == pytest.approx(exact.standard_error)
        run = Inference("bp", iterations=200, tolerance=1e-8)
        beliefs = approximate_ll(network, test, run, by_feature=True)
        assert entry["scores"]["ll_beliefs"]["mean"] == beliefs.mean
        assert entry["numbers"]["converged_beliefs"] == beliefs.converged


def test_the_samples_depend_on_the_seed_and_not_on_threads(folder):
    first, again = read_json(folder / "l1.json"), compare(folder, "l1", "again.json", threads=2)
    for name, entry in first["variants"].items():
        assert again["variants"][name]["scores"] == entry["scores"]
    settings = {**SETTINGS, "annealing": {"n_chains": 4, "n_steps": 4}}
    records = [compare(folder, "l1", "seed.json", seed=n, settings=settings) for n in (3, 4)]
    means = [each["variants"][""]["scores"]["ll_annealed"]["mean"] for each in records]
    assert means[0] != means[1]


def test_queries_of_exact_models_are_timed(folder):
    tree, record = read_npz(folder / "models/lem/chosen.npz"), read_json(folder / "lem.json")
    assert set(record["variants"]) == {""}
    numbers = record["variants"][""]["numbers"]
    assert 0 < numbers["milliseconds_single_query"] < 1000
    assert numbers["n_test"] == load_npz(folder / "test.npz").n_examples
    # Each leaf is one conjunction or several, over the same variables.
    lengths = tree.to_markov_network().features.length
    assert numbers["treewidth_at_least"] >= lengths.max() - 1
    other = read_json(folder / "chow_liu.json")["variants"][""]["numbers"]
    assert "treewidth_at_least" not in other
    assert other["n_circuit_edges"] == read_npz(folder / "models/chow_liu/chosen.npz").n_edges


def test_likelihoods_are_gathered(folder):
    scores = scores_of(likelihoods=[folder / "l1.json", folder / "lem.json"])
    of = scores.set_index(["method", "variant", "quantity"])["value"]
    record = read_json(folder / "l1.json")
    entry = record["variants"]["and"]
    assert of["l1", "and", "ll_beliefs"] == entry["scores"]["ll_beliefs"]["mean"]
    annealed = entry["scores"]["ll_annealed"]
    assert of["l1", "and", "ll_annealed_monte_carlo_error"] == annealed["monte_carlo_error"]
    assert of["l1", "and", "converged_beliefs"] in (0.0, 1.0)
    assert of["lem", "", "milliseconds_single_query"] > 0
    assert np.isfinite(scores["value"].astype(float)).all()


def test_settings_and_models_that_do_not_fit_are_refused(folder):
    few = {**SETTINGS, "annealing": {"n_chains": 1}}
    for more, message in (
        ({"settings": {}}, "settings: expected the key 'beliefs'"),
        ({"settings": few}, "expected at least 2 chains"),
        ({"models": "none"}, "chosen.npz: no such file"),
    ):
        with pytest.raises(InputError, match=message):
            compare(folder, "l1", "none.json", **more)
